"""Cases for the public port, each identified by a seed and a number."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from gateway.support.edge import Edge
from tests.support.gateway_client import BROWSER
from tests.system.fuzz.grammar import Grammar, mutated, read

EDGE = Edge.load()
KNOWN_CODES = tuple(f"fuzzed-{n}" for n in range(4))
"""Codes of existing links."""
FUNCTIONS = tuple(path[1:] for path in EDGE.functions)
_TOKEN = b"%TOKEN%"
"""Placeholder for a session token, which does not follow from the seed."""
_LONGEST_PIPELINE = 6
_LONG = 4000
"""Bytes from which on a connection may be closed while some are in transit."""
_BROKEN_SHARE = 0.12
"""Share of cases with broken framing."""
_CALLS_SHARE = 0.4
"""Share of requests that call a function, half of them with a valid form of payload."""
_CONTROLS_SHARE = 0.03
"""Share of lines with control characters, for which the whole request is refused."""
_CONTROLS = bytes((*range(32), 127))

_GRAMMAR = Grammar(
    read(Path(__file__).with_name("http_grammar.toml"))
    | {
        "known_code": [code.encode() for code in KNOWN_CODES],
        "route": [path[1:].encode() for path in (*EDGE.pages, *EDGE.gateway)],
        "function": [name.encode() for name in FUNCTIONS],
        "browser": [BROWSER.encode()],
    }
)


@dataclass(frozen=True)
class Case:
    """The pieces sent over one connection, in order.

    `methods` are those of the requests if the framing is valid: each is answered before the
    connection ends, unless a refused one ends it. With broken framing, only the end of the
    connection is expected. A long request may be refused before it is read completely; then the
    kernel may drop the response.
    """

    pieces: tuple[bytes, ...]
    methods: tuple[bytes, ...] | None

    @property
    def is_long(self) -> bool:
        return sum(map(len, self.pieces)) > _LONG


def case(seed: int, number: int, token: str) -> Case:
    """Return the case of a number. It is always the same, except for the token."""
    chance = random.Random(f"http {seed} {number}")
    count = chance.choice((1, 1, 1, 2, _LONGEST_PIPELINE))
    requests = [_request(chance, token) for _ in range(count)]
    data = b"".join(request for _, request in requests)
    if chance.random() < _BROKEN_SHARE:
        return Case(_pieces(mutated(data, chance), chance), None)
    return Case(_pieces(data, chance), tuple(method for method, _ in requests))


def _request(chance: random.Random, token: str) -> tuple[bytes, bytes]:
    """Return a method and a complete request, with any text in its fields that does not end one."""
    if chance.random() < _CALLS_SHARE:
        function = chance.choice(FUNCTIONS)
        method, target = b"POST", f"/{function}".encode()
        headers = [b"Content-Type: application/json"]
        body = chance.choice((function, "body"))
    else:
        method, target = _line("method", chance), _line("target", chance) or b"/"
        headers = []
        body = "body" if method not in (b"GET", b"HEAD") or chance.random() < 0.1 else ""
    headers += [_line("header", chance) for _ in range(chance.choice((0, 1, 2, 4, 12)))]
    chance.shuffle(headers)
    data = _GRAMMAR.some(body, chance).replace(_TOKEN, token.encode()) if body else b""
    if body and chance.random() < 0.2:
        headers.append(b"Transfer-Encoding: chunked")
        data = _chunked(data, chance)
    elif body:
        headers.append(b"Content-Length: %d" % len(data))
    lines = [b"%s %s %s" % (method, target, _line("version", chance)), b"Host: localhost", *headers]
    return method, b"\r\n".join(lines) + b"\r\n\r\n" + data


def _line(rule: str, chance: random.Random) -> bytes:
    """Return a rule's text without line ends."""
    unwanted = b"\r\n\0" if chance.random() < _CONTROLS_SHARE else _CONTROLS
    return _GRAMMAR.some(rule, chance).translate(None, unwanted)


def _chunked(body: bytes, chance: random.Random) -> bytes:
    cut = chance.randint(0, len(body))
    chunks = [chunk for chunk in (body[:cut], body[cut:]) if chunk]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _pieces(data: bytes, chance: random.Random) -> tuple[bytes, ...]:
    if chance.random() < 0.8:
        return (data,)
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.randint(1, 5)))
    return tuple(data[a:b] for a, b in zip((0, *cuts), (*cuts, len(data)), strict=True))
