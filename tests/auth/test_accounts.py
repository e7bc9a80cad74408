"""Registration, log-in, password changes and closing of accounts."""

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
from services.auth.application.attempt_limiter import AttemptLimiter, FailureLimit
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.password_check import PasswordCheck
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.registrations import Registrations
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.sessions import Sessions, SessionUses
from services.auth.domain.account import Account
from services.auth.domain.errors import (
    EmailTaken,
    InvalidPasswordHash,
    InvalidToken,
    NoAccount,
    TooManyAttempts,
    WrongPassword,
)
from services.auth.metrics import ACCOUNT_CLOSINGS, LOGINS, PASSWORD_CHANGES
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.auth.storage.sqlite.store import open_stores
from services.shared import sqlite
from services.shared.errors import AppError

SECRET = "a signing secret of the tests, more than 32 bytes"
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
EMAIL = "ana@example.com"
CLIENT_IP = "192.0.2.1"
SALT = "$2b$10$SyUprZHiLhjegFiZXUd9Du"


@dataclass
class Passwords:
    """Replaces bcrypt. A hash ends in the number of its password. Blocks checks unless `open`."""

    numbers: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)
    reached: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def hash(self, password: str) -> str:
        """Return a well-formed hash of a password, the same one each time."""
        if password not in self.numbers:
            self.numbers.append(password)
        return f"{SALT}{self.numbers.index(password):030d}e"

    def checkpw(self, password: bytes, password_hash: bytes) -> bool:
        self.reached.release()
        self.open.wait(30)
        return self.hash(password.decode()).encode() == password_hash

    async def wait_until_blocked(self, checks: int) -> None:
        """Wait until this many checks have started."""
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
    """A service with Ana's account. Her password is `first`."""
    async with sqlite.open_database(f"sqlite:///{tmp_path}/auth.db", MIGRATIONS) as database:
        limits = [
            FailureLimit(2, "address"),
            FailureLimit(4, "account"),
            FailureLimit(1, "browser"),
            FailureLimit(2, "session"),
        ]
        verifier = PasswordVerifier(threads=4, max_waiting=10)
        stores = open_stores(database)
        uses = SessionUses("session_uses", stores.sessions.record_uses)
        attempts = AttemptLimiter(stores.attempts, SECRET, limits, timedelta(minutes=15), _now, 10)
        devices, tokens = DeviceTokens(SECRET, _now), SessionTokens(SECRET, _now)
        service = AuthService(
            stores.accounts,
            PasswordCheck(attempts, verifier, _now),
            Sessions(stores.accounts, stores.sessions, uses, tokens, devices, _now),
            devices,
            _now,
        )
        await register(service, EMAIL, passwords.hash("first"), "Ana")
        yield service
        passwords.open.set()
        await verifier.close()


def _now() -> datetime:
    return NOW


async def register(service: AuthService, email: str, password_hash: str, username: str) -> Account:
    """Register an account in the store of a service."""
    registrations = Registrations(service._accounts, "open", False, _now)
    return await registrations.register(email, password_hash, SALT, username)


async def log_in(service: AuthService, password: str, client_ip: str = CLIENT_IP) -> str:
    """Return the token of a new session."""
    return (await service.login(EMAIL, password, client_ip)).token


async def has_ended(service: AuthService, token: str) -> bool:
    try:
        await service.verify_token(token)
    except InvalidToken:
        return True
    return False


async def test_all_spellings_of_an_email_address_are_one_account(
    service: AuthService, passwords: Passwords
) -> None:
    composed, decomposed = "Jos\u00e9@example.com", "JOSE\u0301@EXAMPLE.COM "
    first = await register(service, composed, passwords.hash("jose"), "José")

    assert await register(service, decomposed, passwords.hash("jose"), " José ") == first
    with pytest.raises(EmailTaken):
        await register(service, decomposed, passwords.hash("jose"), "Josefa")
    for email in (composed, decomposed):
        session = await service.login(email, "jose", CLIENT_IP)
        assert (session.username, session.expires_at) == ("José", NOW + timedelta(hours=4))
        assert (await service.verify_token(session.token)).id == first.id
    assert await service.close(decomposed) == first.id
    for unknown in ("jose@example.com", "no address", "", "\0@b"):
        with pytest.raises(NoAccount):
            await service.login(unknown, "jose", CLIENT_IP)
        with pytest.raises(NoAccount):
            await service.close(unknown)


