"""Randomized admission of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

from services.analytics.domain.name_admission import MAX_NAMES, admit_names


@pytest.mark.parametrize(
    ("stored_names", "counted"),
    [
        (0, {"a": 1, "b": 2, "*": 3}),
        (MAX_NAMES - 2, {"a": 1, "b": 2, "*": 3}),
        (MAX_NAMES - 1, {"b": 2, "*": 4}),  # The more frequent one gets the last place.
    ],
)
def test_new_names_take_free_places(stored_names: int, counted: dict[str, int]) -> None:
    stored = {f"stored {n}": 10**6 for n in range(stored_names)}
    assert admit_names({"a": 1, "b": 2, "*": 3}, stored, Random(1)) == (counted, {})
    assert admit_names(stored, stored, Random(1)) == (stored, {})


class Referrers:
    """The stored names of a link's day. Batches have `size` visits."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self.names: dict[str, int] = {}
        self._size = size
        self._random = Random(seed)

    def visit(self, *names: str) -> None:
        for start in range(0, len(names), self._size):
            added = Counter(names[start : start + self._size])
            counted, evicted = admit_names(added, self.names, self._random)
            for name, people in evicted.items():
                assert self.names.pop(name) == people
                assert name not in counted
            for name, people in counted.items():
                self.names[name] = self.names.get(name, 0) + people
            assert len(self.names.keys() - {"*"}) <= MAX_NAMES

    def counted(self, names: Iterable[str]) -> dict[str, int]:
        return {name: self.names.get(name, 0) for name in names}


REAL = [f"real{n}.example" for n in range(10)]


@pytest.mark.parametrize("size", [1, 7, 500])
@pytest.mark.parametrize("times", [1, 3, 10])
def test_frequent_referrers_displace_earlier_invented_names(times: int, size: int) -> None:
    """100 invented names come first, and 5,000 more among 5,000 visits of 10 real referrers."""
    for seed in range(3):
        referrers = Referrers(size, seed)
        referrers.visit(*(f"invented{n}.example" for n in range(MAX_NAMES) for _ in range(times)))
        visits = REAL * 500 + [f"more{n}.example" for n in range(5000)]
        Random(seed).shuffle(visits)
        referrers.visit(*visits)
        assert sum(referrers.names.values()) == MAX_NAMES * times + len(visits)
        assert min(referrers.counted(REAL).values()) > 300
        assert max(referrers.counted(REAL).values()) <= 500, "counts are never overestimates"


@pytest.mark.parametrize("size", [1, 7, 500])
def test_a_flood_of_invented_names_evicts_no_established_referrer(size: int) -> None:
    for seed in range(3):
        referrers = Referrers(size, seed)
        referrers.visit(*REAL * 50)
        referrers.visit(*(f"invented{n // 2}.example" for n in range(20_000)))
        assert referrers.counted(REAL) == dict.fromkeys(REAL, 50)
        assert sum(referrers.names.values()) == 20_500


def test_names_beyond_the_limit_are_evicted() -> None:
    stored = {f"stored {n}": n + 1 for n in range(MAX_NAMES + 2)} | {"*": 5}
    # With the added visit, both of the least frequent names have two people.
    assert admit_names({"stored 0": 1}, stored, Random(1)) == (
        {"*": 4},
        {"stored 0": 1, "stored 1": 2},
    )
