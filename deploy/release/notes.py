"""Prints the text of a release: its changes, what was published, and how to verify that.

python -m deploy.release.notes FOLDER IMAGES REPOSITORY

FOLDER and IMAGES are those of `published`, REPOSITORY is a URL such as https://github.com/owner/atajo.
"""

from __future__ import annotations

import sys
from pathlib import Path

from deploy.release.changelog import complete_links, read_release
from deploy.release.published import IMAGES, Artifact, read_chart, read_image
from deploy.release.versions import ROOT, read_version

_ABOUT = {
    "atajo": "everything on one machine ({install})",
    "app": "gateway and services on Kubernetes",
    "web": "nginx with the pages on Kubernetes",
    "chart": "Helm chart ({kubernetes})",
}
_NOTES = """\
{changes}

## Artifacts

Images are for amd64 and arm64, with an SBOM and provenance. The chart takes their digests as
`image.digests`.

| artifact | what it is |
|---|---|
{rows}

Each is signed by the workflow of this release. With [cosign](https://docs.sigstore.dev/):

```
cosign verify \\
  --certificate-identity {repository}/.github/workflows/release.yml@refs/tags/v{version} \\
  --certificate-oidc-issuer https://token.actions.githubusercontent.com \\
  {pinned}
```
"""


def write_notes(
    version: str, changelog: str, repository: str, published: dict[str, Artifact]
) -> str:
    """Return the text of a release. `published` has all images and the chart, by name.

    Raises LookupError if the changelog has no text for the version.
    """
    folder = f"{repository}/blob/v{version}"
    about = {
        "install": f"[Install]({folder}/docs/install.md)",
        "kubernetes": f"[Kubernetes]({folder}/docs/operations/kubernetes.md)",
    }
    rows = (
        f"| `{'oci://' if name == 'chart' else ''}{published[name].tagged}`<br>"
        f"`{published[name].digest}` | {text.format(**about)} |"
        for name, text in _ABOUT.items()
    )
    return _NOTES.format(
        changes=complete_links(read_release(version, changelog), folder),
        rows="\n".join(rows),
        repository=repository,
        version=version,
        pinned=published["atajo"].pinned,
    )


def main(folder: str, images: str, repository: str) -> None:
    """Print the text of the current version."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    published = {name: read_image(Path(folder), images, name) for name in IMAGES}
    published["chart"] = read_chart(Path(folder))
    sys.stdout.write(write_notes(read_version(), changelog, repository, published))


if __name__ == "__main__":
    main(*sys.argv[1:])
