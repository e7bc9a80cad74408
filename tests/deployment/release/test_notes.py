"""The text of a release."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.release.notes import write_notes
from deploy.release.published import IMAGES, Artifact, read_chart, read_image
from deploy.release.versions import read_version
from tests.support.processes import ROOT

REPOSITORY = "https://github.com/owner/atajo"
DIGEST = f"sha256:{'0123456789abcdef' * 4}"
CHANGELOG = """\
# Changelog

## [Unreleased]

- Tomorrow.

## [1.1.0] - 2026-11-28

**Schema**: links. [Roll back](docs/operations/roll-back.md), as [they](https://example.com/) say.

### Added

- An image.

## [1.0.0] - 2026-01-01

- Yesterday.
"""
PUBLISHED = {
    **{name: Artifact(f"docker.io/atajo/{name}:1.1.0", DIGEST) for name in IMAGES},
    "chart": Artifact("ghcr.io/owner/charts/atajo:1.1.0", DIGEST.replace("0", "f")),
}


@pytest.fixture(scope="module")
def notes() -> str:
    return write_notes("1.1.0", CHANGELOG, REPOSITORY, PUBLISHED)


def test_it_has_the_changes_of_this_version_only(notes: str) -> None:
    assert notes.startswith("**Schema**: links.")
    assert "### Added\n\n- An image." in notes
    assert "Tomorrow" not in notes
    assert "Yesterday" not in notes


def test_links_to_files_lead_to_the_tag(notes: str) -> None:
    assert f"[Roll back]({REPOSITORY}/blob/v1.1.0/docs/operations/roll-back.md)" in notes
    assert "[they](https://example.com/)" in notes
    assert not re.search(r"\]\((?!https://)", notes)


def test_it_names_images_and_chart_with_their_digests(notes: str) -> None:
    for image in IMAGES:
        assert f"| `docker.io/atajo/{image}:1.1.0`<br>`{DIGEST}` |" in notes
    assert "| `oci://ghcr.io/owner/charts/atajo:1.1.0`<br>" in notes


def test_it_says_how_to_verify_the_signature_of_the_workflow(notes: str) -> None:
    workflow = ".github/workflows/release.yml"
    assert (ROOT / workflow).exists()
    assert f"--certificate-identity {REPOSITORY}/{workflow}@refs/tags/v1.1.0 " in notes
    assert f"\n  docker.io/atajo/atajo@{DIGEST}\n" in notes


def test_what_helm_pushed_is_signed_by_digest(tmp_path: Path) -> None:
    file = tmp_path / "chart.txt"
    file.write_text(f"Pushed: localhost:5000/charts/atajo:1.1.0\nDigest: {DIGEST}\n")
    assert read_chart(tmp_path) == Artifact("localhost:5000/charts/atajo:1.1.0", DIGEST)
    assert print_signed(tmp_path) == [f"localhost:5000/charts/atajo@{DIGEST}"]
    file.write_text("Error: unauthorized")
    with pytest.raises(ValueError, match="unauthorized"):
        read_chart(tmp_path)


def test_what_docker_pushed_is_signed_by_digest(tmp_path: Path) -> None:
    for image in IMAGES:
        metadata = {"buildx.build.ref": "builder/node/1", "containerimage.digest": DIGEST}
        (tmp_path / f"{image}.json").write_text(json.dumps(metadata))
    pushed = read_image(tmp_path, "docker.io/atajo", "app")
    assert pushed.tagged == f"docker.io/atajo/app:{read_version()}"
    signed = [f"docker.io/atajo/{image}@{DIGEST}" for image in IMAGES]
    assert print_signed(tmp_path, "docker.io/atajo") == signed


def print_signed(folder: Path, *images: str) -> list[str]:
    program = [sys.executable, "-m", "deploy.release.published", str(folder), *images]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()
