"""A resolution as the cache stores it: a plain tuple with a known size.

The garbage collector stops tracking a tuple of plain values. It would track a class or NamedTuple
instance, and walking over a full cache would stop the gateway for 0.1 s every few seconds. So the
fields of an entry have constants for names: `entry[LOCATION]`.
"""

from __future__ import annotations

import math
import sys
from datetime import datetime
from typing import Final

from gateway.redirects.resolution import BlockReason, LinkState, Resolution

Entry = tuple[float, float, bool, bytes, bytes, str, datetime | None, bytes, str | None, str]

HIT_UNTIL: Final = 0
"""When the entry stops being a hit: at the end of its freshness or at its expiry. `NEVER_HIT` for a
link that is not active, and for a scan code."""
FRESH_UNTIL: Final = 1
MUST_REVALIDATE: Final = 2
"""Whether a stale entry is served only while the lookup fails or is late."""
LOCATION: Final = 3
"""The URL as the value of a Location header."""
URL: Final = 4
"""The URL in UTF-8, for most URLs the same object as the location. A `str` with an emoji takes four
bytes per character, and as many again once it was encoded."""
STATE: Final = 5
EXPIRES_AT: Final = 6
ENDED_URL: Final = 7
REASON: Final = 8
LINK_CODE: Final = 9

NEVER_HIT: Final = -math.inf
ACTIVE: Final = LinkState.ACTIVE.value

_SLOT_BYTES = 32 + 6 * 23
"""Maximum bytes that an OrderedDict takes per item beside key and value: a node, and six slots of
23 bytes, since CPython resizes a table to three times its items, rounded up to a power of two."""


def to_entry(
    resolution: Resolution,
    location: bytes,
    hit_until: float,
    fresh_until: float,
    must_revalidate: bool,
) -> Entry:
    """Return the entry of a resolution whose URL has `location` as its Location header."""
    state, url, expires_at, ended_url, reason, link_code = resolution
    utf8 = url.encode()
    return (
        hit_until,
        fresh_until,
        must_revalidate,
        location,
        location if utf8 == location else utf8,
        state.value,
        expires_at,
        ended_url.encode(),
        reason.value if reason else None,
        link_code,
    )


def to_resolution(entry: Entry) -> Resolution:
    """Return the resolution that an entry was made of."""
    _, _, _, _, url, state, expires_at, ended_url, reason, link_code = entry
    return Resolution(
        LinkState(state),
        url.decode(),
        expires_at,
        ended_url.decode(),
        BlockReason(reason) if reason else None,
        link_code,
    )


def _measure(value: object) -> int:
    """Bytes of memory that a value takes: in steps of 16, with a header if it is long."""
    size = sys.getsizeof(value)
    return (size + 15 & -16) + (16 if size > 512 else 0)


_FLOAT_BYTES = _measure(0.0)
_ENTRY_BYTES = _SLOT_BYTES + _measure((None,) * 10) + _FLOAT_BYTES
"""Bytes of every entry: its slot, the tuple and the end of its freshness."""


def measure_entry(code: str, entry: Entry) -> int:
    """Bytes of memory that an entry takes in the cache. States and reasons are shared objects."""
    hit_until, fresh_until, _, location, url, _, expires_at, ended_url, _, link_code = entry
    size = _ENTRY_BYTES + _measure(code) + _measure(location)
    if hit_until is not fresh_until:
        size += _FLOAT_BYTES
    if url is not location:
        size += _measure(url)
    if expires_at is not None:
        size += _measure(expires_at)
    if ended_url:
        size += _measure(ended_url)
    if link_code:
        size += _measure(link_code)
    return size
