"""The auth service as a process of its own, called over gRPC."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import bcrypt
import jwt
import pymongo
import pytest

from atajo.auth.v1 import auth_pb2 as pb
from atajo.auth.v1 import auth_pb2_grpc as pb_grpc
from services.auth.store_sqlite import MIGRATIONS
from services.runtime import client
from services.runtime.errors import (
    AlreadyExists,
    AppError,
    DeadlineExceeded,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unauthenticated,
)
from tests.processes import Process
from tests.procfs import niceness_of_threads

SERVICE = pb.DESCRIPTOR.services_by_name["AuthService"]
ADMIN = pb.DESCRIPTOR.services_by_name["AdminService"]
SECRET = "c2lnbmluZy1zZWNyZXQtb2YtdGhlLXRlc3Rz"
PASSWORD = "Corréct-Horse-1"
SALT = bcrypt.gensalt(10)
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT)
NEW = "Caballo-Batería-2"
NEW_SALT = bcrypt.gensalt(10)
NEW_HASH = bcrypt.hashpw(NEW.encode(), NEW_SALT)
TOO_LONG = "ñ" * 37
"""Is wrong without 50 ms of bcrypt."""
_numbers = count(1)


def fresh_email() -> str:
    return f"Person-{next(_numbers)}@Example.com"


class Auth:
    """The calls of one auth process, as the gateway makes them."""

    def __init__(self, stub: pb_grpc.AuthServiceAsyncStub) -> None:
        self._stub = stub
        self._caller = client.Caller(SERVICE)

    async def register(
        self,
        email: str,
        password_hash: bytes = HASH,
        salt: bytes = SALT,
        username: str = "Ana",
    ) -> str:
        request = pb.RegisterRequest(
            email=email, password_hash=password_hash.decode(), salt=salt.decode(), username=username
        )
        return (await self._caller.unary("Register", self._stub.Register, request, 10)).account_id

    async def login(
        self, email: str, password: str = PASSWORD, address: str = "192.0.2.1", seconds: float = 30
    ) -> pb.LoginResponse:
        request = pb.LoginRequest(email=email, password=password, client_address=address)
        return await self._caller.unary("Login", self._stub.Login, request, seconds)

    async def verify(self, token: str) -> str:
        request = pb.VerifyTokenRequest(token=token)
        response = await self._caller.unary("VerifyToken", self._stub.VerifyToken, request, 10)
        return response.account_id

    async def change(
        self,
        token: str,
        password: str = PASSWORD,
        address: str = "192.0.2.1",
        new_hash: bytes = NEW_HASH,
        new_salt: bytes = NEW_SALT,
    ) -> pb.ChangePasswordResponse:
        request = pb.ChangePasswordRequest(
            token=token,
            password=password,
            new_password_hash=new_hash.decode(),
            new_salt=new_salt.decode(),
            client_address=address,
        )
        return await self._caller.unary("ChangePassword", self._stub.ChangePassword, request, 30)

    async def close(
        self, token: str, password: str = PASSWORD, address: str = "192.0.2.1"
    ) -> pb.CloseOwnAccountResponse:
        request = pb.CloseOwnAccountRequest(token=token, password=password, client_address=address)
        return await self._caller.unary("CloseOwnAccount", self._stub.CloseOwnAccount, request, 30)

    async def outcome(
        self, email: str, password: str = PASSWORD, address: str = "192.0.2.1"
    ) -> str:
        """How a log-in ended, as one word."""
        return await ending(self.login(email, password, address))


async def ending(call: Awaitable[object]) -> str:
    """How a call ended: OK, or the reason why it was refused."""
    try:
        await call
    except AppError as error:
        return error.reason
    return "OK"


@asynccontextmanager
async def connected(process: Process) -> AsyncIterator[Auth]:
    async with client.open_channel(process.grpc, SERVICE) as channel:
        yield Auth(pb_grpc.AuthServiceStub(channel))


@dataclass(frozen=True)
class Admin:
    """What the reconciler asks of one auth process."""

    process: Process

    async def closed(self) -> list[str]:
        listed = await self._call("ListClosedAccounts", pb.ListClosedAccountsRequest())
        return list(listed.account_ids)

    async def remove(self, account_id: str) -> None:
        await self._call("RemoveAccount", pb.RemoveAccountRequest(account_id=account_id))

    async def _call(self, method: str, request: Any) -> Any:
        async with client.open_channel(self.process.addresses["admin"], ADMIN) as channel:
            stub = pb_grpc.AdminServiceStub(channel)
            return await client.Caller(ADMIN).unary(method, getattr(stub, method), request, 10)


@dataclass(frozen=True)
class Place:
    """Where one auth service keeps its things."""

    folder: Path
    database: str = ""
    """A MongoDB URL, or nothing for a file in the folder."""

    def env(self, **settings: str) -> dict[str, str]:
        return {
            "ATAJO_STORE": self.database or f"sqlite:///{self.folder}/auth.db",
            "ATAJO_TOKEN_SECRET": SECRET,
            "ATAJO_LOG_LEVEL": "debug",
            **settings,
        }

    def start(self, **settings: str) -> Process:
        return Process.start("services.auth", self.env(**settings), self.folder / "log")

    def bytes_stored(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.folder.glob("auth.db*"))


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One process with the settings of a deployment, shared by the tests of this file."""
    with Place(tmp_path_factory.mktemp("auth")).start() as process:
        yield process
        assert process.stop() == 0


