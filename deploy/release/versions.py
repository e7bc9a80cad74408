"""Checks that a release's tag and all files name one version: `make release-check TAG=v1.1.0`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from deploy.release.changelog import read_release

ROOT = Path(__file__).resolve().parents[2]
_PLACES = {
    "pyproject.toml": r'^version = "(.*)"$',
    "charts/atajo/Chart.yaml": r"^(?:version|appVersion): (.*)$",
    "web/package.json": r'^  "version": "(.*)",$',
    "web/package-lock.json": r'"name": "atajo-web",\s+"version": "(.*)",$',
}
"""Patterns of versions by file."""
_EXAMPLE = re.compile(
    r"(?:\batajo/(?:app|web|atajo):|--version |\bTAG=|\btag: )(\d+\.\d+\.\d+(?:-[\w.]*\w)?)"
)
"""A published image or chart, or one that a command builds, in documents and compose files."""


def read_version(root: Path = ROOT) -> str:
    """Return the version of the programs."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version: str = project["version"]
    return version


def find_versions(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each file that names the current version, with what it names."""
    for name, pattern in _PLACES.items():
        text = (root / name).read_text(encoding="utf-8")
        found = re.findall(pattern, text, re.MULTILINE)
        yield from ((name, version) for version in found or ["nothing"])
    files = {*root.glob("*.yaml"), *root.glob("*.md")}
    for folder in ("docs", "charts"):
        files.update((root / folder).rglob("*.md"))
    for file in sorted(files - {root / "CHANGELOG.md"}):
        for version in _EXAMPLE.findall(file.read_text(encoding="utf-8")):
            yield str(file.relative_to(root)), version


def find_faults(tag: str, root: Path = ROOT) -> Iterator[str]:
    """Yield what must change before the tag can be released."""
    if not re.fullmatch(r"v\d+\.\d+\.\d+(-[\w.]+)?", tag):
        yield f"The tag is {tag or 'missing'}, not a version such as v1.1.0."
        return
    version = tag.removeprefix("v")
    for name, found in find_versions(root):
        if found != version:
            yield f"{name} names {found}, not {version}."
    try:
        read_release(version, (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    except LookupError as error:
        yield str(error)


def main() -> int:
    """Print the faults of the tag that is the argument. Return the exit code."""
    faults = list(find_faults(sys.argv[1]))
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
