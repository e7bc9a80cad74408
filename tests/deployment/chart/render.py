"""Renders the chart with Helm."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.processes import ROOT

CHART = ROOT / "charts" / "atajo"
_HERE = Path(__file__).parent
VALUES: Mapping[str, Path] = {
    "kind": ROOT / "deploy" / "kind" / "values.yaml",
    "production": _HERE / "values" / "production.yaml",
    "small": _HERE / "values" / "small.yaml",
    "platform": _HERE / "values" / "platform.yaml",
}
"""The tested value sets by name."""
COMPONENTS = {"web", "gateway", "auth", "links", "analytics", "reconciler"}
SERVICES = {"auth", "links", "analytics"}

Manifest = dict[str, Any]


class RefusedError(Exception):
    """Helm refused; the text says why."""


def helm(*arguments: str) -> str:
    """Return Helm's output. Raises RefusedError, or FileNotFoundError without Helm."""
    program = shutil.which("helm") or shutil.which(ROOT / ".cache" / "bin" / "helm")
    if program is None:
        raise FileNotFoundError("The chart's tests need helm: https://helm.sh/docs/intro/install/")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RefusedError(done.stderr or done.stdout)
    return done.stdout


@cache
def text(name: str, *settings: str) -> str:
    """Return the manifests of release `atajo` with a value set and `key=value` settings."""
    command = ["template", "atajo", str(CHART), "--values", str(VALUES[name])]
    return helm(*command, *(part for setting in settings for part in ("--set", setting)))


def manifests(name: str, *settings: str) -> list[Manifest]:
    """Return the same as objects."""
    loaded = yaml.load_all(text(name, *settings), Loader=yaml.CSafeLoader)
    return [each for each in loaded if each]


def of_kind(kind: str, rendered: list[Manifest]) -> dict[str, Manifest]:
    """Return the manifests of a kind by name, without the release's name."""
    return {
        each["metadata"]["name"].removeprefix("atajo-"): each
        for each in rendered
        if each["kind"] == kind
    }


def templates(rendered: list[Manifest]) -> dict[str, Manifest]:
    """Return metadata and specification of every pod by the name of its workload."""
    workloads = of_kind("Deployment", rendered) | of_kind("StatefulSet", rendered)
    made = {name: each["spec"]["template"] for name, each in workloads.items()}
    return made | of_kind("Pod", rendered)


def pods(rendered: list[Manifest]) -> dict[str, Manifest]:
    """Return the specification of every pod by the name of its workload."""
    return {name: template["spec"] for name, template in templates(rendered).items()}


def environment(pod: Manifest) -> dict[str, str]:
    """Return the variables of a pod's container; those without a value here are empty."""
    return {each["name"]: each.get("value", "") for each in pod["containers"][0]["env"]}


def component(labels: Manifest) -> str:
    """Return the component that a selector selects."""
    name: str = labels["matchLabels"]["app.kubernetes.io/component"]
    return name


def admin_addresses(rendered: list[Manifest]) -> dict[str, str]:
    """Return the settings of a caller of the services' admin ports."""
    found = {}
    for name in SERVICES:
        service = of_kind("Service", rendered)[name]["spec"]
        port = next(each["port"] for each in service["ports"] if each["name"] == "admin")
        assert environment(pods(rendered)[name])["ATAJO_ADMIN_LISTEN"].endswith(f":{port}")
        found[f"ATAJO_{name.upper()}_ADMIN_ADDRESS"] = f"dns:///atajo-{name}:{port}"
    return found
