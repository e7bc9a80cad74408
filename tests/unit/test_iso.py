"""Moments as callers write them, and as they are answered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import iso

OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-07-01T09:30:00Z", datetime(2026, 7, 1, 9, 30, tzinfo=UTC)),
        ("2026-07-01T09:30+02:00", datetime(2026, 7, 1, 7, 30, tzinfo=UTC)),
        ("2026-07-01T00:15:00+05:45", datetime(2026, 6, 30, 18, 30, tzinfo=UTC)),
        ("2026-07-01T09:30:00-00:00", datetime(2026, 7, 1, 9, 30, tzinfo=UTC)),
        ("2024-02-29T23:59:59.9999999999-12:00", datetime(2024, 3, 1, 11, 59, 59, 999_999, UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("0001-01-01T23:59:00+23:59", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2026-07-01T09:30:00+0200", datetime(2026, 7, 1, 7, 30, tzinfo=UTC)),
        ("2026-07-01T09:30:00,25-03", datetime(2026, 7, 1, 12, 30, 0, 250_000, UTC)),
        ("20260701T093000+0545", datetime(2026, 7, 1, 3, 45, tzinfo=UTC)),
        ("20260701T0930-03", datetime(2026, 7, 1, 12, 30, tzinfo=UTC)),
        ("20260701T093000,5Z", datetime(2026, 7, 1, 9, 30, 0, 500_000, UTC)),
    ],
)
def test_a_moment_with_an_offset_is_read(text: str, moment: datetime) -> None:
    read = iso.moment_of(text)
    assert read == moment
    assert read.utcoffset() == timedelta(0)


# Python writes the years before 1000 with fewer digits in the basic format.
@given(st.datetimes(timezones=OFFSETS).filter(lambda moment: 1000 < moment.year < 9999))
def test_both_formats_name_the_same_moment(moment: datetime) -> None:
    assert iso.moment_of(moment.isoformat()) == moment
    assert iso.moment_of(moment.strftime("%Y%m%dT%H%M%S,%f%z")) == moment


@pytest.mark.parametrize(
    "text",
    [
        *("2026-07-01T09:30:00", "2026-02-29T00:00Z", "0001-01-01T00:00:00+00:01"),
        *("9999-12-31T23:59-1", "20260701T093000", "20260229T0000Z", "20260701T09Z", "20260701Z"),
        *("20260701T09:30Z", "2026-07-01T0930Z", "20260701T0930+02:00", "2026-07-01T09:30+02:0"),
        *("", "soon", "2086-01-01", "2086-01-01 00:00:00Z", "2086-01-01T00:00:00z"),
        *("2086-13-01T00:00:00Z", "2086-02-30T00:00:00Z", "2086-01-01T24:00:00Z"),
        *("2086-01-01T00:60:00Z", "2086-01-01T23:59:60Z", "2086-01-01T00:00:00+24:00"),
        *("2086-01-01T00:00:00+02:60", "2086-W01-1T00:00:00Z", "+2086-01-01T00:00:00Z"),
        *("12086-01-01T00:00:00Z", "0000-01-01T00:00:00Z", " 2086-01-01T00:00:00Z"),
        *("2086-01-01T00:00:00Z\n", "2086-01-01T00:00:00.Z", "2086-01-01T00:00:00Z\0"),
        "\uff12\uff10\uff18\uff16-01-01T00:00:00Z",
        *("2026-07-01T09:30:00,Z", "20260701T0930+24", "2026-07-01T09:30+2", "2026182T0930Z"),
    ],
)
def test_any_other_text_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"moment|day|month"):
        iso.moment_of(text)


def test_what_is_answered_is_read_as_the_same() -> None:
    moment = datetime(476, 9, 4, 1, 2, 3, 4_999, UTC)
    assert iso.text_of(moment) == "0476-09-04T01:02:03.004Z"
    assert iso.moment_of(iso.text_of(moment)) == moment.replace(microsecond=4000)
