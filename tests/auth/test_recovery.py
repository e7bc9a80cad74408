"""Recovery codes over gRPC: a forgotten password is replaced once per code."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import patch

import bcrypt
import pytest

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Scope
from services.shared import api_keys
from services.shared.errors import AppError, InvalidArgument, Unauthenticated
from tests.support import in_process_services

PASSWORD, NEW = "Camino-42", "Camino-43"
SALT = bcrypt.gensalt(10)
HASH, NEW_HASH = (bcrypt.hashpw(one.encode(), SALT).decode() for one in (PASSWORD, NEW))
EMAIL, UNKNOWN = "ana@example.com", "nobody@example.com"
CLIENT_IP, OTHER_IP = "203.0.113.7", "203.0.113.8"
NO_CODE = "0000-0000-0000"


ACCOUNT_FAILURES = 30


@pytest.fixture
async def auth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AuthClient]:
    """A client of a service with Ana's account, whose hashes of codes take little time."""
    monkeypatch.setattr("services.auth.application.password_verifier.SCRYPT_COST", 2)
    async with in_process_services.auth(
        tmp_path, login_failures_by_account=ACCOUNT_FAILURES
    ) as client:
        await client.register(EMAIL, HASH, SALT.decode(), "Ana")
        yield client


async def session(auth: AuthClient, password: str = PASSWORD) -> str:
    return (await auth.login(EMAIL, password, CLIENT_IP, "")).token


async def new_codes(auth: AuthClient) -> list[str]:
    return await auth.create_recovery_codes(await session(auth), PASSWORD, CLIENT_IP)


async def left(auth: AuthClient, token: str) -> int:
    count, _ = await auth.count_recovery_codes(token)
    return count


async def reset(
    auth: AuthClient,
    code: str,
    email: str = EMAIL,
    new_hash: str = NEW_HASH,
    client_ip: str = CLIENT_IP,
    device: str = "",
    revoke: bool = False,
) -> str:
    """Return the reason of the failure, `OK` without one."""
    try:
        await auth.reset_password(email, code, new_hash, SALT.decode(), client_ip, device, revoke)
    except AppError as error:
        return error.reason
    return "OK"


async def test_a_code_sets_a_new_password_once_and_ends_all_sessions(auth: AuthClient) -> None:
    codes = await new_codes(auth)
    token = await session(auth)
    assert await left(auth, token) == len(set(codes)) == 10

    assert await reset(auth, codes[4]) == "OK"
    with pytest.raises(Unauthenticated) as ended:
        await auth.account_of(token)
    assert ended.value.reason == "INVALID_TOKEN"
    with pytest.raises(Unauthenticated):
        await session(auth, PASSWORD)
    assert await left(auth, await session(auth, NEW)) == 9
    assert await reset(auth, codes[4]) == "WRONG_RECOVERY_CODE"
    assert await reset(auth, codes[5], new_hash=HASH) == "OK"
    await session(auth, PASSWORD)


async def test_the_settings_say_when_the_codes_were_created(auth: AuthClient) -> None:
    token = await session(auth)
    assert await auth.count_recovery_codes(token) == (0, None)
    before = datetime.now(UTC)
    await auth.create_recovery_codes(token, PASSWORD, CLIENT_IP)
    count, created_at = await auth.count_recovery_codes(token)
    assert count == 10
    assert created_at is not None
    assert before <= created_at <= datetime.now(UTC)


async def new_key(auth: AuthClient) -> str:
    key = (await session(auth), PASSWORD, "Script", [Scope.LINKS_READ], None, CLIENT_IP)
    return (await auth.create_key(*key))[1]


async def is_valid(auth: AuthClient, key: str) -> bool:
    try:
        await auth.verify_key(api_keys.hash_key(key))
    except Unauthenticated:
        return False
    return True


@pytest.mark.parametrize("revoke", [False, True])
async def test_a_changed_password_leaves_no_recovery_code_and_no_key_if_asked(
    auth: AuthClient, revoke: bool
) -> None:
    codes, key = await new_codes(auth), await new_key(auth)
    token, _ = await auth.change_password(
        await session(auth), PASSWORD, NEW_HASH, SALT.decode(), CLIENT_IP, revoke=revoke
    )
    assert await left(auth, token) == 0
    assert await reset(auth, codes[0]) == "WRONG_RECOVERY_CODE"
    assert await is_valid(auth, key) != revoke


@pytest.mark.parametrize("revoke", [False, True])
async def test_a_code_leaves_the_other_nine_and_no_key_if_asked(
    auth: AuthClient, revoke: bool
) -> None:
    codes, key = await new_codes(auth), await new_key(auth)
    assert await reset(auth, codes[0], revoke=revoke) == "OK"
    assert await left(auth, await session(auth, NEW)) == 9
    assert await is_valid(auth, key) != revoke


@pytest.mark.parametrize(
    "typed",
    [
        str.lower,
        lambda code: code.replace("-", ""),
        lambda code: f"  {code.replace('-', ' ')}\n",
        lambda code: code.replace("0", "o").replace("1", "l"),
        lambda code: code.replace("0", "O").replace("1", "I"),
    ],
)
async def test_a_code_may_be_typed_in_other_ways(auth: AuthClient, typed: Any) -> None:
    digits = cycle("0123456789ABCDEFGHJKMNPQRSTVWXY")
    with patch("services.auth.domain.recovery_code.secrets.choice", lambda _: next(digits)):
        (code, *_) = await new_codes(auth)
    assert code == "0123-4567-89AB"
    assert await reset(auth, typed(code)) == "OK"


