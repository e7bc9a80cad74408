"""The connection to MongoDB: what its settings may be, and what happens while it is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from motor.motor_asyncio import AsyncIOMotorDatabase
from pymongo import IndexModel
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
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

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.runtime import client, mongo
from services.runtime.errors import AppError, Unavailable
from tests.mongo.gate import Gate
from tests.processes import Process

LINKS = pb.DESCRIPTOR.services_by_name["LinksService"]
PASSWORD = "s3cret-Camino"
INDEXES = {"things": [IndexModel("name", name="by_name", unique=True)]}


@pytest.fixture
def gate(mongo_url: str) -> Iterator[Gate]:
    port = urlsplit(mongo_url).port
    assert port
    with Gate(port) as shut:
        yield shut


@asynccontextmanager
async def links(process: Process) -> AsyncIterator[Any]:
    """Calls ResolveLinks."""
    caller = client.Caller(LINKS)
    async with client.open_channel(process.grpc, LINKS) as channel:
        stub = pb_grpc.LinksServiceStub(channel)

        async def resolve(code: str) -> dict[str, str]:
            request = pb.ResolveLinksRequest(codes=[code])
            reply = await caller.unary("ResolveLinks", stub.ResolveLinks, request, 10)
            return dict(reply.urls)

        yield resolve


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


def start(url: str, folder: Path) -> Process:
    env = {"ATAJO_STORE": url, "ATAJO_PUBLIC_URL": "http://localhost:1"}
    return Process.start("services.links", env, folder / "log")


async def test_a_service_starts_without_its_server_and_finds_it_again_whenever_it_is_back(
    gate: Gate, mongo_url: str, tmp_path: Path
) -> None:
    with start(gate.through(mongo_url), tmp_path) as process:
        async with links(process) as resolve:
            with pytest.raises(Unavailable) as away:
                await resolve("abcdefgh")
            assert away.value.reason == "STORE_UNAVAILABLE"
            for _ in range(2):
                gate.open()
                assert await answers(resolve, 5)
                gate.shut()
                with pytest.raises(Unavailable):
                    await resolve("abcdefgh")
        assert process.stop() == 0
    events = [line["event"] for line in process.log_lines()]
    assert (events.count("store_away"), events.count("store_back")) == (1, 1), "once a minute"


async def test_a_server_that_is_slow_is_away(gate: Gate, mongo_url: str, tmp_path: Path) -> None:
    gate.open()
    with start(gate.through(mongo_url), tmp_path) as process:
        async with links(process) as resolve:
            assert await answers(resolve, 5)
            gate.hold()
            # As long as the gateway waits for a call, its retries included.
            started = time.monotonic()
            slow = await asyncio.gather(
                *(resolve("abcdefgh") for _ in range(50)), return_exceptions=True
            )
            assert time.monotonic() - started < 5
            assert {type(error) for error in slow} == {Unavailable}
            gate.let_go()
            assert await answers(resolve, 5)
        assert process.stop() == 0


def test_nothing_of_the_url_is_logged(tmp_path: Path) -> None:
    """Nobody listens there; at the level `debug` libraries say what they do, too."""
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


@pytest.mark.parametrize(
    "url",
    [
        f"mongodb://walker:{PASSWORD}",
        f"mongodb://walker:{PASSWORD}@/",
        f"mongodb://walker:{PASSWORD}@host:port/",
        f"mongodb://walker:a/{PASSWORD}@host/",
        f"mongodb://walker:{PASSWORD}@host/{'x' * 70}",
        "mongodb://",
        "mongodb+srv://host:1/",
        f"postgres://walker:{PASSWORD}@host/",
    ],
)
def test_a_setting_that_cannot_be_right_ends_with_one_line(url: str, tmp_path: Path) -> None:
    env = {"ATAJO_STORE": url, "ATAJO_PUBLIC_URL": "http://localhost:1"}
    with Process.launch("services.links", env, tmp_path / "log") as process:
        assert process.wait() == 1
        (line,) = process.stderr().splitlines()
        assert line.startswith("ATAJO_STORE ")
        assert PASSWORD not in line


async def test_a_refused_log_in_ends_with_one_line(
    mongo_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_database: object, _command: str) -> None:
        raise OperationFailure(f"Authentication failed {PASSWORD}", 18)

    monkeypatch.setattr(AsyncIOMotorDatabase, "command", refuse)
    with pytest.raises(SystemExit) as refused:
        async with mongo.opened(mongo_url, "atajo_test", {}):
            pass
    assert str(refused.value) == "The MongoDB of ATAJO_STORE refuses the log-in."


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
async def test_whatever_the_driver_meets_is_unavailable(
    mongo_url: str, error: PyMongoError
) -> None:
    async def fail(_documents: mongo.Documents) -> None:
        raise error

    async with mongo.opened(mongo_url, "", {}) as database:
        with pytest.raises(Unavailable) as away:
            await database.write("test", fail)
        assert away.value.reason == "STORE_UNAVAILABLE"
        await database.read("test", lambda of: of.things.find_one())


async def test_replicas_make_the_indexes_at_once_and_duplicates_never_come_in(
    mongo_url: str,
) -> None:
    """Also where many write before anybody looked whether the indexes are there."""

    async def replica(number: int) -> int:
        async with mongo.opened(mongo_url, "", INDEXES) as database:
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


async def test_what_is_acknowledged_is_journaled_by_a_majority_and_nothing_waits_for_ever(
    mongo_url: str,
) -> None:
    """Whatever the URL says of the first; of the second it may say something else."""
    url = f"{mongo_url}?w=0&journal=false&timeoutMS=700"
    async with mongo.opened(url, "", {}) as database:
        documents = await database.read("test", _itself)
        assert documents.write_concern.document == {"w": "majority", "j": True}
        options = cast("Any", documents.client).delegate.options
        assert options.timeout == 0.7
        assert options.pool_options.max_pool_size == 32


def inserting(one: mongo.Document) -> mongo.Operation[object]:
    return lambda documents: documents.things.insert_one(one)


async def _itself(documents: mongo.Documents) -> mongo.Documents:
    return documents
