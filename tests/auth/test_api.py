"""The gateway's calls of auth over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import bcrypt
import pytest

from gateway.backends.auth import AuthClient
from services.shared.errors import (
    AlreadyExists,
    AppError,
    InvalidArgument,
    NotFound,
    Unauthenticated,
)
from tests.support import in_process_services

PASSWORD, NEW = "Camino-42", "Camino-43"
SALT, NEW_SALT = (bcrypt.gensalt(10) for _ in range(2))
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT).decode()
NEW_HASH = bcrypt.hashpw(NEW.encode(), NEW_SALT).decode()
CLIENT_IP = "203.0.113.7"
EMAIL = "a@example.com"


@pytest.fixture
async def auth(tmp_path: Path) -> AsyncIterator[AuthClient]:
    """A client of a service with one account."""
    async with in_process_services.auth(tmp_path) as client:
        await register(client)
        yield client


async def register(auth: AuthClient, email: str = EMAIL, username: str = "walker") -> None:
    await auth.register(email, HASH, SALT.decode(), username)


async def session(auth: AuthClient, password: str = PASSWORD, email: str = EMAIL) -> str:
    return (await auth.login(email, password, CLIENT_IP, "")).token


async def test_a_registered_account_can_log_in_and_verify_its_token(auth: AuthClient) -> None:
    await auth.check()
    await register(auth)
    with pytest.raises(AlreadyExists) as taken:
        await register(auth, username="somebody else")
    assert taken.value.reason == "EMAIL_TAKEN"
    await register(auth, "b@example.com")
    first = await auth.login(EMAIL, PASSWORD, CLIENT_IP, "")
    again = await auth.login(" A@EXAMPLE.com ", PASSWORD, CLIENT_IP, first.device)
    other = await auth.login("b@example.com", PASSWORD, CLIENT_IP, "no device token of ours")
    assert first.username == "walker"
    assert first.expires_at > datetime.now(UTC)
    assert all(session.device for session in (first, again, other))
    account = await auth.account_of(first.token)
    assert await auth.account_of(again.token) == account
    assert await auth.account_of(other.token) not in ("", account)


async def test_a_password_change_starts_a_session(auth: AuthClient) -> None:
    first = await session(auth)
    account = await auth.account_of(first)
    token, expires_at = await auth.change_password(
        first, PASSWORD, NEW_HASH, NEW_SALT.decode(), CLIENT_IP
    )
    assert expires_at > datetime.now(UTC)
    assert await auth.account_of(token) == await auth.account_of(await session(auth, NEW))
    assert await auth.account_of(token) == account
    with pytest.raises(Unauthenticated):
        await auth.account_of(first)


async def test_tokens_of_a_closed_account_are_invalid(auth: AuthClient) -> None:
    token = await session(auth)
    await auth.close_account(token, PASSWORD, CLIENT_IP)
    with pytest.raises(Unauthenticated):
        await auth.account_of(token)


def change(
    auth: AuthClient, token: str, password: str, new_hash: str = NEW_HASH
) -> Awaitable[object]:
    return auth.change_password(token, password, new_hash, NEW_SALT.decode(), CLIENT_IP)


Call = Callable[[AuthClient, str], Awaitable[object]]
KINDS: dict[str, type[AppError]] = {
    "NO_ACCOUNT": NotFound,
    "INVALID_TOKEN": Unauthenticated,
    "WRONG_PASSWORD": Unauthenticated,
}
"""The error types of reasons other than invalid arguments."""


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("INVALID_EMAIL", lambda auth, _: register(auth, "nobody")),
        ("INVALID_USERNAME", lambda auth, _: register(auth, username=" ")),
        ("INVALID_PASSWORD_HASH", lambda auth, _: auth.register("a@b", PASSWORD, "", "walker")),
        ("INVALID_PASSWORD_HASH", lambda auth, token: change(auth, token, PASSWORD, "")),
        ("WRONG_PASSWORD", lambda auth, _: session(auth, NEW)),
        ("WRONG_PASSWORD", lambda auth, token: change(auth, token, "\u00f1" * 37)),
        ("WRONG_PASSWORD", lambda auth, token: auth.close_account(token, "", CLIENT_IP)),
        ("NO_ACCOUNT", lambda auth, _: session(auth, email="b@example.com")),
        ("NO_ACCOUNT", lambda auth, _: session(auth, email="no address")),
        ("INVALID_TOKEN", lambda auth, _: auth.account_of("")),
        ("INVALID_TOKEN", lambda auth, _: auth.account_of("a.b.c")),
        ("INVALID_TOKEN", lambda auth, _: change(auth, "", PASSWORD)),
        ("INVALID_TOKEN", lambda auth, _: auth.close_account("nonsense", PASSWORD, CLIENT_IP)),
    ],
)
async def test_errors_have_a_reason_and_change_nothing(
    auth: AuthClient, reason: str, call: Call
) -> None:
    token = await session(auth)
    with pytest.raises(AppError) as rejected:
        await call(auth, token)
    assert rejected.value.reason == reason
    assert type(rejected.value) is KINDS.get(reason, InvalidArgument)
    assert await auth.account_of(token)
