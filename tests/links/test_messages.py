"""How the gateway reads messages of links, including those of a later version."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest

from atajo.links.v1 import links_pb2 as pb
from gateway.backends.links import LinksClient
from gateway.redirects import resolution as gateway
from services.links.api.messages import to_resolution
from services.links.domain.block import BlockReason
from services.links.domain.resolution import LinkState, Resolution
from services.shared.errors import Unavailable

ENDS = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)


@asynccontextmanager
async def answering(method: str, answer: bytes) -> AsyncIterator[LinksClient]:
    """Yield a client of a service that answers one method with fixed bytes."""

    async def handle(request: bytes, context: Any) -> bytes:
        return answer

    server = grpc.aio.server()
    name = pb.DESCRIPTOR.services_by_name["LinksService"].full_name
    handler: Any = grpc.unary_unary_rpc_method_handler(handle)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(name, {method: handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    client = LinksClient(f"127.0.0.1:{port}")
    try:
        yield client
    finally:
        await client.close()
        await server.stop(None)


async def test_the_gateway_receives_every_state() -> None:
    resolutions = [
        Resolution("active00", LinkState.ACTIVE, "http://a.example"),
        Resolution("ending00", LinkState.ACTIVE, "http://a.example", ENDS, "http://b.example"),
        Resolution("expired0", LinkState.EXPIRED, "", ENDS, "http://b.example"),
        Resolution("removed0", LinkState.REMOVED),
        *(
            Resolution(f"{reason.value:-<8}", LinkState.BLOCKED, reason=reason)
            for reason in BlockReason
        ),
    ]
    expected = {
        one.code: gateway.Resolution(
            gateway.LinkState(one.state.value),
            one.url,
            one.expires_at,
            one.ended_url,
            one.reason and gateway.BlockReason(one.reason.value),
        )
        for one in resolutions
    }
    response = pb.ResolveLinksResponse(resolutions=map(to_resolution, resolutions))

    async with answering("ResolveLinks", response.SerializeToString()) as client:
        assert await client.resolve(list(expected)) == expected

    changed = pb.ListChangesResponse(
        cursor="7", resolutions=response.resolutions, gone=["gone0000"], more=True, truncated=True
    )
    async with answering("ListChanges", changed.SerializeToString()) as client:
        assert await client.changes("3") == gateway.ChangeFeedPage(
            "7", expected, frozenset({"gone0000"}), more=True, truncated=True
        )


async def test_an_unknown_state_is_not_followed() -> None:
    message = pb.Resolution(code="abcdefgh", state=99)  # type: ignore[arg-type]
    answer = pb.ResolveLinksResponse(resolutions=[message])
    async with answering("ResolveLinks", answer.SerializeToString()) as client:
        found = await client.resolve(["abcdefgh"])
    assert found["abcdefgh"].state is gateway.LinkState.EXPIRED


async def test_too_few_outcomes_fail_every_creation() -> None:
    async with answering("CreateLinks", b"") as client:
        made = (client.create(code, "a.example", None) for code in ("abcdefgh", "ABCDEFGH"))
        ends = await asyncio.wait_for(asyncio.gather(*made, return_exceptions=True), 20)
    assert [type(end) for end in ends] == [ValueError] * 2


async def test_concurrent_creations_are_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.backends.links.MAX_PENDING_CREATIONS", 3)
    resolution = Resolution("abcdefgh", LinkState.ACTIVE, "http://a.example")
    answer = pb.CreateLinkResponse(resolution=to_resolution(resolution))
    async with answering("CreateLink", answer.SerializeToString()) as client:
        for _ in range(2):  # Finished creations make room.
            made = (client.create("abcdefgh", "a.example", None) for _ in range(5))
            ends = await asyncio.gather(*made, return_exceptions=True)
            refused = [end.reason for end in ends if isinstance(end, Unavailable)]
            assert refused == ["CREATIONS_OVERLOADED"] * 2
