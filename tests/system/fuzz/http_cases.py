"""What strangers may send to the public port, each case told by a seed and a number."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from gateway.support.edge import Edge
from tests.support.gateway_client import BROWSER
from tests.system.fuzz.grammar import Grammar, mutated, read

EDGE = Edge.load()
KNOWN_CODES = tuple(f"fuzzed-{n}" for n in range(4))
"""Codes of links that are there."""
FUNCTIONS = tuple(path[1:] for path in EDGE.functions)
_TOKEN = b"%TOKEN%"
"""Where a case has a session's token, which no seed can tell."""
_LONGEST_PIPELINE = 6
_LONG = 4000
"""Bytes from which on a connection may be ended while some are on their way."""
_BROKEN_SHARE = 0.12
"""Of the cases, those whose framing is broken, too."""
_CALLS_SHARE = 0.4
"""Of the requests, those that call a function; half of them with a payload of its form."""
_CONTROLS_SHARE = 0.03
"""Of the lines, those that keep the control characters in them: such a request is refused whole."""
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
    """What is sent over one connection: the pieces in turn.

    `methods` are those of the requests, in order, where the framing is right: each is answered
    before the connection ends, unless one of them is refused and ends it. Where it is broken there
    is nothing to wait for but the connection's end. Where one is long it may be refused before it
    was read to its end, and the kernel then takes the answer back.
    """

    pieces: tuple[bytes, ...]
    methods: tuple[bytes, ...] | None

    @property
    def is_long(self) -> bool:
        return sum(map(len, self.pieces)) > _LONG


def case(seed: int, number: int, token: str) -> Case:
    """The case of a number; always the same, but for the token."""
    chance = random.Random(f"http {seed} {number}")
    count = chance.choice((1, 1, 1, 2, _LONGEST_PIPELINE))
    requests = [_request(chance, token) for _ in range(count)]
    data = b"".join(request for _, request in requests)
    if chance.random() < _BROKEN_SHARE:
        return Case(_pieces(mutated(data, chance), chance), None)
    return Case(_pieces(data, chance), tuple(method for method, _ in requests))


def _request(chance: random.Random, token: str) -> tuple[bytes, bytes]:
    """A method and a whole request of it: any text in its fields, none that would end one."""
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
    """A rule's text without what would end a line."""
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
