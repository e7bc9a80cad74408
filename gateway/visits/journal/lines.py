"""Visits as lines of the journal: `<crc32> <code> <hour> <kind> <referrer host>[ <fields>]`.

Lines are ASCII. Fields are optional: facts as `name=value`, then the visitor number as
`visitor=<8 hexadecimal digits>`, which 1.0.0 wrote before the last fact. Readers ignore unknown
names, so a new kind or fact needs a new version of files (`files`): earlier gateways leave
those alone.
"""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from services.shared.link_codes import is_code
from services.shared.timestamps import EPOCH

Kind = Literal["person", "bot"]

MAX_BYTES = 600
"""Maximum length of a line: 310 for the longest code and referrer host, and 290 for facts."""
SLICE_BYTES = 32 << 10
"""Bytes that are read and parsed between two turns of the event loop: 1 to 2 ms if all lines
differ, 0.1 ms if they are equal. Longer data without a line end is split."""
_MAX_CACHED_BYTES = 16 << 20
_CACHED_ENTRY_BYTES = 300
"""Memory of a cached line, without the texts of the line and the visit."""

_LAST_HOUR = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(hours=1)
_KINDS: dict[str, Kind] = {"p": "person", "b": "bot"}
_VISITOR = re.compile(r" visitor=([0-9a-f]{8})(?![^ ])")


class Visit(NamedTuple):
    """A visit as it is stored. `hour` is in whole UTC hours since the Unix epoch."""

    code: str
    hour: int
    kind: Kind
    referrer_host: str
    facts: str = ""
    """Facts about a person as text (`text_of`), which is computed once per visitor."""
    visitor: str = ""
    """The visitor number of this day, in 8 hexadecimal digits, empty if there is none."""


class Facts(NamedTuple):
    """Facts about a person who visits. Unknown facts are empty, and not in the line."""

    device: str = ""
    browser: str = ""
    system: str = ""
    language: str = ""
    country: str = ""
    source: str = ""
    """`qr` for a visit by the scan code, empty by the code of the link."""


Counts = dict[Visit, int]


class VisitLines(dict[Visit, bytes]):
    """Caches lines by visit, since most visits are equal. Takes at most 16 MiB."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = 0

    def __missing__(self, visit: Visit) -> bytes:
        line = line_of(visit)
        self._bytes += _CACHED_ENTRY_BYTES + 2 * len(line)
        if self._bytes > _MAX_CACHED_BYTES:
            self.clear()
            self._bytes = _CACHED_ENTRY_BYTES + 2 * len(line)
        self[visit] = line
        return line


def line_of(visit: Visit) -> bytes:
    """Return the line of a visit. Raises UnicodeEncodeError if it is not ASCII."""
    code, hour, kind, host, facts, visitor = visit
    if visitor:
        facts = f"{facts} visitor={visitor}"
    body = f"{code} {hour} {kind[0]} {host}{facts}".encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def visit_of(line: bytes) -> Visit | None:
    """Return the visit of a line without its line end, None if the line is corrupt.

    So is one that analytics would refuse, with all other visits of its batch.
    """
    if line[:9] != b"%08x " % zlib.crc32(line[9:]):
        return None
    try:
        code, hour, kind, host, *fields = line[9:].decode("ascii").split(" ", 4)
        if not (is_code(code) and 0 <= int(hour) <= _LAST_HOUR):
            return None
        facts = " " + fields[0] if fields else ""
        visitor = ""
        if found := _VISITOR.search(facts):
            facts = facts[: found.start()] + facts[found.end() :]
            visitor = found[1]
        return Visit(code, int(hour), _KINDS[kind], host, facts, visitor)
    except (KeyError, ValueError):
        return None


def text_of(facts: Facts) -> str:
    """Return facts as they follow the referrer host in a line."""
    text = ""
    for name, value in zip(Facts._fields, facts, strict=True):
        if value:
            plain = value.isascii() and value.isalnum()
            text += f" {name}={value if plain else quote(value, safe='')}"
    return text


SCANNED = text_of(Facts(source="qr"))
"""Text to append to the facts of a visit by the scan code."""


def facts_of(text: str) -> Facts:
    """Parse the result of `text_of`. Ignores unknown names."""
    named = dict(field.partition("=")[::2] for field in text.split(" ")[1:])
    return Facts(*(unquote(named.get(name, "")) for name in Facts._fields))


async def slices(fd: int) -> AsyncIterator[bytes]:
    """Yield the lines of a file in slices without the last line end. Raises OSError.

    Leaves out an unfinished last line.
    """
    position = 0
    rest = b""
    while data := await asyncio.to_thread(os.pread, fd, SLICE_BYTES, position):
        position += len(data)
        text, end, rest = (rest + data).rpartition(b"\n")
        if end:
            yield text
        elif len(rest) > MAX_BYTES:  # Too long for a line: it is corrupt.
            yield rest
            rest = b""
