"""Stores of analytics."""

from __future__ import annotations

import pytest

from services.analytics.__main__ import STORE_FACTORIES
from tests.analytics.cases import Opened
from tests.support.store_fixtures import NewStore, open_new_stores


@pytest.fixture
def opened(new_store: NewStore) -> Opened:
    """Opens a new, empty store each time."""
    return lambda: open_new_stores(new_store, "analytics", STORE_FACTORIES)
