"""Verified keys are trusted for seconds, within one minute."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.api.authentication import FRESH_SECONDS, KeyVerifier
from gateway.backends.owners import Account
from gateway.backends.ports import VerifiedKey

KEY = VerifiedKey(
    id="1", account=Account("a"), username="Ana", name="k", scopes=frozenset(), expires_at=None
)
HASH = b"h" * 32
START = datetime(2026, 11, 26, 10, 0, 30, tzinfo=UTC)


class CountingAuth:
    """Verifies every key, and counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    async def verify_key(self, key_hash: bytes) -> VerifiedKey:
        self.calls += 1
        return KEY


class Clock:
    def __init__(self) -> None:
        self.now = START

    def verifier(self, auth: CountingAuth) -> KeyVerifier:
        port: Any = auth
        return KeyVerifier(port, lambda: self.now.timestamp(), lambda: self.now)


@pytest.mark.parametrize(
    ("at", "later", "calls"),
    [
        (START, FRESH_SECONDS - 0.1, 1),
        (START, FRESH_SECONDS, 2),
        (START.replace(second=58), 1.9, 1),
        # In the next minute, although it is fresh: the last use is exact to the minute.
        (START.replace(second=58), 2.0, 2),
    ],
)
async def test_a_use_reaches_auth_once_in_a_minute_at_least(
    at: datetime, later: float, calls: int
) -> None:
    auth, clock = CountingAuth(), Clock()
    clock.now = at
    verifier = clock.verifier(auth)
    assert await verifier.verify(HASH) == KEY
    clock.now = at + timedelta(seconds=later)
    await asyncio.sleep(0)  # The shared call ends in the next turn of the loop.
    await asyncio.sleep(0)
    assert await verifier.verify(HASH) == KEY
    assert auth.calls == calls
