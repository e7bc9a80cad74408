"""How many visitors a sketch tells, and what its bytes are."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.analytics.domain.hyperloglog import add, estimate

MOST_BYTES = 4096
numbers = st.lists(st.integers(0, 2**32 - 1), max_size=600)


def strangers(count: int, seed: int) -> Sequence[int]:
    """As the keyed hash makes them: 32 bits, each as likely as any other."""
    return array("I", random.Random(seed).randbytes(4 * count))


@pytest.mark.parametrize(
    ("visitors", "times"),
    [(1, 2000), (2, 2000), (10, 1000), (1000, 200), (100_000, 60), (10**6, 6)],
)
def test_the_error_is_two_percent_of_any_number_of_visitors(visitors: int, times: int) -> None:
    errors = []
    for seed in range(times):
        told = add(b"", strangers(visitors, seed))
        assert len(told) <= MOST_BYTES
        errors.append(estimate(told) / visitors - 1)
    assert math.sqrt(sum(error**2 for error in errors) / times) <= 0.02
    # No lean to one side: the mean of so many is nearer than one of them.
    assert abs(sum(errors) / times) <= 0.02 / math.sqrt(times) * 3


@pytest.mark.parametrize("visitors", [0, 1, 3, 255, 256, 257, 5000, 100_000])
def test_visitors_who_come_again_change_no_bit_in_whatever_order(visitors: int) -> None:
    came = list(strangers(visitors, 1))
    told = add(b"", came)
    half = visitors // 2
    random.Random(2).shuffle(came)

    assert add(told, came) == told
    assert add(told, came[:half]) == told
    assert add(b"", came) == told
    assert add(add(add(b"", came[:half]), came[half:]), came[:half]) == told


@given(first=numbers, second=numbers)
def test_sketches_depend_on_the_visitors_alone(first: list[int], second: list[int]) -> None:
    together = add(b"", {*first, *second})
    assert add(add(b"", first), second) == together
    assert add(add(b"", second), first) == together
    assert estimate(together) >= max(estimate(add(b"", first)), estimate(add(b"", second)))


def test_few_visitors_take_few_bytes() -> None:
    assert add(b"", []) == b""
    assert estimate(b"") == 0
    for visitors in range(1, 10):
        told = add(b"", [number << 20 | 7 for number in range(visitors)])
        assert len(told) == 3 * visitors
        assert estimate(told) == visitors


@pytest.mark.parametrize("number", [0, 1, 2**20 - 1, 2**20, 2**32 - 1])
def test_every_number_is_a_visitor(number: int) -> None:
    assert estimate(add(b"", [number])) == 1


def test_a_sketch_whose_registers_are_all_full_tells_a_number() -> None:
    full = add(b"", [register << 20 for register in range(4096)])
    assert len(full) == MOST_BYTES
    assert estimate(full) == 1 << 32
