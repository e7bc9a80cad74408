"""The journal's lines: `<crc32> <kind> <fields>`, ASCII, each with a line end.

h  gateway id, number of the next batch     first line of every segment
v  code, hour, kind, referrer host          one visit
b  number, count                            the visits since the last `b` are batch `number`
a  number                                   the analytics service has batch `number`
"""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

from gateway.visits.classify import Kind

LONGEST_BYTES = 300
"""Bytes of a visit whose referrer has the longest name that a host can have; no line has more."""
LEAST_VISIT_BYTES = 24
"""Bytes that every visit's line has."""
SLICE_BYTES = 32 << 10
"""What is read and looked at without a pause: 1 to 2 ms of the event loop where all lines differ,
0.1 ms where they are alike. A constant of the format: what is longer and has no line end is skipped
in such steps, and numbers that were given before depend on what is found behind it."""

_KINDS: dict[bytes, Kind] = {b"p": "person", b"b": "bot"}
_CONTROL = re.compile(rb"^[0-9a-f]{8} ([ab]) ([0-9]{1,18})(?: [0-9]{1,18})?\n", re.MULTILINE)


class Visit(NamedTuple):
    """What is kept of a visit. `hour` is in whole UTC hours since the Unix epoch."""

    code: str
    hour: int
    kind: Kind
    referrer_host: str


Counts = dict[Visit, int]


def line(text: str) -> bytes:
    """A line of the journal with this body. Raises UnicodeEncodeError where it is not ASCII."""
    body = text.encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def of_visit(visit: Visit) -> bytes:
    """The line of a visit."""
    return line(f"v {visit.code} {visit.hour} {visit.kind[0]} {visit.referrer_host}")


def is_good(text: bytes) -> bool:
    """Whether a line, without its end, is as it was written."""
    return text[:9] == b"%08x " % zlib.crc32(text[9:])


def is_visit(text: bytes) -> bool:
    """Whether a line, without its end, is a visit's and as it was written."""
    return text[9:11] == b"v " and is_good(text)


def is_cut_end(text: bytes) -> bool:
    """Whether what there is of a line is the beginning of a batch's end, checksum included."""
    return text[8:11] == b" b "


def visit_of(text: bytes) -> Visit:
    """The visit of a line for which `is_visit` holds."""
    code, hour, kind, host = text[11:].split(b" ")
    return Visit(code.decode(), int(hour), _KINDS[kind], host.decode())


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
