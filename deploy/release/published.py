"""What a release has pushed to registries.

python -m deploy.release.published FOLDER NAME...   prints what to sign, one a line
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

IMAGES = ("atajo", "app", "web")
CHART = "chart"


@dataclass(frozen=True)
class Published:
    """An image or the chart in a registry."""

    tagged: str
    """Registry, path and tag, such as `docker.io/atajo/app:1.0.0`."""
    digest: str
    """`sha256:…` of the index of an image, or of the manifest of the chart."""

    @property
    def pinned(self) -> str:
        """Registry, path and digest, such as `docker.io/atajo/app@sha256:…`."""
        return f"{self.tagged.rpartition(':')[0]}@{self.digest}"


def read(folder: Path, name: str) -> Published:
    """Return what a release has pushed as `name`, an image or the chart.

    The file is that of `docker buildx build --metadata-file`. Raises OSError if there is none.
    """
    metadata = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Published(metadata["image.name"], metadata["containerimage.digest"])


def write(folder: Path, name: str, published: Published) -> None:
    """Record what was pushed, for `read`."""
    metadata = {"image.name": published.tagged, "containerimage.digest": published.digest}
    (folder / f"{name}.json").write_text(json.dumps(metadata), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[2:]:
        sys.stdout.write(f"{read(Path(sys.argv[1]), name).pinned}\n")
