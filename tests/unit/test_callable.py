"""Answers of the functions: what is held while one is sent, and how it is encoded."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from gateway.callable import success


def asks(*headers: tuple[bytes, bytes]) -> Request:
    return Request({"type": "http", "method": "POST", "path": "/showProfile", "headers": headers})


async def never() -> Message:
    raise AssertionError("nothing more is read")


async def test_what_holds_an_answer_is_kept_until_it_is_sent() -> None:
    held = False
    sent: list[tuple[bool, Message]] = []

    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b"[1"
        yield b",2]"

    @asynccontextmanager
    async def holding() -> AsyncIterator[AsyncGenerator[bytes, None]]:
        nonlocal held
        held = True
        yield pieces()
        held = False

    async def send(message: Message) -> None:
        sent.append((held, message))

    request = asks()
    await success(request, holding(), ())(request.scope, never, send)
    assert not held
    assert all(kept for kept, _ in sent)
    assert b"".join(message.get("body", b"") for _, message in sent) == b'{"data":[1,2]}'


@pytest.mark.parametrize(("characters", "gzipped"), [(10, False), (5000, True)])
async def test_a_long_answer_that_is_no_list_is_compressed_too(
    characters: int, gzipped: bool
) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    request = asks((b"accept-encoding", b"gzip"))
    data: dict[str, Any] = {"longUrl": "a" * characters}
    await success(request, data, ())(request.scope, never, send)
    start, *bodies = sent
    body = b"".join(message["body"] for message in bodies)
    headers = dict(start["headers"])
    assert int(headers[b"content-length"]) == len(body)
    assert headers.get(b"content-encoding") == (b"gzip" if gzipped else None)
    assert headers.get(b"vary") == (b"accept-encoding" if gzipped else None)
    assert json.loads(gzip.decompress(body) if gzipped else body) == {"data": data}
