"""The reconciler calls the services."""

from __future__ import annotations

from tests.deployment.chart.render import Manifest, admin_addresses, environment, pods


def test_the_reconciler_dials_the_admin_ports(rendered: list[Manifest]) -> None:
    env = environment(pods(rendered)["reconciler"])
    assert env.items() >= admin_addresses(rendered).items()


def test_the_reconciler_reads_view_counts_from_analytics(rendered: list[Manifest]) -> None:
    env = environment(pods(rendered)["reconciler"])
    assert env["ATAJO_ANALYTICS_ADDRESS"] == "dns:///atajo-analytics:50051"
