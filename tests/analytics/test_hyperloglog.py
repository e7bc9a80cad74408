"""The accuracy and the encoding of sketches."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.analytics.domain.hyperloglog import add, estimate

MAX_BYTES = 4096
numbers = st.lists(st.integers(0, 2**32 - 1), max_size=600)


def random_visitors(count: int, seed: int) -> Sequence[int]:
    """Return uniformly distributed 32-bit numbers, like those of the keyed hash."""
    return array("I", random.Random(seed).randbytes(4 * count))


@pytest.mark.parametrize(
    ("visitors", "times"),
    [(1, 2000), (2, 2000), (10, 1000), (1000, 200), (100_000, 60), (10**6, 6)],
)
def test_the_standard_error_is_at_most_two_percent(visitors: int, times: int) -> None:
    errors = []
    for seed in range(times):
        sketch = add(b"", random_visitors(visitors, seed))
        assert len(sketch) <= MAX_BYTES
        errors.append(estimate(sketch) / visitors - 1)
    assert math.sqrt(sum(error**2 for error in errors) / times) <= 0.02
    # The estimator is unbiased: the mean error is much smaller than a single one.
    assert abs(sum(errors) / times) <= 0.02 / math.sqrt(times) * 3


@pytest.mark.parametrize("visitors", [0, 1, 3, 255, 256, 257, 5000, 100_000])
def test_repeated_visitors_change_nothing_in_any_order(visitors: int) -> None:
    visitors_list = list(random_visitors(visitors, 1))
    sketch = add(b"", visitors_list)
    half = visitors // 2
    random.Random(2).shuffle(visitors_list)

    assert add(sketch, visitors_list) == sketch
    assert add(sketch, visitors_list[:half]) == sketch
    assert add(b"", visitors_list) == sketch
    assert (
        add(add(add(b"", visitors_list[:half]), visitors_list[half:]), visitors_list[:half])
        == sketch
    )


@given(first=numbers, second=numbers)
def test_sketches_depend_only_on_the_set_of_visitors(first: list[int], second: list[int]) -> None:
    union = add(b"", {*first, *second})
    assert add(add(b"", first), second) == union
    assert add(add(b"", second), first) == union
    assert estimate(union) >= max(estimate(add(b"", first)), estimate(add(b"", second)))


def test_few_visitors_take_few_bytes() -> None:
    assert add(b"", []) == b""
    assert estimate(b"") == 0
    for visitors in range(1, 10):
        sketch = add(b"", [number << 20 | 7 for number in range(visitors)])
        assert len(sketch) == 3 * visitors
        assert estimate(sketch) == visitors


@pytest.mark.parametrize("number", [0, 1, 2**20 - 1, 2**20, 2**32 - 1])
def test_every_number_counts_as_one_visitor(number: int) -> None:
    assert estimate(add(b"", [number])) == 1


def test_a_saturated_sketch_has_the_maximum_estimate() -> None:
    saturated = add(b"", [register << 20 for register in range(4096)])
    assert len(saturated) == MAX_BYTES
    assert estimate(saturated) == 1 << 32
