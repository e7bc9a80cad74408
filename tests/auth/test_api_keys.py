"""API keys of accounts: creating, listing, revoking and verifying them, and their last uses."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from services.auth.application import last_uses
from services.auth.application.accounts import AuthService
from services.auth.application.api_keys import ApiKeys
from services.auth.application.attempt_limiter import AttemptLimiter
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.last_uses import LastUses
from services.auth.application.password_check import PasswordCheck
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.registrations import Registrations
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.sessions import Sessions, SessionUses
from services.auth.application.stores import AccountStore, ApiKeyStore
from services.auth.domain.account import Account
from services.auth.domain.api_key import MAX_KEYS, ApiKey, Scope
from services.auth.domain.errors import (
    InvalidExpiry,
    InvalidKey,
    InvalidKeyName,
    InvalidScopes,
    InvalidToken,
    TooManyKeys,
)
from services.auth.domain.session import create_session
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.auth.storage.sqlite.store import SqliteBackend, open_stores
from services.shared import api_keys, sqlite
from services.shared.errors import AppError, Unavailable
from tests.support.processes import TIMEOUT_SECONDS

SECRET = "a signing secret of the tests, more than 32 bytes"
NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
MINUTE = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
READ = [Scope.LINKS_READ]
HASH = "$2b$10$SyUprZHiLhjegFiZXUd9DugETUgNx365Jd08EgrysGg4m0CYn2Dwi"


PASSWORD, CLIENT_IP = "Camino-42", "203.0.113.7"


class RightPassword(PasswordCheck):
    """Says of each password that it is right."""

    async def check_in_session(self, *args: object, **options: object) -> None:
        pass


class Store(ApiKeyStore):
    """Counts the batches of uses. Refuses them while `away`."""

    away = False
    batches = 0

    async def record_uses(self, uses: Mapping[bytes, datetime]) -> None:
        if self.away:
            raise Unavailable("The store is away.")
        self.batches += 1
        await super().record_uses(uses)


@dataclass
class Service:
    keys: ApiKeys
    uses: LastUses[bytes]
    store: Store
    accounts: AuthService
    account_store: AccountStore
    sessions: Sessions
    clock: list[datetime]
    """The time, which tests may change."""

    async def session(self, name: str = "ana") -> str:
        """Return the token of a session of an account, which is created if necessary."""
        registrations = Registrations(self.account_store, "open", False, lambda: self.clock[0])
        account = await registrations.register(f"{name}@b", HASH, HASH[:29], name)
        login = await self.sessions.start(account, "", "", "")
        assert login is not None
        return login.token

    async def is_valid(self, text: str) -> bool:
        try:
            await self.keys.verify(api_keys.hash_key(text))
        except InvalidKey:
            return False
        return True

    async def last_used(self, token: str) -> list[datetime | None]:
        """Return the last uses of an account's keys, newest key first."""
        return [key.last_used_at for key in await self.keys.list_all(token)]


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    clock = [NOW]

    def now() -> datetime:
        return clock[0]

    async with sqlite.open_database(f"sqlite:///{tmp_path}/auth.db", MIGRATIONS) as database:
        verifier, stores = PasswordVerifier(1, 1), open_stores(database)
        session_uses = SessionUses("session_uses", stores.sessions.record_uses)
        tokens, devices = SessionTokens(SECRET, now), DeviceTokens(SECRET, now)
        sessions = Sessions(stores.accounts, stores.sessions, session_uses, tokens, devices, now)
        attempts = AttemptLimiter(stores.attempts, SECRET, [], timedelta(), now, 1)
        passwords = RightPassword(attempts, verifier, now)
        accounts = AuthService(stores.accounts, passwords, sessions, devices, now)
        store = Store(SqliteBackend(database))
        uses = LastUses[bytes]("key_uses", lambda batch: store.record_uses(batch))
        keys = ApiKeys(store, uses, passwords, sessions, now)
        yield Service(keys, uses, store, accounts, stores.accounts, sessions, clock)
        await verifier.close()


