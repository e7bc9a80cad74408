"""The days of a link in a few bytes."""

from __future__ import annotations

from datetime import date
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.analytics.runs import (
    days_of,
    days_of_month,
    days_of_year,
    month_of,
    pack,
    with_day,
    without_days,
    year_of,
)

LAST_DAY = date.max.toordinal() - date(1970, 1, 1).toordinal()
days = st.integers(20_000, 20_060) | st.integers(0, LAST_DAY)


def unpacked(packed: bytes) -> list[int]:
    return list(chain.from_iterable(days_of(packed)))


@given(added=st.lists(days, max_size=60), removed=st.sets(days))
def test_days_that_are_added_in_any_order_are_there_until_they_are_removed(
    added: list[int], removed: set[int]
) -> None:
    packed = b""
    for day in added:
        packed = with_day(packed, day)
    assert packed == pack(added if len(added) == len({*added}) else {*added})
    assert unpacked(packed) == sorted({*added})

    left = without_days(packed, removed)
    assert unpacked(left) == sorted({*added} - removed)
    assert (left == b"") == ({*added} <= removed)


def test_days_take_few_bytes() -> None:
    every, seldom = range(20_000, 23_653), range(20_000, 23_653, 50)
    assert len(pack(every)) < 10
    assert len(pack(seldom)) == 2 * len(seldom) + 5


@pytest.mark.parametrize(
    "first", [date(1970, 1, 1), date(2024, 2, 1), date(2026, 12, 1), date(9999, 12, 1)]
)
def test_a_month_has_its_days_on_the_calendar(first: date) -> None:
    epoch = date(1970, 1, 1).toordinal()
    month = month_of(first.toordinal() - epoch)
    found = [date.fromordinal(epoch + day) for day in days_of_month(month)]
    assert found[0] == first
    assert {(day.year, day.month) for day in found} == {(first.year, first.month)}
    assert all(month_of(day) == month for day in days_of_month(month))
    assert found[-1] == date.max or month_of(days_of_month(month)[-1] + 1) == month + 1


@pytest.mark.parametrize("year", [1970, 2023, 2024, 9999])
def test_a_year_has_the_days_of_its_months(year: int) -> None:
    months = [day for month in range(12) for day in days_of_month(12 * year + month)]
    assert list(days_of_year(year)) == months
    assert {year_of(day) for day in months} == {year}
