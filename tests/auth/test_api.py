"""The gateway's calls of auth over gRPC."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bcrypt
import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from atajo.auth.v1 import auth_pb2 as pb
from gateway.backends.auth import AuthClient
from gateway.backends.owners import Account
from gateway.backends.ports import ApiKey, Creator, Scope, VerifiedKey
from services.auth.api.servicers import AuthServicer
from services.shared import api_keys
from services.shared.errors import (
    AlreadyExists,
    AppError,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
)
from tests.support import in_process_services
from tests.support.processes import TIMEOUT_SECONDS

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


async def test_api_keys_are_created_listed_verified_and_revoked(auth: AuthClient) -> None:
    token, started_at = await session(auth), datetime.now(UTC)
    account = Account(await auth.account_of(token))
    expires_at = started_at + timedelta(days=1)
    first_id, first = await auth.create_key(
        token, PASSWORD, " One ", list(Scope), expires_at, CLIENT_IP
    )
    second_id, second = await auth.create_key(
        token, PASSWORD, "Two", [Scope.LINKS_WRITE] * 2, None, CLIENT_IP
    )
    assert api_keys.is_well_formed(first)
    assert api_keys.is_well_formed(second)

    newest, oldest = await auth.keys(token)
    [current] = await auth.sessions(token)
    for key in (newest, oldest):
        assert started_at <= key.created_at <= datetime.now(UTC)
    assert oldest == ApiKey(
        id=first_id,
        name="One",
        prefix=first[:12],
        scopes=tuple(Scope),
        created_at=oldest.created_at,
        expires_at=expires_at,
        last_used_at=None,
        created_by=Creator(
            id=current.id,
            created_at=current.created_at,
            browser=current.browser,
            system=current.system,
        ),
    )
    assert (newest.id, newest.name, newest.prefix) == (second_id, "Two", second[:12])
    assert (newest.scopes, newest.expires_at) == ((Scope.LINKS_WRITE,), None)
    assert await auth.verify_key(api_keys.hash_key(first)) == VerifiedKey(
        id=first_id,
        account=account,
        username="walker",
        name="One",
        scopes=frozenset(Scope),
        expires_at=expires_at,
    )
    verified = await auth.verify_key(api_keys.hash_key(second))
    assert (verified.scopes, verified.expires_at) == (frozenset({Scope.LINKS_WRITE}), None)

    for _ in range(2):
        await auth.revoke_key(token, first_id)
        await auth.revoke_key(token, "unknown")
        with pytest.raises(Unauthenticated) as invalid:
            await auth.verify_key(api_keys.hash_key(first))
        assert invalid.value.reason == "INVALID_KEY"
    assert [key.id for key in await auth.keys(token)] == [second_id]
    await auth.close_account(token, PASSWORD, CLIENT_IP)
    with pytest.raises(Unauthenticated) as invalid:
        await auth.verify_key(api_keys.hash_key(second))
    assert invalid.value.reason == "INVALID_KEY"


async def test_a_log_out_ends_the_session_of_its_token_only(auth: AuthClient) -> None:
    await register(auth)
    token, other = await session(auth), await session(auth)
    await auth.end_session(token, None)
    with pytest.raises(Unauthenticated):
        await auth.account_of(token)
    assert len(await auth.sessions(other)) == 1


async def test_a_log_out_that_an_older_auth_ignores_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end_by_id_only(
        self: AuthServicer, request: pb.EndSessionRequest
    ) -> pb.EndSessionResponse:
        return pb.EndSessionResponse()

    monkeypatch.setattr(AuthServicer, "EndSession", end_by_id_only)
    async with in_process_services.auth(tmp_path) as auth:
        await register(auth)
        token = await session(auth)
        with pytest.raises(Unavailable):
            await auth.end_session(token, None)
        await auth.end_session(token, "no session")


async def test_the_last_use_of_a_key_is_listed_soon(auth: AuthClient) -> None:
    token, started_at = await session(auth), datetime.now(UTC)
    _, key = await auth.create_key(token, PASSWORD, "Script", [Scope.LINKS_READ], None, CLIENT_IP)
    await auth.verify_key(api_keys.hash_key(key))
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while (last_used_at := (await auth.keys(token))[0].last_used_at) is None:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
    assert (last_used_at.second, last_used_at.microsecond) == (0, 0)
    assert started_at - timedelta(minutes=1) < last_used_at <= datetime.now(UTC)


async def test_an_account_has_at_most_20_api_keys(auth: AuthClient) -> None:
    token = await session(auth)
    for n in range(20):
        await auth.create_key(token, PASSWORD, f"{n}", [Scope.LINKS_READ], None, CLIENT_IP)
    with pytest.raises(ResourceExhausted) as refused:
        await auth.create_key(token, PASSWORD, "21", [Scope.LINKS_READ], None, CLIENT_IP)
    assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_KEYS", None)
    assert [key.name for key in await auth.keys(token)] == [f"{n}" for n in range(19, -1, -1)]


@pytest.mark.parametrize(
    ("scopes", "expires_at"),
    [
        ([], None),
        ([0], None),
        ([1, 99], None),
        ([1], Timestamp(seconds=10**15)),
        ([1], Timestamp(seconds=-(10**15))),
        ([1], Timestamp(seconds=4_000_000_000, nanos=-1)),
    ],
)
async def test_malformed_keys_of_other_clients_are_rejected(
    auth: AuthClient, scopes: list[Any], expires_at: Timestamp | None
) -> None:
    token = await session(auth)
    request = pb.CreateKeyRequest(token=token, name="Script", scopes=scopes, expires_at=expires_at)
    with pytest.raises(grpc.aio.AioRpcError) as rejected:
        await auth._stub.CreateKey(request)
    assert rejected.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert await auth.keys(token) == []


def create(
    auth: AuthClient,
    token: str,
    name: str = "Script",
    scopes: Sequence[Scope] = (Scope.LINKS_READ,),
    expires_at: datetime | None = None,
    password: str = PASSWORD,
) -> Awaitable[object]:
    return auth.create_key(token, password, name, scopes, expires_at, CLIENT_IP)


def change(
    auth: AuthClient, token: str, password: str, new_hash: str = NEW_HASH
) -> Awaitable[object]:
    return auth.change_password(token, password, new_hash, NEW_SALT.decode(), CLIENT_IP)


Call = Callable[[AuthClient, str], Awaitable[object]]
KINDS: dict[str, type[AppError]] = {
    "NO_ACCOUNT": NotFound,
    "INVALID_KEY": Unauthenticated,
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
        ("INVALID_ARGUMENT", lambda auth, token: auth.close_account(token, "", CLIENT_IP)),
        ("NO_ACCOUNT", lambda auth, _: session(auth, email="b@example.com")),
        ("NO_ACCOUNT", lambda auth, _: session(auth, email="no address")),
        ("INVALID_TOKEN", lambda auth, _: auth.account_of("")),
        ("INVALID_TOKEN", lambda auth, _: auth.account_of("a.b.c")),
        ("INVALID_TOKEN", lambda auth, _: change(auth, "", PASSWORD)),
        ("INVALID_TOKEN", lambda auth, _: auth.close_account("nonsense", PASSWORD, CLIENT_IP)),
        ("INVALID_KEY_NAME", lambda auth, token: create(auth, token, "n" * 51)),
        ("INVALID_SCOPES", lambda auth, token: create(auth, token, scopes=[])),
        ("INVALID_EXPIRY", lambda auth, token: create(auth, token, expires_at=datetime.now(UTC))),
        ("INVALID_TOKEN", lambda auth, _: create(auth, "")),
        ("WRONG_PASSWORD", lambda auth, token: create(auth, token, password=NEW)),
        ("INVALID_ARGUMENT", lambda auth, token: create(auth, token, password="")),
        ("INVALID_TOKEN", lambda auth, _: auth.keys("a.b.c")),
        ("INVALID_TOKEN", lambda auth, _: auth.revoke_key("nonsense", "id")),
        ("INVALID_KEY", lambda auth, _: auth.verify_key(bytes(32))),
        ("INVALID_KEY", lambda auth, _: auth.verify_key(b"")),
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
