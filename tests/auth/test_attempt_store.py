"""The contract of both stores of attempts."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from services.auth.__main__ import STORE_FACTORIES
from services.auth.application.stores import Stores
from tests.auth.cases import NOW, WINDOW
from tests.support.store_fixtures import open_stores_at


async def test_each_counter_grants_attempts_up_to_the_limit(stores: Stores) -> None:
    for number in range(4):
        for counter in ("one", "two"):
            at = NOW + timedelta(minutes=number)
            result = await stores.attempts.acquire(counter, 3, WINDOW, at)
            assert (result.granted, result.window_ends) == (number < 3, NOW + WINDOW)


@pytest.mark.parametrize("ahead", [timedelta(minutes=2), timedelta(days=1), timedelta(days=3650)])
async def test_a_window_begun_by_a_clock_ahead_is_over(stores: Stores, ahead: timedelta) -> None:
    for _ in range(2):
        await stores.attempts.acquire("counter", 2, WINDOW, NOW + ahead)
        await stores.attempts.acquire("other", 2, WINDOW, NOW + ahead)
    assert not (await stores.attempts.acquire("counter", 2, WINDOW, NOW + ahead)).granted

    for counter in ("counter", "other", "counter"):
        result = await stores.attempts.acquire(counter, 2, WINDOW, NOW)
        assert (result.granted, result.window_ends) == (True, NOW + WINDOW)
    assert not (await stores.attempts.acquire("counter", 2, WINDOW, NOW)).granted


async def test_a_window_begun_by_a_replica_a_minute_ahead_is_open(stores: Stores) -> None:
    ahead = NOW + timedelta(minutes=1)
    assert (await stores.attempts.acquire("counter", 1, WINDOW, ahead)).granted
    rejected = await stores.attempts.acquire("counter", 1, WINDOW, NOW)
    assert (rejected.granted, rejected.window_ends) == (False, ahead + WINDOW)


async def test_an_attempt_with_a_short_window_leaves_long_ones_as_they_are(stores: Stores) -> None:
    await stores.attempts.acquire("counter", 1, timedelta(days=365), NOW)
    await stores.attempts.acquire("challenge", 1, timedelta(minutes=7), NOW)
    assert not (await stores.attempts.acquire("counter", 1, timedelta(days=365), NOW)).granted


async def test_a_window_ends_exactly_after_its_length(stores: Stores) -> None:
    await stores.attempts.acquire("counter", 1, WINDOW, NOW)

    before = NOW + WINDOW - timedelta(milliseconds=1)
    assert not (await stores.attempts.acquire("counter", 1, WINDOW, before)).granted
    new = await stores.attempts.acquire("counter", 1, WINDOW, NOW + WINDOW)
    assert (new.granted, new.window_ends) == (True, NOW + 2 * WINDOW)
    assert not (await stores.attempts.acquire("counter", 1, WINDOW, NOW + WINDOW)).granted


async def test_concurrent_attempts_are_granted_up_to_the_limit(stores: Stores) -> None:
    results = await asyncio.gather(
        *(stores.attempts.acquire("counter", 10, WINDOW, NOW) for _ in range(50))
    )
    assert [each.granted for each in results].count(True) == 10
    assert {each.window_ends for each in results} == {NOW + WINDOW}


async def test_a_released_attempt_can_be_acquired_again(stores: Stores) -> None:
    for _ in range(2):
        result = await stores.attempts.acquire("counter", 2, WINDOW, NOW)
    await stores.attempts.release("counter", result.window_ends)

    assert (await stores.attempts.acquire("counter", 2, WINDOW, NOW)).granted
    assert not (await stores.attempts.acquire("counter", 2, WINDOW, NOW)).granted


async def test_a_window_begins_with_the_first_attempt_that_is_not_released(stores: Stores) -> None:
    result = await stores.attempts.acquire("counter", 2, WINDOW, NOW)
    await stores.attempts.release("counter", result.window_ends)

    later = NOW + timedelta(minutes=10)
    assert (
        await stores.attempts.acquire("counter", 2, WINDOW, later)
    ).window_ends == later + WINDOW


async def test_releasing_an_attempt_of_an_earlier_window_changes_no_later_one(
    stores: Stores,
) -> None:
    early = await stores.attempts.acquire("counter", 1, WINDOW, NOW)
    await stores.attempts.acquire("counter", 1, WINDOW, NOW + WINDOW)
    await stores.attempts.release("counter", early.window_ends)

    assert not (await stores.attempts.acquire("counter", 1, WINDOW, NOW + WINDOW)).granted


async def test_releasing_too_often_changes_nothing(stores: Stores) -> None:
    await stores.attempts.release("counter", NOW + WINDOW)
    result = await stores.attempts.acquire("counter", 1, WINDOW, NOW)
    for _ in range(3):
        await stores.attempts.release("counter", result.window_ends)

    assert (await stores.attempts.acquire("counter", 1, WINDOW, NOW)).granted
    assert not (await stores.attempts.acquire("counter", 1, WINDOW, NOW)).granted


async def test_concurrent_attempts_never_exceed_the_limit(stores: Stores) -> None:
    running, max_running = 0, 0

    async def attempt() -> None:
        nonlocal running, max_running
        result = await stores.attempts.acquire("counter", 5, WINDOW, NOW)
        if not result.granted:
            return
        running += 1
        max_running = max(max_running, running)
        await asyncio.sleep(0)
        running -= 1
        await stores.attempts.release("counter", result.window_ends)

    await asyncio.gather(*(attempt() for _ in range(100)))

    assert 1 <= max_running <= 5
    assert (await stores.attempts.acquire("counter", 1, WINDOW, NOW)).granted


async def test_sqlite_deletes_expired_rows(tmp_path: Path) -> None:
    async with open_stores_at(f"sqlite:///{tmp_path}/auth.db", "auth", STORE_FACTORIES) as stores:
        attempts = stores.attempts
        for number in range(150):
            await attempts.acquire(f"old {number}", 1, WINDOW, NOW)
        await attempts.acquire("live", 1, WINDOW, NOW + timedelta(minutes=1))
        for number in range(2):
            await attempts.acquire(f"new {number}", 1, WINDOW, NOW + WINDOW)

    connection = sqlite3.connect(tmp_path / "auth.db")
    keys = {key for (key,) in connection.execute("SELECT key FROM attempts")}
    connection.close()
    assert keys == {"live", "new 0", "new 1"}
