"""What the gateway relies on of auth: over the service itself, and over the fake of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import bcrypt
import pytest

from gateway.clients import AuthClient
from gateway.ports import Auth
from services.runtime.errors import AlreadyExists, InvalidArgument, NotFound, Unauthenticated
from tests import services
from tests.fakes import FakeAuth

PASSWORD = "Camino-42"
SALT = bcrypt.gensalt(10)
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT).decode()
NEW = "Camino-43"
NEW_SALT = bcrypt.gensalt(10)
NEW_HASH = bcrypt.hashpw(NEW.encode(), NEW_SALT).decode()
ADDRESS = "203.0.113.7"


@pytest.fixture(params=["fake", "service"])
async def auth(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Auth]:
    if request.param == "fake":
        yield FakeAuth()
        return
    async with services.auth(tmp_path) as address:
        client = AuthClient(address)
        yield client
        await client.close()


async def register(auth: Auth, email: str = "a@example.com", username: str = "walker") -> None:
    await auth.register(email, HASH, SALT.decode(), username)


async def test_it_says_that_it_is_ready(auth: Auth) -> None:
    await auth.check()


async def test_who_registers_can_log_in_and_is_known_by_the_token(auth: Auth) -> None:
    await register(auth)
    await register(auth, "b@example.com")
    first = await auth.login("a@example.com", PASSWORD, ADDRESS, "")
    again = await auth.login(" A@EXAMPLE.com ", PASSWORD, ADDRESS, first.device)
    other = await auth.login("b@example.com", PASSWORD, ADDRESS, "no device token of ours")
    assert first.username == "walker"
    assert first.expires_at > datetime.now(UTC)
    assert all(session.device for session in (first, again, other))
    account = await auth.account_of(first.token)
    assert await auth.account_of(again.token) == account
    assert await auth.account_of(other.token) not in ("", account)


async def test_the_same_account_again_is_a_success_and_another_is_not(auth: Auth) -> None:
    await register(auth)
    await register(auth)
    with pytest.raises(AlreadyExists) as taken:
        await register(auth, "A@example.com", "somebody else")
    assert taken.value.reason == "EMAIL_TAKEN"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"email": "nobody"}, "INVALID_EMAIL"),
        ({"password_hash": PASSWORD}, "INVALID_PASSWORD_HASH"),
        ({"username": " "}, "INVALID_USERNAME"),
    ],
)
async def test_what_can_never_be_right_has_a_reason(
    auth: Auth, fields: dict[str, str], reason: str
) -> None:
    wanted = {"email": "a@b", "password_hash": HASH, "salt": SALT.decode(), "username": "walker"}
    with pytest.raises(InvalidArgument) as refused:
        await auth.register(**(wanted | fields))
    assert refused.value.reason == reason


async def test_a_log_in_that_fails_says_why(auth: Auth) -> None:
    await register(auth)
    with pytest.raises(Unauthenticated) as wrong:
        await auth.login("a@example.com", NEW, ADDRESS, "")
    assert wrong.value.reason == "WRONG_PASSWORD"
    for nobody in ("b@example.com", "no address"):
        with pytest.raises(NotFound) as unknown:
            await auth.login(nobody, PASSWORD, ADDRESS, "")
        assert unknown.value.reason == "NO_ACCOUNT"


async def test_what_is_no_token_is_nobodys(auth: Auth) -> None:
    for token in ("", "nonsense", "a.b.c"):
        with pytest.raises(Unauthenticated) as refused:
            await auth.account_of(token)
        assert refused.value.reason == "INVALID_TOKEN"


async def session(auth: Auth, password: str = PASSWORD) -> str:
    return (await auth.login("a@example.com", password, ADDRESS, "")).token


async def no_session(auth: Auth, *tokens: str) -> None:
    for token in tokens:
        with pytest.raises(Unauthenticated) as refused:
            await auth.account_of(token)
        assert refused.value.reason == "INVALID_TOKEN"


async def test_another_password_ends_all_sessions_but_the_new_one(auth: Auth) -> None:
    await register(auth)
    await register(auth, "b@example.com")
    other = (await auth.login("b@example.com", PASSWORD, ADDRESS, "")).token
    first, second = await session(auth), await session(auth)
    account = await auth.account_of(first)

    token, expires_at = await auth.change_password(
        first, PASSWORD, NEW_HASH, NEW_SALT.decode(), ADDRESS
    )

    assert expires_at > datetime.now(UTC)
    assert await auth.account_of(token) == account
    await no_session(auth, first, second)
    assert await auth.account_of(other)
    assert await auth.account_of(await session(auth, NEW)) == account
    with pytest.raises(Unauthenticated) as wrong:
        await session(auth)
    assert wrong.value.reason == "WRONG_PASSWORD"


async def test_a_password_that_is_not_the_accounts_changes_nothing(auth: Auth) -> None:
    await register(auth)
    token = await session(auth)
    for password in ("Camino-44", "", "\u00f1" * 37):
        for call in (
            auth.change_password(token, password, NEW_HASH, NEW_SALT.decode(), ADDRESS),
            auth.close_account(token, password, ADDRESS),
        ):
            with pytest.raises(Unauthenticated) as wrong:
                await call
            assert wrong.value.reason == "WRONG_PASSWORD"
    assert await auth.account_of(token) == await auth.account_of(await session(auth))


async def test_a_new_password_is_a_hash_that_could_be_registered(auth: Auth) -> None:
    await register(auth)
    token = await session(auth)
    for password_hash, salt in ((NEW, NEW_SALT.decode()), (NEW_HASH, SALT.decode()), ("", "")):
        with pytest.raises(InvalidArgument) as refused:
            await auth.change_password(token, PASSWORD, password_hash, salt, ADDRESS)
        assert refused.value.reason == "INVALID_PASSWORD_HASH"
    assert await auth.account_of(token)


async def test_a_closed_account_is_nobodys_and_its_address_stays_taken(auth: Auth) -> None:
    await register(auth)
    first, second = await session(auth), await session(auth)
    await auth.close_account(first, PASSWORD, ADDRESS)
    await no_session(auth, first, second)
    with pytest.raises(NotFound) as unknown:
        await session(auth)
    assert unknown.value.reason == "NO_ACCOUNT"
    with pytest.raises(AlreadyExists):
        await register(auth)


async def test_what_needs_a_session_is_for_nobody_else(auth: Auth) -> None:
    await register(auth)
    for token in ("", "nonsense"):
        for call in (
            auth.change_password(token, PASSWORD, NEW_HASH, NEW_SALT.decode(), ADDRESS),
            auth.close_account(token, PASSWORD, ADDRESS),
        ):
            with pytest.raises(Unauthenticated) as refused:
                await call
            assert refused.value.reason == "INVALID_TOKEN"
    assert await session(auth)
