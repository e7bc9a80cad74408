"""Timestamps as callers of functions write and read them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.support import timestamps

TEXTS = json.loads(Path(__file__).with_name("timestamps.json").read_text(encoding="utf-8"))
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(("text", "moment"), TEXTS["moments"].items())
def test_a_timestamp_with_an_offset_is_parsed(text: str, moment: str) -> None:
    read = timestamps.parse_timestamp(text)
    assert read == datetime.fromisoformat(moment)
    assert read.utcoffset() == timedelta(0)


# Python writes the years before 1000 with fewer digits in the basic format.
@given(st.datetimes(timezones=OFFSETS).filter(lambda moment: 1000 < moment.year < 9999))
def test_both_formats_have_the_same_result(moment: datetime) -> None:
    assert timestamps.parse_timestamp(moment.isoformat()) == moment
    assert timestamps.parse_timestamp(moment.strftime("%Y%m%dT%H%M%S,%f%z")) == moment


@pytest.mark.parametrize("text", TEXTS["others"])
def test_any_other_text_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"ISO 8601|day|month|years"):
        timestamps.parse_timestamp(text)


def test_a_written_timestamp_is_parsed_to_the_same() -> None:
    moment = datetime(476, 9, 4, 1, 2, 3, 4_999, UTC)
    assert timestamps.format_timestamp(moment) == "0476-09-04T01:02:03.004Z"
    assert timestamps.parse_timestamp(timestamps.format_timestamp(moment)) == moment.replace(
        microsecond=4000
    )
