"""Marks the tests from outside: by browsers, QR code readers, API clients and random requests."""

from __future__ import annotations

import pytest

_FROM_OUTSIDE = {"api", "e2e", "export", "fuzz", "qr"}
_SMOKE_TEST = "test_main_job.py"
"""Runs with the other tests."""


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.parent.name in _FROM_OUTSIDE and item.path.name != _SMOKE_TEST:
        item.add_marker(pytest.mark.e2e)
