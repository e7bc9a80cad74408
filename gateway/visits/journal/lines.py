"""The line of a visit in the journal: `<crc32> <code> <hour> <kind> <referrer host>[ <facts>]`.

ASCII, with a line end. Facts are `name=value` fields, all optional. Readers ignore unknown names.
"""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from gateway.visits.enrichment.classification import Kind

MAX_BYTES = 600
"""Maximum length of a line: 310 with the longest code and referrer host, and 290 for facts."""
SLICE_BYTES = 32 << 10
"""Bytes that are read and parsed without a pause: 1 to 2 ms of the event loop if all lines differ,
0.1 ms if they are equal. Longer data without a line end is split there."""
_MAX_CACHED_BYTES = 16 << 20
_CACHED_ENTRY_BYTES = 300
"""Memory of a cached line besides its text and that of its visit."""

_KINDS: dict[str, Kind] = {"p": "person", "b": "bot"}
_VISITOR = re.compile(r" visitor=([0-9a-f]{8})(?![^ ])")


class Visit(NamedTuple):
    """What is kept of a visit. `hour` is in whole UTC hours since the Unix epoch."""

    code: str
    hour: int
    kind: Kind
    referrer_host: str
    facts: str = ""
    """What else is known of a person, as `text_of` writes it once for a visitor who returns."""


class Facts(NamedTuple):
    """What else is known of the person who visits. Unknown facts are empty and not in the line."""

    device: str = ""
    browser: str = ""
    system: str = ""
    language: str = ""
    country: str = ""
    source: str = ""
    """`qr` for the scan code of a link, empty for its own code."""
    visitor: str = ""
    """Number of the visitor on this day, in 8 hexadecimal digits."""


Counts = dict[Visit, int]


class VisitLines(dict[Visit, bytes]):
    """Cache of lines by visit, since most visits are equal. It takes at most 16 MiB."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = 0

    def __missing__(self, visit: Visit) -> bytes:
        made = of_visit(visit)
        self._bytes += _CACHED_ENTRY_BYTES + 2 * len(made)
        if self._bytes > _MAX_CACHED_BYTES:
            self.clear()
            self._bytes = _CACHED_ENTRY_BYTES + 2 * len(made)
        self[visit] = made
        return made


def of_visit(visit: Visit) -> bytes:
    """The line of a visit. Raises UnicodeEncodeError if it is not ASCII."""
    code, hour, kind, host, facts = visit
    body = f"{code} {hour} {kind[0]} {host}{facts}".encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def visit_of(line: bytes) -> Visit | None:
    """The visit of a line, given without its end; None if the line was damaged."""
    if line[:9] != b"%08x " % zlib.crc32(line[9:]):
        return None
    try:
        code, hour, kind, host, *facts = line[9:].decode("ascii").split(" ", 4)
        return Visit(code, int(hour), _KINDS[kind], host, " " + facts[0] if facts else "")
    except (KeyError, ValueError):
        return None


def text_of(facts: Facts) -> str:
    """Facts as they are written in a line, after the referrer's host."""
    text = ""
    for name, value in zip(Facts._fields, facts, strict=True):
        if value:
            plain = value.isascii() and value.isalnum()
            text += f" {name}={value if plain else quote(value, safe='')}"
    return text


SCANNED = text_of(Facts(source="qr"))
"""The text to append for a visitor who came by the scan code of the link."""


def facts_of(text: str) -> Facts:
    """The facts of a text that `text_of` wrote. Unknown names are ignored."""
    named = dict(field.partition("=")[::2] for field in text.split(" ")[1:])
    return Facts(*(unquote(named.get(name, "")) for name in Facts._fields))


def without_visitor(text: str) -> tuple[str, int | None]:
    """The text of facts without the visitor, and the visitor's number, None if there is none."""
    found = _VISITOR.search(text)
    if found is None:
        return text, None
    return text[: found.start()] + text[found.end() :], int(found[1], 16)


async def slices(fd: int) -> AsyncIterator[bytes]:
    """The lines of a file, in slices without the last line end. Raises OSError.

    An unfinished last line is left out.
    """
    position = 0
    rest = b""
    while data := await asyncio.to_thread(os.pread, fd, SLICE_BYTES, position):
        position += len(data)
        text, end, rest = (rest + data).rpartition(b"\n")
        if end:
            yield text
        elif len(rest) > MAX_BYTES:  # No line is so long: it is damaged.
            yield rest
            rest = b""
