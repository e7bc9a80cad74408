"""The gateway reaches the services, and keeps its journal."""

from __future__ import annotations

from tests.deployment.chart.render import (
    SERVICES,
    Manifest,
    environment,
    manifests,
    of_kind,
    pods,
)


def test_the_gateway_dials_pods_that_listen(rendered: list[Manifest]) -> None:
    gateway = environment(pods(rendered)["gateway"])
    for name in SERVICES:
        service = of_kind("Service", rendered)[name]["spec"]
        port = next(each["port"] for each in service["ports"] if each["name"] == "grpc")
        assert gateway[f"ATAJO_{name.upper()}_ADDRESS"] == f"dns:///atajo-{name}:{port}"
        assert service["clusterIP"] == "None", "one address would stick to one pod"
        assert environment(pods(rendered)[name])["ATAJO_LISTEN"].endswith(f":{port}")
    assert environment(pods(rendered)["web"])["ATAJO_GATEWAY"] == "atajo-gateway:8000"


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