async def test_new_codes_replace_the_old_ones(auth: AuthClient) -> None:
    old = await new_codes(auth)
    await reset(auth, old[0], new_hash=HASH)
    new = await new_codes(auth)
    assert await left(auth, await session(auth)) == 10
    assert await reset(auth, old[1]) == "WRONG_RECOVERY_CODE"
    assert await reset(auth, new[0]) == "OK"


async def test_codes_are_created_only_with_the_password(auth: AuthClient) -> None:
    token = await session(auth)
    with pytest.raises(Unauthenticated) as wrong:
        await auth.create_recovery_codes(token, "wrong", CLIENT_IP)
    assert wrong.value.reason == "WRONG_PASSWORD"
    assert await left(auth, token) == 0


@pytest.mark.parametrize("code", ["", "-", NO_CODE, "x" * 10_000, "ÄÖÜ\U0001f600"])
async def test_a_wrong_code_changes_nothing(auth: AuthClient, code: str) -> None:
    await new_codes(auth)
    assert await reset(auth, code) == "WRONG_RECOVERY_CODE"
    assert await left(auth, await session(auth)) == 10


async def test_an_invalid_hash_does_not_spend_a_code(auth: AuthClient) -> None:
    codes = await new_codes(auth)
    with pytest.raises(InvalidArgument):
        await auth.reset_password(EMAIL, codes[0], "no hash", SALT.decode(), CLIENT_IP, "")
    assert await reset(auth, codes[0]) == "OK"


async def test_of_concurrent_resets_with_one_code_one_succeeds(auth: AuthClient) -> None:
    codes = await new_codes(auth)
    outcomes = await asyncio.gather(
        *(reset(auth, codes[0], client_ip=f"192.0.2.{n}") for n in range(20))
    )
    assert sorted(outcomes) == ["OK"] + 19 * ["WRONG_RECOVERY_CODE"]


async def test_nobody_can_tell_whether_an_account_exists(auth: AuthClient) -> None:
    """The answers are the same, the limit is, and one hash is computed in each case."""
    await new_codes(auth)
    derived: dict[str, int] = {}
    original = hashlib.scrypt

    def scrypt(*args: Any, **options: Any) -> bytes:
        derived[email] += 1
        return original(*args, **options)

    outcomes: dict[str, list[str]] = {}
    with patch("hashlib.scrypt", scrypt):
        for email in (EMAIL, UNKNOWN, "not an address"):
            derived[email] = 0
            spelled = [email.upper(), f" {email} "] * 6
            outcomes[email] = [await reset(auth, NO_CODE, each) for each in spelled]
    wrong, limited = 10 * ["WRONG_RECOVERY_CODE"], 2 * ["TOO_MANY_ATTEMPTS"]
    assert outcomes[EMAIL] == outcomes[UNKNOWN] == wrong + limited
    assert derived == dict.fromkeys(derived, 10) | {"not an address": derived["not an address"]}


async def log_ins(auth: AuthClient, number: int, client_ip: str) -> list[str]:
    """Return the reasons of failed log-ins."""
    reasons = []
    for _ in range(number):
        with pytest.raises(AppError) as failed:
            await auth.login(EMAIL, "ñ" * 37, client_ip, "")
        reasons.append(failed.value.reason)
    return reasons


async def test_failed_log_ins_lock_no_recovery_code(auth: AuthClient) -> None:
    """Strangers have reached the limits of the account, and of the owner's address."""
    codes = await new_codes(auth)
    for address in (CLIENT_IP, OTHER_IP, "198.51.100.1"):
        assert await log_ins(auth, 10, address) == 10 * ["WRONG_PASSWORD"]
    assert await log_ins(auth, 1, "198.51.100.2") == ["TOO_MANY_ATTEMPTS"]
    assert await reset(auth, codes[0], client_ip="203.0.113.9") == "OK"
    assert await reset(auth, codes[1], new_hash=HASH) == "OK"


async def test_wrong_codes_lock_no_log_in(auth: AuthClient) -> None:
    codes = await new_codes(auth)
    for _ in range(10):
        assert await reset(auth, NO_CODE) == "WRONG_RECOVERY_CODE"
    assert await reset(auth, codes[0]) == "TOO_MANY_ATTEMPTS"
    assert await session(auth)
    assert await reset(auth, codes[0], client_ip=OTHER_IP) == "OK"


async def test_wrong_codes_of_strangers_lock_no_recovery_code(auth: AuthClient) -> None:
    """Strangers exceed the limit of the account and that of the owner's address."""
    device = (await auth.login(EMAIL, PASSWORD, CLIENT_IP, "")).device
    codes = await new_codes(auth)
    for number in range(ACCOUNT_FAILURES + 1):
        assert await reset(auth, NO_CODE, client_ip=f"198.51.100.{number}") == "WRONG_RECOVERY_CODE"
    assert await reset(auth, codes[0], client_ip=OTHER_IP) == "OK"

    for _ in range(10):
        assert await reset(auth, NO_CODE) == "WRONG_RECOVERY_CODE"
    assert await reset(auth, codes[1]) == "TOO_MANY_ATTEMPTS"
    assert await reset(auth, codes[1], device=device) == "OK"
