"""Every pod passes the restricted standard, and takes its settings from `pod` and its component."""

from __future__ import annotations

from tests.deployment.chart.render import (
    Manifest,
    pods,
)


def test_every_pod_passes_the_restricted_standard(rendered: list[Manifest]) -> None:
    for name, pod in pods(rendered).items():
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name


def test_every_container_has_requests_and_limits(rendered: list[Manifest]) -> None:
    for name, pod in pods(rendered).items():
        for container in pod["containers"]:
            for bound in ("requests", "limits"):
                assert container["resources"][bound].keys() == {"cpu", "memory"}, name
