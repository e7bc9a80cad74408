"""Timestamps as stores keep them: whole microseconds since the Unix epoch.

An integer is exact and sorts chronologically. MongoDB's own date type has milliseconds only.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime.fromtimestamp(0, UTC)
CLOCK_LEEWAY = timedelta(seconds=60)
"""Maximum difference between the clocks of replicas. A timestamp further in the future comes from
a wrong clock."""
_MICROSECOND = timedelta(microseconds=1)


def to_micros(time: datetime) -> int:
    """Convert a time, which has a time zone, to microseconds since the Unix epoch."""
    return (time - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Convert microseconds since the Unix epoch to a time in UTC."""
    return EPOCH + micros * _MICROSECOND
