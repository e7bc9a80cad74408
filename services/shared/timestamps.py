"""Moments as stores keep them: whole microseconds since the Unix epoch.

An integer is exact and sorts as the moments do; a date of MongoDB has milliseconds.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime.fromtimestamp(0, UTC)
CLOCK_LEEWAY = timedelta(seconds=60)
"""How much the clocks of replicas may differ. What is dated further ahead was dated by a wrong
clock."""
_MICROSECOND = timedelta(microseconds=1)


def micros_of(moment: datetime) -> int:
    """Microseconds since the Unix epoch. `moment` has a time zone."""
    return (moment - EPOCH) // _MICROSECOND


def moment_of(micros: int) -> datetime:
    """The moment, in UTC, so many microseconds since the Unix epoch."""
    return EPOCH + micros * _MICROSECOND
