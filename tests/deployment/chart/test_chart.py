"""The chart's guarantees, for every value set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from gateway.settings import GatewaySettings
from gateway.support.edge import Edge
from services.admin.settings import AdminSettings
from services.analytics.settings import AnalyticsSettings
from services.auth.settings import AuthSettings
from services.links.settings import LinksSettings
from services.reconciler.settings import ReconcilerSettings
from services.shared.settings import ProcessSettings
from tests.deployment.chart.render import (
    CHART,
    VALUES,
    Manifest,
    RefusedError,
    manifests,
    of_kind,
    pods,
    text,
)
from tests.support.processes import ROOT

COMPONENTS = {"web", "gateway", "auth", "links", "analytics", "reconciler"}
SERVICES = {"auth", "links", "analytics"}
SETTINGS: dict[str, type[ProcessSettings]] = {
    "gateway": GatewaySettings,
    "auth": AuthSettings,
    "links": LinksSettings,
    "analytics": AnalyticsSettings,
    "reconciler": ReconcilerSettings,
    "admin": AdminSettings,
}
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())


@pytest.fixture(params=VALUES)
def rendered(request: pytest.FixtureRequest) -> list[Manifest]:
    return manifests(request.param)


def environment(pod: Manifest) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in pod["containers"][0]["env"]}


def component(labels: Manifest) -> str:
    name: str = labels["matchLabels"]["app.kubernetes.io/component"]
    return name


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
        known = {f"ATAJO_{field.upper()}" for field in settings.model_fields}
        # A variable that is not a setting itself names a setting's file.
        files = {each for each in env if each not in known}
        assert {each.removesuffix("_FILE") for each in files} <= known, name
        with monkeypatch.context() as patched:
            for key, value in env.items():
                if key not in files and value:
                    patched.setenv(key, value)
            patched.setenv("ATAJO_STORE", env.get("ATAJO_STORE") or "mongodb://elsewhere/")
            patched.setenv("ATAJO_TOKEN_SECRET", "x" * 48)
            settings.load()


def test_the_gateway_dials_pods_that_listen(rendered: list[Manifest]) -> None:
    gateway = environment(pods(rendered)["gateway"])
    for name in SERVICES:
        service = of_kind("Service", rendered)[name]["spec"]
        port = next(each["port"] for each in service["ports"] if each["name"] == "grpc")
        assert gateway[f"ATAJO_{name.upper()}_ADDRESS"] == f"dns:///atajo-{name}:{port}"
        assert service["clusterIP"] == "None", "one address would stick to one pod"
        assert environment(pods(rendered)[name])["ATAJO_LISTEN"].endswith(f":{port}")
    assert environment(pods(rendered)["web"])["ATAJO_GATEWAY"] == "atajo-gateway:8000"


def test_the_operators_pod_is_complete_when_scaled_up(rendered: list[Manifest]) -> None:
    assert of_kind("Deployment", rendered)["admin"]["spec"]["replicas"] == 0


@pytest.mark.parametrize("caller", ["admin", "reconciler"])
def test_callers_of_removals_dial_the_admin_ports(rendered: list[Manifest], caller: str) -> None:
    env = environment(pods(rendered)[caller])
    for name in SERVICES:
        service = of_kind("Service", rendered)[name]["spec"]
        port = next(each["port"] for each in service["ports"] if each["name"] == "admin")
        assert env[f"ATAJO_{name.upper()}_ADMIN_ADDRESS"] == f"dns:///atajo-{name}:{port}"
        assert environment(pods(rendered)[name])["ATAJO_ADMIN_LISTEN"].endswith(f":{port}")
    if caller == "reconciler":
        assert env["ATAJO_ANALYTICS_ADDRESS"] == "dns:///atajo-analytics:50051"


def test_services_select_the_pods_of_their_component(rendered: list[Manifest]) -> None:
    workloads = of_kind("Deployment", rendered) | of_kind("StatefulSet", rendered)
    for name, service in of_kind("Service", rendered).items():
        labels = workloads[name]["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        containers = pods(rendered)[name]["containers"]
        ports = {port["name"] for each in containers for port in each.get("ports", [])}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def arrows(rendered: list[Manifest], side: str, peers: str) -> Iterator[tuple[str, str, int]]:
    """Return client, server and port of the connections that one side of the policies allows."""
    for name, policy in of_kind("NetworkPolicy", rendered).items():
        assert component(policy["spec"]["podSelector"]) == name
        for rule in policy["spec"][side]:
            for port in rule["ports"]:
                for peer in rule.get(peers, [{"anybody": None}]):
                    selector = peer.get("podSelector")
                    other = component(selector) if selector else next(iter(peer))
                    ends = (name, other) if side == "egress" else (other, name)
                    yield *ends, port["port"]


INNER = {
    ("web", "gateway", 8000),
    ("gateway", "auth", 50051),
    ("gateway", "links", 50051),
    ("gateway", "analytics", 50051),
    ("admin", "auth", 50052),
    ("admin", "links", 50052),
    ("admin", "analytics", 50052),
    ("reconciler", "auth", 50052),
    ("reconciler", "links", 50052),
    ("reconciler", "analytics", 50052),
    ("reconciler", "analytics", 50051),
}


@pytest.mark.parametrize("name", ["kind", "production"])
def test_policies_allow_exactly_the_intended_connections(name: str) -> None:
    rendered = manifests(name)
    everybody = {"test", "admin", *COMPONENTS} | (
        {"mongodb", "replica-set"} if name == "kind" else set()
    )
    assert of_kind("NetworkPolicy", rendered).keys() == pods(rendered).keys() == everybody

    inner = INNER | {("test", "web", 8080)}
    if name == "kind":
        inner |= {(each, "mongodb", 27017) for each in (*SERVICES, "replica-set")}
    names = {(each, "namespaceSelector", 53) for each in everybody - {"mongodb"}}
    outward = set(names)
    if name == "production":
        outward |= {(service, "ipBlock", 27017) for service in SERVICES}
        outward |= {(each, "namespaceSelector", 4317) for each in COMPONENTS - {"web"}}
    assert set(arrows(rendered, "egress", "to")) == inner | outward

    visitors = "anybody" if name == "kind" else "namespaceSelector"
    inward = {("namespaceSelector", each, 9090) for each in COMPONENTS} | {(visitors, "web", 8080)}
    assert set(arrows(rendered, "ingress", "from")) == inner | inward


def test_manifests_contain_no_secret_if_secrets_are_given() -> None:
    rendered = manifests("production")
    assert not of_kind("Secret", rendered)
    assert "mongodb://" not in text("production")
    for name in SERVICES:
        env = environment(pods(rendered)[name])
        assert env["ATAJO_STORE_FILE"] == "/run/secrets/atajo/ATAJO_STORE"
        volume = next(each for each in pods(rendered)[name]["volumes"] if each["name"] == "secrets")
        stores = [
            source["secret"]
            for source in volume["projected"]["sources"]
            if source["secret"]["items"][0]["path"] == "ATAJO_STORE"
        ]
        item = {"key": f"{name}-uri", "path": "ATAJO_STORE"}
        assert stores == [{"name": "atajo-mongodb", "items": [item]}]


def test_a_signing_secret_is_generated_and_kept() -> None:
    made = [
        of_kind("Secret", manifests("kind", f"contact={turn}@example.com"))["token"]
        for turn in range(2)
    ]
    assert made[0]["data"] != made[1]["data"]
    assert len(made[0]["data"]["token-secret"]) >= 64
    assert made[0]["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert made[0]["immutable"] is True


def test_a_gateway_has_its_journal_on_its_own_claim() -> None:
    gateway = of_kind("StatefulSet", manifests("kind"))["gateway"]["spec"]
    assert gateway["podManagementPolicy"] == "Parallel"
    assert [claim["metadata"]["name"] for claim in gateway["volumeClaimTemplates"]] == ["journal"]
    (mount,) = gateway["template"]["spec"]["containers"][0]["volumeMounts"]
    env = environment(gateway["template"]["spec"])
    assert mount["name"] == "journal"
    assert env["ATAJO_JOURNAL_DIR"].startswith(mount["mountPath"] + "/")

    without = of_kind("StatefulSet", manifests("small"))["gateway"]["spec"]
    assert "volumeClaimTemplates" not in without
    assert {"name": "journal", "emptyDir": {}} in without["template"]["spec"]["volumes"]


def test_blocklists_are_mounted_read_only() -> None:
    sources: dict[str, dict[str, Any]] = {
        "production": {
            "persistentVolumeClaim": {"claimName": "blocklists", "readOnly": True},
        },
        "small": {"configMap": {"name": "blocklists"}},
    }
    for name, source in sources.items():
        pod = pods(manifests(name))["links"]
        assert {"name": "blocklists", **source} in pod["volumes"]
        (path,) = [
            mount["mountPath"]
            for mount in pod["containers"][0]["volumeMounts"]
            if mount["name"] == "blocklists"
        ]
        assert environment(pod)["ATAJO_BLOCKLIST_DIR"] == path
    assert "ATAJO_BLOCKLIST_DIR" not in environment(pods(manifests("kind"))["links"])


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


def test_the_ingress_has_the_host_of_the_public_url() -> None:
    ingress = of_kind("Ingress", manifests("production"))["web"]["spec"]
    assert ingress["rules"][0]["host"] == "atajo.example"
    assert ingress["tls"] == [{"secretName": "atajo-tls", "hosts": ["atajo.example"]}]
    route = of_kind("HTTPRoute", manifests("small"))["web"]["spec"]
    assert route["hostnames"] == ["s.example"]
    assert route["rules"] == [{"backendRefs": [{"name": "atajo-web", "port": 80}]}]


def test_the_ingress_buffers_the_longest_redirect_with_any_annotations() -> None:
    name = "nginx.ingress.kubernetes.io/proxy-buffer-size"
    size = f"{Edge.load().redirect_header_bytes // 1024}k"
    other = "ingress.annotations.cert-manager\\.io/issuer=ours"
    own = "ingress.annotations.nginx\\.ingress\\.kubernetes\\.io/proxy-buffer-size=64k"
    for settings, env in (
        ((), {name: size}),
        ((other,), {name: size, "cert-manager.io/issuer": "ours"}),
        ((own,), {name: "64k"}),
    ):
        ingress = of_kind("Ingress", manifests("production", *settings))["web"]
        assert ingress["metadata"]["annotations"].items() >= env.items()


def test_a_kind_cluster_listens_at_its_public_url() -> None:
    cluster = yaml.safe_load((ROOT / "deploy" / "kind" / "cluster.yaml").read_text())
    (mapping,) = cluster["nodes"][0]["extraPortMappings"]
    http = of_kind("Service", manifests("kind"))["web"]["spec"]["ports"][0]
    assert http["nodePort"] == mapping["containerPort"]
    public = urlsplit(yaml.safe_load(VALUES["kind"].read_text())["publicUrl"])
    assert (public.hostname, public.port) == ("localhost", mapping["hostPort"])


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


def objects(values: dict[str, Any], path: str = "") -> Iterator[str]:
    yield path
    for key, value in values.items():
        free = path.endswith(("env.", "annotations."))
        if isinstance(value, dict) and not free and key not in ("env", "annotations"):
            yield from objects(value, f"{path}{key}.")


@pytest.fixture(scope="module")
def misspelt() -> str:
    """Return Helm's error for an unknown value in each object. It names all of them."""
    with pytest.raises(RefusedError) as refused:
        text("production", *(f"{path}misspelt=1" for path in objects(DEFAULTS)))
    return str(refused.value)


