"""Moments as callers of functions read and write them: ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_EXTENDED = r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?[0-5]\d)?)"
_BASIC = r"\d{8}T\d{4}(?:\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?:[0-5]\d)?)"
_MOMENT = re.compile(rf"{_EXTENDED}|{_BASIC}", re.ASCII)
"""Date, time and offset in the two formats of ISO 8601. What is no day or hour, Python knows.

Many programs write the offset without a colon in the extended format, too.
"""


def moment_of(text: str) -> datetime:
    """The moment of a text such as `2026-07-01T09:30:00+02:00` or `20260701T0730Z`, in UTC.

    Raises ValueError for any other text, and where the moment is in none of the years 1 to 9999.
    The error's message is told to whoever gave the text.
    """
    if not _MOMENT.fullmatch(text):
        raise ValueError("this is no moment in ISO 8601 with an offset")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("there is no such day, time or offset") from None
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("this moment is in no year from 1 to 9999") from None


def text_of(moment: datetime) -> str:
    """A moment in UTC, to the millisecond: `2026-07-01T07:30:00.000Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
