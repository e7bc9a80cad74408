"""Sample periods for the tests of periods and statistics."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from services.analytics.domain.periods import DateRange, Period, RecentPeriod, resolve_period
from tests.support.processes import ROOT

ZONES = (
    "America/Santiago",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "UTC",
    "Pacific/Auckland",
)
NOW = datetime(2026, 11, 22, 15, 40, tzinfo=UTC)
CASES = json.loads((ROOT / "tests/analytics/period_cases.json").read_text(encoding="utf-8"))


def hour_at(moment: str) -> int:
    """Return the UTC hour of a time such as `2026-11-22T15`, since the Unix epoch."""
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()) // 3600


def period_at(
    requested: RecentPeriod | DateRange, zone: str = "UTC", now: datetime = NOW
) -> Period:
    """Return the period that a viewer in a zone requests."""
    return resolve_period(requested, ZoneInfo(zone), now, None)


def find_local_hours(now: datetime, zone: ZoneInfo) -> list[float]:
    """Return the starts of the last 24 local hours and of the next one, by brute force."""
    quarter = 900
    moment = int(now.timestamp()) // quarter * quarter
    near = range(moment - 120 * quarter, moment + 9 * quarter, quarter)
    full_hours = [each for each in near if datetime.fromtimestamp(each, zone).minute == 0]
    begun = [each for each in full_hours if each <= now.timestamp()]
    return [*begun[-24:], full_hours[len(begun)]]
