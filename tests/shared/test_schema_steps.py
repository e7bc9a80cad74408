"""Schema steps of released versions never change: stores in use have taken them as they were."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import pytest

from services.analytics.storage.sqlite.schema import MIGRATIONS as ANALYTICS
from services.auth.storage.sqlite.schema import MIGRATIONS as AUTH
from services.links.storage.sqlite import MIGRATIONS as LINKS
from services.shared.sqlite import Migration


@pytest.mark.parametrize(
    ("steps", "digests"),
    [
        pytest.param(
            AUTH,
            [
                "688f1ee3b021330f",
                "58afc6f1265b0e7e",
                "60a53151a2078114",
                "9c8cc25af727ce1e",
                "8b8da4f7f27c6bfc",
                "626cac04d6616c09",
            ],
            id="auth",
        ),
        pytest.param(
            LINKS,
            [
                *("5e8e3d8f016ec107", "b14193a48cb0dec6", "e75508dceecbfcea", "222f4936396f5984"),
                *("04f42fbf7e76dc8e", "6f1055c0e4bb9354"),
            ],
            id="links",
        ),
        pytest.param(
            ANALYTICS,
            ["5d0b0d9c2ab40708", "c404b1ecd418b0ef", "920bf9d1782274fb"],
            id="analytics",
        ),
    ],
)
def test_a_step_of_sqlite_is_as_it_was_written(
    steps: Sequence[Migration], digests: list[str]
) -> None:
    """A new step adds its digest here. A store that took an edited step would lack the edit."""
    assert [sha256(step.encode()).hexdigest()[:16] for step in steps] == digests
