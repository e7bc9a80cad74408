"""The encoding of sets of days."""

from __future__ import annotations

from datetime import date
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from services.analytics.domain.day_ranges import add_day, pack_days, unpack_days

LAST_DAY = date.max.toordinal() - date(1970, 1, 1).toordinal()
days = st.integers(20_000, 20_060) | st.integers(0, LAST_DAY)


def unpacked(packed: bytes) -> list[int]:
    return list(chain.from_iterable(unpack_days(packed)))


@given(added=st.lists(days, max_size=60))
def test_days_are_added_in_any_order(added: list[int]) -> None:
    packed = b""
    for day in added:
        if day not in unpacked(packed):
            packed = add_day(packed, day)
    assert packed == pack_days(added if len(added) == len({*added}) else {*added})
    assert unpacked(packed) == sorted({*added})


def test_days_take_few_bytes() -> None:
    every, every_50th = range(20_000, 23_653), range(20_000, 23_653, 50)
    assert len(pack_days(every)) < 10
    assert len(pack_days(every_50th)) == 2 * len(every_50th) + 5
