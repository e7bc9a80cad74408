"""The load of `make bench-attack`: a user at a low steady rate, and a stranger at full speed.

Both speak HTTP/1.1 with requests that are prepared as bytes, so that the client takes little of the
cores that it shares with the product.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import uvloop

from tests.support.gateway_client import BROWSER, new_code

USER, STRANGER = "127.0.0.2", "127.0.0.3"
"""Source addresses of the connections."""
DEADLINE_SECONDS = 10.0
"""A call without a response after this time is an error `timeout`."""
_BRACKETS = "a.example" + ")" * 951
_PAGE = "https://www.example.com/"
_EMOJI = "\N{LINKED PAPERCLIPS}"
_IMPORTED = {
    "url": _PAGE.ljust(620, "x"),
    "title": _EMOJI * 100,
    "tags": [str(number) + _EMOJI * 29 for number in range(10)],
}
"""A row of an import with full title and tags: 200 have 470 kB."""
_CREATED = {
    **_IMPORTED,
    "url": _PAGE.ljust(999, "x"),
    "ended_url": _PAGE.ljust(999, "y"),
}
"""A link of the REST API with all fields full."""
_CODE = '"CODE"'

Outcome = int | str
"""An HTTP status, or the reason why there was none: `timeout` or `closed`."""


class Connection:
    """A persistent HTTP connection from one source address."""

    def __init__(self, port: int, address: str) -> None:
        self._port = port
        self._address = address
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> Outcome:
        """Send a request, on a new connection if the server closed the last one."""
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                return await self._ask(request)
        except TimeoutError:
            outcome = "timeout"
        except (OSError, asyncio.IncompleteReadError):
            outcome = "closed"
        self.close()
        return outcome

    async def _ask(self, request: bytes) -> int:
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection(
                "127.0.0.1", self._port, local_addr=(self._address, 0)
            )
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" in head:
            while size := int(await reader.readline(), 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        elif length := re.search(rb"\ncontent-length: (\d+)", head):
            await reader.readexactly(int(length[1]))
        if b"\nconnection: close" in head:
            self.close()
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None


def get(path: str) -> bytes:
    """Return a request with a browser's User-Agent."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: {BROWSER}\r\n\r\n".encode()


def post(path: str, body: bytes, *headers: str) -> bytes:
    """Return a request with a JSON body."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def call(function: str, **data: object) -> bytes:
    """Return a call of a function."""
    return post(f"/{function}", json.dumps({"data": data}, ensure_ascii=False).encode())


class Operation(NamedTuple):
    """What the user does at a steady rate."""

    name: str
    per_second: int
    requests: Iterator[bytes]
    status: int = 200


@dataclass
class Latencies:
    """Milliseconds from when a call was due to the end of its response, and errors, by name."""

    milliseconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)


async def use(port: int, operations: Sequence[Operation], seconds: float) -> Latencies:
    """Start operations at their rates, whether or not earlier ones have ended (open loop)."""
    measured = Latencies()
    idle: list[Connection] = []
    due = sorted(
        ((number + random.random()) / operation.per_second, index)
        for index, operation in enumerate(operations)
        for number in range(round(seconds * operation.per_second))
    )
    started = time.monotonic()

    async def ask(operation: Operation, at: float) -> None:
        connection = idle.pop() if idle else Connection(port, USER)
        outcome = await connection.ask(next(operation.requests))
        idle.append(connection)
        measured.milliseconds[operation.name].append((time.monotonic() - at) * 1000)
        if outcome != operation.status:
            measured.errors[f"{operation.name}: {outcome}"] += 1

    async with asyncio.TaskGroup() as tasks:
        for offset, index in due:
            await asyncio.sleep(started + offset - time.monotonic())
            tasks.create_task(ask(operations[index], started + offset))
    for connection in idle:
        connection.close()
    return measured


class Kind(NamedTuple):
    """Connections of the stranger that send the same call again and again."""

    name: str
    connections: int
    requests: Sequence[Callable[[], bytes]]
    """What the connections send, in turn."""


class Stranger(NamedTuple):
    """The stranger's accounts: session tokens, and API keys of the first and of the others."""

    tokens: Sequence[str]
    first_keys: Sequence[str]
    other_keys: Sequence[str]

    def kinds(self) -> list[Kind]:
        """Return everything that the stranger does at once."""
        first, *others = self.tokens
        long = "a.example" + ")" * 523_000
        creation = call("createShortLink", code="k7Qm2_xB", url=long[:64_000])
        row = call("checkImport", token=first, rows=[_row(0, long)])
        rows = call("checkImport", token=first, rows=[_row(n, _BRACKETS) for n in range(500)])
        keys = (*self.first_keys, *self.other_keys)
        return [
            Kind("text: creation", 47, [lambda: creation]),
            Kind("text: check of a row", 8, [lambda: row]),
            Kind("text: check of 500 rows", 8, [lambda: rows]),
            Kind("text: 100 links by REST", 8, [_bulk(self.other_keys[0], {"url": _BRACKETS})]),
            Kind("import, one account", 250, [_import(first)]),
            Kind("import, other accounts", 2 * len(others), [*map(_import, others)]),
            Kind("creation", 20, [lambda: _creation(random.choice(self.tokens))]),
            Kind("100 links by REST", len(keys), [_bulk(key, _CREATED) for key in keys]),
        ]


