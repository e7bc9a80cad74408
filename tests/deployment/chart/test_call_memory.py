"""The memory limits of gateway and links cover their caches and the calls that they run at once.

The bytes of a large call were measured as the growth of the resident memory of whole processes,
with the worst valid bodies: 200 rows with a character outside of Latin-1 in each text.
"""

from __future__ import annotations

from dataclasses import fields
from typing import get_type_hints

import pytest

from gateway.api.authentication import MAX_KEYS
from gateway.api.limits import Gate
from gateway.settings import GatewaySettings
from gateway.support.edge import Edge
from gateway.support.rate_limits import CALLS, LARGE_CALLS, MAX_WINDOWS, RateLimiter
from gateway.use_cases.limits import Limits
from services.links.api.large_calls import MAX_LARGE_CALLS
from tests.deployment.chart.render import VALUES, manifests, of_kind, pods

_MIB = 1024**2
EDGE = Edge.load(https=True)

GATEWAY_BASE_BYTES = 90 * _MIB
"""A gateway that has answered its first calls, with empty caches."""
WINDOW_BYTES = 320
"""A window of a rate limiter, with its key."""
KEY_BYTES = 512
"""A verified API key."""
CALL_BYTES = 2 * EDGE.body_bytes + 40 * 1024
"""A call with the maximum body: the body, its values, and the request around it."""
LARGE_CALL_BYTES = 5 * _MIB
"""A large call in the gateway: 32 calls took 151 MiB."""

LINKS_BASE_BYTES = 65 * _MIB
LARGE_CALL_BYTES_IN_LINKS = 3 * _MIB + EDGE.large_body_bytes
"""A large call in links: 32 calls took 97 MiB."""


def gateway_bytes() -> int:
    """Return the memory of a gateway with full caches and all calls that it runs at once."""
    limiters = len(fields(Limits)) + [*get_type_hints(Gate.__init__).values()].count(RateLimiter)
    cache: int = GatewaySettings.model_fields["cache_bytes"].default
    return (
        GATEWAY_BASE_BYTES
        + cache
        + limiters * MAX_WINDOWS * WINDOW_BYTES
        + MAX_KEYS * KEY_BYTES
        + CALLS.total * CALL_BYTES
        + LARGE_CALLS.total * LARGE_CALL_BYTES
    )


def links_bytes(gateways: int) -> int:
    """Return the memory of links with all large calls that it runs, and those that it refuses."""
    refused = max(0, gateways * LARGE_CALLS.total - MAX_LARGE_CALLS)
    return (
        LINKS_BASE_BYTES
        + MAX_LARGE_CALLS * LARGE_CALL_BYTES_IN_LINKS
        + refused * EDGE.large_body_bytes
    )


def gateways_of(values: str) -> int:
    """Return the maximum number of gateways."""
    rendered = manifests(values)
    scaler = of_kind("HorizontalPodAutoscaler", rendered).get("gateway")
    workload = of_kind("StatefulSet", rendered) | of_kind("Deployment", rendered)
    number: int = (
        scaler["spec"]["maxReplicas"] if scaler else workload["gateway"]["spec"]["replicas"]
    )
    return number


@pytest.mark.parametrize("values", VALUES)
def test_the_limit_covers_all_calls_and_is_not_twice_that(values: str) -> None:
    max_gateways = max(gateways_of(name) for name in VALUES)
    for component, worst in (("gateway", gateway_bytes()), ("links", links_bytes(max_gateways))):
        resources = pods(manifests(values))[component]["containers"][0]["resources"]
        limit = resources["limits"]["memory"]
        assert limit.endswith("Mi")
        allowed = int(limit.removesuffix("Mi")) * _MIB
        assert worst <= allowed < 2 * worst, f"{component}: {worst / _MIB:.0f} MiB"
