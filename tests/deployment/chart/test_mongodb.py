"""The MongoDB for development."""

from __future__ import annotations

import yaml

from tests.deployment.chart.render import (
    CHART,
    manifests,
    of_kind,
)


def test_an_upgrade_does_not_restart_mongodb() -> None:
    def of_version(version: str) -> object:
        sets = of_kind("StatefulSet", manifests("kind", f"image.tag={version}"))
        return sets["mongodb"]["spec"]["template"]

    assert of_version("1.0.0") == of_version("1.0.1")
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["version"]
    assert version not in yaml.safe_dump(of_version("next"))