async def test_calls_are_counted_by_result(service: AuthService, passwords: Passwords) -> None:
    def counts() -> dict[tuple[str, str], float]:
        return {
            (metric.name.removeprefix("atajo_"), sample.labels["result"]): sample.value
            for counter in (LOGINS, PASSWORD_CHANGES, ACCOUNT_CLOSINGS)
            for metric in counter.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        }

    async def end(call: Awaitable[object]) -> None:
        with contextlib.suppress(AppError):
            await call

    def change(token: str, password: str, new: str = "first") -> Awaitable[object]:
        return service.change_password(token, password, passwords.hash(new), SALT, CLIENT_IP)

    before = counts()
    for email in (EMAIL, EMAIL, "nobody@example.com"):
        await end(service.login(email, "first", CLIENT_IP))
    for _ in range(3):
        await end(service.login(EMAIL, "wrong", CLIENT_IP))
    token, other, third = [await log_in(service, "first", "::1") for _ in range(3)]
    for _ in range(3):
        await end(change(other, "wrong"))
        await end(service.close_own(third, "wrong", CLIENT_IP))
    await end(service.change_password(token, "first", "no hash", SALT, CLIENT_IP))
    await end(change(token, "first"))
    await end(change(token, "first"))
    await end(service.close_own(token, "first", CLIENT_IP))
    await end(service.close_own(await log_in(service, "first", "::2"), "first", CLIENT_IP))

    check_results = {"wrong_password": 2, "limited": 1, "busy": 0}
    expected = {
        "logins": {**check_results, "ok": 6, "no_account": 1, "suspended": 0},
        "password_changes": {
            **check_results,
            "ok": 1,
            "invalid_token": 1,
            "invalid_hash": 1,
            "unconfirmed": 0,
        },
        "account_closings": {
            **check_results,
            "ok": 1,
            "invalid_token": 1,
            "last_administrator": 0,
            "unconfirmed": 0,
        },
    }
    after = counts()
    assert {each: after[each] - before[each] for each in after} == {
        (name, result): count
        for name, results in expected.items()
        for result, count in results.items()
    }


async def test_a_password_change_ends_all_sessions_and_starts_one(
    service: AuthService, passwords: Passwords
) -> None:
    account_id = (await service.verify_token(await log_in(service, "first"))).id
    for before, after in (("first", "second"), ("second", "third"), ("third", "first")):
        tokens = [await log_in(service, before) for _ in range(2)]

        token, expires_at = await service.change_password(
            tokens[0], before, passwords.hash(after), SALT, CLIENT_IP
        )

        assert (await service.verify_token(token)).id == account_id
        assert expires_at == NOW + timedelta(hours=4)
        assert [await has_ended(service, each) for each in tokens] == [True, True]
        with pytest.raises(InvalidToken):
            await service.close_own(tokens[1], after, CLIENT_IP)
        with pytest.raises(WrongPassword):
            await log_in(service, before, client_ip=f"of {before}")
        assert (await service.verify_token(await log_in(service, after))).id == account_id


@pytest.mark.parametrize(("password_hash", "salt"), [("secret", SALT), ("", ""), (None, "other")])
async def test_an_invalid_hash_changes_nothing_and_is_not_counted(
    service: AuthService, passwords: Passwords, password_hash: str | None, salt: str
) -> None:
    token = await log_in(service, "first")
    new_hash = passwords.hash("second") if password_hash is None else password_hash
    for _ in range(4):
        with pytest.raises(InvalidPasswordHash):
            await service.change_password(token, "wrong", new_hash, salt, CLIENT_IP)

    assert not await has_ended(service, token)
    await log_in(service, "first")


async def test_wrong_passwords_in_sessions_and_log_ins_have_separate_limits(
    service: AuthService, passwords: Passwords
) -> None:
    token, other = [await log_in(service, "first") for _ in range(2)]
    new_hash = passwords.hash("second")
    for wrong in ("wrong", "ñ" * 37):
        with pytest.raises(WrongPassword):
            await service.change_password(token, wrong, new_hash, SALT, CLIENT_IP)

    with pytest.raises(TooManyAttempts):
        await service.change_password(token, "first", new_hash, SALT, CLIENT_IP)
    with pytest.raises(TooManyAttempts):
        await service.close_own(token, "first", CLIENT_IP)
    with pytest.raises(TooManyAttempts):
        await service.close_own(token, "first", "192.0.2.2")
    assert not await has_ended(service, token)
    await log_in(service, "first")
    for _ in range(2):
        with pytest.raises(WrongPassword):
            await log_in(service, "wrong")
    with pytest.raises(TooManyAttempts):
        await log_in(service, "first")
    await service.change_password(other, "first", new_hash, SALT, CLIENT_IP)


