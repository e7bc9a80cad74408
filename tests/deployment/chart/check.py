"""Lints the chart and validates its manifests against Kubernetes' schemas: `make check-chart`.

python -m tests.deployment.chart.check            also compares them with `golden`
python -m tests.deployment.chart.check --golden   updates `golden`
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import kubernetes_validate

from tests.deployment.chart.render import (
    CHART,
    VALUES,
    Manifest,
    RefusedError,
    helm,
    manifests,
    text,
)

VERSIONS = ("1.30", "1.33", "1.37")
"""The oldest supported Kubernetes, one in between, and the newest with available schemas."""
GOLDEN = Path(__file__).parent / "golden"
_EXTENSIONS = ("ServiceMonitor", "PrometheusRule", "HTTPRoute")
"""Custom resources, which have no schema here."""
_RANDOM = re.compile(r"(?<=-secret: )\S+$", re.MULTILINE)


def faults(manifest: Manifest, version: str) -> list[str]:
    """Return what a Kubernetes version would refuse in a manifest, including unknown fields."""
    if manifest["kind"] in _EXTENSIONS:
        return []
    try:
        kubernetes_validate.validate(manifest, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        where = ".".join(str(part) for part in error.path)
        name = f"{manifest['kind']}/{manifest['metadata']['name']}"
        return [f"Kubernetes {version}: {name}: {where}: {error.message}"]
    return []


def rendered(name: str) -> str:
    """Return the manifests of a value set without random parts."""
    return _RANDOM.sub("random", text(name))


def main(arguments: list[str]) -> int:
    """Print all errors and return the exit code."""
    found: list[str] = []
    for name, values in VALUES.items():
        golden = GOLDEN / f"{name}.yaml"
        try:
            helm("lint", "--strict", "--quiet", str(CHART), "--values", str(values))
            everything = manifests(
                name, "monitoring.serviceMonitor=true", "monitoring.dashboards=true"
            )
        except RefusedError as error:
            found.append(f"{name}: {error}")
            continue
        found += [
            f"{name}: {fault}"
            for version in VERSIONS
            for manifest in everything
            for fault in faults(manifest, version)
        ]
        if "--golden" in arguments:
            golden.write_text(rendered(name), encoding="utf-8")
        elif rendered(name) != golden.read_text(encoding="utf-8"):
            found.append(f"{golden.name} is not what the chart renders: make chart-golden")
    sys.stderr.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
