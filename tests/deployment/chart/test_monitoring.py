"""What the Prometheus operator and Grafana take from the chart."""

from __future__ import annotations

import yaml

from tests.deployment.chart.render import (
    CHART,
    COMPONENTS,
    manifests,
    of_kind,
)


def test_prometheus_finds_every_component() -> None:
    rendered = manifests("production")
    monitor = of_kind("ServiceMonitor", rendered)["metrics"]["spec"]
    assert monitor["jobLabel"] == "app.kubernetes.io/component"
    (endpoint,) = monitor["endpoints"]
    found = {
        service["metadata"]["labels"]["app.kubernetes.io/component"]
        for service in of_kind("Service", rendered).values()
        if monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        and endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    }
    assert found == COMPONENTS


def test_rules_and_dashboards_are_those_of_the_chart() -> None:
    prefix = "https://atajo.example/runbooks"
    rendered = manifests(
        "production",
        "monitoring.rules=true",
        "monitoring.dashboards=true",
        f"monitoring.runbooks={prefix}",
    )
    source = yaml.safe_load((CHART / "monitoring" / "rules.yaml").read_text())
    rules = of_kind("PrometheusRule", rendered)["rules"]["spec"]
    assert [group["name"] for group in rules["groups"]] == [
        group["name"] for group in source["groups"]
    ]
    alerts = [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]
    for alert in alerts:
        assert alert["annotations"]["runbook_url"].startswith(f"{prefix}/"), alert["alert"]
    shown = {
        file: content
        for each in of_kind("ConfigMap", rendered).values()
        if each["metadata"]["labels"].get("grafana_dashboard") == "1"
        for file, content in each["data"].items()
    }
    files = (CHART / "monitoring" / "dashboards").glob("*.json")
    assert {name: content.strip() for name, content in shown.items()} == {
        file.name: file.read_text().strip().replace("RUNBOOKS", prefix) for file in files
    }


def test_operator_and_sidecar_find_their_objects_by_labels() -> None:
    rendered = manifests("platform", "monitoring.dashboards=true")
    kinds = ("ServiceMonitor", "PrometheusRule", "ConfigMap")
    found = [each for kind in kinds for each in of_kind(kind, rendered).values()]
    selected = [each for each in found if each["metadata"]["labels"].get("release")]
    assert len(selected) == 2 + len(list((CHART / "monitoring" / "dashboards").glob("*.json")))
