"""Writes a copy of the chart that knows where it is published: `make chart-package`.

The checkout does not know where it is published. A release gives these places once, and they become
home, sources and icon of the chart, links of its README, and defaults of its values.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deploy.chart.values import CHART, generate

EXAMPLE = "registry.example/charts"
"""What README.md of the checkout has in place of the registry of charts."""
_PLATFORMS = ("linux/amd64", "linux/arm64")


@dataclass(frozen=True)
class Places:
    """Where a release is published."""

    repository: str
    """URL of the repository, such as https://github.com/owner/atajo."""
    images: str
    """Registry and path in front of `/app` and `/web`, such as docker.io/atajo."""
    charts: str
    """Registry and path of the folder that the chart is pushed to, such as ghcr.io/owner/charts."""

    def file(self, path: str, version: str) -> str:
        """Return the URL of a file as of a version."""
        return f"{self.repository}/blob/v{version}/{path}"

    def raw(self, path: str, version: str) -> str:
        """Return the URL of a file's bytes as of a version."""
        return f"{self.repository}/raw/v{version}/{path}"


def write(folder: Path, places: Places) -> None:
    """Copy the chart to a folder, and fill in where it is published."""
    shutil.copytree(CHART, folder)
    metadata = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    version = metadata["version"]
    _write(folder / "Chart.yaml", yaml.safe_dump(_describe(metadata, places), sort_keys=False))
    schema = json.loads((folder / "values.schema.json").read_text(encoding="utf-8"))
    _set_defaults(schema["properties"], places, version)
    _write(folder / "values.schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    readme = (folder / "README.md").read_text(encoding="utf-8").replace(EXAMPLE, places.charts)
    _write(
        folder / "README.md",
        re.sub(r"\]\(\.\./\.\./([^)]+)\)", rf"]({places.file('', version)}\1)", readme),
    )
    for file, text in generate(folder).items():
        _write(file, text)


def _describe(metadata: dict[str, Any], places: Places) -> dict[str, Any]:
    """Return the content of Chart.yaml with everything that depends on the places."""
    version = metadata["version"]
    images = [
        {
            "name": name,
            "image": f"{places.images}/{name}:{metadata['appVersion']}",
            "platforms": list(_PLATFORMS),
        }
        for name in ("app", "web")
    ]
    links = [
        {"name": "Kubernetes", "url": places.file("docs/operations/kubernetes.md", version)},
        {"name": "Changelog", "url": places.file("CHANGELOG.md", version)},
        {"name": "support", "url": f"{places.repository}/issues"},
    ]
    picture = {
        "title": "A new short link, and the statistics of a link",
        "url": places.raw("docs/images/atajo.webp", version),
    }
    return metadata | {
        "home": places.repository,
        "sources": [places.repository],
        "icon": places.raw("web/public/icon-512.png", version),
        "annotations": metadata["annotations"]
        | {
            "artifacthub.io/prerelease": "true" if "-" in version else "false",
            "artifacthub.io/images": yaml.safe_dump(images, sort_keys=False),
            "artifacthub.io/links": yaml.safe_dump(links, sort_keys=False),
            "artifacthub.io/screenshots": yaml.safe_dump([picture], sort_keys=False),
        },
    }


def _set_defaults(values: dict[str, Any], places: Places, version: str) -> None:
    """Make the published images and runbooks the defaults of a schema's properties."""
    image = values["image"]["properties"]
    for name in ("app", "web"):
        image[name]["default"] = f"{places.images}/{name}"
    runbooks = values["monitoring"]["properties"]["runbooks"]
    runbooks["default"] = places.file(runbooks["default"], version)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to create")
    parser.add_argument("repository", help="URL of the repository")
    parser.add_argument("images", help="registry and path of the images")
    parser.add_argument("charts", help="registry and path of the folder for the chart")
    arguments = parser.parse_args()
    if not re.fullmatch(r"https://[^/]+(/[\w.-]+)+", arguments.repository):
        sys.exit("Set REPOSITORY to the repository's URL, such as https://github.com/owner/name.")
    if not arguments.images or not arguments.charts:
        sys.exit("Set IMAGES and CHARTS to where they are pushed, such as ghcr.io/owner/charts.")
    write(arguments.folder, Places(arguments.repository, arguments.images, arguments.charts))


if __name__ == "__main__":
    main()
