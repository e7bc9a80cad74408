"""A packaged chart says where it, its images and its documents are published."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.chart.package import Places, write
from tests.deployment.chart.render import CHART, VALUES, helm, of_kind, pods
from tests.support.processes import ROOT

PLACES = Places(
    "https://github.com/owner/links",
    images="ghcr.io/owner/links",
    charts="ghcr.io/owner/charts",
)
HOME = "https://github.com/owner/links"


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package") / "atajo"
    write(folder, PLACES)
    return folder


def metadata(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((folder / "Chart.yaml").read_text())
    return loaded


def test_chart_and_programs_have_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    chart = metadata(CHART)
    assert (chart["version"], chart["appVersion"]) == (version, version)


def test_home_sources_and_icon_are_those_of_the_repository(packaged: Path) -> None:
    chart = metadata(packaged)
    assert (chart["home"], chart["sources"]) == (HOME, [HOME])
    path = chart["icon"].removeprefix(f"{HOME}/raw/v{chart['version']}/")
    assert (ROOT / path).exists()


def test_the_catalogue_knows_license_images_and_links(packaged: Path) -> None:
    notes = {
        key.removeprefix("artifacthub.io/"): yaml.safe_load(text)
        for key, text in metadata(packaged)["annotations"].items()
    }
    version = metadata(packaged)["appVersion"]
    assert (notes["license"], notes["prerelease"]) == ("MIT", "-" in version)
    assert {image["image"] for image in notes["images"]} == {
        f"ghcr.io/owner/links/{name}:{version}" for name in ("app", "web")
    }
    for link in (*notes["links"], *notes["screenshots"]):
        path = re.sub(rf"^{HOME}/(blob|raw)/v{re.escape(version)}/", "", link["url"])
        assert path == f"{HOME}/issues" or (ROOT / path).exists()


def test_published_images_and_runbooks_are_the_defaults(packaged: Path) -> None:
    values = ("--set", "mongodb.enabled=true,monitoring.rules=true")
    rendered = list(yaml.safe_load_all(helm("template", "atajo", str(packaged), *values)))
    version = metadata(packaged)["appVersion"]
    images = {name: pod["containers"][0]["image"] for name, pod in pods(rendered).items()}
    assert images["gateway"] == f"ghcr.io/owner/links/app:{version}"
    assert images["web"] == f"ghcr.io/owner/links/web:{version}"
    rules = of_kind("PrometheusRule", rendered)["rules"]["spec"]["groups"]
    runbooks = {
        rule["annotations"]["runbook_url"].partition("/docs/")[0]
        for group in rules
        for rule in group["rules"]
        if "alert" in rule
    }
    assert runbooks == {f"{HOME}/blob/v{version}"}


def test_the_readme_links_to_the_repository_and_installs_from_the_registry(
    packaged: Path,
) -> None:
    text = (packaged / "README.md").read_text()
    assert "oci://ghcr.io/owner/charts/atajo " in text
    assert "registry.example" not in text
    assert "](../" not in text
    assert f"]({HOME}/blob/v{metadata(packaged)['version']}/CHANGELOG.md)" in text


def test_a_packaged_chart_passes_the_linter(packaged: Path) -> None:
    helm("lint", "--strict", "--quiet", str(packaged), "--values", str(VALUES["small"]))


def test_only_the_places_differ_from_the_checkout(packaged: Path) -> None:
    filled = {"Chart.yaml", "README.md", "values.schema.json", "values.yaml"}
    for file in CHART.rglob("*"):
        name = file.relative_to(CHART)
        if file.is_file() and str(name) not in filled:
            assert (packaged / name).read_bytes() == file.read_bytes(), name
    before, after = (
        json.loads((folder / "values.schema.json").read_text())["definitions"]
        for folder in (CHART, packaged)
    )
    assert before == after
