"""Lints the chart and holds what it renders against Kubernetes' own schemas: `make check`.

python -m tests.deployment.chart.check            also compares it with `golden`
python -m tests.deployment.chart.check --golden   writes `golden` anew
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
"""The oldest Kubernetes the chart is for, one between, and the newest whose schemas are there."""
GOLDEN = Path(__file__).parent / "golden"
_EXTENSIONS = ("ServiceMonitor", "PrometheusRule", "HTTPRoute")
"""Kinds that are not Kubernetes' own: no schema here."""
_RANDOM = re.compile(r"(?<=token-secret: )\S+$", re.MULTILINE)


def faults(manifest: Manifest, version: str) -> list[str]:
    """What a Kubernetes would refuse of a manifest; an unknown field is a fault."""
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
    """A value set's manifests, without what is random."""
    return _RANDOM.sub("random", text(name))


def main(arguments: list[str]) -> int:
    """Print what is wrong; returns the exit code."""
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
