"""What a release has pushed to registries.

python -m deploy.release.published FOLDER IMAGES   prints what to sign of the images, one a line
python -m deploy.release.published FOLDER          prints what to sign of the chart

IMAGES is registry and path of the images. FOLDER has what `docker build --metadata-file` wrote, as
`<image>.json`, and what `helm push` printed, as `chart.txt`.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from deploy.release.versions import read_version

IMAGES = ("atajo", "app", "web")
_PUSHED_CHART = re.compile(r"^Pushed: (\S+)\nDigest: (sha256:[0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True)
class Artifact:
    """An image or the chart in a registry."""

    tagged: str
    """Registry, path and tag, such as `docker.io/atajo/app:1.0.0`."""
    digest: str
    """`sha256:…` of the index of an image, or of the manifest of the chart."""

    @property
    def pinned(self) -> str:
        """Registry, path and digest, such as `docker.io/atajo/app@sha256:…`."""
        return f"{self.tagged.rpartition(':')[0]}@{self.digest}"


def read_image(folder: Path, images: str, name: str) -> Artifact:
    """Return an image that was pushed. Raises OSError if none was."""
    metadata = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Artifact(f"{images}/{name}:{read_version()}", metadata["containerimage.digest"])


def read_chart(folder: Path) -> Artifact:
    """Return the chart that was pushed. Raises OSError or ValueError if none was."""
    output = (folder / "chart.txt").read_text(encoding="utf-8")
    if not (found := _PUSHED_CHART.search(output)):
        raise ValueError(f"helm has not said what it pushed:\n{output}")
    return Artifact(*found.groups())


def main(folder: str, images: str = "") -> None:
    """Print what to sign."""
    pushed = (
        [read_image(Path(folder), images, name) for name in IMAGES]
        if images
        else [read_chart(Path(folder))]
    )
    for artifact in pushed:
        sys.stdout.write(f"{artifact.pinned}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
