"""The auth service as a process: kills, bursts, shutdown, and secrets."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

import bcrypt
import pytest

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Login, Scope, VerifiedKey
from services.reconciler import clients
from services.shared import api_keys
from services.shared.errors import AppError, ResourceExhausted
from tests.support.processes import Process
from tests.support.procfs import niceness_of_threads

SECRET = "c2lnbmluZy1zZWNyZXQtb2YtdGhlLXRlc3Rz"
PASSWORD = "Corréct-Horse-1"
SALT = bcrypt.gensalt(10)
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT)
NEW = "Caballo-Batería-2"
NEW_SALT = bcrypt.gensalt(10)
NEW_HASH = bcrypt.hashpw(NEW.encode(), NEW_SALT)
TOO_LONG = "ñ" * 37
"""A wrong password that is rejected without 50 ms of hashing."""
CLIENT_IP = "192.0.2.1"
_numbers = count(1)


def fresh_email() -> str:
    return f"Person-{next(_numbers)}@Example.com"


class Auth:
    """The calls of one auth process, as the gateway makes them."""

    def __init__(self, client: AuthClient) -> None:
        self._client = client
        self.verify = client.account_of
        self.keys = client.keys
        self.revoke_key = client.revoke_key
        self.reset = client.reset_password

    async def register(
        self, email: str, password_hash: bytes = HASH, salt: bytes = SALT, username: str = "Ana"
    ) -> None:
        await self._client.register(email, password_hash.decode(), salt.decode(), username)

    async def login(
        self, email: str, password: str = PASSWORD, client_ip: str = CLIENT_IP
    ) -> Login:
        return await self._client.login(email, password, client_ip, "")

    async def change(
        self,
        token: str,
        password: str = PASSWORD,
        client_ip: str = CLIENT_IP,
        new_hash: bytes = NEW_HASH,
        new_salt: bytes = NEW_SALT,
    ) -> tuple[str, datetime]:
        new = (new_hash.decode(), new_salt.decode())
        return await self._client.change_password(token, password, *new, client_ip)

    async def create_codes(self, token: str) -> list[str]:
        return await self._client.create_recovery_codes(token, PASSWORD, CLIENT_IP)

    async def close(self, token: str, password: str = PASSWORD, client_ip: str = CLIENT_IP) -> None:
        await self._client.close_account(token, password, client_ip)

    async def create_key(self, token: str, password: str = PASSWORD) -> tuple[str, str]:
        return await self._client.create_key(
            token, password, "Script", [Scope.LINKS_READ], None, CLIENT_IP
        )

    async def verify_key(self, key: str) -> VerifiedKey:
        return await self._client.verify_key(api_keys.hash_key(key))

    async def outcome(
        self, email: str, password: str = PASSWORD, client_ip: str = CLIENT_IP
    ) -> str:
        """Return the result of a log-in."""
        return await outcome(self.login(email, password, client_ip))


async def outcome(call: Awaitable[object]) -> str:
    """Return the result of a call: OK, or the reason of its error."""
    try:
        await call
    except AppError as error:
        return error.reason
    return "OK"


@asynccontextmanager
async def connect(process: Process) -> AsyncIterator[Auth]:
    client = AuthClient(process.grpc)
    try:
        yield Auth(client)
    finally:
        await client.close()


async def closed_accounts(process: Process) -> list[str]:
    """Return the closed accounts, as the reconciler reads them."""
    client = clients.AuthClient(process.addresses["admin"])
    try:
        return await client.closed_accounts()
    finally:
        await client.close()


@dataclass(frozen=True)
class Deployment:
    """The data folder and the store of an auth service."""

    folder: Path
    database: str = ""
    """A MongoDB URL. Empty for an SQLite file in the folder."""

    def start(self, **settings: str) -> Process:
        env = {
            "ATAJO_STORE": self.database or f"sqlite:///{self.folder}/auth.db",
            "ATAJO_PUBLIC_URL": "http://localhost",
            "ATAJO_TOKEN_SECRET": SECRET,
            "ATAJO_LOG_LEVEL": "debug",
            **settings,
        }
        return Process.start("services.auth", env, self.folder / "log")

    def bytes_stored(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.folder.glob("auth.db*"))


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    """An SQLite deployment."""
    return Deployment(tmp_path)


@pytest.fixture(params=["sqlite", "mongodb"])
def each_deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Deployment:
    """A deployment on each store."""
    if request.param == "sqlite":
        return Deployment(tmp_path)
    return Deployment(tmp_path, request.getfixturevalue("mongo_url"))


async def test_acknowledged_writes_survive_sigkill(deployment: Deployment) -> None:
    email = fresh_email()
    with deployment.start() as process:
        async with connect(process) as auth:
            await auth.register(email)
            token = (await auth.login(email)).token
            account_id = await auth.verify(token)
            outcomes = await asyncio.gather(*(auth.outcome(email, "wrong") for _ in range(15)))
        process.kill()
    assert Counter(outcomes) == {"WRONG_PASSWORD": 10, "TOO_MANY_ATTEMPTS": 5}

    with deployment.start() as process:
        async with connect(process) as auth:
            assert await auth.verify(token) == account_id
            await auth.register(email)
            with pytest.raises(ResourceExhausted) as limited:
                await auth.login(email)
            assert limited.value.reason == "TOO_MANY_ATTEMPTS"
            assert 800 < (limited.value.retry_after or 0) <= 900
            assert await auth.outcome(email, client_ip="192.0.2.2") == "OK"


async def test_created_and_revoked_keys_survive_sigkill(each_deployment: Deployment) -> None:
    email = fresh_email()
    with each_deployment.start() as process:
        async with connect(process) as auth:
            await auth.register(email)
            token = (await auth.login(email)).token
            revoked_id, revoked = await auth.create_key(token)
            await auth.revoke_key(token, revoked_id)
            key_id, key = await auth.create_key(token)
        process.kill()

    with each_deployment.start() as process:
        async with connect(process) as auth:
            verified = await auth.verify_key(key)
            assert verified.id == key_id
            assert verified.account.id == await auth.verify(token)
            assert await outcome(auth.verify_key(revoked)) == "INVALID_KEY"
            assert [each.id for each in await auth.keys(token)] == [key_id]


async def test_a_stop_writes_the_last_uses_of_keys(deployment: Deployment) -> None:
    email = fresh_email()
    with deployment.start() as process:
        async with connect(process) as auth:
            await auth.register(email)
            token = (await auth.login(email)).token
            _, key = await auth.create_key(token)
            await auth.verify_key(key)
        assert process.stop() == 0

    with deployment.start() as process:
        async with connect(process) as auth:
            assert (await auth.keys(token))[0].last_used_at is not None


async def test_a_key_revoked_by_one_replica_is_invalid_at_once_at_another(
    tmp_path: Path, mongo_url: str
) -> None:
    email, shared = fresh_email(), Deployment(tmp_path, mongo_url)
    with shared.start() as one, shared.start() as other:
        async with connect(one) as first, connect(other) as second:
            await first.register(email)
            token = (await first.login(email)).token
            for _ in range(20):
                key_id, key = await first.create_key(token)
                assert (await second.verify_key(key)).id == key_id
                await first.revoke_key(token, key_id)
                assert await outcome(second.verify_key(key)) == "INVALID_KEY"
            _, key = await second.create_key(token)
            await first.close(token)
            assert await outcome(second.verify_key(key)) == "INVALID_KEY"


async def test_calls_interrupted_by_a_kill_are_atomic(each_deployment: Deployment) -> None:
    """The process is killed at several times during a password change and a closing."""
    changing = fresh_email()
    current, other = (PASSWORD, HASH, SALT), (NEW, NEW_HASH, NEW_SALT)
    with ExitStack() as started:
        process = started.enter_context(each_deployment.start())
        for number, seconds in enumerate((0.0, 0.03, 0.06, 0.1, 0.5)):
            client_ip, closing = f"192.0.2.{number}", fresh_email()
            async with connect(process) as auth:
                if number == 0:
                    await auth.register(changing)
                await auth.register(closing)
                token = (await auth.login(changing, current[0], client_ip)).token
                closing_token = (await auth.login(closing)).token
                closing_id = await auth.verify(closing_token)
                change = asyncio.ensure_future(
                    auth.change(token, current[0], client_ip, *other[1:])
                )
                close = asyncio.ensure_future(auth.close(closing_token))
                await asyncio.wait([change, close], timeout=seconds)
                process.kill()
                await asyncio.wait([change, close])
            process = started.enter_context(each_deployment.start())
            async with connect(process) as auth:
                after = await auth.outcome(changing, other[0], client_ip)
                assert after in ("OK", "WRONG_PASSWORD"), "only these show whether it changed"
                changed = after == "OK"
                assert changed or change.exception()
                before = await auth.outcome(changing, current[0], client_ip)
                assert before == ("WRONG_PASSWORD" if changed else "OK")
                assert await outcome(auth.verify(token)) == ("INVALID_TOKEN" if changed else "OK")
                if not change.exception():
                    assert await outcome(auth.verify(change.result()[0])) == "OK"
                closed = closing_id in await closed_accounts(process)
                assert closed or close.exception()
                assert await auth.outcome(closing) == ("NO_ACCOUNT" if closed else "OK")
                assert await outcome(auth.verify(closing_token)) == (
                    "INVALID_TOKEN" if closed else "OK"
                )
            if changed:
                current, other = other, current


async def test_a_kill_does_not_let_a_recovery_code_be_spent_twice(
    each_deployment: Deployment,
) -> None:
    """Two resets with one code run while the process is killed, at several times."""
    email = fresh_email()
    new = {NEW: NEW_HASH, PASSWORD: HASH}
    with ExitStack() as started:
        process = started.enter_context(each_deployment.start(ATAJO_LIMITS="off"))
        async with connect(process) as auth:
            await auth.register(email)
        for seconds in (0.02, 0.05, 0.06, 0.07, 0.08, 0.1, 0.15):
            async with connect(process) as auth:
                token = (await auth.login(email)).token
                code, *_ = await auth.create_codes(token)
                salts = {NEW: NEW_SALT.decode(), PASSWORD: SALT.decode()}
                resets = {
                    password: asyncio.ensure_future(
                        auth.reset(email, code, new_hash.decode(), salts[password], CLIENT_IP, "")
                    )
                    for password, new_hash in new.items()
                }
                await asyncio.wait(resets.values(), timeout=seconds)
                process.kill()
                await asyncio.wait(resets.values())
            process = started.enter_context(each_deployment.start(ATAJO_LIMITS="off"))
            async with connect(process) as auth:
                acknowledged = [one for one, call in resets.items() if not call.exception()]
                assert len(acknowledged) <= 1
                ended = await outcome(auth.verify(token)) == "INVALID_TOKEN"
                again = auth.reset(email, code, HASH.decode(), SALT.decode(), CLIENT_IP, "")
                if ended:  # One of them was carried out, and the code is spent.
                    (current,) = [one for one in new if await auth.outcome(email, one) == "OK"]
                    assert not acknowledged or acknowledged == [current]
                    assert await outcome(again) == "WRONG_RECOVERY_CODE"
                    token = (await auth.login(email, current)).token
                    await auth.change(token, current, new_hash=HASH, new_salt=SALT)
                else:
                    assert not acknowledged
                    assert await outcome(again) == "OK"


async def test_a_burst_of_log_ins_slows_down_only_log_ins(deployment: Deployment) -> None:
    settings = {"ATAJO_LIMITS": "off", "ATAJO_BCRYPT_THREADS": "1", "ATAJO_LOGINS_WAITING": "15"}
    with deployment.start(**settings) as process:
        async with connect(process) as auth:
            email = fresh_email()
            await auth.register(email)
            token = (await auth.login(email)).token
            burst = [asyncio.create_task(auth.login(email)) for _ in range(30)]
            await asyncio.wait(burst, return_when=asyncio.FIRST_COMPLETED)

            for _ in range(5):
                await auth.verify(token)
            assert not all(task.done() for task in burst)
            if sys.platform == "linux":
                assert 10 in niceness_of_threads(process.popen.pid)
            results = await asyncio.gather(*burst, return_exceptions=True)

    rejected = [result for result in results if isinstance(result, ResourceExhausted)]
    assert {error.reason for error in rejected} == {"LOGINS_BUSY"}
    assert {error.retry_after for error in rejected} <= {1, 2, 3, 4, 5}
    assert sum(isinstance(result, Login) for result in results) >= 16


async def test_a_cancelled_log_in_does_not_count(deployment: Deployment) -> None:
    settings = {"ATAJO_BCRYPT_THREADS": "1", "ATAJO_LOGIN_FAILURES_BY_ADDRESS": "2"}
    slow = bcrypt.gensalt(12)
    with deployment.start(**settings) as process:
        async with connect(process) as auth:
            email = fresh_email()
            await auth.register(email, bcrypt.hashpw(PASSWORD.encode(), slow), slow)
            running = asyncio.create_task(auth.outcome(email))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(auth.login(email), 0.1)

            assert await running == "OK"
            outcomes = [await auth.outcome(email, TOO_LONG) for _ in range(3)]
    assert outcomes == ["WRONG_PASSWORD", "WRONG_PASSWORD", "TOO_MANY_ATTEMPTS"]


@pytest.mark.alone
async def test_shutdown_neither_waits_for_nor_counts_queued_log_ins(deployment: Deployment) -> None:
    settings = {"ATAJO_BCRYPT_THREADS": "1", "ATAJO_DRAIN_SECONDS": "0.1"}
    slow = bcrypt.gensalt(12)
    email = fresh_email()
    with deployment.start(**settings, ATAJO_LOGIN_FAILURES_BY_ADDRESS="50") as process:
        async with connect(process) as auth:
            await auth.register(email, bcrypt.hashpw(PASSWORD.encode(), slow), slow)
            queue = [asyncio.create_task(auth.outcome(email)) for _ in range(40)]
            await asyncio.wait(queue, return_when=asyncio.FIRST_COMPLETED)
            process.terminate()
            stopping_at = time.monotonic()
            assert await asyncio.to_thread(process.wait) == 0
            assert time.monotonic() - stopping_at < 3  # All of them would take 8 s.
            assert Counter(await asyncio.gather(*queue))["OK"] < 40

    with deployment.start(**settings, ATAJO_LOGIN_FAILURES_BY_ADDRESS="1") as process:
        async with connect(process) as auth:
            assert await auth.outcome(email) == "OK"


async def test_secrets_are_neither_logged_nor_stored(deployment: Deployment) -> None:
    email, client_ip = "Very.Private@Example.com", "203.0.113.77"
    with deployment.start(ATAJO_LOGINS_WAITING="1", ATAJO_BCRYPT_THREADS="1") as process:
        async with connect(process) as auth:
            await auth.register(email)
            token = (await auth.login(email, client_ip=client_ip)).token
            with pytest.raises(AppError):
                await auth.register(email, username="Somebody Else")
            with pytest.raises(AppError):
                await auth.verify(token + "x")
            changed, _ = await auth.change(token, client_ip=client_ip)
            _, key = await auth.create_key(changed, NEW)
            await auth.verify_key(key)
            await outcome(auth.verify_key(f"{key}x"))
            await outcome(auth.change(changed, "A-Wrong-Secret", client_ip))
            await outcome(auth.close(changed, "A-Wrong-Secret", client_ip))
            await asyncio.gather(
                *(auth.outcome(email, "A-Wrong-Secret", client_ip) for _ in range(15))
            )
        assert process.stop() == 0

    logged = process.stderr()
    reasons = {line.get("reason") for line in process.log_lines()}
    expected = {"EMAIL_TAKEN", "WRONG_PASSWORD", "LOGINS_BUSY", "INVALID_TOKEN", "INVALID_KEY"}
    assert expected <= reasons
    secrets = (SECRET, PASSWORD, NEW, "A-Wrong-Secret", token, changed, client_ip, key, key[12:])
    for secret in (*secrets, HASH.decode(), NEW_HASH.decode(), NEW_SALT.decode()):
        assert secret not in logged
    assert "very.private" not in logged.lower()
    stored = deployment.bytes_stored()
    assert NEW_HASH in stored
    for secret in secrets:
        assert secret.encode() not in stored
