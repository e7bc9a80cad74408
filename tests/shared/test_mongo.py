"""The connection to MongoDB: valid settings, outages, health and schema upgrades."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit

import httpx
import pymongo
import pytest
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection, AsyncIOMotorDatabase
from pymongo import IndexModel
from pymongo.collection import Collection
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WriteConcernError,
    WTimeoutError,
)
from structlog.testing import capture_logs

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.domain import owner as owners
from services.links.domain.link import Link
from services.links.storage import mongo as links_store
from services.shared import mongo
from services.shared.errors import AppError, Unavailable
from services.shared.mongo import availability, migrations
from services.shared.mongo import client as client_module
from services.shared.mongo import database as database_module
from services.shared.mongo.aliases import Document
from services.shared.mongo.feed import MongoFeed
from services.shared.mongo.transactions import Transaction
from services.shared.rpc import channels, client
from tests.support.mongo import server
from tests.support.mongo.tcp_proxy import TcpProxy
from tests.support.ports import free_port
from tests.support.processes import NO_TLS, TIMEOUT_SECONDS, Process
from tests.support.waiting import RECOVERY_SECONDS, wait_until

LINKS = pb.DESCRIPTOR.services_by_name["LinksService"]
PASSWORD = "s3cret-Camino"
SCHEMA: mongo.Schema = ({"things": [IndexModel("name", name="by_name", unique=True)]},)


@pytest.fixture
def proxy(mongo_url: str) -> Iterator[TcpProxy]:
    port = urlsplit(mongo_url).port
    assert port
    with TcpProxy(port) as closed:
        yield closed


@asynccontextmanager
async def links(process: Process) -> AsyncIterator[Any]:
    """Calls ResolveLinks."""
    caller = client.Caller(LINKS)
    async with channels.open_channel(process.grpc, LINKS) as channel:
        stub = pb_grpc.LinksServiceStub(channel)

        async def resolve(code: str) -> dict[str, str]:
            request = pb.ResolveLinksRequest(codes=[code])
            reply = await caller.unary("ResolveLinks", stub.ResolveLinks, request, 10)
            return {one.code: one.url for one in reply.resolutions}

        yield resolve


async def resolved(process: Process) -> dict[str, str]:
    async with links(process) as resolve:
        return dict(await resolve("abcdefgh"))


async def answers(resolve: Any, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            await resolve("abcdefgh")
        except AppError:
            await asyncio.sleep(0.05)
        else:
            return True
    return False


def process_env(url: str) -> dict[str, str]:
    return {"ATAJO_STORE": url, "ATAJO_PUBLIC_URL": "http://localhost:1"}


def start(url: str, folder: Path) -> Process:
    return Process.start("services.links", process_env(url), folder / "log")


async def test_a_service_starts_without_its_server_and_reconnects_after_each_outage(
    proxy: TcpProxy, mongo_url: str, tmp_path: Path
) -> None:
    with start(proxy.through(mongo_url), tmp_path) as process:
        async with links(process) as resolve:
            with pytest.raises(Unavailable) as away:
                await resolve("abcdefgh")
            assert away.value.reason == "STORE_UNAVAILABLE"
            for _ in range(2):
                proxy.open()
                assert await answers(resolve, 5)
                proxy.shut()
                with pytest.raises(Unavailable):
                    await resolve("abcdefgh")
        assert process.stop() == 0
    lines = [line for line in process.log_lines() if line["event"] == "store_away"]
    reasons = [line["reason"] for line in lines]
    assert len(set(reasons)) == len(reasons), "once a minute for each reason"


async def test_a_slow_server_is_unavailable(
    proxy: TcpProxy, mongo_url: str, tmp_path: Path
) -> None:
    proxy.open()
    with start(proxy.through(mongo_url), tmp_path) as process:
        async with links(process) as resolve:
            assert await answers(resolve, 5)
            proxy.pause()
            # The deadline of the gateway's calls, including retries.
            started = time.monotonic()
            slow = await asyncio.gather(
                *(resolve("abcdefgh") for _ in range(50)), return_exceptions=True
            )
            assert time.monotonic() - started < 5
            assert {type(error) for error in slow} == {Unavailable}
            proxy.resume()
            assert await answers(resolve, 5)
        assert process.stop() == 0


def test_no_part_of_the_url_is_logged(tmp_path: Path) -> None:
    """No server listens there. At level `debug`, libraries log as well."""
    env = {
        "ATAJO_STORE": f"mongodb://walker:{PASSWORD}@127.0.0.1:9/atajo",
        "ATAJO_PUBLIC_URL": "http://localhost:1",
        "ATAJO_LOG_LEVEL": "debug",
    }
    with Process.start("services.links", env, tmp_path / "log") as process:
        assert process.stop() == 0
        assert "store_away" in process.stderr()
        for part in (PASSWORD, "walker", "127.0.0.1:9/"):
            assert part not in process.stderr()


async def test_a_refused_log_in_ends_the_process_with_one_line(mongo_url: str) -> None:
    async with mongo.open_database(mongo_url, "", ()) as database:
        created: dict[str, Any] = {"pwd": "Camino-42", "roles": ["readWrite"]}
        await database.write("", lambda db: db.command("createUser", "walker", **created))
        try:
            parts = urlsplit(mongo_url)
            own = f"mongodb://walker:{{}}@{parts.netloc.rpartition('@')[2]}{parts.path}"
            async with mongo.open_database(own.format("Camino-42"), "", ()) as known:
                await known.read("", lambda db: db.things.find_one())
            with pytest.raises(SystemExit) as refused:
                async with mongo.open_database(own.format("camino"), "", ()):
                    pass
            assert str(refused.value) == "The MongoDB of ATAJO_STORE refuses the log-in."
        finally:
            await database.write("", lambda db: db.command("dropUser", "walker"))


def test_a_standalone_server_is_refused_with_one_line(tmp_path: Path) -> None:
    with server.nodes(1) as (node,):
        node.start()
        url = f"mongodb://127.0.0.1:{node.port}/"
        with pymongo.MongoClient[dict[str, Any]](url) as connected:
            connected.admin.command("ping")
        with Process.launch("services.links", process_env(url), tmp_path / "log") as process:
            assert process.wait() == 1
            (line,) = process.stderr().splitlines()
    assert "--replSet" in line
    assert "rs.initiate(" in line


DIRECT = ["directConnection=true", f"directConnection=true&replicaSet={server.SET}"]


@pytest.mark.parametrize("options", DIRECT)
async def test_no_connection_from_before_the_replica_set_was_initiated_stays(options: str) -> None:
    with server.nodes(1, "--replSet", server.SET) as (node,):
        node.start()
        url = f"mongodb://127.0.0.1:{node.port}/?directConnection=true"
        with pymongo.MongoClient[dict[str, Any]](url) as connected:
            await asyncio.to_thread(connected.admin.command, "ping")
        url = f"mongodb://127.0.0.1:{node.port}/?{options}"
        async with mongo.open_database(url, "atajo", SCHEMA) as database:
            for unready in (database.check, database.size):
                with pytest.raises(Unavailable):
                    await unready()
            await asyncio.to_thread(server.initiate, [node.port])
            await until_healthy(database)
            assert await failed_transactions(database, 200) == []


async def test_a_client_whose_connections_have_no_sessions_is_replaced(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_MIN_SECONDS", 0.0)

    async def fail(_documents: mongo.Documents) -> None:
        raise ConfigurationError("Sessions are not supported by this MongoDB deployment")

    async with mongo.open_database(mongo_url, "", ()) as database:
        before = await database.read("test", _itself)
        with pytest.raises(Unavailable) as away:
            await database.write("test", fail)
        assert away.value.reason == "STORE_UNAVAILABLE"
        after = await database.read("test", _itself)
        assert after.client is not before.client
        assert await database.read("test", lambda _: before.things.find_one()) is None


async def test_a_client_without_sessions_is_replaced_once_and_only_by_one_that_opens(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_MIN_SECONDS", 0.0)
    failures: list[Exception] = []

    def connect(**options: Any) -> AsyncIOMotorClient[Document]:
        if failures:
            raise failures.pop()
        return AsyncIOMotorClient(mongo_url, **options)

    current = client_module.Client(connect, "atajo", retire_seconds=0.0)
    first = current.motor
    try:
        for failure in (ConfigurationError(PASSWORD), OSError(PASSWORD)):
            failures.append(failure)
            with capture_logs() as logged:
                current.replace_after_error(first)
            assert current.motor is first
            assert [line["event"] for line in logged] == ["store_client_not_replaced"]
            assert PASSWORD not in str(logged)
        for _ in range(3):  # A retired client would close now.
            await first.admin.command("ping")
        with capture_logs() as logged:
            current.replace_after_error(first)
            second = current.motor
            assert second is not first
            current.replace_after_error(first)  # For an operation that began before.
            assert current.motor is second
            current.replace_after_error(second)
            assert current.motor is not second
        assert [line["event"] for line in logged] == ["store_client_replaced"]
    finally:
        await current.close()


async def failed_transactions(database: mongo.Database, count: int) -> list[BaseException]:
    """Return the errors of transactions, of which several run at the same time."""

    def insert(tx: Transaction) -> None:
        tx.db.things.insert_one({"name": os.urandom(8)}, session=tx.session)

    limit = asyncio.Semaphore(8)

    async def run() -> None:
        async with limit:
            await database.transaction("test", insert)

    ends = await asyncio.gather(*(run() for _ in range(count)), return_exceptions=True)
    return [end for end in ends if end is not None]


@pytest.mark.parametrize(
    ("hello", "refusal"),
    [
        ({"maxWireVersion": 13, "setName": "rs0"}, "older than 6.0"),
        ({"maxWireVersion": 13, "msg": "isdbgrid"}, "older than 6.0"),
        ({"maxWireVersion": 17, "msg": "isdbgrid"}, None),
    ],
)
async def test_a_server_older_than_6_is_refused_but_a_router_is_not(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch, hello: dict[str, Any], refusal: str | None
) -> None:
    async def answer(_database: object, _command: str) -> dict[str, Any]:
        return hello

    monkeypatch.setattr(AsyncIOMotorDatabase, "command", answer)
    with pytest.raises(SystemExit, match=refusal) if refusal else nullcontext():
        async with mongo.open_database(mongo_url, "", ()):
            pass


UNSURE = {"writeErrors": [{"code": 11000}], "writeConcernErrors": [{"code": 64}]}
MIXED = {"writeErrors": [{"code": 11000}, {"code": 10107}], "writeConcernErrors": []}


@pytest.mark.parametrize(
    "error",
    [
        AutoReconnect("away"),
        NetworkTimeout("slow"),
        NotPrimaryError("failover"),
        ServerSelectionTimeoutError("nobody"),
        ExecutionTimeout("slow", 50),
        OperationFailure("stepping down", 11602),
        OperationFailure("log-in changed", 18),
        WTimeoutError("no majority", 64),
        WriteConcernError("no majority", 91),
        BulkWriteError(UNSURE),
        BulkWriteError(MIXED),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_every_driver_error_becomes_unavailable(mongo_url: str, error: PyMongoError) -> None:
    async def fail(_documents: mongo.Documents) -> None:
        raise error

    async with mongo.open_database(mongo_url, "", ()) as database:
        with pytest.raises(Unavailable) as away:
            await database.write("test", fail)
        assert away.value.reason == "STORE_UNAVAILABLE"
        await database.read("test", lambda db: db.things.find_one())


async def test_concurrent_replicas_build_the_indexes_before_any_duplicate_is_written(
    mongo_url: str,
) -> None:
    """Also if many writes come before the first check of the indexes."""

    async def replica(number: int) -> int:
        async with mongo.open_database(mongo_url, "", SCHEMA) as database:
            await database.wait_for_schema()
            new = [{"_id": f"{number}-{n}", "name": "same"} for n in range(5)]
            ends = await asyncio.gather(
                *(database.write("test", inserting(one)) for one in new),
                return_exceptions=True,
            )
            assert all(
                isinstance(end, DuplicateKeyError) for end in ends if isinstance(end, BaseException)
            ), ends
            return sum(not isinstance(end, BaseException) for end in ends)

    assert sum(await asyncio.gather(*(replica(number) for number in range(5)))) == 1


async def test_writes_are_journaled_by_a_majority_and_all_operations_have_a_timeout(
    mongo_url: str,
) -> None:
    """The URL may override the timeout, but not the write concern."""
    weak = "w=0&journal=false&readConcernLevel=available&readPreference=primary&timeoutMS=700"
    async with mongo.open_database(server.with_options(mongo_url, weak), "", ()) as database:
        documents = await database.read("test", _itself)
        assert documents.write_concern.document == {"w": "majority", "j": True}
        assert documents.read_concern.level == "local"
        options = cast("Any", documents.client).delegate.options
        assert options.timeout == 0.7
        assert options.pool_options.max_pool_size == 42


async def test_reads_and_writes_in_threads_do_not_delay_a_change_feed(mongo_url: str) -> None:
    may_end = threading.Event()
    async with mongo.open_database(mongo_url, "", ()) as database:
        others = asyncio.gather(
            *(
                run("test", lambda _: may_end.wait(TIMEOUT_SECONDS))
                for run in (database.read_in_thread, database.write_in_thread) * 20
            ),
            return_exceptions=True,
        )
        await asyncio.sleep(0)  # The other operations start.
        changes = MongoFeed(database, "test", "things", {}, max_events=10)
        try:
            assert (await changes.read_since(None)).cursor
            assert not others.done()
        finally:
            may_end.set()
            await others


@pytest.mark.parametrize("name", ["read_in_thread", "write_in_thread", "read_feed"])
async def test_operations_in_threads_end_at_their_deadline(
    proxy: TcpProxy, mongo_url: str, name: str
) -> None:
    long = "timeoutMS=60000&socketTimeoutMS=60000"
    proxy.open()
    async with mongo.open_database(
        server.with_options(proxy.through(mongo_url), long), "", ()
    ) as database:
        run = getattr(database, name)
        await run("test", lambda db: db.command("ping"))
        proxy.pause()
        with pytest.raises(Unavailable) as away:
            await run("test", lambda db: db.command("ping"))
        proxy.resume()
    assert isinstance(away.value.__cause__, PyMongoError), "the thread is free again"


class SlowIndexBuild:
    """Replaces index builds: each raises the next of `errors`, or waits for `may_end`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.errors: list[Exception] = []
        self.may_end = threading.Event()
        make = Collection.create_indexes

        def create_indexes(collection: Any, models: Any) -> Any:
            self.count += 1
            if self.errors:
                raise self.errors.pop()
            assert self.may_end.wait(30)
            return make(collection, models)

        monkeypatch.setattr(Collection, "create_indexes", create_indexes)