@pytest.mark.parametrize("path", list(objects(DEFAULTS)))
def test_an_unknown_value_is_refused(misspelt: str, path: str) -> None:
    place = f"/{path.removesuffix('.').replace('.', '/')}" if path else ""
    assert f"- at '{place}': additional properties 'misspelt' not allowed" in misspelt


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("mongodb.existingSecret=", "A MongoDB is needed"),
        ("mongodb.enabled=true", "/mongodb"),
        ("image.tag=latest", "/image/tag"),
        ("auth.env.ATAJO_TOKEN_SECRET=x", "ATAJO_TOKEN_SECRET"),
        ("links.env.ATAJO_STORE=mongodb://user:word@host/", "ATAJO_STORE"),
        ("publicUrl=https://atajo.example/path", "/publicUrl"),
        ("gateway.replicas=0", "/gateway/replicas"),
        ("links.blocklists.configMap=both", "/links/blocklists"),
        ("trustedHops=1", "'not' failed"),
        ("trustedHops=11", "/trustedHops"),
        ("image.digests.app=latest", "/image/digests/app"),
    ],
)
def test_an_invalid_value_is_refused(setting: str, complaint: str) -> None:
    with pytest.raises(RefusedError, match=re.escape(complaint)):
        text("production", setting)


def test_only_nginx_counts_trusted_hops() -> None:
    env = environment(pods(manifests("small", "trustedHops=2"))["web"])
    assert (env["ATAJO_TRUSTED_HOPS"], env["ATAJO_TRUSTED_PROXIES"]) == ("2", "")


