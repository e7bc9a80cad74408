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


DOMAINS = (
    "domains[0]=https://go.example",
    "domains[1]=https://go.example:8443",
    "domains[2]=http://old.example",
)


def test_every_domain_reaches_the_web_server_with_a_certificate_of_its_own() -> None:
    """A certificate that names a lost host could not be renewed for the others."""
    ingress = of_kind("Ingress", manifests("production", *DOMAINS))["web"]["spec"]
    hosts = ["atajo.example", "go.example", "old.example"]
    assert [rule["host"] for rule in ingress["rules"]] == hosts
    assert {str(rule["http"]) for rule in ingress["rules"]} == {str(ingress["rules"][0]["http"])}
    assert ingress["tls"] == [
        {"secretName": "atajo-tls", "hosts": ["atajo.example"]},
        {"secretName": "atajo-tls-go.example", "hosts": ["go.example"]},
    ]
    route = of_kind("HTTPRoute", manifests("small", *DOMAINS))["web"]["spec"]
    assert route["hostnames"] == ["s.example", "go.example", "old.example"]


def test_domains_are_settings_of_what_needs_them() -> None:
    rendered = manifests("production", *DOMAINS)
    found = {}
    for kind in ("Deployment", "StatefulSet"):
        for name, manifest in of_kind(kind, rendered).items():
            for container in manifest["spec"]["template"]["spec"]["containers"]:
                for variable in container.get("env", []):
                    if variable["name"] == "ATAJO_DOMAINS":
                        found[name] = variable["value"]
    value = "https://go.example,https://go.example:8443,http://old.example"
    assert found == dict.fromkeys(("admin", "gateway", "links", "web"), value)
