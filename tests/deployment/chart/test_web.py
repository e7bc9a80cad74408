"""nginx reaches the gateway, and is reached as its public URL says."""

from __future__ import annotations

from urllib.parse import urlsplit

import yaml

from tests.deployment.chart.render import (
    VALUES,
    environment,
    manifests,
    of_kind,
    pods,
)
from tests.support.processes import ROOT


def test_only_nginx_counts_trusted_hops() -> None:
    env = environment(pods(manifests("small", "trustedHops=2"))["web"])
    assert (env["ATAJO_TRUSTED_HOPS"], env["ATAJO_TRUSTED_PROXIES"]) == ("2", "")


def test_a_kind_cluster_listens_at_its_public_url() -> None:
    cluster = yaml.safe_load((ROOT / "deploy" / "kind" / "cluster.yaml").read_text())
    (mapping,) = cluster["nodes"][0]["extraPortMappings"]
    http = of_kind("Service", manifests("kind"))["web"]["spec"]["ports"][0]
    assert http["nodePort"] == mapping["containerPort"]
    public = urlsplit(yaml.safe_load(VALUES["kind"].read_text())["publicUrl"])
    assert (public.hostname, public.port) == ("localhost", mapping["hostPort"])


def test_a_cloud_configures_its_load_balancer_by_annotations() -> None:
    services = of_kind("Service", manifests("platform"))
    name = "service.beta.kubernetes.io/internal"
    assert services["web"]["metadata"]["annotations"][name] == "true"
    assert name not in services["gateway"]["metadata"]["annotations"]
