"""What the gateway asks of auth, and what it is answered, over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import bcrypt
import pytest

from gateway.backends.clients import AuthClient
from services.shared.errors import (
    AlreadyExists,
    AppError,
    InvalidArgument,
    NotFound,
    Unauthenticated,
)
from tests.support import services

PASSWORD, NEW = "Camino-42", "Camino-43"
SALT, NEW_SALT = (bcrypt.gensalt(10) for _ in range(2))
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT).decode()
NEW_HASH = bcrypt.hashpw(NEW.encode(), NEW_SALT).decode()
ADDRESS = "203.0.113.7"
EMAIL = "a@example.com"


@pytest.fixture
async def auth(tmp_path: Path) -> AsyncIterator[AuthClient]:
    """With one account."""
    async with services.auth(tmp_path) as client:
        await register(client)
        yield client


async def register(auth: AuthClient, email: str = EMAIL, username: str = "walker") -> None:
    await auth.register(email, HASH, SALT.decode(), username)


async def session(auth: AuthClient, password: str = PASSWORD, email: str = EMAIL) -> str:
    return (await auth.login(email, password, ADDRESS, "")).token


async def test_who_registers_can_log_in_and_is_known_by_the_token(auth: AuthClient) -> None:
    await auth.check()
    await register(auth)
    with pytest.raises(AlreadyExists) as taken:
        await register(auth, username="somebody else")
    assert taken.value.reason == "EMAIL_TAKEN"
    await register(auth, "b@example.com")
    first = await auth.login(EMAIL, PASSWORD, ADDRESS, "")
    again = await auth.login(" A@EXAMPLE.com ", PASSWORD, ADDRESS, first.device)
    other = await auth.login("b@example.com", PASSWORD, ADDRESS, "no device token of ours")
    assert first.username == "walker"
    assert first.expires_at > datetime.now(UTC)
    assert all(session.device for session in (first, again, other))
    account = await auth.account_of(first.token)
    assert await auth.account_of(again.token) == account
    assert await auth.account_of(other.token) not in ("", account)


async def test_another_password_begins_a_session(auth: AuthClient) -> None:
    first = await session(auth)
    account = await auth.account_of(first)
    token, expires_at = await auth.change_password(
        first, PASSWORD, NEW_HASH, NEW_SALT.decode(), ADDRESS
    )
    assert expires_at > datetime.now(UTC)
    assert await auth.account_of(token) == await auth.account_of(await session(auth, NEW))
    assert await auth.account_of(token) == account
    with pytest.raises(Unauthenticated):
        await auth.account_of(first)


async def test_a_closed_account_is_nobodys(auth: AuthClient) -> None:
    token = await session(auth)
    await auth.close_account(token, PASSWORD, ADDRESS)
    with pytest.raises(Unauthenticated):
        await auth.account_of(token)


def changed(
    auth: AuthClient, token: str, password: str, new_hash: str = NEW_HASH
) -> Awaitable[object]:
    return auth.change_password(token, password, new_hash, NEW_SALT.decode(), ADDRESS)


Call = Callable[[AuthClient, str], Awaitable[object]]
KINDS: dict[str, type[AppError]] = {
    "NO_ACCOUNT": NotFound,
    "INVALID_TOKEN": Unauthenticated,
    "WRONG_PASSWORD": Unauthenticated,
}
"""The kinds of errors that are no invalid argument."""


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("INVALID_EMAIL", lambda auth, _: register(auth, "nobody")),
        ("INVALID_USERNAME", lambda auth, _: register(auth, username=" ")),
        ("INVALID_PASSWORD_HASH", lambda auth, _: auth.register("a@b", PASSWORD, "", "walker")),
        ("INVALID_PASSWORD_HASH", lambda auth, token: changed(auth, token, PASSWORD, "")),
        ("WRONG_PASSWORD", lambda auth, _: session(auth, NEW)),
        ("WRONG_PASSWORD", lambda auth, token: changed(auth, token, "\u00f1" * 37)),
        ("WRONG_PASSWORD", lambda auth, token: auth.close_account(token, "", ADDRESS)),
        ("NO_ACCOUNT", lambda auth, _: session(auth, email="b@example.com")),
        ("NO_ACCOUNT", lambda auth, _: session(auth, email="no address")),
        ("INVALID_TOKEN", lambda auth, _: auth.account_of("")),
        ("INVALID_TOKEN", lambda auth, _: auth.account_of("a.b.c")),
        ("INVALID_TOKEN", lambda auth, _: changed(auth, "", PASSWORD)),
        ("INVALID_TOKEN", lambda auth, _: auth.close_account("nonsense", PASSWORD, ADDRESS)),
    ],
)
async def test_what_is_refused_has_a_reason_and_changes_nothing(
    auth: AuthClient, reason: str, call: Call
) -> None:
    token = await session(auth)
    with pytest.raises(AppError) as refused:
        await call(auth, token)
    assert refused.value.reason == reason
    assert type(refused.value) is KINDS.get(reason, InvalidArgument)
    assert await auth.account_of(token)
