"""The tag, the programs, the chart and the changelog of a release name one version."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deploy.release.versions import find_faults, find_versions, read_version
from tests.support.processes import ROOT

FILES = (
    *("pyproject.toml", "charts/atajo/Chart.yaml"),
    *("web/package.json", "web/package-lock.json"),
)
TODAY = "2026-11-28"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout of which everything names version 1.2.3, which is dated."""
    current = read_version()
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, file)
        replace(file, current, "1.2.3")
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - {TODAY}\n\n- Links.\n\n"
        "## [1.2.2] - 2026-01-01\n\n- Codes.\n"
    )
    documents = {
        "docs/install.md": "make images TAG=1.2.3, tag: 1.2.3, make release-check TAG=v9.9.9.",
        "charts/atajo/README.md": "helm install atajo oci://x.example/atajo --version 1.2.3.",
    }
    for name, text in documents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "compose.yaml").write_text("services: {atajo: {image: atajo/atajo:1.2.3}}\n")
    return tmp_path


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_everything_in_this_checkout_names_one_version() -> None:
    named = list(find_versions())
    assert {version for _, version in named} == {read_version()}
    assert len(named) >= len(FILES)


def test_a_tag_that_everything_names_can_be_released(checkout: Path) -> None:
    assert list(find_faults("v1.2.3", checkout)) == []


@pytest.mark.parametrize(
    ("name", "old", "fault"),
    [
        ("pyproject.toml", '\nversion = "1.2.3"', "pyproject.toml names 1.2.2, not 1.2.3."),
        ("charts/atajo/Chart.yaml", "\nversion: 1.2.3", "Chart.yaml names 1.2.2, not 1.2.3."),
        ("charts/atajo/Chart.yaml", "appVersion: 1.2.3", "Chart.yaml names 1.2.2, not 1.2.3."),
        ("web/package.json", '"version": "1.2.3"', "package.json names 1.2.2, not 1.2.3."),
        ("web/package-lock.json", '"version": "1.2.3"', "lock.json names 1.2.2, not 1.2.3."),
        ("compose.yaml", "atajo/atajo:1.2.3", "compose.yaml names 1.2.2, not 1.2.3."),
        ("docs/install.md", "TAG=1.2.3", "install.md names 1.2.2, not 1.2.3."),
        ("docs/install.md", "tag: 1.2.3", "install.md names 1.2.2, not 1.2.3."),
        ("charts/atajo/README.md", "--version 1.2.3", "README.md names 1.2.2, not 1.2.3."),
    ],
)
def test_a_file_that_names_another_version_is_found(
    checkout: Path, name: str, old: str, fault: str
) -> None:
    replace(checkout / name, old, old.replace("1.2.3", "1.2.2"))
    faults = list(find_faults("v1.2.3", checkout))
    assert faults
    assert all(found.endswith(fault) for found in faults)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[1.2.3]", "[1.2.4]", "CHANGELOG.md has no section 1.2.3."),
        (TODAY, "Unreleased", "CHANGELOG.md does not date 1.2.3: ## [1.2.3] - YYYY-MM-DD"),
        ("- Links.\n", "", "CHANGELOG.md says nothing about 1.2.3."),
    ],
)
def test_a_changelog_without_the_version_is_found(
    checkout: Path, old: str, new: str, fault: str
) -> None:
    replace(checkout / "CHANGELOG.md", old, new)
    assert list(find_faults("v1.2.3", checkout)) == [fault]


@pytest.mark.parametrize("tag", ["", "1.2.3", "v1.2", "v1.2.3+build", "main"])
def test_a_tag_that_is_no_version_is_refused(checkout: Path, tag: str) -> None:
    (fault,) = find_faults(tag, checkout)
    assert fault.endswith("not a version such as v1.1.0.")
