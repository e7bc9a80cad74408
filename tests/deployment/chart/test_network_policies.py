"""Network policies allow the intended connections and no others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deployment.chart.render import (
    COMPONENTS,
    SERVICES,
    Manifest,
    component,
    manifests,
    of_kind,
    pods,
)


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


def test_auth_alone_reaches_a_provider_of_openid_connect() -> None:
    provider = (
        "oidc.issuer=https://id.example:8443/",
        "oidc.clientId=atajo",
        "oidc.existingSecret=provider",
        "oidc.name=Work",
    )
    before = set(arrows(manifests("production"), "egress", "to"))
    after = set(arrows(manifests("production", *provider), "egress", "to"))
    assert after - before == {("auth", "anybody", 443)}
    told = ("networkPolicy.oidcTo[0].ipBlock.cidr=192.0.2.7/32", "networkPolicy.oidcPorts={8443}")
    after = set(arrows(manifests("production", *provider, *told), "egress", "to"))
    assert after - before == {("auth", "ipBlock", 8443)}
