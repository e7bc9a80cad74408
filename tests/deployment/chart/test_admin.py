"""The operator's pod."""

from __future__ import annotations

from tests.deployment.chart.render import Manifest, admin_addresses, environment, of_kind, pods


def test_the_operators_pod_does_not_run_by_default(rendered: list[Manifest]) -> None:
    assert of_kind("Deployment", rendered)["admin"]["spec"]["replicas"] == 0


def test_the_operators_pod_dials_the_admin_ports(rendered: list[Manifest]) -> None:
    env = environment(pods(rendered)["admin"])
    assert env.items() >= admin_addresses(rendered).items()
