"""The contract of both auth stores."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pymongo
import pytest
from prometheus_client import REGISTRY
from pymongo.errors import DuplicateKeyError

from services.auth.__main__ import STORE_FACTORIES
from services.auth.application.ports import AccountStore, Stores
from services.auth.domain.account import Account
from services.auth.domain.api_key import MAX_KEYS, ApiKey, Scope
from services.auth.domain.passkey import Passkey
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import MAX_SESSIONS, Creator, Session
from services.auth.storage.mongo import SCHEMA, MongoAccountStore
from services.auth.storage.sqlite import MIGRATIONS, SqliteAccountStore
from services.shared import sqlite
from services.shared.sqlite.connection import connect
from services.shared.stores import StoreFactories
from tests.support.store_fixtures import NewStore, open_stores_at

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

CREATOR = Creator("89abcdef0123456789abcdef", NOW, "Firefox", "Linux")

KEY = ApiKey(
    id="0123456789abcdef01234567",
    account_id=ANA.id,
    key_hash=bytes(range(32)),
    name="Script \U0001f600",
    prefix="atajo_Zz09aA",
    scopes=(Scope.LINKS_READ, Scope.STATISTICS_READ),
    created_at=NOW,
    expires_at=NOW + timedelta(days=1, microseconds=1),
    created_by=CREATOR,
)

PASSKEY = Passkey(
    id="AAECAwQFBgcICQoLDA0ODw",
    account_id=ANA.id,
    name="Phone \U0001f600",
    public_key=bytes(range(77)),
    sign_count=0,
    created_at=NOW,
    created_by=CREATOR,
)

SESSION = Session(
    id="89abcdef0123456789abcdef",
    account_id=ANA.id,
    created_at=NOW,
    expires_at=NOW + timedelta(hours=4),
    last_seen_at=NOW.replace(minute=0, second=0, microsecond=0),
    browser="Firefox",
    system="Linux",
)


def numbered(number: int, account: Account = ANA) -> ApiKey:
    """Return one of many keys of an account."""
    name = f"{account.id}{number}"
    return replace(
        KEY, id=f"{number:024x}", account_id=account.id, key_hash=sha256(name.encode()).digest()
    )


Opening = Callable[[], AbstractAsyncContextManager[Stores]]


@pytest.fixture
def opening(new_store: NewStore) -> Iterator[Opening]:
    """Opens the same stores each time."""
    with new_store() as setting:

        @asynccontextmanager
        async def opened() -> AsyncIterator[Stores]:
            async with open_stores_at(setting, "auth", STORE_FACTORIES) as opened:
                yield opened

        yield opened


@pytest.fixture
async def stores(opening: Opening) -> AsyncIterator[Stores]:
    async with opening() as opened:
        yield opened


async def test_accounts_are_found_by_key_and_by_id(stores: Stores) -> None:
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.accounts.add(BEA) == BEA

    assert await stores.accounts.by_email("ana@example.com") == ANA
    assert await stores.accounts.by_email("bea@b") == BEA
    assert await stores.accounts.by_id(ANA.id) == ANA


async def test_other_keys_and_ids_find_nothing(stores: Stores) -> None:
    await stores.accounts.add(ANA)

    for key in ("", "ana", "Ana@Example.com", "ana@example.com ", "ana@example.co_", "%", "\0"):
        assert await stores.accounts.by_email(key) is None
    for account_id in ("", "ana@example.com", ANA.id.upper(), BEA.id, "\0", "x" * 10_000):
        assert await stores.accounts.by_id(account_id) is None


async def test_only_one_of_concurrent_registrations_gets_the_key(stores: Stores) -> None:
    accounts = [replace(ANA, id=f"{number:024x}") for number in range(50)]

    stored = await asyncio.gather(*(stores.accounts.add(account) for account in accounts))

    assert len(set(stored)) == 1
    found = await asyncio.gather(*(stores.accounts.by_id(account.id) for account in accounts))
    assert [each for each in found if each] == stored[:1]
    assert await stores.accounts.by_email(ANA.email_key) == stored[0]


async def test_a_closed_account_keeps_its_key_until_it_is_removed(stores: Stores) -> None:
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


async def test_a_password_change_increments_the_session_number(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    account = ANA
    for number in range(1, 4):
        assert await stores.accounts.change_password(
            account, f"hash {number}", f"salt {number}", SESSION, revoke=False
        )

        account = replace(
            ANA, password_hash=f"hash {number}", salt=f"salt {number}", session=number
        )
        assert await stores.accounts.by_id(ANA.id) == account
        assert await stores.accounts.by_email(ANA.email_key) == account
        assert await stores.accounts.add(ANA) == account
    assert await stores.accounts.by_id(BEA.id) == BEA


async def test_an_account_that_changed_since_it_was_read_is_not_changed(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.change_password(ANA, "other hash", "other salt", SESSION, revoke=False)
    stored = await stores.accounts.by_id(ANA.id)
    assert stored
    for other in (ANA, replace(stored, session=2), replace(stored, id="unknown"), BEA):
        assert not await stores.accounts.change_password(
            other, "hash", "salt", SESSION, revoke=False
        )
        assert not await stores.accounts.close_in_session(other)
    assert await stores.accounts.by_id(ANA.id) == stored
    assert await stores.accounts.by_id("unknown") is None

    await stores.accounts.close(ANA.email_key)
    closed = replace(stored, closed=True)
    for read in (stored, closed):
        assert not await stores.accounts.change_password(
            read, "hash", "salt", SESSION, revoke=False
        )
        assert not await stores.accounts.close_in_session(read)
    assert await stores.accounts.by_id(ANA.id) == closed


@pytest.mark.parametrize("before", [0, 1])
async def test_only_one_of_concurrent_changes_is_made(stores: Stores, before: int) -> None:
    await stores.accounts.add(ANA)
    for _ in range(before):
        await stores.accounts.change_password(
            ANA, ANA.password_hash, ANA.salt, SESSION, revoke=False
        )
    read = replace(ANA, session=before)

    made = await asyncio.gather(
        *(
            stores.accounts.change_password(read, f"hash {n}", f"salt {n}", SESSION, revoke=False)
            for n in range(20)
        ),
        stores.accounts.close_in_session(read),
    )

    assert made.count(True) == 1
    n = made.index(True)
    changed = replace(ANA, password_hash=f"hash {n}", salt=f"salt {n}", session=before + 1)
    closed = replace(read, closed=True)
    assert await stores.accounts.by_id(ANA.id) == (changed if n < 20 else closed)


async def test_closed_accounts_are_listed_until_they_are_removed(stores: Stores) -> None:
    accounts = [replace(ANA, id=f"{n:024x}", email_key=f"{n}@b") for n in range(5)]
    for account in accounts:
        await stores.accounts.add(account)
    assert await stores.accounts.list_closed(3) == []

    await stores.accounts.close(accounts[1].email_key)
    await stores.accounts.close_in_session(accounts[3])
    ids = {accounts[1].id, accounts[3].id}
    assert sorted(await stores.accounts.list_closed(3)) == sorted(ids)
    assert sorted(await stores.accounts.list_closed(2)) == sorted(ids)
    (one,) = await stores.accounts.list_closed(1)
    assert one in ids

    await stores.accounts.remove(one)
    assert await stores.accounts.list_closed(3) == list(ids - {one})


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


async def test_a_key_is_found_by_its_hash_and_listed_for_its_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    other = replace(numbered(1, BEA), scopes=(Scope.LINKS_WRITE,), expires_at=None)
    assert await stores.keys.add(ANA, KEY, 2)
    assert await stores.keys.add(BEA, other, 2)
    assert await stores.keys.add(BEA, numbered(2, BEA), 2)

    assert await stores.keys.find(KEY.key_hash) == (KEY, ANA)
    assert await stores.keys.find(other.key_hash) == (other, BEA)
    assert await stores.keys.list_all(ANA.id) == [KEY]
    listed = await stores.keys.list_all(BEA.id)
    assert sorted(listed, key=lambda key: key.id) == [other, numbered(2, BEA)]
    for key_hash in (b"", bytes(32), KEY.key_hash[:31], KEY.key_hash + b"\0", b"x" * 10_000):
        assert await stores.keys.find(key_hash) is None
    assert await stores.keys.list_all("unknown") == []


async def test_keys_do_not_change_what_is_read_of_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.keys.add(ANA, KEY, 1)

    assert await stores.accounts.by_id(ANA.id) == ANA
    assert await stores.accounts.by_email(ANA.email_key) == ANA
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    changed = replace(ANA, password_hash="hash", salt="salt", session=1)
    assert await stores.keys.find(KEY.key_hash) == (KEY, changed)


async def test_an_account_has_no_more_keys_than_the_limit(stores: Stores) -> None:
    """Also if all of them are created at once."""
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    made = [numbered(n, account) for n in range(MAX_KEYS + 10) for account in (ANA, BEA)]

    added = await asyncio.gather(
        *(stores.keys.add(ANA if key.account_id == ANA.id else BEA, key, MAX_KEYS) for key in made)
    )

    for account in (ANA, BEA):
        listed = await stores.keys.list_all(account.id)
        assert len(listed) == MAX_KEYS
        of_account = [
            key for key, ok in zip(made, added, strict=True) if ok and key.account_id == account.id
        ]
        assert sorted(listed, key=lambda key: key.id) == of_account
    refused = [key for key, ok in zip(made, added, strict=True) if not ok]
    assert [await stores.keys.find(key.key_hash) for key in refused] == [None] * 20
    assert await stores.keys.delete(ANA.id, (await stores.keys.list_all(ANA.id))[0].id)
    assert await stores.keys.add(ANA, KEY, MAX_KEYS)
    assert not await stores.keys.add(ANA, numbered(99), MAX_KEYS)


async def test_a_key_is_added_only_to_an_account_as_it_was_read(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    assert not await stores.keys.add(BEA, numbered(1, BEA), 20)
    await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert not await stores.keys.add(ANA, KEY, 20)
    changed = await stores.accounts.by_id(ANA.id)
    assert changed
    assert await stores.keys.add(changed, KEY, 20)

    await stores.accounts.close(ANA.email_key)
    for read in (changed, replace(changed, closed=True)):
        assert not await stores.keys.add(read, numbered(1), 20)
    assert await stores.keys.list_all(ANA.id) == [KEY]


async def test_no_two_keys_have_the_same_hash(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    await stores.keys.add(ANA, KEY, 20)
    with pytest.raises((sqlite3.IntegrityError, DuplicateKeyError)):
        await stores.keys.add(BEA, replace(numbered(1, BEA), key_hash=KEY.key_hash), 20)

    assert await stores.keys.find(KEY.key_hash) == (KEY, ANA)
    assert await stores.keys.list_all(BEA.id) == []


async def test_a_deleted_key_is_gone(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    for key in (KEY, numbered(1)):
        await stores.keys.add(ANA, key, 20)
    await stores.keys.add(BEA, numbered(1, BEA), 20)
    for account_id, key_id in ((BEA.id, KEY.id), (ANA.id, ""), (ANA.id, "\0"), ("", KEY.id)):
        assert not await stores.keys.delete(account_id, key_id)

    assert await stores.keys.delete(ANA.id, KEY.id)
    assert not await stores.keys.delete(ANA.id, KEY.id)
    assert await stores.keys.find(KEY.key_hash) is None
    assert await stores.keys.list_all(ANA.id) == [numbered(1)]
    for _ in range(2):
        await stores.keys.delete(ANA.id, numbered(1).id)
        assert await stores.keys.list_all(ANA.id) == []
    assert await stores.keys.list_all(BEA.id) == [numbered(1, BEA)]


async def test_accounts_whose_last_key_was_deleted_do_not_conflict(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.keys.add(account, numbered(1, account), 20)
        await stores.keys.delete(account.id, numbered(1, account).id)
    for account in (ANA, BEA):
        assert await stores.keys.add(account, numbered(2, account), 20)


async def test_the_keys_of_a_closed_account_are_removed_with_it(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.keys.add(account, numbered(1, account), 20)
    await stores.accounts.remove(ANA.id)
    assert await stores.keys.find(numbered(1).key_hash) == (numbered(1), ANA)

    await stores.accounts.close(ANA.email_key)
    closed = replace(ANA, closed=True)
    assert await stores.keys.find(numbered(1).key_hash) == (numbered(1), closed)
    for _ in range(2):
        await stores.accounts.remove(ANA.id)
        assert await stores.keys.find(numbered(1).key_hash) is None
        assert await stores.keys.list_all(ANA.id) == []
    assert await stores.keys.list_all(BEA.id) == [numbered(1, BEA)]
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.keys.add(ANA, numbered(1), 1)


async def test_the_last_use_never_goes_back(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        for n in range(3):
            await stores.keys.add(account, numbered(n, account), 20)

    async def last_uses(account: Account) -> list[datetime | None]:
        keys = await stores.keys.list_all(account.id)
        return [key.last_used_at for key in sorted(keys, key=lambda key: key.id)]

    one, two, third = numbered(0).key_hash, numbered(1, BEA).key_hash, numbered(2, BEA).key_hash
    later, earlier = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
    await stores.keys.record_uses({one: NOW, two: earlier, third: NOW, bytes(32): NOW})
    assert await last_uses(ANA) == [NOW, None, None]
    assert await last_uses(BEA) == [None, earlier, NOW]

    await stores.keys.record_uses({one: earlier, two: NOW, third: NOW})
    assert await last_uses(ANA) == [NOW, None, None]
    assert await last_uses(BEA) == [None, NOW, NOW]
    await asyncio.gather(
        *(stores.keys.record_uses({one: at}) for at in (NOW, later, earlier, NOW) * 5)
    )
    assert await last_uses(ANA) == [later, None, None]

    await stores.keys.delete(ANA.id, numbered(0).id)
    await stores.keys.record_uses({one: later})
    assert await last_uses(ANA) == [None, None]


async def test_a_store_of_the_first_version_is_upgraded(new_store: NewStore) -> None:
    first = StoreFactories[AccountStore](
        SqliteAccountStore, MIGRATIONS[:1], lambda: (MongoAccountStore, SCHEMA[:1])
    )
    with new_store() as setting:
        if setting.startswith("mongodb"):  # The database may have been used by other tests.
            with pymongo.MongoClient[dict[str, Any]](setting) as client:
                client.get_default_database().schema.delete_many({})
        async with open_stores_at(setting, "auth", first) as accounts:
            await accounts.add(ANA)
        async with open_stores_at(setting, "auth", STORE_FACTORIES) as stores:
            assert await stores.keys.list_all(ANA.id) == []
            assert await stores.keys.add(ANA, KEY, 1)
            assert await stores.keys.find(KEY.key_hash) == (KEY, ANA)
            assert await stores.accounts.by_id(ANA.id) == ANA


async def test_reopened_stores_have_all_data(opening: Opening) -> None:
    async with opening() as stores:
        await stores.accounts.add(ANA)
        await stores.attempts.acquire("counter", 1, WINDOW, NOW)
        await stores.keys.add(ANA, KEY, 1)
        await stores.keys.record_uses({KEY.key_hash: NOW})

    async with opening() as stores:
        assert await stores.accounts.by_email(ANA.email_key) == ANA
        assert not (await stores.attempts.acquire("counter", 1, WINDOW, NOW)).granted
        assert await stores.keys.find(KEY.key_hash) == (replace(KEY, last_used_at=NOW), ANA)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list with the number of steps of SQLite's virtual machine in reads, in tens."""
    counted = [0]

    def step() -> None:
        counted[0] += 10

    def connect_counted(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_progress_handler(step, 10)
        return connection

    monkeypatch.setattr("services.shared.sqlite.readers.connect", connect_counted)
    return counted


async def test_sqlite_reads_only_the_accounts_and_keys_that_it_returns(
    tmp_path: Path, steps: list[int]
) -> None:
    async with open_stores_at(f"sqlite:///{tmp_path}/auth.db", "auth", STORE_FACTORIES) as stores:
        accounts, keys = stores.accounts, stores.keys
        for number in range(300):
            account = replace(ANA, id=f"{number:024x}", email_key=f"{number}@b")
            await accounts.add(account)
            await keys.add(account, numbered(1, account), 1)
        await accounts.close("7@b")

        async def read() -> None:
            assert await accounts.list_closed(100) == [f"{7:024x}"]
            found = await keys.find(numbered(1, replace(ANA, id=f"{250:024x}")).key_hash)
            assert found
            assert await keys.list_all(found[1].id) == [found[0]]

        for _ in range(10):
            await read()  # SQLite reads the schema on each connection.
        steps[0] = 0
        await read()
    assert steps[0] < 600


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


def another(number: int, **changes: Any) -> Session:
    """Return one of many sessions of an account, each a second after the one before."""
    begins = NOW + timedelta(seconds=number)
    times = {"created_at": begins, "expires_at": begins + timedelta(hours=4)}
    return replace(SESSION, id=f"{number:024x}", **{**times, **changes})


async def ids(stores: Stores, account: Account = ANA) -> set[str]:
    return {session.id for session in await stores.sessions.list_all(account.id)}


async def test_sessions_are_found_with_their_account_until_they_are_deleted(
    stores: Stores,
) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    assert await stores.sessions.add(ANA, another(1), MAX_SESSIONS)
    theirs = replace(another(2), account_id=BEA.id)
    assert await stores.sessions.add(BEA, theirs, MAX_SESSIONS)

    assert await stores.sessions.find(ANA.id, SESSION.id) == (SESSION, ANA)
    assert await stores.sessions.find(BEA.id, SESSION.id) is None
    assert await stores.sessions.find("nobody", SESSION.id) is None
    assert await stores.sessions.list_all(BEA.id) == [theirs]
    assert not await stores.sessions.delete(BEA.id, SESSION.id)
    assert await stores.sessions.delete(ANA.id, SESSION.id)
    assert not await stores.sessions.delete(ANA.id, SESSION.id)
    assert await stores.sessions.find(ANA.id, SESSION.id) is None
    assert await ids(stores) == {another(1).id}
    assert await ids(stores, BEA) == {theirs.id}


async def test_a_session_begins_only_with_the_current_password_in_an_open_account(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert not await stores.sessions.add(ANA, another(1), MAX_SESSIONS)
    changed = replace(ANA, session=1, password_hash="hash", salt="salt")
    assert await stores.sessions.add(changed, another(1), MAX_SESSIONS)
    assert await stores.accounts.close_in_session(changed)
    assert not await stores.sessions.add(changed, another(2), MAX_SESSIONS)
    assert not await stores.sessions.add(BEA, another(3), MAX_SESSIONS)
    assert await ids(stores) == {SESSION.id, another(1).id}
    found = await stores.sessions.find(ANA.id, SESSION.id)
    assert found is not None
    assert found[1].closed


async def test_a_password_change_replaces_all_sessions(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(3):
        await stores.sessions.add(ANA, another(number), MAX_SESSIONS)
    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert await ids(stores) == {SESSION.id}


async def test_the_oldest_and_expired_sessions_are_deleted(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(4):
        await stores.sessions.add(ANA, another(number), 3)
    assert await ids(stores) == {another(number).id for number in (1, 2, 3)}
    late = another(9, created_at=another(2).expires_at)
    assert await stores.sessions.add(ANA, late, 3)
    assert await ids(stores) == {another(3).id, late.id}


async def test_all_other_sessions_end_together(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(3):
        await stores.sessions.add(ANA, another(number), MAX_SESSIONS)
    assert await stores.sessions.delete_others(ANA, another(1).id) == 2
    assert await ids(stores) == {another(1).id}
    # A log-in that checked its password before begins its session nevertheless.
    assert await stores.sessions.add(ANA, another(5), MAX_SESSIONS)
    assert await stores.sessions.delete(ANA.id, another(5).id)
    # The session number changed, so that tokens of sessions that are not stored end, too.
    assert await stores.sessions.delete_others(ANA, another(1).id) is None
    changed = replace(ANA, session=1)
    assert await stores.accounts.by_id(ANA.id) == changed
    assert await stores.sessions.delete_others(changed, "not stored") == 1
    assert await stores.accounts.by_id(ANA.id) == changed


async def test_the_last_use_of_a_session_only_advances(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(2):
        await stores.sessions.add(ANA, another(number), MAX_SESSIONS)
    hour = SESSION.last_seen_at + timedelta(hours=1)
    for at in (hour, hour - timedelta(hours=1)):
        await stores.sessions.record_uses(
            {(ANA.id, another(0).id): at, (ANA.id, "ended"): at, ("nobody", another(1).id): at}
        )
        assert await stores.sessions.find(ANA.id, another(0).id) == (
            another(0, last_seen_at=hour),
            ANA,
        )
    assert await stores.sessions.find(ANA.id, another(1).id) == (another(1), ANA)


async def test_sessions_are_deleted_with_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    await stores.accounts.close(ANA.email_key)
    await stores.accounts.remove(ANA.id)
    assert await stores.accounts.add(ANA) == ANA
    assert await ids(stores) == set()


CODES = [bytes([number]) * 32 for number in range(10)]


async def hashes(stores: Stores, account: Account = ANA) -> set[bytes]:
    return {code.hash for code in await stores.recovery_codes.list_all(account.id)}


async def test_a_new_set_of_recovery_codes_replaces_the_old_one(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.recovery_codes.replace(ANA, CODES, NOW)
    assert await stores.recovery_codes.put_expiring(ANA.id, RecoveryCode(b"one", NOW))
    assert await stores.recovery_codes.replace(BEA, CODES[:2], NOW)
    assert await hashes(stores) == {*CODES, b"one"}

    assert await stores.recovery_codes.replace(ANA, CODES[:3], NOW)
    assert await hashes(stores) == set(CODES[:3])
    assert await hashes(stores, BEA) == set(CODES[:2])
    assert await hashes(stores, replace(ANA, id="nobody")) == set()


@pytest.mark.parametrize(
    "damage", [{"created_at": "x"}, {"expires_at": "x"}, {"hash": "text"}], ids=str
)
async def test_an_unreadable_recovery_code_is_left_out(
    stores: Stores, damage: dict[str, str]
) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    database = cast("Any", stores.recovery_codes)._database
    if isinstance(database, sqlite.Database):
        (column, value), *_ = damage.items()
        statement = f"UPDATE recovery_codes SET {column} = ? WHERE hash = ?"
        await database.write(
            "test", lambda connection: connection.execute(statement, (value, CODES[0]))
        )
    else:
        changed = {f"recovery_codes.0.{field}": value for field, value in damage.items()}
        await database.write(
            "test", lambda db: db.accounts.update_one({"_id": ANA.id}, {"$set": changed})
        )
    labels = {"record": "recovery_code"}
    before = REGISTRY.get_sample_value("atajo_unreadable_records_total", labels)
    assert before is not None
    assert await hashes(stores) == set(CODES[1:])
    assert REGISTRY.get_sample_value("atajo_unreadable_records_total", labels) == before + 1


async def test_an_account_has_one_expiring_code_beside_its_set(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES[:1], NOW)
    later = NOW + timedelta(hours=1, microseconds=1)
    for code in (RecoveryCode(b"first", NOW), RecoveryCode(b"second", later)):
        assert await stores.recovery_codes.put_expiring(ANA.id, code)

    stored = await stores.recovery_codes.list_all(ANA.id)
    assert set(stored) == {
        RecoveryCode(CODES[0], created_at=NOW),
        RecoveryCode(b"second", later),
    }
    assert not await stores.recovery_codes.put_expiring(BEA.id, RecoveryCode(b"third", later))


async def test_recovery_codes_are_replaced_only_in_an_account_as_it_was_read(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    await stores.sessions.delete_others(ANA, SESSION.id)
    assert not await stores.recovery_codes.replace(ANA, CODES[:1], NOW)
    assert not await stores.recovery_codes.replace(BEA, CODES[:1], NOW)
    assert await hashes(stores) == set(CODES)
    assert await stores.recovery_codes.replace(replace(ANA, session=1), CODES[:1], NOW)


async def test_a_spent_code_sets_the_password_and_ends_all_sessions(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.recovery_codes.replace(account, CODES, NOW)
    for number in range(2):
        await stores.sessions.add(ANA, another(number), MAX_SESSIONS)

    results = await asyncio.gather(
        *(
            stores.recovery_codes.spend(
                ANA.id, RecoveryCode(CODES[3]), f"hash {n}", f"salt {n}", revoke=False, now=NOW
            )
            for n in range(20)
        )
    )
    assert sum(results) == 1
    number = results.index(True)
    changed = replace(ANA, password_hash=f"hash {number}", salt=f"salt {number}", session=1)
    assert await stores.accounts.by_id(ANA.id) == changed
    assert await ids(stores) == set()
    assert await hashes(stores) == {*CODES} - {CODES[3]}
    assert await hashes(stores, BEA) == set(CODES)
    for wrong in (b"unknown", CODES[3]):
        assert not await spend(stores, RecoveryCode(wrong), "other hash")
    assert await stores.accounts.by_id(ANA.id) == changed


async def filled_account(stores: Stores) -> None:
    """Store two accounts with sessions, ten codes and one of the operator, keys and passkeys."""
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.recovery_codes.replace(account, CODES, NOW)
        await stores.recovery_codes.put_expiring(account.id, OPERATORS_CODE)
        for number in range(2):
            await stores.keys.add(account, numbered(number, account), 20)
            await stores.passkeys.add(account, passkey(number, account), 10)


async def ways_in(stores: Stores, account: Account = ANA) -> tuple[int, int, int]:
    """Return how many recovery codes, API keys and passkeys an account has."""
    return (
        len(await stores.recovery_codes.list_all(account.id)),
        len(await stores.keys.list_all(account.id)),
        len(await stores.passkeys.list_all(account.id)),
    )


OPERATORS_CODE = RecoveryCode(b"operator", NOW + timedelta(hours=1))


@pytest.mark.parametrize(("revoke", "left"), [(False, (0, 2, 2)), (True, (0, 0, 0))])
async def test_a_new_password_deletes_all_recovery_codes_and_may_revoke_the_rest(
    stores: Stores, revoke: bool, left: tuple[int, int, int]
) -> None:
    await filled_account(stores)
    other = replace(ANA, session=1)
    assert not await stores.accounts.change_password(other, "hash", "salt", SESSION, revoke)
    assert await ways_in(stores) == (11, 2, 2)

    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke)
    assert await ways_in(stores) == left
    assert (await stores.keys.find(numbered(0).key_hash) is None) == revoke
    assert (await stores.passkeys.find(passkey(0).id) is None) == revoke
    assert await ways_in(stores, BEA) == (11, 2, 2)
    changed = replace(ANA, session=1)
    assert await stores.keys.add(changed, numbered(5), 3)
    assert await stores.passkeys.add(changed, passkey(5), 3)


@pytest.mark.parametrize(
    ("code", "revoke", "left"),
    [
        (RecoveryCode(CODES[3]), False, (9, 2, 2)),
        (RecoveryCode(CODES[3]), True, (9, 0, 0)),
        (OPERATORS_CODE, True, (0, 0, 0)),
    ],
)
async def test_a_spent_code_leaves_no_link_of_the_operator_and_may_revoke_the_rest(
    stores: Stores, code: RecoveryCode, revoke: bool, left: tuple[int, int, int]
) -> None:
    await filled_account(stores)
    assert not await spend(stores, RecoveryCode(b"unknown"), "hash", revoke)
    assert await ways_in(stores) == (11, 2, 2)

    assert await spend(stores, code, "hash", revoke)
    assert await ways_in(stores) == left
    assert await hashes(stores) == ({*CODES} - {code.hash} if left[0] else set())
    assert await ways_in(stores, BEA) == (11, 2, 2)


async def spend(
    stores: Stores,
    code: RecoveryCode,
    password_hash: str,
    revoke: bool = False,
    now: datetime = NOW,
) -> bool:
    return await stores.recovery_codes.spend(
        ANA.id, code, password_hash, "salt", revoke=revoke, now=now
    )


async def test_an_expired_code_and_those_of_a_closed_account_cannot_be_spent(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    expiring = RecoveryCode(b"one", NOW)
    await stores.recovery_codes.put_expiring(ANA.id, expiring)
    assert not await spend(stores, expiring, "hash")
    just_before = NOW - timedelta(microseconds=1)
    assert await spend(stores, expiring, "hash", now=just_before)
    await stores.recovery_codes.replace(replace(ANA, session=1), CODES, NOW)
    assert await stores.accounts.close(ANA.email_key)
    assert not await spend(stores, RecoveryCode(CODES[0]), "other")
    assert not await stores.recovery_codes.put_expiring(ANA.id, RecoveryCode(b"two", NOW))
    account = await stores.accounts.by_id(ANA.id)
    assert account is not None
    assert account.password_hash == "hash"


def passkey(number: int, account: Account = ANA) -> Passkey:
    """Return one of many passkeys of an account."""
    return replace(PASSKEY, id=f"{account.id}-{number}", account_id=account.id)


async def test_passkeys_are_found_with_their_account_until_they_are_deleted(
    stores: Stores,
) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.passkeys.add(ANA, PASSKEY, 10)
    assert await stores.passkeys.add(ANA, passkey(1), 10)
    assert await stores.passkeys.add(BEA, passkey(1, BEA), 10)

    assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, ANA)
    assert set(await stores.passkeys.list_all(ANA.id)) == {PASSKEY, passkey(1)}
    for wrong in ("", "unknown", PASSKEY.id.lower()):
        assert await stores.passkeys.find(wrong) is None
    assert not await stores.passkeys.delete(BEA.id, PASSKEY.id)
    assert await stores.passkeys.delete(ANA.id, PASSKEY.id)
    assert not await stores.passkeys.delete(ANA.id, PASSKEY.id)
    assert await stores.passkeys.find(PASSKEY.id) is None
    assert await stores.passkeys.list_all(BEA.id) == [passkey(1, BEA)]


async def test_an_account_has_no_more_passkeys_than_the_limit(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    results = await asyncio.gather(
        *(stores.passkeys.add(ANA, passkey(number), 10) for number in range(15))
    )
    assert sum(results) == len(await stores.passkeys.list_all(ANA.id)) == 10


async def test_no_two_passkeys_have_the_same_id(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.passkeys.add(ANA, PASSKEY, 10)
    assert not await stores.passkeys.add(ANA, replace(PASSKEY, name="Other"), 10)
    assert not await stores.passkeys.add(BEA, replace(PASSKEY, account_id=BEA.id), 10)
    assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, ANA)
    assert await stores.passkeys.list_all(BEA.id) == []


async def test_a_passkey_is_added_only_to_an_account_as_it_was_read(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    assert not await stores.passkeys.add(BEA, passkey(1, BEA), 10)
    await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert not await stores.passkeys.add(ANA, PASSKEY, 10)
    changed = replace(ANA, session=1, password_hash="hash", salt="salt")
    assert await stores.passkeys.add(changed, PASSKEY, 10)
    await stores.accounts.close(ANA.email_key)
    assert not await stores.passkeys.add(changed, passkey(1), 10)
    assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, replace(changed, closed=True))


async def test_of_concurrent_uses_with_one_sign_count_one_is_recorded(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for each in (PASSKEY, passkey(1)):
        await stores.passkeys.add(ANA, each, 10)
    results = await asyncio.gather(
        *(stores.passkeys.record_use(PASSKEY, 5, NOW) for _ in range(10))
    )
    assert sum(results) == 1
    used = replace(PASSKEY, sign_count=5, last_used_at=NOW)
    assert await stores.passkeys.find(PASSKEY.id) == (used, ANA)
    assert await stores.passkeys.find(passkey(1).id) == (passkey(1), ANA)
    # An authenticator without a counter reports zero each time.
    for minute in range(2):
        at = NOW + timedelta(minutes=minute)
        assert await stores.passkeys.record_use(passkey(1), 0, at)
    assert not await stores.passkeys.record_use(passkey(2), 1, NOW)


async def test_codes_and_passkeys_are_deleted_with_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    await stores.passkeys.add(ANA, PASSKEY, 10)
    await stores.accounts.close(ANA.email_key)
    await stores.accounts.remove(ANA.id)
    assert await stores.passkeys.find(PASSKEY.id) is None
    assert await stores.accounts.add(ANA) == ANA
    assert await hashes(stores) == set()
    assert await stores.passkeys.list_all(ANA.id) == []
    assert await stores.passkeys.add(ANA, PASSKEY, 10)


async def test_codes_and_passkeys_survive_a_restart(opening: Opening) -> None:
    async with opening() as stores:
        await stores.accounts.add(ANA)
        await stores.recovery_codes.replace(ANA, CODES, NOW)
        await stores.passkeys.add(ANA, PASSKEY, 10)
    async with opening() as stores:
        assert await hashes(stores) == set(CODES)
        assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, ANA)