async def until_healthy(database: mongo.Database) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            await database.check()
        except Unavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        else:
            return


async def test_during_an_index_build_all_operations_are_refused_at_once(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(database_module, "_UPGRADE_WAIT_SECONDS", 1.0)
    building = SlowIndexBuild(monkeypatch)
    building.errors = [AutoReconnect("cut off"), NotPrimaryError("failover")]
    async with mongo.open_database(mongo_url, "", SCHEMA) as database:
        for use in (
            database.check(),
            database.write("test", inserting({"name": "same"})),
            database.read("test", lambda db: db.things.find_one()),
        ):
            with pytest.raises(Unavailable) as unready:
                async with asyncio.timeout(TIMEOUT_SECONDS):  # Otherwise a failure would hang.
                    await use
            assert unready.value.reason == "SCHEMA_UPGRADING"
        assert building.count == 3, "retried after each lost connection, then awaited"
        building.may_end.set()
        await until_healthy(database)
        await database.write("test", inserting({"name": "same"}))
        with pytest.raises(DuplicateKeyError):
            await database.write("test", inserting({"name": "same"}))
        assert await database.read("test", version) == 1


async def test_a_failed_index_build_is_reported_and_retried(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_UPGRADE_WAIT_SECONDS", 1.0)
    building = SlowIndexBuild(monkeypatch)
    building.may_end.set()
    building.errors = [OperationFailure("a key is there twice", 11000)]
    async with mongo.open_database(mongo_url, "", SCHEMA) as database:
        with pytest.raises(Unavailable) as failed:
            await database.check()
        assert failed.value.reason == "SCHEMA_FAILED"
    monkeypatch.setattr(migrations, "REFUSED_RETRY_SECONDS", 0.01)
    building.errors = [OperationFailure("a key is there twice", 11000)]
    async with mongo.open_database(mongo_url, "", SCHEMA) as database:
        await until_healthy(database)


class SlowStart:
    """A links service whose index build takes until `finish_build` is called."""

    def __init__(self, url: str, folder: Path) -> None:
        self._may_end = folder / "may_end"
        os.mkfifo(self._may_end)
        self.ports = {name: free_port() for name in ("grpc", "admin", "metrics")}
        env = process_env(url) | {
            "ATAJO_LISTEN": f"127.0.0.1:{self.ports['grpc']}",
            "ATAJO_ADMIN_LISTEN": f"127.0.0.1:{self.ports['admin']}",
            "ATAJO_METRICS_LISTEN": f"127.0.0.1:{self.ports['metrics']}",
            "BROKEN_PART": "schema",
            "SCHEMA_UNTIL": str(self._may_end),
        }
        self.process = Process.launch("tests.system.broken", env, folder / "log")
        try:
            wait_until(self._is_upgrading)
        except BaseException:
            self.process.kill()
            raise

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.ports['metrics']}{path}", verify=NO_TLS)

    def _is_upgrading(self) -> bool:
        try:
            upgrading = {"ready": False, "dependencies": {"store": "SCHEMA_UPGRADING"}}
            return bool(self.get("/readyz").json() == upgrading)
        except httpx.ConnectError:
            assert self.process.popen.poll() is None, self.process.stderr()
            return False

    def finish_build(self) -> None:
        self._may_end.write_bytes(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()


@pytest.fixture
def slow_start(mongo_url: str, tmp_path: Path) -> Iterator[SlowStart]:
    with SlowStart(mongo_url, tmp_path) as process:
        yield process


def test_during_a_schema_upgrade_a_process_serves_only_monitoring(slow_start: SlowStart) -> None:
    """gRPC clients skip a replica that refuses connections, but not one that refuses calls."""
    for port in ("grpc", "admin"):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", slow_start.ports[port]), timeout=10).close()
    assert slow_start.get("/livez").status_code == 200
    assert slow_start.get("/readyz").status_code == 503
    metrics = slow_start.get("/metrics").text.splitlines()
    assert "atajo_ready 0.0" in metrics
    assert "serving" not in [line["event"] for line in slow_start.process.log_lines()]
    slow_start.finish_build()
    slow_start.process.await_ready()
    assert slow_start.process.grpc == f"127.0.0.1:{slow_start.ports['grpc']}"
    for port in ("grpc", "admin"):
        socket.create_connection(("127.0.0.1", slow_start.ports[port]), timeout=10).close()
    wait_until(lambda: slow_start.get("/readyz").status_code == 200, RECOVERY_SECONDS)
    assert asyncio.run(resolved(slow_start.process)) == {}
    assert slow_start.process.stop() == 0


@pytest.mark.parametrize("end", [Process.terminate, Process.cut_lifeline])
def test_a_process_can_stop_during_an_index_build(
    slow_start: SlowStart, end: Callable[[Process], None]
) -> None:
    end(slow_start.process)
    assert slow_start.process.wait() == 0
    events = [line["event"] for line in slow_start.process.log_lines()]
    assert events[-1] == "stopped"
    assert "serving" not in events


async def test_a_schema_upgrade_has_no_timeout(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even from the URL: at the timeout the server would abort the index build."""
    found: list[Any] = []
    make = Collection.create_indexes

    def create_indexes(collection: Any, models: Any) -> Any:
        found.append(collection.database.client.options)
        return make(collection, models)

    monkeypatch.setattr(Collection, "create_indexes", create_indexes)
    url = server.with_options(mongo_url, "timeoutMS=700&socketTimeoutMS=700")
    async with mongo.open_database(url, "", SCHEMA) as database:
        await until_healthy(database)
    (options,) = found
    assert options.timeout is None
    assert options.pool_options.socket_timeout is None


async def test_a_newer_schema_found_after_an_outage_ends_the_process(
    proxy: TcpProxy, mongo_url: str, tmp_path: Path
) -> None:
    refusal = f"has schema version 99; this program knows up to {len(links_store.SCHEMA)}."
    with pymongo.MongoClient[dict[str, Any]](mongo_url) as connected:
        connected.get_default_database().schema.insert_one({"_id": "version", "version": 99})
    with start(proxy.through(mongo_url), tmp_path) as process:
        proxy.open()
        assert await asyncio.to_thread(process.wait) == 1
    (failure,) = (line for line in process.log_lines() if line["event"] == "background_task_failed")
    assert refusal in str(failure["exception"])
    assert process.log_lines()[-1]["event"] == "stopped"
    with Process.launch("services.links", process_env(mongo_url), tmp_path / "again") as again:
        assert again.wait() == 1
        (line,) = again.stderr().splitlines()
        assert refusal in line


async def test_a_server_that_refuses_writes_is_unhealthy_but_readable(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a secondary, or a primary without a majority. Both answer a ping."""

    async def refuse(*_: object, **__: object) -> None:
        raise NotPrimaryError("not primary")

    async with mongo.open_database(mongo_url, "", SCHEMA) as database:
        await until_healthy(database)
        with monkeypatch.context() as patched:
            patched.setattr(AsyncIOMotorCollection, "update_one", refuse)
            with pytest.raises(Unavailable) as unwritable:
                await database.check()
            assert unwritable.value.reason == "STORE_UNWRITABLE"
            assert await database.read("test", version) == 1
        await until_healthy(database)


async def test_a_slow_majority_is_healthy_until_the_test_write_times_out(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check does not wait for the test write: the previous one decides."""
    monkeypatch.setattr(availability, "_WRITE_WAIT_SECONDS", 0.01)
    update_one = AsyncIOMotorCollection.update_one
    majority = asyncio.Event()
    writes = 0

    async def check_repeatedly() -> None:
        while True:
            await database.check()

    async def slow(*arguments: Any, **options: Any) -> Any:
        nonlocal writes
        writes += 1
        await majority.wait()
        return await update_one(*arguments, **options)

    async with mongo.open_database(mongo_url, "", SCHEMA) as database:
        monkeypatch.setattr(AsyncIOMotorCollection, "update_one", slow)
        for _ in range(20):
            await database.check()
        assert writes == 1, "all checks share it"
        with pytest.raises(Unavailable) as unwritable:
            await asyncio.wait_for(check_repeatedly(), 10)
        assert unwritable.value.reason == "STORE_UNWRITABLE"
        majority.set()
        await until_healthy(database)


async def test_the_holder_of_a_key_counts_once_a_majority_has_it(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that a failover may roll back must not turn a creation into a repetition."""
    link = Link(
        "abcdefgh", "http://a.example", owners.Account("one"), datetime(2026, 3, 1, tzinfo=UTC)
    )
    find_one = AsyncIOMotorCollection.find_one
    undecided = 0

    async def find(collection: Any, *query: Any) -> Any:
        nonlocal undecided
        if collection.read_concern.level == "majority" and undecided:
            undecided -= 1
            return None
        return await find_one(collection, *query)

    async with mongo.open_database(mongo_url, "", links_store.SCHEMA) as of:
        store = links_store.open_store(of)
        assert await store.links.add(link) == link
        with monkeypatch.context() as patched:
            patched.setattr(AsyncIOMotorCollection, "find_one", find)
            undecided = 2
            assert await store.links.add(link) == link, "a majority has it soon"
            assert undecided == 0
            undecided = 1000
            with pytest.raises(Unavailable):
                await store.links.add(link)


async def test_conflicts_until_the_deadline_are_reported_as_overload(mongo_url: str) -> None:
    async with conflicting(mongo_url, "another application") as database:
        with pytest.raises(Unavailable) as refused:
            await database.transaction("", _count)
        assert refused.value.reason == "STORE_OVERLOADED"


@pytest.mark.parametrize(
    "count",
    [
        lambda database: database.transaction("", _count),
        lambda database: database.write(
            "", lambda db: db.things.update_one({"_id": "one"}, {"$inc": {"n": 1}})
        ),
    ],
    ids=["transaction", "write"],
)
async def test_a_transaction_of_a_killed_process_is_aborted_within_ten_seconds(
    mongo_url: str, count: Callable[[mongo.Database], Awaitable[object]]
) -> None:
    async with asyncio.timeout(10), conflicting(mongo_url, "atajo") as database:
        with pytest.raises(Unavailable):
            await count(database)
        while True:
            try:
                await count(database)
                break
            except Unavailable:
                pass  # After two seconds; the timeout ends the loop.
        found = await database.read("", lambda db: db.things.find_one({"_id": "one"}))
        assert found == {"_id": "one", "n": 1}


@asynccontextmanager
async def conflicting(url: str, application: str) -> AsyncIterator[mongo.Database]:
    """Yield a database with a document that an idle transaction of another client has changed."""
    async with mongo.open_database(url, "", ()) as database:
        await database.write("", lambda db: db.things.insert_one({"_id": "one"}))
        other = pymongo.MongoClient[Any](url, appName=application)
        with other, other.start_session() as session:
            session.start_transaction()
            _count(Transaction(other.get_default_database(), session))
            yield database


def _count(tx: Transaction) -> None:
    tx.db.things.update_one({"_id": "one"}, {"$inc": {"n": 1}}, session=tx.session)


async def version(documents: mongo.Documents) -> Any:
    found = await documents.schema.find_one({"_id": "version"})
    return found and found["version"]


def inserting(one: mongo.Document) -> mongo.Operation[object]:
    return lambda documents: documents.things.insert_one(one)


async def _itself(documents: mongo.Documents) -> mongo.Documents:
    return documents
