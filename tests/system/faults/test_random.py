"""A short run of random faults. `make faults` runs longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.system.faults.run import run


@pytest.mark.timeout(300)
@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "mongodb"])
def test_ten_kills_at_random_lose_nothing_and_count_nothing_twice(
    tmp_path: Path, store: str
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"SEED={seed} KILLS=10 STORE={store} make faults")  # noqa: T201 - shown where it fails
    summary = run(tmp_path, seed, 10, store)
    assert summary["answered"] > 100
    assert summary["created"] > 10