async def test_a_created_key_is_valid_for_its_account(service: Service) -> None:
    token = await service.session()
    expires_at = NOW + timedelta(days=1)
    every = list(Scope)
    key, text = await service.keys.create(token, PASSWORD, " Script ", every, expires_at, CLIENT_IP)

    found, account = await service.keys.verify(api_keys.hash_key(text))
    assert found == key
    assert (key.name, key.scopes, key.expires_at) == ("Script", tuple(every), expires_at)
    assert account.username == "ana"
    assert account == await service.accounts.verify_token(token)
    assert await service.keys.list_all(token) == [key]
    for changed in (text[:-1], text.swapcase(), ""):
        assert not await service.is_valid(changed)


async def test_keys_are_listed_newest_first_and_only_to_their_account(service: Service) -> None:
    ana, bea = await service.session("ana"), await service.session("bea")
    made = []
    for n in range(3):
        service.clock[0] = NOW + timedelta(seconds=n)
        made.append((await service.keys.create(ana, PASSWORD, f"{n}", READ, None, CLIENT_IP))[0])

    assert await service.keys.list_all(ana) == made[::-1]
    assert await service.keys.list_all(bea) == []


@pytest.mark.parametrize(
    ("error", "name", "scopes", "expires_at"),
    [
        (InvalidKeyName, "", READ, None),
        (InvalidScopes, "Script", [], None),
        (InvalidExpiry, "Script", READ, NOW),
    ],
)
async def test_an_invalid_key_is_not_created(
    service: Service,
    error: type[AppError],
    name: str,
    scopes: list[Scope],
    expires_at: datetime | None,
) -> None:
    token = await service.session()
    with pytest.raises(error):
        await service.keys.create(token, PASSWORD, name, scopes, expires_at, CLIENT_IP)
    assert await service.keys.list_all(token) == []


async def test_an_account_has_at_most_20_keys(service: Service) -> None:
    token, other = await service.session("ana"), await service.session("bea")
    expires_at = NOW + timedelta(seconds=1)
    results = await asyncio.gather(
        *(
            service.keys.create(token, PASSWORD, f"{n}", READ, expires_at, CLIENT_IP)
            for n in range(MAX_KEYS + 5)
        ),
        return_exceptions=True,
    )

    assert sum(isinstance(result, TooManyKeys) for result in results) == 5
    assert len(await service.keys.list_all(token)) == MAX_KEYS == 20
    await service.keys.create(other, PASSWORD, "Script", READ, None, CLIENT_IP)
    service.clock[0] = NOW + timedelta(days=1)  # Expired keys count, too.
    token = await service.session("ana")
    with pytest.raises(TooManyKeys) as refused:
        await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_KEYS", None)
    await service.keys.revoke(token, (await service.keys.list_all(token))[0].id)
    await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)


async def test_a_revoked_key_is_invalid_at_once(service: Service) -> None:
    ana, bea = await service.session("ana"), await service.session("bea")
    key, text = await service.keys.create(ana, PASSWORD, "Script", READ, None, CLIENT_IP)
    other, other_text = await service.keys.create(ana, PASSWORD, "Other", READ, None, CLIENT_IP)
    await service.keys.revoke(bea, key.id)
    await service.keys.revoke(ana, "unknown")
    assert await service.is_valid(text)

    for _ in range(2):
        await service.keys.revoke(ana, key.id)
        assert not await service.is_valid(text)
    assert await service.is_valid(other_text)
    assert await service.keys.list_all(ana) == [other]


async def test_a_key_is_invalid_from_its_expiry_on_and_stays_listed(service: Service) -> None:
    token = await service.session()
    key, text = await service.keys.create(
        token, PASSWORD, "Script", READ, NOW + timedelta(seconds=1), CLIENT_IP
    )
    service.clock[0] = NOW + timedelta(microseconds=999_999)
    assert await service.is_valid(text)

    service.clock[0] = NOW + timedelta(seconds=1)
    assert not await service.is_valid(text)
    assert await service.keys.list_all(token) == [key]
    await service.keys.revoke(token, key.id)
    assert await service.keys.list_all(token) == []


