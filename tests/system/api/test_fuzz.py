"""Random requests of the REST API are answered as its description says."""

from __future__ import annotations

from pathlib import Path

from tests.system.api.fuzz import fuzz


def test_random_requests_are_answered_as_described(tmp_path: Path) -> None:
    _, calls = fuzz(tmp_path, 10, seed=1)
    assert calls > 100
