"""Responses of the functions: compression, streaming, and errors during a stream."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from gateway.functions.protocol import success
from services.shared.errors import Unavailable


def request_with(*headers: tuple[bytes, bytes]) -> Request:
    return Request({"type": "http", "method": "POST", "path": "/showProfile", "headers": headers})


GZIP = (b"accept-encoding", b"gzip")


class Client:
    """Receives a response, and disconnects after `patience` messages."""

    def __init__(self, patience: int = 1000) -> None:
        self.messages: list[Message] = []
        self._patience = patience
        self._gone = asyncio.Event()

    async def send(self, message: Message) -> None:
        self.messages.append(message)
        if len(self.messages) >= self._patience:
            self._gone.set()
        await asyncio.sleep(0)

    async def receive(self) -> Message:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def get(
        self, data: dict[str, Any] | AsyncGenerator[bytes, None], *headers: tuple[bytes, bytes]
    ) -> None:
        request = request_with(*headers)
        await success(request, data, ())(request.scope, self.receive, self.send)

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.messages[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.messages[1:])

    @property
    def is_whole(self) -> bool:
        return not self.messages[-1].get("more_body", False)


@pytest.mark.parametrize(("characters", "gzipped"), [(10, False), (5000, True)])
async def test_a_long_response_is_compressed(characters: int, gzipped: bool) -> None:
    client, data = Client(), {"longUrl": "a" * characters}
    await client.get(data, GZIP)
    assert int(client.headers[b"content-length"]) == len(client.body)
    assert client.headers.get(b"content-encoding") == (b"gzip" if gzipped else None)
    assert client.headers.get(b"vary") == (b"accept-encoding" if gzipped else None)
    assert json.loads(gzip.decompress(client.body) if gzipped else client.body) == {"data": data}


@pytest.mark.parametrize("headers", [(), (GZIP,)], ids=["plain", "gzip"])
async def test_a_stream_is_one_document(headers: tuple[tuple[bytes, bytes], ...]) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b"[1"
        yield b",2]"

    client = Client()
    await client.get(pieces(), *headers)
    body = gzip.decompress(client.body) if headers else client.body
    assert body == b'{"data":[1,2]}'
    assert client.is_whole
    assert client.headers[b"vary"] == b"accept-encoding"
    assert (b"content-encoding" in client.headers) == bool(headers)


async def test_a_failing_stream_is_an_error_or_truncated() -> None:
    async def pieces(good: int) -> AsyncGenerator[bytes, None]:
        for _ in range(good):
            yield b"[1"
        raise Unavailable("away")

    for good in (0, 1):
        client = Client()
        with pytest.raises(Unavailable):
            await client.get(pieces(good))
        assert bool(client.messages) == bool(good), "the headers were sent before the error"
        assert not good or not client.is_whole


async def test_a_stream_ends_when_its_client_disconnects() -> None:
    ended = False

    async def endless() -> AsyncGenerator[bytes, None]:
        nonlocal ended
        try:
            while True:
                yield b"x" * 5000
        finally:
            ended = True

    async with asyncio.timeout(10):
        await Client(patience=3).get(endless())
    assert ended
