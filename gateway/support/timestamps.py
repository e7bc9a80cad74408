"""Reads and writes timestamps in ISO 8601, as callers of functions use them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_EXTENDED = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:[Zz]|[+-]\d\d(?::?[0-5]\d)?)"
_BASIC = r"\d{8}T\d{4}(?:\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?:[0-5]\d)?)"
_TIMESTAMP = re.compile(rf"{_EXTENDED}|{_BASIC}", re.ASCII)
"""Date, time and UTC offset in the two formats of ISO 8601. `datetime` checks the ranges.

Many programs write the offset without a colon in the extended format, too. RFC 3339, a profile of
the extended format, permits `t` and `z` in lower case.
"""


class TimestampOutOfRange(ValueError):
    """A valid timestamp that is outside the years 1 to 9999 in UTC."""


def parse_timestamp(text: str) -> datetime:
    """Parse a timestamp such as `2026-07-01T09:30:00+02:00` or `20260701T0730Z`. Returns UTC.

    Raises ValueError for any other text, and TimestampOutOfRange. Clients see the message of the
    error.
    """
    if not _TIMESTAMP.fullmatch(text):
        raise ValueError("not an ISO 8601 timestamp with an offset")
    try:
        timestamp = datetime.fromisoformat(text.upper())
    except ValueError:
        raise ValueError("there is no such day, time or offset") from None
    try:
        return timestamp.astimezone(UTC)
    except OverflowError:
        raise TimestampOutOfRange("not within the years 1 to 9999") from None


def format_timestamp(timestamp: datetime) -> str:
    """Return a UTC timestamp to the millisecond: `2026-07-01T07:30:00.000Z`."""
    return timestamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