def _row(number: int, url: str) -> dict[str, object]:
    return {"row": number, "code": "abcdefgh", "url": url}


def _creation(token: str) -> bytes:
    return call("createShortLink", token=token, code=new_code(), url=_CREATED["url"])


def _import(token: str) -> Callable[[], bytes]:
    """Return a function that makes a new import of 200 rows."""
    rows = [{"row": row, "code": "CODE", **_IMPORTED} for row in range(200)]
    data = json.dumps({"token": token, "import_id": "ID", "rows": rows}, ensure_ascii=False)
    before, *pieces = data.encode().split(_CODE.encode())

    def request() -> bytes:
        start = before.replace(b'"ID"', b'"%b"' % secrets.token_urlsafe(16).encode())
        coded = (b'"%b"%b' % (new_code().encode(), piece) for piece in pieces)
        return post("/importLinks", b'{"data":%b%b}' % (start, b"".join(coded)))

    return request


def _bulk(key: str, link: object) -> Callable[[], bytes]:
    """Return a function that creates 100 links with a new idempotency key."""
    body = json.dumps({"links": [link] * 100}, ensure_ascii=False).encode()

    def request() -> bytes:
        headers = (f"Authorization: Bearer {key}", f"Idempotency-Key: {secrets.token_hex(16)}")
        return post("/api/v1/links/bulk", body, *headers)

    return request


Answers = Counter[tuple[str, Outcome]]
"""Calls by the name of their kind and their outcome."""


def attack(
    port: int, stranger: Stranger, seconds: float, rates: Mapping[str, float] | None = None
) -> Answers:
    """Send everything for some seconds, each connection its next call right after a response.

    With `rates`, each kind sends so many calls a second instead.
    """
    answers: Answers = Counter()

    async def repeat(kind: Kind, number: int) -> None:
        connection = Connection(port, STRANGER)
        request = kind.requests[number % len(kind.requests)]
        pause = 0.0 if rates is None else kind.connections / max(rates[kind.name], 0.001)
        due = time.monotonic() + random.random() * pause
        try:
            while True:
                if pause:
                    await asyncio.sleep(due - time.monotonic())
                    due += pause
                answers[kind.name, await connection.ask(request())] += 1
        finally:
            connection.close()

    async def run() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks:
                for kind in stranger.kinds():
                    for number in range(kind.connections):
                        tasks.create_task(repeat(kind, number))

    uvloop.run(run())
    return answers