async def test_right_passwords_do_not_count(service: AuthService, passwords: Passwords) -> None:
    token = await log_in(service, "first")
    with pytest.raises(WrongPassword):
        await service.change_password(token, "wrong", passwords.hash("x"), SALT, CLIENT_IP)
    for _ in range(5):
        token, _ = await service.change_password(
            token, "first", passwords.hash("first"), SALT, CLIENT_IP
        )
    with pytest.raises(WrongPassword):
        await service.close_own(token, "wrong", CLIENT_IP)


async def test_a_browser_stays_known_after_a_password_change(
    service: AuthService, passwords: Passwords
) -> None:
    session = await service.login(EMAIL, "first", CLIENT_IP)
    await service.change_password(session.token, "first", passwords.hash("second"), SALT, CLIENT_IP)
    for host in range(4):
        with pytest.raises(WrongPassword):
            await log_in(service, "first", f"198.51.100.{host}")
    with pytest.raises(TooManyAttempts):
        await log_in(service, "second")

    await service.login(EMAIL, "second", CLIENT_IP, session.device_token)


@pytest.mark.parametrize("closing", [False, True])
async def test_only_one_of_concurrent_changes_succeeds(
    service: AuthService, passwords: Passwords, closing: bool
) -> None:
    token, other, third = [await log_in(service, "first") for _ in range(3)]
    passwords.open.clear()
    calls: list[Awaitable[object]] = [
        asyncio.ensure_future(
            service.change_password(session, "first", passwords.hash(new), SALT, CLIENT_IP)
        )
        for new, session in (("second", token), ("third", other))
    ]
    if closing:
        calls.append(asyncio.ensure_future(service.close_own(third, "first", CLIENT_IP)))
    await passwords.wait_until_blocked(1 + len(calls))
    passwords.open.set()
    results = await asyncio.gather(*calls, return_exceptions=True)

    won = [n for n, result in enumerate(results) if not isinstance(result, BaseException)]
    assert len(won) == 1
    lost = [result for n, result in enumerate(results) if n not in won]
    assert {type(result) for result in lost} == {InvalidToken}
    assert await has_ended(service, token)
    if won == [2]:
        assert len(await service.list_closed()) == 1
        return
    new, other = ("second", "third") if won == [0] else ("third", "second")
    changed = results[won[0]]
    assert isinstance(changed, tuple)
    assert not await has_ended(service, changed[0])
    await log_in(service, new)
    with pytest.raises(WrongPassword):
        await log_in(service, other)


async def test_a_log_in_checked_before_a_password_change_gives_no_valid_session(
    service: AuthService, passwords: Passwords
) -> None:
    token = await log_in(service, "first")
    passwords.open.clear()
    late = asyncio.ensure_future(log_in(service, "first", "192.0.2.2"))
    await passwords.wait_until_blocked(1 + 1)
    passwords.open.set()
    await service.change_password(token, "first", passwords.hash("second"), SALT, CLIENT_IP)

    # The log-in began a session before the change, which ended it, or was refused after it.
    with contextlib.suppress(WrongPassword):
        assert await has_ended(service, await late)


async def test_a_closed_account_cannot_be_used(service: AuthService, passwords: Passwords) -> None:
    tokens = [await log_in(service, "first") for _ in range(2)]
    account_id = (await service.verify_token(tokens[0])).id
    assert await service.list_closed() == []

    await service.close_own(tokens[0], "first", CLIENT_IP)

    assert [await has_ended(service, each) for each in tokens] == [True, True]
    assert await service.list_closed() == [account_id]
    with pytest.raises(NoAccount):
        await log_in(service, "first")
    with pytest.raises(EmailTaken):
        await register(service, EMAIL, passwords.hash("first"), "Ana")
    for token in tokens:
        with pytest.raises(InvalidToken):
            await service.close_own(token, "first", CLIENT_IP)
        with pytest.raises(InvalidToken):
            await service.change_password(token, "first", passwords.hash("x"), SALT, CLIENT_IP)
    assert await service.close(EMAIL) == account_id

    await service.remove(account_id)
    assert await service.list_closed() == []
    again = await register(service, EMAIL, passwords.hash("first"), "Ana")
    assert again.id != account_id
    assert await has_ended(service, tokens[0])
