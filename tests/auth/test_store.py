"""What every store of the auth service does alike."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.auth.__main__ import ADAPTERS
from services.auth.application.ports import AccountStore, AttemptStore
from services.auth.domain.account import Account
from services.shared.sqlite.connection import connect
from tests.support.stores import NewStore, opened_at

NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
WINDOW = timedelta(minutes=15)
ANA = Account(
    id="5f0c9a2b1d3e4f5061728394",
    email="Ana@Example.com",
    email_key="ana@example.com",
    username="Ana Ñandú \U0001f600",
    password_hash="$2b$10$SyUprZHiLhjegFiZXUd9DugETUgNx365Jd08EgrysGg4m0CYn2Dwi",
    salt="$2b$10$SyUprZHiLhjegFiZXUd9Du",
    created_at=NOW,
)
BEA = replace(ANA, id="6a1d0b3c2e4f506172839405", email="bea@b", email_key="bea@b", username="Bea")


@dataclass(frozen=True)
class Stores:
    accounts: AccountStore
    attempts: AttemptStore


Opening = Callable[[], AbstractAsyncContextManager[Stores]]


@pytest.fixture
def opening(new_store: NewStore) -> Iterator[Opening]:
    """Opens the stores over one database, the same every time."""
    with new_store() as setting:

        @asynccontextmanager
        async def opened() -> AsyncIterator[Stores]:
            async with opened_at(setting, "auth", ADAPTERS) as (accounts, attempts):
                yield Stores(accounts, attempts)

        yield opened


@pytest.fixture
async def stores(opening: Opening) -> AsyncIterator[Stores]:
    async with opening() as opened:
        yield opened


async def test_an_account_is_found_by_its_key_and_its_id(stores: Stores) -> None:
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.accounts.add(BEA) == BEA

    assert await stores.accounts.by_email("ana@example.com") == ANA
    assert await stores.accounts.by_email("bea@b") == BEA
    assert await stores.accounts.by_id(ANA.id) == ANA


async def test_nothing_else_is_found(stores: Stores) -> None:
    await stores.accounts.add(ANA)

    for key in ("", "ana", "Ana@Example.com", "ana@example.com ", "ana@example.co_", "%", "\0"):
        assert await stores.accounts.by_email(key) is None
    for account_id in ("", "ana@example.com", ANA.id.upper(), BEA.id, "\0", "x" * 10_000):
        assert await stores.accounts.by_id(account_id) is None


async def test_of_many_at_once_one_gets_the_key(stores: Stores) -> None:
    wanted = [replace(ANA, id=f"{number:024x}") for number in range(50)]

    held = await asyncio.gather(*(stores.accounts.add(account) for account in wanted))

    assert len(set(held)) == 1
    there = await asyncio.gather(*(stores.accounts.by_id(account.id) for account in wanted))
    assert [each for each in there if each] == held[:1]
    assert await stores.accounts.by_email(ANA.email_key) == held[0]


async def test_a_closed_account_holds_its_key_until_it_is_removed(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    for open_or_unknown in (BEA.id, ANA.id, "unknown"):
        await stores.accounts.remove(open_or_unknown)
    for _ in range(2):
        assert await stores.accounts.close(ANA.email_key) == ANA.id

        assert await stores.accounts.by_email(ANA.email_key) == replace(ANA, closed=True)
        assert await stores.accounts.add(ANA) == replace(ANA, closed=True)
    for _ in range(2):
        await stores.accounts.remove(ANA.id)

        assert await stores.accounts.by_email(ANA.email_key) is None
        assert await stores.accounts.close(ANA.email_key) is None
    again = replace(BEA, id="7b2e1c4d3f50617283940516", email_key=ANA.email_key)
    assert await stores.accounts.add(again) == again
    assert await stores.accounts.by_id(BEA.id) == BEA


async def test_a_changed_password_begins_the_next_session(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    held = ANA
    for number in range(1, 4):
        assert await stores.accounts.change_password(held, f"hash {number}", f"salt {number}")

        held = replace(ANA, password_hash=f"hash {number}", salt=f"salt {number}", session=number)
        assert await stores.accounts.by_id(ANA.id) == held
        assert await stores.accounts.by_email(ANA.email_key) == held
        assert await stores.accounts.add(ANA) == held
    assert await stores.accounts.by_id(BEA.id) == BEA


async def test_nothing_is_changed_of_an_account_that_is_not_as_it_was_read(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.change_password(ANA, "other hash", "other salt")
    held = await stores.accounts.by_id(ANA.id)
    assert held
    for other in (ANA, replace(held, session=2), replace(held, id="unknown"), BEA):
        assert not await stores.accounts.change_password(other, "hash", "salt")
        assert not await stores.accounts.close_in_session(other)
    assert await stores.accounts.by_id(ANA.id) == held
    assert await stores.accounts.by_id("unknown") is None

    await stores.accounts.close(ANA.email_key)
    closed = replace(held, closed=True)
    for read in (held, closed):
        assert not await stores.accounts.change_password(read, "hash", "salt")
        assert not await stores.accounts.close_in_session(read)
    assert await stores.accounts.by_id(ANA.id) == closed


@pytest.mark.parametrize("before", [0, 1])
async def test_of_changes_at_once_one_is_made(stores: Stores, before: int) -> None:
    await stores.accounts.add(ANA)
    for _ in range(before):
        await stores.accounts.change_password(ANA, ANA.password_hash, ANA.salt)
    read = replace(ANA, session=before)

    made = await asyncio.gather(
        *(stores.accounts.change_password(read, f"hash {n}", f"salt {n}") for n in range(20)),
        stores.accounts.close_in_session(read),
    )

    assert made.count(True) == 1
    n = made.index(True)
    changed = replace(ANA, password_hash=f"hash {n}", salt=f"salt {n}", session=before + 1)
    closed = replace(read, closed=True)
    assert await stores.accounts.by_id(ANA.id) == (changed if n < 20 else closed)


async def test_closed_accounts_are_listed_until_they_are_removed(stores: Stores) -> None:
    wanted = [replace(ANA, id=f"{n:024x}", email_key=f"{n}@b") for n in range(5)]
    for account in wanted:
        await stores.accounts.add(account)
    assert await stores.accounts.closed(3) == []

    await stores.accounts.close(wanted[1].email_key)
    await stores.accounts.close_in_session(wanted[3])
    ids = {wanted[1].id, wanted[3].id}
    assert sorted(await stores.accounts.closed(3)) == sorted(ids)
    assert sorted(await stores.accounts.closed(2)) == sorted(ids)
    (one,) = await stores.accounts.closed(1)
    assert one in ids

    await stores.accounts.remove(one)
    assert await stores.accounts.closed(3) == list(ids - {one})


async def test_each_key_counts_for_itself_up_to_the_limit(stores: Stores) -> None:
    for number in range(4):
        for key in ("one", "two"):
            at = NOW + timedelta(minutes=number)
            taken = await stores.attempts.take(key, 3, WINDOW, at)
            assert (taken.granted, taken.window_ends) == (number < 3, NOW + WINDOW)


@pytest.mark.parametrize("ahead", [timedelta(minutes=2), timedelta(days=1), timedelta(days=3650)])
async def test_a_window_that_a_clock_began_that_ran_ahead_is_over(
    stores: Stores, ahead: timedelta
) -> None:
    for _ in range(2):
        await stores.attempts.take("key", 2, WINDOW, NOW + ahead)
        await stores.attempts.take("other", 2, WINDOW, NOW + ahead)
    assert not (await stores.attempts.take("key", 2, WINDOW, NOW + ahead)).granted

    for key in ("key", "other", "key"):
        taken = await stores.attempts.take(key, 2, WINDOW, NOW)
        assert (taken.granted, taken.window_ends) == (True, NOW + WINDOW)
    assert not (await stores.attempts.take("key", 2, WINDOW, NOW)).granted


async def test_a_window_of_a_replica_a_minute_ahead_goes_on(stores: Stores) -> None:
    ahead = NOW + timedelta(minutes=1)
    assert (await stores.attempts.take("key", 1, WINDOW, ahead)).granted
    refused = await stores.attempts.take("key", 1, WINDOW, NOW)
    assert (refused.granted, refused.window_ends) == (False, ahead + WINDOW)


async def test_a_window_is_over_on_the_moment(stores: Stores) -> None:
    await stores.attempts.take("key", 1, WINDOW, NOW)

    before = NOW + WINDOW - timedelta(milliseconds=1)
    assert not (await stores.attempts.take("key", 1, WINDOW, before)).granted
    fresh = await stores.attempts.take("key", 1, WINDOW, NOW + WINDOW)
    assert (fresh.granted, fresh.window_ends) == (True, NOW + 2 * WINDOW)
    assert not (await stores.attempts.take("key", 1, WINDOW, NOW + WINDOW)).granted


async def test_of_many_at_once_as_many_as_the_limit_are_granted(stores: Stores) -> None:
    taken = await asyncio.gather(*(stores.attempts.take("key", 10, WINDOW, NOW) for _ in range(50)))
    assert [each.granted for each in taken].count(True) == 10
    assert {each.window_ends for each in taken} == {NOW + WINDOW}


async def test_an_attempt_given_back_can_be_taken_again(stores: Stores) -> None:
    for _ in range(2):
        taken = await stores.attempts.take("key", 2, WINDOW, NOW)
    await stores.attempts.give_back("key", taken.window_ends)

    assert (await stores.attempts.take("key", 2, WINDOW, NOW)).granted
    assert not (await stores.attempts.take("key", 2, WINDOW, NOW)).granted


async def test_a_window_begins_with_the_first_attempt_that_stays(stores: Stores) -> None:
    taken = await stores.attempts.take("key", 2, WINDOW, NOW)
    await stores.attempts.give_back("key", taken.window_ends)

    later = NOW + timedelta(minutes=10)
    assert (await stores.attempts.take("key", 2, WINDOW, later)).window_ends == later + WINDOW


async def test_an_attempt_of_an_earlier_window_is_not_taken_off_a_later_one(
    stores: Stores,
) -> None:
    early = await stores.attempts.take("key", 1, WINDOW, NOW)
    await stores.attempts.take("key", 1, WINDOW, NOW + WINDOW)
    await stores.attempts.give_back("key", early.window_ends)

    assert not (await stores.attempts.take("key", 1, WINDOW, NOW + WINDOW)).granted


async def test_giving_back_what_was_never_taken_changes_nothing(stores: Stores) -> None:
    await stores.attempts.give_back("key", NOW + WINDOW)
    taken = await stores.attempts.take("key", 1, WINDOW, NOW)
    for _ in range(3):
        await stores.attempts.give_back("key", taken.window_ends)

    assert (await stores.attempts.take("key", 1, WINDOW, NOW)).granted
    assert not (await stores.attempts.take("key", 1, WINDOW, NOW)).granted


async def test_taking_and_giving_back_at_once_never_passes_the_limit(stores: Stores) -> None:
    under_way, most = 0, 0

    async def attempt() -> None:
        nonlocal under_way, most
        taken = await stores.attempts.take("key", 5, WINDOW, NOW)
        if not taken.granted:
            return
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        await stores.attempts.give_back("key", taken.window_ends)

    await asyncio.gather(*(attempt() for _ in range(100)))

    assert 1 <= most <= 5
    assert (await stores.attempts.take("key", 1, WINDOW, NOW)).granted


async def test_all_of_it_is_there_after_opening_again(opening: Opening) -> None:
    async with opening() as stores:
        await stores.accounts.add(ANA)
        await stores.attempts.take("key", 1, WINDOW, NOW)

    async with opening() as stores:
        assert await stores.accounts.by_email(ANA.email_key) == ANA
        assert not (await stores.attempts.take("key", 1, WINDOW, NOW)).granted


async def test_sqlite_looks_at_no_open_account_for_the_closed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 10

    def connect_counted(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_progress_handler(step, 10)
        return connection

    monkeypatch.setattr("services.shared.sqlite.readers.connect", connect_counted)
    async with opened_at(f"sqlite:///{tmp_path}/auth.db", "auth", ADAPTERS) as (accounts, _):
        for number in range(300):
            await accounts.add(replace(ANA, id=f"{number:024x}", email_key=f"{number}@b"))
        await accounts.close("7@b")
        await accounts.closed(100)  # Reads the schema.
        steps = 0
        assert await accounts.closed(100) == [f"{7:024x}"]
    assert steps < 300


async def test_sqlite_clears_expired_rows_away(tmp_path: Path) -> None:
    async with opened_at(f"sqlite:///{tmp_path}/auth.db", "auth", ADAPTERS) as (_, attempts):
        for number in range(150):
            await attempts.take(f"old {number}", 1, WINDOW, NOW)
        await attempts.take("live", 1, WINDOW, NOW + timedelta(minutes=1))
        for number in range(2):
            await attempts.take(f"new {number}", 1, WINDOW, NOW + WINDOW)

    connection = sqlite3.connect(tmp_path / "auth.db")
    keys = {key for (key,) in connection.execute("SELECT key FROM attempts")}
    connection.close()
    assert keys == {"live", "new 0", "new 1"}
