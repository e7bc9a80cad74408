"""Generates random bytes by a grammar: mostly plausible requests, often invalid ones."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Alternative = bytes | Callable[[random.Random], bytes]
"""Bytes in which `<name>` stands for an alternative of that rule, or a function that makes some."""
Rules = Mapping[str, Sequence[Alternative]]

_NAME = re.compile(rb"<([a-zA-Z_]+)>")
_DEEPEST = 12
"""Maximum nesting. Below it the first alternative is used, which must not recurse."""


class Grammar:
    """Rules by name. Raises KeyError if one names an unknown rule."""

    def __init__(self, rules: Rules) -> None:
        self._rules = {name: [_parsed(one) for one in many] for name, many in rules.items()}
        for many in self._rules.values():
            for one in many:
                for part in one if isinstance(one, tuple) else ():
                    if isinstance(part, str):
                        self._rules[part]

    def some(self, name: str, chance: random.Random, depth: int = 0) -> bytes:
        """Return a random text of a rule."""
        alternatives = self._rules[name]
        one = alternatives[0] if depth > _DEEPEST else chance.choice(alternatives)
        if not isinstance(one, tuple):
            return one(chance)
        return b"".join(
            part if isinstance(part, bytes) else self.some(part, chance, depth + 1) for part in one
        )


_WEIGHT = re.compile(r"\[\[(\d+)x\]\]")
_UP_TO = re.compile(r"\[\[(.+)\*0\.\.(\d+)\]\]")
_TIMES = re.compile(r"\[\[(.+?)\*(\d+)\]\]")
_BYTES = re.compile(rb"\[\[((?:[0-9a-f]{2} ?)+)\]\]")


def read(file: Path) -> dict[str, Sequence[Alternative]]:
    """Return the rules of a file in the format of tests/system/fuzz/http_grammar.toml."""
    rules = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: [one for text in many for one in _read(text)] for name, many in rules.items()}


def _read(text: str) -> Sequence[Alternative]:
    weight = _WEIGHT.match(text)
    times, text = (int(weight[1]), text[weight.end() :]) if weight else (1, text)
    if up_to := _UP_TO.fullmatch(text):
        return [_up_to(up_to[1], int(up_to[2]))] * times
    data = _TIMES.sub(lambda found: found[1] * int(found[2]), text).encode()
    return [_BYTES.sub(lambda found: bytes.fromhex(found[1].decode()), data)] * times


def _up_to(unit: str, max_count: int) -> Alternative:
    if unit == "noise":
        return lambda chance: chance.randbytes(chance.randint(0, max_count))
    data = unit.encode()
    return lambda chance: data * chance.randint(0, max_count)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with a few of them changed, deleted, duplicated or moved."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(changed))
        end = min(len(changed), start + chance.choice((1, 1, 2, 8, 64)))
        match chance.randrange(5):
            case 0:
                changed[start:end] = chance.randbytes(end - start)
            case 1:
                del changed[start:end]
            case 2:
                changed[start:start] = changed[start:end] * chance.choice((1, 2, 200))
            case 3:
                changed[start:start] = chance.choice(_TROUBLE)
            case _:
                del changed[start:]
    return bytes(changed)


_TROUBLE = (
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b":",
    b"\xff\xfe",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"0\r\n\r\n",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
)


def _parsed(
    alternative: Alternative,
) -> tuple[bytes | str, ...] | Callable[[random.Random], bytes]:
    if not isinstance(alternative, bytes):
        return alternative
    parts = _NAME.split(alternative)
    return tuple(part.decode() if place % 2 else part for place, part in enumerate(parts) if part)