def test_images_can_be_pinned_by_digest() -> None:
    digest = f"sha256:{'0123456789abcdef' * 4}"
    pinned = pods(manifests("kind", f"image.digests.web={digest}", "image.tag=1.2.3"))
    assert pinned["web"]["containers"][0]["image"] == f"atajo/web:1.2.3@{digest}"
    assert pinned["gateway"]["containers"][0]["image"] == "atajo/app:1.2.3"
    others = [pinned["mongodb"]["containers"][0]["image"]]
    for file in (ROOT / "deploy" / "images").glob("*.Dockerfile"):
        others += re.findall(r"^ARG \w+_IMAGE=(.+)$", file.read_text(), re.MULTILINE)
    assert len(others) == 5
    for image in others:
        assert re.fullmatch(r"[a-z/-]+:[\w.-]+@sha256:[0-9a-f]{64}", image), image


def test_an_upgrade_does_not_restart_mongodb() -> None:
    def of_version(version: str) -> object:
        sets = of_kind("StatefulSet", manifests("kind", f"image.tag={version}"))
        return sets["mongodb"]["spec"]["template"]

    assert of_version("1.0.0") == of_version("1.0.1")
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["version"]
    assert version not in yaml.safe_dump(of_version("next"))


def test_env_of_a_component_overrides_the_chart() -> None:
    rendered = manifests("small", "gateway.env.ATAJO_JOURNAL_DIR=/var/lib/atajo/elsewhere")
    env = environment(pods(rendered)["gateway"])
    assert env["ATAJO_JOURNAL_DIR"] == "/var/lib/atajo/elsewhere"
    assert env["ATAJO_CACHE_BYTES"] == "250000000"