async def test_the_keys_of_a_closed_account_are_invalid_at_once(service: Service) -> None:
    token = await service.session()
    _, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    account_id = await service.accounts.close("ana@b")
    assert not await service.is_valid(text)
    await service.accounts.remove(account_id)
    assert not await service.is_valid(text)


@pytest.mark.parametrize("end", ["nonsense", "password", "close"])
async def test_only_an_open_session_manages_keys(service: Service, end: str) -> None:
    token = await service.session()
    key, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    account = (await service.sessions.authenticate(token)).account
    if end == "password":
        session = create_session(account.id, "", "", NOW)
        await service.account_store.change_password(account, HASH, HASH[:29], session, revoke=False)
    elif end == "close":
        await service.accounts.close("ana@b")
    for bad in (text, "", token if end != "nonsense" else f"{token}x"):
        calls: list[Awaitable[object]] = [
            service.keys.create(bad, PASSWORD, "Script", READ, None, CLIENT_IP),
            service.keys.list_all(bad),
            service.keys.revoke(bad, key.id),
        ]
        for call in calls:
            with pytest.raises(InvalidToken):
                await call
    assert await service.store.list_all(account.id) == [key]
    assert await service.is_valid(text) == (end != "close")


@pytest.mark.parametrize("closing", [False, True])
async def test_a_session_that_ends_meanwhile_creates_no_key(
    service: Service, monkeypatch: pytest.MonkeyPatch, closing: bool
) -> None:
    """The account is closed, or its password changed, after the token was checked."""
    token = await service.session()
    add = service.store.add

    async def add_late(account: Account, key: ApiKey, limit: int) -> bool:
        if closing:
            await service.accounts.close("ana@b")
        else:
            session = create_session(account.id, "", "", NOW)
            await service.account_store.change_password(
                account, HASH, HASH[:29], session, revoke=False
            )
        return await add(account, key, limit)

    monkeypatch.setattr(service.store, "add", add_late)
    with pytest.raises(InvalidToken):
        await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)


async def test_keys_and_verifications_are_counted(service: Service) -> None:
    def count(name: str, **labels: str) -> float:
        value = REGISTRY.get_sample_value(f"atajo_api_{name}_total", labels)
        assert value is not None
        return value

    def counts() -> dict[str, float]:
        results = ("ok", "unknown", "expired", "closed")
        return {
            "created": count("keys_created"),
            "revoked": count("keys_revoked"),
            **{result: count("key_verifications", result=result) for result in results},
        }

    before = counts()
    token = await service.session()
    soon = NOW + timedelta(seconds=1)
    made = [
        await service.keys.create(token, PASSWORD, "Script", READ, at, CLIENT_IP)
        for at in (None, None, soon)
    ]
    with contextlib.suppress(AppError):
        await service.keys.create(token, PASSWORD, "", READ, None, CLIENT_IP)
    for _ in range(2):
        await service.keys.revoke(token, made[0][0].id)
        for _, text in made:
            await service.is_valid(text)
    service.clock[0] = soon
    await service.is_valid(made[2][1])
    await service.accounts.close("ana@b")
    await service.is_valid(made[1][1])

    after = counts()
    assert {name: after[name] - before[name] for name in after} == {
        "created": 3,
        "revoked": 1,
        "ok": 4,
        "unknown": 2,
        "expired": 1,
        "closed": 1,
    }


