"""Components: settings, probes, Services, autoscalers and disruption budgets."""

from __future__ import annotations

import pytest

from gateway.settings import GatewaySettings
from services.admin.settings import AdminSettings
from services.analytics.settings import AnalyticsSettings
from services.auth.settings import AuthSettings
from services.links.settings import LinksSettings
from services.reconciler.settings import ReconcilerSettings
from services.shared.settings import ProcessSettings
from tests.deployment.chart.render import (
    COMPONENTS,
    SERVICES,
    Manifest,
    environment,
    manifests,
    of_kind,
    pods,
)

SETTINGS: dict[str, type[ProcessSettings]] = {
    "gateway": GatewaySettings,
    "auth": AuthSettings,
    "links": LinksSettings,
    "analytics": AnalyticsSettings,
    "reconciler": ReconcilerSettings,
    "admin": AdminSettings,
}


def test_every_component_is_probed_and_ends_in_time(rendered: list[Manifest]) -> None:
    for name in COMPONENTS:
        pod = pods(rendered)[name]
        (container,) = pod["containers"]
        # A service has no gRPC port while it upgrades its store, possibly for hours.
        for probe in ("startupProbe", "livenessProbe"):
            assert container[probe]["httpGet"] == {"path": "/livez", "port": "metrics"}, name
        ready = "grpc" if name in SERVICES else "httpGet"
        assert ready in container["readinessProbe"], name
        leaving = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        draining = float(environment(pod).get("ATAJO_DRAIN_SECONDS", "20"))
        assert leaving + draining < pod["terminationGracePeriodSeconds"], name


def test_processes_know_all_their_settings(
    rendered: list[Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, settings in SETTINGS.items():
        env = environment(pods(rendered)[name])
        # OpenTelemetry reads its own variables.
        env = {key: value for key, value in env.items() if not key.startswith("OTEL_")}
        known = {f"ATAJO_{field.upper()}" for field in settings.model_fields}
        # A variable that is not a setting itself names a setting's file.
        files = {each for each in env if each not in known}
        assert {each.removesuffix("_FILE") for each in files} <= known, name
        with monkeypatch.context() as patched:
            for key, value in env.items():
                if key not in files and value:
                    patched.setenv(key, value)
            for each in files:
                patched.setenv(each.removesuffix("_FILE"), "x" * 48)
            patched.setenv("ATAJO_STORE", env.get("ATAJO_STORE") or "mongodb://elsewhere/")
            settings.load()


def test_env_of_a_component_overrides_the_chart() -> None:
    rendered = manifests("small", "gateway.env.ATAJO_JOURNAL_DIR=/var/lib/atajo/elsewhere")
    env = environment(pods(rendered)["gateway"])
    assert env["ATAJO_JOURNAL_DIR"] == "/var/lib/atajo/elsewhere"
    assert env["ATAJO_CACHE_BYTES"] == "250000000"


def test_services_select_the_pods_of_their_component(rendered: list[Manifest]) -> None:
    workloads = of_kind("Deployment", rendered) | of_kind("StatefulSet", rendered)
    for name, service in of_kind("Service", rendered).items():
        labels = workloads[name]["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        containers = pods(rendered)[name]["containers"]
        ports = {port["name"] for each in containers for port in each.get("ports", [])}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def test_either_the_autoscaler_or_the_chart_sets_the_replicas() -> None:
    rendered = manifests("production")
    scaler = of_kind("HorizontalPodAutoscaler", rendered)
    assert scaler.keys() == {"gateway"}
    assert scaler["gateway"]["spec"]["scaleTargetRef"]["kind"] == "StatefulSet"
    assert (scaler["gateway"]["spec"]["minReplicas"], scaler["gateway"]["spec"]["maxReplicas"]) == (
        3,
        12,
    )
    assert "replicas" not in of_kind("StatefulSet", rendered)["gateway"]["spec"]
    assert not of_kind("HorizontalPodAutoscaler", manifests("kind"))


def test_a_disruption_budget_never_protects_a_single_pod() -> None:
    several = COMPONENTS - {"reconciler"}
    assert of_kind("PodDisruptionBudget", manifests("production")).keys() == several
    assert not of_kind("PodDisruptionBudget", manifests("small"))
