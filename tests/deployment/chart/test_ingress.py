"""Ingress and HTTPRoute."""

from __future__ import annotations

from gateway.support.edge import Edge
from tests.deployment.chart.render import (
    manifests,
    of_kind,
)


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