async def test_a_use_is_written_as_its_minute(service: Service) -> None:
    token = await service.session()
    await service.keys.create(token, PASSWORD, "Unused", READ, None, CLIENT_IP)
    service.clock[0] = NOW + timedelta(seconds=1)
    _, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    await service.is_valid(text)
    assert await service.last_used(token) == [None, None]
    await service.uses.flush()
    assert await service.last_used(token) == [MINUTE, None]

    for seconds in (59, 60, 119, 120):
        service.clock[0] = MINUTE + timedelta(seconds=seconds)
        await service.is_valid(text)
        await service.uses.flush()
        expected = MINUTE + timedelta(minutes=seconds // 60)
        assert await service.last_used(token) == [expected, None]
    assert service.store.batches == 3, "a minute is written once"


async def test_many_uses_are_one_batch(service: Service) -> None:
    texts = []
    for name in ("ana", "bea", "eva"):
        token = await service.session(name)
        texts += [
            (await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP))[1]
            for _ in range(5)
        ]
    for _ in range(3):
        for text in texts:
            assert await service.is_valid(text)
    await service.uses.flush()
    await service.uses.flush()
    assert service.store.batches == 1
    for name in ("ana", "bea", "eva"):
        assert await service.last_used(await service.session(name)) == [MINUTE] * 5


async def test_rejected_keys_are_not_used(service: Service) -> None:
    token = await service.session()
    key, text = await service.keys.create(
        token, PASSWORD, "Script", READ, NOW + timedelta(seconds=1), CLIENT_IP
    )
    service.clock[0] = NOW + timedelta(seconds=1)
    assert not await service.is_valid(text)
    await service.uses.flush()
    assert service.store.batches == 0
    assert await service.keys.list_all(token) == [key]


async def test_a_clock_that_goes_back_does_not_change_the_last_use(service: Service) -> None:
    token = await service.session()
    _, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    for minutes in (1, 0, 2, 1):
        service.clock[0] = NOW + timedelta(minutes=minutes)
        await service.is_valid(text)
    await service.uses.flush()
    assert await service.last_used(token) == [MINUTE + timedelta(minutes=2)]


async def test_uses_that_could_not_be_written_are_written_later(service: Service) -> None:
    token = await service.session()
    _, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    service.store.away = True
    for minutes in range(3):
        service.clock[0] = NOW + timedelta(minutes=minutes)
        await service.is_valid(text)
        with pytest.raises(Unavailable):
            await service.uses.flush()
    service.store.away = False
    await service.uses.flush()
    assert await service.last_used(token) == [MINUTE + timedelta(minutes=2)]


async def test_uses_are_written_in_the_background_and_at_the_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = await service.session()
    _, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    monkeypatch.setattr(last_uses, "INTERVAL_SECONDS", 0.01)
    async with service.uses.running():
        service.store.away = True
        await service.is_valid(text)
        await asyncio.sleep(0.05)
        service.store.away = False
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while await service.last_used(token) != [MINUTE]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        monkeypatch.setattr(last_uses, "INTERVAL_SECONDS", 60)
        await asyncio.sleep(0.05)
        service.clock[0] = NOW + timedelta(minutes=1)
        await service.is_valid(text)
    assert await service.last_used(token) == [MINUTE + timedelta(minutes=1)]


async def test_a_stop_during_a_write_loses_no_use(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = await service.session()
    _, text = await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP)
    write, reached = service.store.record_uses, asyncio.Event()

    async def hang(_: Mapping[bytes, datetime]) -> None:
        monkeypatch.setattr(service.store, "record_uses", write)
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(service.store, "record_uses", hang)
    monkeypatch.setattr(last_uses, "INTERVAL_SECONDS", 0.01)
    async with service.uses.running():
        await service.is_valid(text)
        await asyncio.wait_for(reached.wait(), TIMEOUT_SECONDS)
    assert await service.last_used(token) == [MINUTE]


async def test_the_number_of_waiting_uses_is_bounded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_uses, "MAX_PENDING", 2)
    token = await service.session()
    keys = [
        (await service.keys.create(token, PASSWORD, "Script", READ, None, CLIENT_IP))[0]
        for _ in range(3)
    ]
    later = MINUTE + timedelta(minutes=1)
    for at in (MINUTE, later):
        for key in keys:
            service.uses.note(key.key_hash, at)
    await service.uses.flush()
    expected = [replace(key, last_used_at=later) for key in keys[:2]] + keys[2:]
    stored = await service.keys.list_all(token)
    assert sorted(stored, key=lambda key: key.id) == sorted(expected, key=lambda key: key.id)