@pytest.fixture
async def auth(process: Process) -> AsyncIterator[Auth]:
    async with connected(process) as auth:
        yield auth


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """For tests that start processes of their own."""
    return Place(tmp_path)


@pytest.fixture(params=["sqlite", "mongodb"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The same, over one store and over the other."""
    if request.param == "sqlite":
        return Place(tmp_path)
    return Place(tmp_path, request.getfixturevalue("mongo_url"))


async def test_register_log_in_and_verify(auth: Auth) -> None:
    email = fresh_email()
    account_id = await auth.register(email, username=" Ana Ñ ")
    before = datetime.now(UTC).replace(microsecond=0)
    session = await auth.login(f"\t {email.upper()} ")

    expires_at = session.expires_at.ToDatetime(UTC)
    assert session.username == "Ana Ñ"
    assert timedelta(0) <= expires_at - before - timedelta(hours=4) < timedelta(seconds=30)
    assert session.expires_at.nanos == 0
    claims = jwt.decode(session.token, SECRET, algorithms=["HS256"], issuer="atajo")
    assert claims["exp"] == session.expires_at.seconds
    assert await auth.verify(session.token) == account_id == claims["sub"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"email": "no-at-sign"}, "INVALID_EMAIL"),
        ({"email": "a\0@b"}, "INVALID_EMAIL"),
        ({"email": "a" * 1_000_000 + "@b"}, "INVALID_EMAIL"),
        ({"email": "a@b", "username": " \u3000"}, "INVALID_USERNAME"),
        ({"email": "a@b", "username": "x" * 31}, "INVALID_USERNAME"),
        ({"email": "a@b", "password_hash": b"secret"}, "INVALID_PASSWORD_HASH"),
        ({"email": "a@b", "salt": b""}, "INVALID_PASSWORD_HASH"),
        ({"email": "a@b", "salt": b"$2b$10$SyUprZHiLhjegFiZXUd9Du"}, "INVALID_PASSWORD_HASH"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else value,
)
async def test_what_breaks_a_rule_is_refused(
    auth: Auth, fields: dict[str, str | bytes], reason: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await auth.register(**fields)  # type: ignore[arg-type]
    assert refused.value.reason == reason
    assert await auth.outcome("a@b") == "NO_ACCOUNT"


async def test_a_registration_repeated_is_one_account(auth: Auth) -> None:
    email = fresh_email()
    first = await auth.register(email)

    assert await auth.register(email) == first
    assert await auth.register(f" {email.lower()} ", username=" Ana ") == first


async def test_a_plain_address_is_not_looked_up_before_it_is_stored(place: Place) -> None:
    """No earlier version knew it by another key; some others it may have."""
    with place.start() as process:
        async with connected(process) as auth:
            await auth.register(fresh_email())
            assert _calls_of_store(process, "accounts_by_email") == 0
            await auth.register("Jos\u00e9\u0323@example.com")
            assert _calls_of_store(process, "accounts_by_email") > 0


def _calls_of_store(process: Process, operation: str) -> float:
    with urllib.request.urlopen(f"http://{process.addresses['metrics']}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    name = f'atajo_store_seconds_count{{operation="{operation}"'
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


async def test_another_registration_for_the_same_address_is_refused(auth: Auth) -> None:
    email = fresh_email()
    await auth.register(email)
    salt = bcrypt.gensalt(10)
    others = {"password_hash": bcrypt.hashpw(PASSWORD.encode(), salt), "salt": salt}

    for fields in ({"username": "Bea"}, others):
        with pytest.raises(AlreadyExists) as taken:
            await auth.register(email.upper(), **fields)
        assert taken.value.reason == "EMAIL_TAKEN"
    assert (await auth.login(email)).username == "Ana"


async def test_of_registrations_at_once_one_wins(auth: Auth) -> None:
    email = fresh_email()

    results = await asyncio.gather(
        *(auth.register(email, username=f"Person {number}") for number in range(20)),
        return_exceptions=True,
    )

    won = [result for result in results if isinstance(result, str)]
    lost = [result.reason for result in results if isinstance(result, AppError)]
    assert (len(won), lost) == (1, ["EMAIL_TAKEN"] * 19)
    assert await auth.verify((await auth.login(email)).token) == won[0]


async def test_a_registration_repeated_at_once_is_one_account(auth: Auth) -> None:
    email = fresh_email()
    assert len(set(await asyncio.gather(*(auth.register(email) for _ in range(20))))) == 1


@pytest.mark.parametrize("email", ["", "nobody", "nobody@example.com", "\0@b", "x" * 1_000_000])
async def test_without_an_account_nothing_is_counted(auth: Auth, email: str) -> None:
    for _ in range(12):
        with pytest.raises(NotFound) as missing:
            await auth.login(email)
        assert missing.value.reason == "NO_ACCOUNT"


@pytest.mark.parametrize(
    "password", ["", "wrong", PASSWORD + "\0", f"{PASSWORD} ", TOO_LONG, "x" * 1_000_000, "\0"]
)
async def test_strange_passwords_are_wrong(auth: Auth, password: str) -> None:
    email = fresh_email()
    await auth.register(email)
    with pytest.raises(Unauthenticated) as wrong:
        await auth.login(email, password)
    assert wrong.value.reason == "WRONG_PASSWORD"


async def test_the_longest_password_is_looked_at_to_its_end(auth: Auth) -> None:
    email, password = fresh_email(), "ñ" * 35 + "ab"
    await auth.register(email, bcrypt.hashpw(password.encode(), SALT))

    assert await auth.outcome(email, password) == "OK"
    assert await auth.outcome(email, password[:-1] + "c") == "WRONG_PASSWORD"
    assert await auth.outcome(email, password + "b") == "WRONG_PASSWORD"


async def test_wrong_log_ins_at_once_are_limited(auth: Auth) -> None:
    email = fresh_email()
    await auth.register(email)

    outcomes = await asyncio.gather(*(auth.outcome(email, "wrong") for _ in range(30)))

    assert Counter(outcomes) == {"WRONG_PASSWORD": 10, "TOO_MANY_ATTEMPTS": 20}
    with pytest.raises(ResourceExhausted) as limited:
        await auth.login(email)
    assert limited.value.retry_after is not None
    assert 840 < limited.value.retry_after <= 900


async def test_failures_are_limited_by_account_and_address(auth: Auth) -> None:
    email, other = fresh_email(), fresh_email()
    await auth.register(email)
    await auth.register(other)
    for _ in range(10):
        assert await auth.outcome(email, TOO_LONG, "2001:db8::1") == "WRONG_PASSWORD"

    assert await auth.outcome(email, address="2001:db8::2") == "TOO_MANY_ATTEMPTS"
    assert await auth.outcome(email, address="2001:db8:0:1::1") == "OK"
    assert await auth.outcome(other, address="2001:db8::1") == "OK"


async def test_failures_are_limited_by_account_over_all_addresses(auth: Auth) -> None:
    email = fresh_email()
    await auth.register(email)
    for host in range(10):
        outcomes = await asyncio.gather(
            *(auth.outcome(email, TOO_LONG, f"198.51.100.{host}") for _ in range(12))
        )
        assert Counter(outcomes) == {"WRONG_PASSWORD": 10, "TOO_MANY_ATTEMPTS": 2}

    with pytest.raises(ResourceExhausted) as limited:
        await auth.login(email, address="198.51.100.99")
    assert limited.value.reason == "TOO_MANY_ATTEMPTS"


async def test_a_right_log_in_is_given_back(auth: Auth) -> None:
    email = fresh_email()
    await auth.register(email)
    for _ in range(9):
        assert await auth.outcome(email, TOO_LONG) == "WRONG_PASSWORD"

    for _ in range(4):
        assert await auth.outcome(email) == "OK"
    assert await auth.outcome(email, TOO_LONG) == "WRONG_PASSWORD"
    assert await auth.outcome(email) == "TOO_MANY_ATTEMPTS"


def _token(secret: str = SECRET, *, subject: str | None, lifetime: int = 60) -> str:
    issued_at = int(datetime.now(UTC).timestamp())
    claims: dict[str, object] = {"iss": "atajo", "iat": issued_at, "exp": issued_at + lifetime}
    return jwt.encode(claims | ({"sub": subject} if subject else {}), secret, "HS256")


async def test_only_a_token_of_an_account_verifies(auth: Auth) -> None:
    account_id = await auth.register(fresh_email())
    bad = {
        "empty": "",
        "garbage": "garbage",
        "a megabyte": "x" * 1_000_000,
        "another key": _token("another secret, as long as it has to be", subject=account_id),
        "expired": _token(subject=account_id, lifetime=-1),
        "no subject": _token(subject=None),
        "no such account": _token(subject="0" * 24),
    }

    assert await auth.verify(_token(subject=account_id)) == account_id
    for name, token in bad.items():
        with pytest.raises(Unauthenticated) as refused:
            await auth.verify(token)
        assert refused.value.reason == "INVALID_TOKEN", name


async def test_a_session_ends_with_its_account(place: Place) -> None:
    with place.start() as process:
        async with connected(process) as auth:
            email = fresh_email()
            await auth.register(email)
            token = (await auth.login(email)).token
            _execute(place, "DELETE FROM accounts")

            with pytest.raises(Unauthenticated) as refused:
                await auth.verify(token)
    assert refused.value.reason == "INVALID_TOKEN"


def _execute(place: Place, statement: str) -> None:
    connection = sqlite3.connect(place.folder / "auth.db", isolation_level=None)
    connection.execute(statement)
    connection.close()


async def test_what_was_acknowledged_survives_sigkill(place: Place) -> None:
    email = fresh_email()
    with place.start() as process:
        async with connected(process) as auth:
            account_id = await auth.register(email)
            token = (await auth.login(email)).token
            for _ in range(10):
                await auth.outcome(email, TOO_LONG)
        process.kill()

    with place.start() as process:
        async with connected(process) as auth:
            assert await auth.verify(token) == account_id
            assert await auth.register(email) == account_id
            assert await auth.outcome(email) == "TOO_MANY_ATTEMPTS"
            assert await auth.outcome(email, address="192.0.2.2") == "OK"


async def test_a_changed_password_ends_all_sessions_but_the_one_it_begins(either: Place) -> None:
    with either.start() as process:
        async with connected(process) as auth:
            email, other = fresh_email(), fresh_email()
            account_id = await auth.register(email)
            await auth.register(other)
            tokens = [(await auth.login(email)).token for _ in range(2)]
            stranger = (await auth.login(other)).token

            session = await auth.change(tokens[0])

            assert session.expires_at.seconds - time.time() == pytest.approx(4 * 3600, abs=30)
            assert await auth.verify(session.token) == account_id
            for token in tokens:
                assert await ending(auth.verify(token)) == "INVALID_TOKEN"
                assert await ending(auth.change(token, NEW)) == "INVALID_TOKEN"
                assert await ending(auth.close(token, NEW)) == "INVALID_TOKEN"
            assert await auth.outcome(email) == "WRONG_PASSWORD"
            assert await auth.verify((await auth.login(email, NEW)).token) == account_id
            assert await ending(auth.verify(stranger)) == "OK"
            assert await auth.outcome(other) == "OK"

            back = await auth.change(session.token, NEW, new_hash=HASH, new_salt=SALT)
            assert await ending(auth.verify(session.token)) == "INVALID_TOKEN"
            assert await auth.verify(back.token) == account_id
            assert await auth.outcome(email) == "OK"


@pytest.mark.parametrize(
    ("new_hash", "new_salt"),
    [(b"secret", b"secret"), (b"", b""), (NEW_HASH, SALT), (NEW_HASH[:-1], NEW_SALT)],
    ids=["no hash", "empty", "another salt", "cut off"],
)
async def test_a_new_password_keeps_to_the_rules_of_a_registration(
    auth: Auth, new_hash: bytes, new_salt: bytes
) -> None:
    email = fresh_email()
    await auth.register(email)
    token = (await auth.login(email)).token
    for _ in range(12):
        with pytest.raises(InvalidArgument) as refused:
            await auth.change(token, TOO_LONG, new_hash=new_hash, new_salt=new_salt)
        assert refused.value.reason == "INVALID_PASSWORD_HASH"
    assert await auth.outcome(email) == "OK", "none of it is counted"
    assert await ending(auth.verify(token)) == "OK"


async def test_wrong_passwords_are_limited_wherever_a_session_sends_them(auth: Auth) -> None:
    email = fresh_email()
    await auth.register(email)
    token, other = [(await auth.login(email)).token for _ in range(2)]
    calls = (auth.change(token, TOO_LONG), auth.close(token, TOO_LONG))
    assert [await ending(call) for call in calls] == ["WRONG_PASSWORD"] * 2
    outcomes = await asyncio.gather(*(ending(auth.change(token, TOO_LONG)) for _ in range(12)))
    assert Counter(outcomes) == {"WRONG_PASSWORD": 8, "TOO_MANY_ATTEMPTS": 4}

    for right in (auth.change(token), auth.close(token), auth.close(token, address="192.0.2.2")):
        with pytest.raises(ResourceExhausted) as limited:
            await right
        assert limited.value.reason == "TOO_MANY_ATTEMPTS"
        assert limited.value.retry_after is not None
        assert 840 < limited.value.retry_after <= 900
    assert await ending(auth.verify(token)) == "OK"
    assert await auth.outcome(email) == "OK"
    assert await ending(auth.change(other)) == "OK"


async def test_what_strangers_do_to_the_log_in_leaves_sessions_alone(either: Place) -> None:
    """Over two replicas that share a store, where the store can be shared."""
    with either.start() as first, ExitStack() as stack:
        second = stack.enter_context(either.start()) if either.database else first
        async with connected(first) as one, connected(second) as other:
            email = fresh_email()
            await one.register(email)
            mine, stolen = [(await one.login(email)).token for _ in range(2)]
            # A token of an earlier version has no id of its own.
            earlier = _token(subject=await one.verify(mine))
            for host in range(11):
                for n in range(10):
                    await (one, other)[n % 2].outcome(email, TOO_LONG, f"192.0.2.{host}")
            assert await one.outcome(email, address="198.51.100.1") == "TOO_MANY_ATTEMPTS"

            for token in (stolen, earlier):
                guesses = [
                    (one, other)[n % 2].change(token, TOO_LONG, f"198.51.100.{n}")
                    for n in range(12)
                ]
                outcomes = Counter(await asyncio.gather(*map(ending, guesses)))
                assert outcomes == {"WRONG_PASSWORD": 10, "TOO_MANY_ATTEMPTS": 2}
            assert await ending(other.change(mine, TOO_LONG)) == "WRONG_PASSWORD"
            session = await other.change(mine)
            assert await one.outcome(email, NEW) == "TOO_MANY_ATTEMPTS"
            assert await ending(one.close(session.token, TOO_LONG)) == "WRONG_PASSWORD"
            assert await ending(one.close(session.token, NEW)) == "OK"


async def test_of_changes_at_once_over_two_replicas_one_is_made(
    mongo_url: str, tmp_path: Path
) -> None:
    place = Place(tmp_path, mongo_url)
    hashes = [bcrypt.hashpw(f"Camino-{n}".encode(), NEW_SALT) for n in range(8)]
    with place.start() as first, place.start() as second:
        async with connected(first) as one, connected(second) as other:
            email = fresh_email()
            await one.register(email)
            token = (await other.login(email)).token

            results = await asyncio.gather(
                *(
                    (one, other)[n % 2].change(token, address=f"192.0.2.{n}", new_hash=each)
                    for n, each in enumerate(hashes)
                ),
                return_exceptions=True,
            )

            (made,) = (n for n, each in enumerate(results) if not isinstance(each, BaseException))
            lost = [each for each in results if isinstance(each, BaseException)]
            assert {getattr(each, "reason", "") for each in lost} == {"INVALID_TOKEN"}
            session = results[made]
            assert isinstance(session, pb.ChangePasswordResponse)
            for replica in (one, other):
                assert await ending(replica.verify(token)) == "INVALID_TOKEN"
                assert await ending(replica.verify(session.token)) == "OK"
                assert await replica.outcome(email, f"Camino-{made}") == "OK"


async def test_an_owner_closes_the_account_for_the_reconciler_to_remove(either: Place) -> None:
    with either.start() as process:
        async with connected(process) as auth:
            admin = Admin(process)
            email = fresh_email()
            account_id = await auth.register(email)
            other = await auth.register(fresh_email())
            token, second = [(await auth.login(email)).token for _ in range(2)]
            assert await ending(auth.close(token, "wrong")) == "WRONG_PASSWORD"
            assert await ending(auth.verify(token)) == "OK"
            assert await admin.closed() == []

            await auth.close(token)

            for each in (token, second):
                assert await ending(auth.verify(each)) == "INVALID_TOKEN"
                assert await ending(auth.close(each)) == "INVALID_TOKEN"
            assert await auth.outcome(email) == "NO_ACCOUNT"
            assert await ending(auth.register(email)) == "EMAIL_TAKEN"
            assert await admin.closed() == [account_id]
            await admin.remove(other)
            await admin.remove(account_id)
            assert await admin.closed() == []
            again = await auth.register(email)
            assert again != account_id
            assert await ending(auth.verify(token)) == "INVALID_TOKEN"
            assert await auth.verify((await auth.login(email)).token) == again


async def test_accounts_and_sessions_of_an_earlier_version_go_on(either: Place) -> None:
    account = {
        "email": "Ana@Example.com",
        "email_key": "ana@example.com",
        "username": "Ana",
        "password_hash": HASH.decode(),
        "salt": SALT.decode(),
        "created_at": 1_772_368_215_123_456,
    }
    if either.database:
        with pymongo.MongoClient[dict[str, Any]](either.database) as mongo:
            database = mongo.get_default_database()
            database.accounts.create_index("email_key", name="accounts_by_email_key", unique=True)
            database.accounts.insert_one({"_id": "ana", **account, "closed": False})
            database.schema.insert_one({"_id": "version", "version": 1})
    else:
        with sqlite3.connect(either.folder / "auth.db") as connection:
            for number, migration in enumerate(MIGRATIONS[:2], 1):
                connection.executescript(f"{migration}; PRAGMA user_version = {number}")
            fields = ("ana", *account.values(), 0)
            connection.execute(f"INSERT INTO accounts VALUES ({', '.join('?' * 8)})", fields)
        connection.close()

    token = _token(subject="ana")
    with either.start() as process:
        async with connected(process) as auth:
            assert await auth.verify(token) == "ana"
            assert await auth.verify((await auth.login("ana@example.com")).token) == "ana"
            assert await auth.verify(token) == "ana"
            session = await auth.change(token)
            assert await ending(auth.verify(token)) == "INVALID_TOKEN"
            assert await auth.verify(session.token) == "ana"
            assert await auth.outcome("ana@example.com", NEW) == "OK"
            await auth.close(session.token, NEW)
            assert await Admin(process).closed() == ["ana"]


async def test_what_a_kill_breaks_off_happened_whole_or_not_at_all(either: Place) -> None:
    """A change and a closing are under way when the process is killed, sooner or later."""
    changing = fresh_email()
    held, other = (PASSWORD, HASH, SALT), (NEW, NEW_HASH, NEW_SALT)
    with ExitStack() as started:
        process = started.enter_context(either.start())
        for number, seconds in enumerate((0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.5)):
            address, closing = f"192.0.2.{number}", fresh_email()
            async with connected(process) as auth:
                if number == 0:
                    await auth.register(changing)
                closing_id = await auth.register(closing)
                token = (await auth.login(changing, held[0], address)).token
                closing_token = (await auth.login(closing)).token
                change = asyncio.ensure_future(auth.change(token, held[0], address, *other[1:]))
                close = asyncio.ensure_future(auth.close(closing_token))
                await asyncio.wait([change, close], timeout=seconds)
                process.kill()
                await asyncio.wait([change, close])
            process = started.enter_context(either.start())
            async with connected(process) as auth:
                after = await auth.outcome(changing, other[0], address)
                assert after in ("OK", "WRONG_PASSWORD"), "neither says whether it changed"
                changed = after == "OK"
                assert changed or change.exception()
                before = await auth.outcome(changing, held[0], address)
                assert before == ("WRONG_PASSWORD" if changed else "OK")
                assert await ending(auth.verify(token)) == ("INVALID_TOKEN" if changed else "OK")
                if not change.exception():
                    assert await ending(auth.verify(change.result().token)) == "OK"
                closed = closing_id in await Admin(process).closed()
                assert closed or close.exception()
                assert await auth.outcome(closing) == ("NO_ACCOUNT" if closed else "OK")
                assert await ending(auth.verify(closing_token)) == (
                    "INVALID_TOKEN" if closed else "OK"
                )
            if changed:
                held, other = other, held


async def test_limits_can_be_lifted(place: Place) -> None:
    with place.start(ATAJO_LIMITS="off") as process:
        async with connected(process) as auth:
            email = fresh_email()
            await auth.register(email)
            outcomes = await asyncio.gather(*(auth.outcome(email, TOO_LONG) for _ in range(150)))
    assert set(outcomes) == {"WRONG_PASSWORD"}


async def test_a_burst_of_log_ins_slows_log_ins_alone(place: Place) -> None:
    settings = {"ATAJO_LIMITS": "off", "ATAJO_BCRYPT_THREADS": "1", "ATAJO_LOGINS_WAITING": "15"}
    with place.start(**settings) as process:
        async with connected(process) as auth:
            email = fresh_email()
            account_id = await auth.register(email)
            burst = [asyncio.create_task(auth.login(email)) for _ in range(30)]
            await asyncio.wait(burst, return_when=asyncio.FIRST_COMPLETED)

            for _ in range(5):
                assert await auth.verify(_token(subject=account_id)) == account_id
            assert not all(task.done() for task in burst)
            if sys.platform == "linux":
                assert 10 in niceness_of_threads(process.popen.pid)
            results = await asyncio.gather(*burst, return_exceptions=True)

    refused = [result for result in results if isinstance(result, ResourceExhausted)]
    assert {error.reason for error in refused} == {"LOGINS_BUSY"}
    assert {error.retry_after for error in refused} <= {1, 2, 3, 4, 5}
    assert sum(isinstance(result, pb.LoginResponse) for result in results) >= 16


async def test_a_network_of_ipv6_has_the_share_of_one(place: Place) -> None:
    """However many of its addresses it logs in from, who comes from elsewhere is let in."""
    settings = {"ATAJO_BCRYPT_THREADS": "1", "ATAJO_LOGINS_WAITING": "15"}
    with place.start(**settings) as process:
        async with connected(process) as auth:
            email = fresh_email()
            await auth.register(email)
            burst = [
                asyncio.create_task(auth.outcome(email, address=f"2001:db8:0:{number:x}::1"))
                for number in range(40)
            ]
            # The first to end are refused: there is no room.
            await asyncio.wait(burst, return_when=asyncio.FIRST_COMPLETED)
            outsider = await auth.outcome(email, address="192.0.2.1")
            assert outsider == "OK"
            assert not all(task.done() for task in burst)
            outcomes = Counter(await asyncio.gather(*burst))
    assert outcomes.keys() == {"OK", "LOGINS_BUSY"}


async def test_who_gave_up_waiting_is_not_charged(place: Place) -> None:
    settings = {"ATAJO_BCRYPT_THREADS": "1", "ATAJO_LOGIN_FAILURES_BY_ADDRESS": "2"}
    slow = bcrypt.gensalt(12)
    with place.start(**settings) as process:
        async with connected(process) as auth:
            email = fresh_email()
            await auth.register(email, bcrypt.hashpw(PASSWORD.encode(), slow), slow)
            running = asyncio.create_task(auth.outcome(email))
            with pytest.raises(DeadlineExceeded):
                await auth.login(email, seconds=0.1)

            assert await running == "OK"
            outcomes = [await auth.outcome(email, TOO_LONG) for _ in range(3)]
    assert outcomes == ["WRONG_PASSWORD", "WRONG_PASSWORD", "TOO_MANY_ATTEMPTS"]


@pytest.mark.alone
async def test_a_stop_does_not_wait_for_a_queue_of_log_ins_nor_charge_them(place: Place) -> None:
    settings = {"ATAJO_BCRYPT_THREADS": "1", "ATAJO_DRAIN_SECONDS": "0.1"}
    slow = bcrypt.gensalt(12)
    email = fresh_email()
    with place.start(**settings, ATAJO_LOGIN_FAILURES_BY_ADDRESS="50") as process:
        async with connected(process) as auth:
            await auth.register(email, bcrypt.hashpw(PASSWORD.encode(), slow), slow)
            queue = [asyncio.create_task(auth.outcome(email)) for _ in range(40)]
            await asyncio.wait(queue, return_when=asyncio.FIRST_COMPLETED)
            process.terminate()
            stopping_at = time.monotonic()
            assert await asyncio.to_thread(process.wait) == 0
            assert time.monotonic() - stopping_at < 3  # All of them would take 8 s.
            assert Counter(await asyncio.gather(*queue))["OK"] < 40

    with place.start(**settings, ATAJO_LOGIN_FAILURES_BY_ADDRESS="1") as process:
        async with connected(process) as auth:
            assert await auth.outcome(email) == "OK"


async def test_what_is_secret_is_neither_logged_nor_stored(place: Place) -> None:
    email, address = "Very.Private@Example.com", "203.0.113.77"
    with place.start(ATAJO_LOGINS_WAITING="1", ATAJO_BCRYPT_THREADS="1") as process:
        async with connected(process) as auth:
            await auth.register(email)
            token = (await auth.login(email, address=address)).token
            with pytest.raises(AppError):
                await auth.register(email, username="Somebody Else")
            with pytest.raises(AppError):
                await auth.verify(token + "x")
            changed = await auth.change(token, address=address)
            await ending(auth.change(changed.token, "A-Wrong-Secret", address))
            await ending(auth.close(changed.token, "A-Wrong-Secret", address))
            await asyncio.gather(
                *(auth.outcome(email, "A-Wrong-Secret", address) for _ in range(15))
            )
        assert process.stop() == 0

    logged = process.stderr()
    reasons = {line.get("reason") for line in process.log_lines()}
    assert {"EMAIL_TAKEN", "WRONG_PASSWORD", "LOGINS_BUSY", "INVALID_TOKEN"} <= reasons
    secrets = (SECRET, PASSWORD, NEW, "A-Wrong-Secret", token, changed.token, address)
    for secret in (*secrets, HASH.decode(), NEW_HASH.decode(), NEW_SALT.decode()):
        assert secret not in logged
    assert "very.private" not in logged.lower()
    stored = place.bytes_stored()
    assert NEW_HASH in stored
    for secret in secrets:
        assert secret.encode() not in stored


async def test_log_ins_are_counted_by_how_they_ended(place: Place) -> None:
    limits = {f"ATAJO_LOGIN_FAILURES_BY_{each}": "1" for each in ("ADDRESS", "SESSION")}
    with place.start(**limits) as process:
        of_checks = ("ok", "wrong_password", "limited", "busy")
        of_sessions = (*of_checks, "invalid_token")
        assert _results(process, "logins") == dict.fromkeys((*of_checks, "no_account"), 0)
        assert _results(process, "password_changes") == dict.fromkeys(
            (*of_sessions, "invalid_hash"), 0
        )
        assert _results(process, "account_closings") == dict.fromkeys(of_sessions, 0)
        async with connected(process) as auth:
            email = fresh_email()
            await auth.register(email)
            for who in (email, email, "nobody@example.com"):
                await auth.outcome(who)
            for _ in range(4):
                await auth.outcome(email, TOO_LONG)
            token, other = [(await auth.login(email, address="::1")).token for _ in range(2)]
            for call in (
                auth.change(token, address="::1"),
                auth.change(token, address="::1"),
                auth.change(other, new_hash=b""),
                auth.close(token),
            ):
                await ending(call)
            tokens = [(await auth.login(email, NEW, "::1")).token for _ in range(3)]
            for call in (
                auth.change(tokens[0], TOO_LONG),
                auth.change(tokens[0], NEW),
                auth.close(tokens[0], NEW),
                auth.close(tokens[1], TOO_LONG),
                auth.close(tokens[2], NEW),
            ):
                await ending(call)
        logins, changes, closings = (
            _results(process, name) for name in ("logins", "password_changes", "account_closings")
        )
    assert logins == {"ok": 7, "no_account": 1, "wrong_password": 1, "limited": 3, "busy": 0}
    assert changes == {
        "ok": 1,
        "wrong_password": 1,
        "limited": 1,
        "busy": 0,
        "invalid_token": 1,
        "invalid_hash": 1,
    }
    assert closings == {
        "ok": 1,
        "wrong_password": 1,
        "limited": 1,
        "busy": 0,
        "invalid_token": 1,
    }


def _results(process: Process, counter: str) -> dict[str, float]:
    with urllib.request.urlopen(f"http://{process.addresses['metrics']}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    name = f'atajo_{counter}_total{{result="'
    rows = [line.removeprefix(name).split('"} ') for line in lines if line.startswith(name)]
    return {result: float(value) for result, value in rows}


REFUSED: dict[str, Callable[[Place], dict[str, str]]] = {
    "none": lambda place: {},
    "empty": lambda place: {"ATAJO_TOKEN_SECRET": "", "ATAJO_ENVIRONMENT": "local"},
    "short": lambda place: {"ATAJO_TOKEN_SECRET": "guess-me-if-you-can"},
    "placeholder": lambda place: {"ATAJO_TOKEN_SECRET": "change-me"},
    "a file that is not there": lambda place: {
        "ATAJO_TOKEN_SECRET_FILE": str(place.folder / "missing")
    },
}


@pytest.mark.parametrize("secret", REFUSED.values(), ids=REFUSED.keys())
def test_a_secret_that_can_be_guessed_does_not_start(
    place: Place, secret: Callable[[Place], dict[str, str]]
) -> None:
    env = place.env()
    del env["ATAJO_TOKEN_SECRET"]
    env |= secret(place)
    with Process.launch("services.auth", env, place.folder / "log") as process:
        assert process.wait() == 1

    (line,) = process.stderr().splitlines()
    assert line.startswith("Settings refused. ")
    assert "guess-me" not in line
    assert "change-me" not in line


async def test_a_secret_comes_from_a_file(place: Place) -> None:
    file = place.folder / "secret"
    file.write_text(SECRET + "\n")
    settings = {"ATAJO_TOKEN_SECRET": "overruled", "ATAJO_TOKEN_SECRET_FILE": str(file)}
    with place.start(**settings) as process:
        async with connected(process) as auth:
            account_id = await auth.register(fresh_email())
            assert await auth.verify(_token(subject=account_id)) == account_id


async def test_a_placeholder_will_do_on_a_machine_of_ones_own(place: Place) -> None:
    settings = {"ATAJO_TOKEN_SECRET": "change-me", "ATAJO_ENVIRONMENT": "local"}
    with place.start(**settings) as process:
        async with connected(process) as auth:
            email = fresh_email()
            account_id = await auth.register(email)
            assert await auth.verify((await auth.login(email)).token) == account_id
        assert process.stop() == 0
        process.log_lines()  # All of them are JSON.
