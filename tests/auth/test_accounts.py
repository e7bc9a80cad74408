"""Registering, logging in, changing the password and closing the account."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bcrypt
import pytest

from services.auth.application.accounts import AuthService
from services.auth.application.attempt_limiter import AttemptLimiter, Rule
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.password_hasher import Hasher
from services.auth.application.session_tokens import Tokens
from services.auth.domain.account import (
    EmailTaken,
    InvalidPasswordHash,
    InvalidToken,
    NoAccount,
    TooManyAttempts,
    WrongPassword,
)
from services.auth.metrics import ACCOUNT_CLOSINGS, LOGINS, PASSWORD_CHANGES
from services.auth.storage.sqlite import MIGRATIONS, SqliteAccountStore, SqliteAttemptStore
from services.shared import sqlite
from services.shared.errors import AppError

SECRET = "a signing secret of the tests, more than 32 bytes"
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
EMAIL = "ana@example.com"
ADDRESS = "192.0.2.1"
SALT = "$2b$10$SyUprZHiLhjegFiZXUd9Du"


@dataclass
class Passwords:
    """Stands in for bcrypt: a hash ends in the number of its password. May hold checks up."""

    numbers: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)
    reached: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def hash(self, password: str) -> str:
        """A well-formed hash of a password, the same every time."""
        if password not in self.numbers:
            self.numbers.append(password)
        return f"{SALT}{self.numbers.index(password):030d}e"

    def checkpw(self, password: bytes, password_hash: bytes) -> bool:
        self.reached.release()
        self.open.wait(30)
        return self.hash(password.decode()).encode() == password_hash

    async def held_up(self, checks: int) -> None:
        """Wait until so many checks are held up."""
        for _ in range(checks):
            assert await asyncio.to_thread(self.reached.acquire, timeout=30)


@pytest.fixture
def passwords(monkeypatch: pytest.MonkeyPatch) -> Passwords:
    passwords = Passwords()
    passwords.open.set()
    monkeypatch.setattr(bcrypt, "checkpw", passwords.checkpw)
    return passwords


@pytest.fixture
async def service(tmp_path: Path, passwords: Passwords) -> AsyncIterator[AuthService]:
    """With the account of Ana, whose password is `first`."""
    async with sqlite.opened(f"sqlite:///{tmp_path}/auth.db", MIGRATIONS) as database:
        rules = [Rule(2, "address"), Rule(4, "account"), Rule(1, "browser"), Rule(2, "session")]
        hasher = Hasher(threads=4, max_waiting=10)
        service = AuthService(
            SqliteAccountStore(database),
            AttemptLimiter(
                SqliteAttemptStore(database), SECRET, rules, timedelta(minutes=15), _now, 10
            ),
            hasher,
            Tokens(SECRET, _now),
            DeviceTokens(SECRET, _now),
            _now,
        )
        await service.register(EMAIL, passwords.hash("first"), SALT, "Ana")
        yield service
        passwords.open.set()
        await hasher.close()


def _now() -> datetime:
    return NOW


async def log_in(service: AuthService, password: str, address: str = ADDRESS) -> str:
    """The token of a new session."""
    return (await service.login(EMAIL, password, address)).token


async def ended(service: AuthService, token: str) -> bool:
    try:
        await service.account_of_token(token)
    except InvalidToken:
        return True
    return False


async def test_an_address_is_one_in_all_its_spellings(
    service: AuthService, passwords: Passwords
) -> None:
    composed, apart = "Jos\u00e9@example.com", "JOSE\u0301@EXAMPLE.COM "
    first = await service.register(composed, passwords.hash("jose"), SALT, "José")

    assert await service.register(apart, passwords.hash("jose"), SALT, " José ") == first
    with pytest.raises(EmailTaken):
        await service.register(apart, passwords.hash("jose"), SALT, "Josefa")
    for email in (composed, apart):
        session = await service.login(email, "jose", ADDRESS)
        assert (session.username, session.expires_at) == ("José", NOW + timedelta(hours=4))
        assert await service.account_of_token(session.token) == first.id
    assert await service.close(apart) == first.id
    for unknown in ("jose@example.com", "no address", "", "\0@b"):
        with pytest.raises(NoAccount):
            await service.login(unknown, "jose", ADDRESS)
        with pytest.raises(NoAccount):
            await service.close(unknown)


async def test_endings_are_counted_by_what_they_were(
    service: AuthService, passwords: Passwords
) -> None:
    def counts() -> dict[tuple[str, str], float]:
        return {
            (metric.name.removeprefix("atajo_"), sample.labels["result"]): sample.value
            for counter in (LOGINS, PASSWORD_CHANGES, ACCOUNT_CLOSINGS)
            for metric in counter.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        }

    async def ends(call: Awaitable[object]) -> None:
        with contextlib.suppress(AppError):
            await call

    def change(token: str, password: str, new: str = "first") -> Awaitable[object]:
        return service.change_password(token, password, passwords.hash(new), SALT, ADDRESS)

    before = counts()
    for email in (EMAIL, EMAIL, "nobody@example.com"):
        await ends(service.login(email, "first", ADDRESS))
    for _ in range(3):
        await ends(service.login(EMAIL, "wrong", ADDRESS))
    token, other, third = [await log_in(service, "first", "::1") for _ in range(3)]
    for _ in range(3):
        await ends(change(other, "wrong"))
        await ends(service.close_own(third, "wrong", ADDRESS))
    await ends(service.change_password(token, "first", "no hash", SALT, ADDRESS))
    await ends(change(token, "first"))
    await ends(change(token, "first"))
    await ends(service.close_own(token, "first", ADDRESS))
    await ends(service.close_own(await log_in(service, "first", "::2"), "first", ADDRESS))

    of_checks = {"wrong_password": 2, "limited": 1, "busy": 0}
    expected = {
        "logins": {**of_checks, "ok": 6, "no_account": 1},
        "password_changes": {**of_checks, "ok": 1, "invalid_token": 1, "invalid_hash": 1},
        "account_closings": {**of_checks, "ok": 1, "invalid_token": 1},
    }
    after = counts()
    assert {each: after[each] - before[each] for each in after} == {
        (name, result): count for name, of in expected.items() for result, count in of.items()
    }


async def test_a_change_ends_all_sessions_and_begins_one(
    service: AuthService, passwords: Passwords
) -> None:
    account_id = await service.account_of_token(await log_in(service, "first"))
    for before, after in (("first", "second"), ("second", "third"), ("third", "first")):
        tokens = [await log_in(service, before) for _ in range(2)]

        token, expires_at = await service.change_password(
            tokens[0], before, passwords.hash(after), SALT, ADDRESS
        )

        assert await service.account_of_token(token) == account_id
        assert expires_at == NOW + timedelta(hours=4)
        assert [await ended(service, each) for each in tokens] == [True, True]
        with pytest.raises(InvalidToken):
            await service.close_own(tokens[1], after, ADDRESS)
        with pytest.raises(WrongPassword):
            await log_in(service, before, address=f"of {before}")
        assert await service.account_of_token(await log_in(service, after)) == account_id


@pytest.mark.parametrize(("password_hash", "salt"), [("secret", SALT), ("", ""), (None, "other")])
async def test_a_hash_that_no_password_has_changes_and_counts_nothing(
    service: AuthService, passwords: Passwords, password_hash: str | None, salt: str
) -> None:
    token = await log_in(service, "first")
    new_hash = passwords.hash("second") if password_hash is None else password_hash
    for _ in range(4):
        with pytest.raises(InvalidPasswordHash):
            await service.change_password(token, "wrong", new_hash, salt, ADDRESS)

    assert not await ended(service, token)
    await log_in(service, "first")


async def test_wrong_passwords_are_limited_by_session_and_log_ins_apart(
    service: AuthService, passwords: Passwords
) -> None:
    token, other = [await log_in(service, "first") for _ in range(2)]
    new_hash = passwords.hash("second")
    for wrong in ("wrong", "ñ" * 37):
        with pytest.raises(WrongPassword):
            await service.change_password(token, wrong, new_hash, SALT, ADDRESS)

    with pytest.raises(TooManyAttempts):
        await service.change_password(token, "first", new_hash, SALT, ADDRESS)
    with pytest.raises(TooManyAttempts):
        await service.close_own(token, "first", ADDRESS)
    with pytest.raises(TooManyAttempts):
        await service.close_own(token, "first", "192.0.2.2")
    assert not await ended(service, token)
    await log_in(service, "first")
    for _ in range(2):
        with pytest.raises(WrongPassword):
            await log_in(service, "wrong")
    with pytest.raises(TooManyAttempts):
        await log_in(service, "first")
    await service.change_password(other, "first", new_hash, SALT, ADDRESS)


async def test_right_passwords_are_not_counted(service: AuthService, passwords: Passwords) -> None:
    token = await log_in(service, "first")
    with pytest.raises(WrongPassword):
        await service.change_password(token, "wrong", passwords.hash("x"), SALT, ADDRESS)
    for _ in range(5):
        token, _ = await service.change_password(
            token, "first", passwords.hash("first"), SALT, ADDRESS
        )
    with pytest.raises(WrongPassword):
        await service.close_own(token, "wrong", ADDRESS)


async def test_a_browser_is_known_after_a_change(
    service: AuthService, passwords: Passwords
) -> None:
    session = await service.login(EMAIL, "first", ADDRESS)
    await service.change_password(session.token, "first", passwords.hash("second"), SALT, ADDRESS)
    for host in range(4):
        with pytest.raises(WrongPassword):
            await log_in(service, "first", f"198.51.100.{host}")
    with pytest.raises(TooManyAttempts):
        await log_in(service, "second")

    await service.login(EMAIL, "second", ADDRESS, session.device_token)


@pytest.mark.parametrize("closing", [False, True])
async def test_of_two_that_were_checked_at_once_one_happens(
    service: AuthService, passwords: Passwords, closing: bool
) -> None:
    token, other, third = [await log_in(service, "first") for _ in range(3)]
    passwords.open.clear()
    calls: list[Awaitable[object]] = [
        asyncio.ensure_future(
            service.change_password(session, "first", passwords.hash(new), SALT, ADDRESS)
        )
        for new, session in (("second", token), ("third", other))
    ]
    if closing:
        calls.append(asyncio.ensure_future(service.close_own(third, "first", ADDRESS)))
    await passwords.held_up(1 + len(calls))
    passwords.open.set()
    results = await asyncio.gather(*calls, return_exceptions=True)

    won = [n for n, result in enumerate(results) if not isinstance(result, BaseException)]
    assert len(won) == 1
    lost = [result for n, result in enumerate(results) if n not in won]
    assert {type(result) for result in lost} == {InvalidToken}
    assert await ended(service, token)
    if won == [2]:
        assert len(await service.closed()) == 1
        return
    new, other = ("second", "third") if won == [0] else ("third", "second")
    changed = results[won[0]]
    assert isinstance(changed, tuple)
    assert not await ended(service, changed[0])
    await log_in(service, new)
    with pytest.raises(WrongPassword):
        await log_in(service, other)


async def test_a_log_in_that_was_checked_before_a_change_gives_no_session_after_it(
    service: AuthService, passwords: Passwords
) -> None:
    token = await log_in(service, "first")
    passwords.open.clear()
    late = asyncio.ensure_future(log_in(service, "first", "192.0.2.2"))
    await passwords.held_up(1 + 1)
    passwords.open.set()
    await service.change_password(token, "first", passwords.hash("second"), SALT, ADDRESS)

    assert await ended(service, await late)


async def test_who_closes_an_account_cannot_use_it_any_more(
    service: AuthService, passwords: Passwords
) -> None:
    tokens = [await log_in(service, "first") for _ in range(2)]
    account_id = await service.account_of_token(tokens[0])
    assert await service.closed() == []

    await service.close_own(tokens[0], "first", ADDRESS)

    assert [await ended(service, each) for each in tokens] == [True, True]
    assert await service.closed() == [account_id]
    with pytest.raises(NoAccount):
        await log_in(service, "first")
    with pytest.raises(EmailTaken):
        await service.register(EMAIL, passwords.hash("first"), SALT, "Ana")
    for token in tokens:
        with pytest.raises(InvalidToken):
            await service.close_own(token, "first", ADDRESS)
        with pytest.raises(InvalidToken):
            await service.change_password(token, "first", passwords.hash("x"), SALT, ADDRESS)
    assert await service.close(EMAIL) == account_id

    await service.remove(account_id)
    assert await service.closed() == []
    again = await service.register(EMAIL, passwords.hash("first"), SALT, "Ana")
    assert again.id != account_id
    assert await ended(service, tokens[0])
