"""The journal's line format: `<crc32> <kind> <fields>`, ASCII, each with a line end.

h  gateway id, number of the next batch            first line of every segment
v  code, hour, kind, referrer host, name=value...  one visit; what the names are: `Facts`
b  number, count                                   the visits since the last `b` are batch `number`
a  number                                          the analytics service has batch `number`

What a later version may add without being another format: named fields of a visit, lines of other
kinds, and fields behind a first line's version. Whoever does not know them passes over them.

What it may not, it says by a version, the third field of the first line. There is none so far, so
nothing stands there and it is 1. A first line begins alike in every version. A reader that meets a
later version leaves the segment alone, and what is behind it, until one that knows it comes
(`restore`).
"""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote

from gateway.visits.classify import Kind

VERSION = 1
"""The latest version of the format that is read, and the one that is written."""
LONGEST_BYTES = 600
"""No line has more: a visit with the longest code and referrer's host has 310, and 290 are for its
facts."""
LEAST_VISIT_BYTES = 24
"""Bytes that every visit's line has."""
SLICE_BYTES = 32 << 10
"""What is read and looked at without a pause: 1 to 2 ms of the event loop where all lines differ,
0.1 ms where they are alike. A constant of the format: what is longer and has no line end is skipped
in such steps, and numbers that were given before depend on what is found behind it."""
_KEPT_BYTES = 16 << 20
"""Bytes that ready-made lines for visits that are alike may take."""
_KEPT_ENTRY_BYTES = 300
"""What keeping a line takes beside its text and that of its visit: objects and the table's row."""

_KINDS: dict[str, Kind] = {"p": "person", "b": "bot"}
_HEADER = re.compile(rb"h ([!-~]+) ([0-9]{1,18})(?: ([0-9]{1,9})(?: .*)?)?")
_VISITOR = re.compile(r" visitor=([0-9a-f]{8})(?![^ ])")
_CONTROL = re.compile(rb"^[0-9a-f]{8} ([ab]) ([0-9]{1,18})(?: [0-9]{1,18})?\n", re.MULTILINE)


class Visit(NamedTuple):
    """What is kept of a visit. `hour` is in whole UTC hours since the Unix epoch."""

    code: str
    hour: int
    kind: Kind
    referrer_host: str
    facts: str = ""
    """What else is known of a person, as `text_of` writes it: so visitors who come again cost
    nothing to write down."""


class Facts(NamedTuple):
    """What else is known of the person who visits, by the names that stand in a line.

    What is not known is empty, and has no name in the line.
    """

    device: str = ""
    browser: str = ""
    system: str = ""
    language: str = ""
    country: str = ""
    source: str = ""
    """`qr` of who came by the scan code of a link; empty of who came by its own."""
    visitor: str = ""
    """Number of the visitor on this day, in 8 hexadecimal digits."""


Counts = dict[Visit, int]


@dataclass(frozen=True, slots=True)
class Header:
    """A segment's first line."""

    gateway_id: str
    number: int
    """Of the batch that comes next: above all that were given before."""
    version: int = 1

    @property
    def is_known(self) -> bool:
        """Whether this program reads the lines that follow."""
        return self.version <= VERSION


class VisitLines(dict[Visit, bytes]):
    """Ready-made lines by visit, for most visits are alike; they take at most 16 MiB."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = 0

    def __missing__(self, visit: Visit) -> bytes:
        made = of_visit(visit)
        self._bytes += _KEPT_ENTRY_BYTES + 2 * len(made)
        if self._bytes > _KEPT_BYTES:
            self.clear()
            self._bytes = _KEPT_ENTRY_BYTES + 2 * len(made)
        self[visit] = made
        return made


def line(text: str) -> bytes:
    """A line of the journal with this body. Raises UnicodeEncodeError where it is not ASCII."""
    body = text.encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def of_header(gateway_id: str, number: int) -> bytes:
    """The first line of a segment."""
    return line(f"h {gateway_id} {number}")


def of_batch(number: int, visits: int) -> bytes:
    """The end of a batch of so many visits."""
    return line(f"b {number} {visits}")


def of_acknowledgement(number: int) -> bytes:
    """The note that analytics has the batch `number`."""
    return line(f"a {number}")


def of_visit(visit: Visit) -> bytes:
    """The line of a visit."""
    code, hour, kind, host, facts = visit
    return line(f"v {code} {hour} {kind[0]} {host}{facts}")


def text_of(facts: Facts) -> str:
    """Facts as they stand in the line of a visit, behind the referrer's host."""
    text = ""
    for name, value in zip(Facts._fields, facts, strict=True):
        if value:
            plain = value.isascii() and value.isalnum()
            text += f" {name}={value if plain else quote(value, safe='')}"
    return text


SCANNED = text_of(Facts(source="qr"))
"""What stands behind such a text where the visitor came by the scan code of the link."""


def facts_of(text: str) -> Facts:
    """The facts of such a text. Names that are not known are passed over."""
    named = dict(field.partition("=")[::2] for field in text.split(" ")[1:])
    return Facts(*(unquote(named.get(name, "")) for name in Facts._fields))


def without_visitor(text: str) -> tuple[str, int | None]:
    """Such a text for all visitors that are alike, and the number of this one, None for none."""
    found = _VISITOR.search(text)
    if found is None:
        return text, None
    return text[: found.start()] + text[found.end() :], int(found[1], 16)


def is_good(text: bytes) -> bool:
    """Whether a line, without its end, is as it was written."""
    return text[:9] == b"%08x " % zlib.crc32(text[9:])


def is_visit(text: bytes) -> bool:
    """Whether a line, without its end, is a visit's and as it was written."""
    return text[9:11] == b"v " and is_good(text)


def is_cut_end(text: bytes) -> bool:
    """Whether what there is of a line is the beginning of a batch's end, checksum included."""
    return text[8:11] == b" b "


def header_of(text: bytes) -> Header | None:
    """The first line of a segment, given without its end; None if it is none or was spoilt."""
    found = _HEADER.fullmatch(text, 9)
    if not found or not is_good(text):
        return None
    return Header(found[1].decode("ascii"), int(found[2]), int(found[3] or 1))


def visit_of(text: bytes) -> Visit | None:
    """The visit of a line for which `is_visit` holds, None if it is written as none is here."""
    try:
        code, hour, kind, host, *facts = text[11:].decode("ascii").split(" ", 4)
        return Visit(code, int(hour), _KINDS[kind], host, " " + facts[0] if facts else "")
    except (KeyError, ValueError):
        return None


def controls(lines: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Kind, number and end of every good `a` and `b` among whole lines, at a search's speed."""
    for found in _CONTROL.finditer(lines):
        if is_good(found[0][:-1]):
            yield found[1], int(found[2]), found.end()


async def slices(fd: int, start: int, end: int) -> AsyncIterator[bytes]:
    """The whole lines from `start` to `end` of a file, in slices small enough for the event loop.

    A last line without its end comes as it is, and so does what has no line ends at all. Raises
    OSError.
    """
    rest = b""
    while start < end:
        data = await asyncio.to_thread(os.pread, fd, min(SLICE_BYTES, end - start), start)
        if not data:
            break
        start += len(data)
        data = rest + data
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) > LONGEST_BYTES:
            cut = len(data)
        rest = data[cut:]
        if cut:
            yield data[:cut]
    if rest:
        yield rest
