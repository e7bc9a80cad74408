"""The changes of links as gateways are told them, by processes that are killed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from gateway.clients import LinksClient
from gateway.owners import Account
from services.runtime import client
from services.runtime.errors import AppError
from tests.processes import Process

ADMIN = pb.DESCRIPTOR.services_by_name["MaintenanceService"]

OWNER = Account("one")
T = TypeVar("T")


class Links(LinksClient):
    """The calls of one links process, as a gateway and the operator make them."""

    def __init__(self, process: Process, operator: pb_grpc.MaintenanceServiceAsyncStub) -> None:
        super().__init__(process.grpc)
        self._operator = operator
        self._operator_calls = client.Caller(ADMIN)

    async def purge(self, codes: Sequence[str]) -> list[str]:
        request = pb.PurgeLinksRequest(codes=codes)
        reply = await self._operator_calls.unary(
            "PurgeLinks", self._operator.PurgeLinks, request, 20
        )
        return list(reply.codes)

    async def gone_since(self, cursor: str) -> tuple[set[str], str]:
        """The codes that are gone since a cursor, and the cursor of now."""
        gone: set[str] = set()
        while True:
            changes = await self.changes(cursor)
            assert not changes.truncated
            assert not changes.resolutions
            gone |= changes.gone
            cursor = changes.cursor
            if not changes.more:
                return gone, cursor


@asynccontextmanager
async def connected(process: Process) -> AsyncIterator[Links]:
    async with client.open_channel(process.addresses["admin"], ADMIN) as channel:
        links = Links(process, pb_grpc.MaintenanceServiceStub(channel))
        try:
            yield links
        finally:
            await links.close()


def start(store: str, log: Path) -> Process:
    env = {
        "ATAJO_STORE": store,
        "ATAJO_PUBLIC_URL": "https://atajo.example",
        "ATAJO_ADMIN_LISTEN": "127.0.0.1:0",
    }
    return Process.start("services.links", env, log)


async def make(links: Links, count: int) -> list[str]:
    codes = [f"code{n:04}" for n in range(count)]
    await asyncio.gather(*(links.create(code, "http://a.example", OWNER) for code in codes))
    return codes


@pytest.fixture(params=["sqlite", "mongodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/links.sqlite3"
    else:
        yield request.getfixturevalue("mongo_url")


async def test_a_gateway_keeps_up_from_one_run_of_links_to_the_next(
    store: str, tmp_path: Path
) -> None:
    with start(store, tmp_path / "log") as process:
        async with connected(process) as links:
            codes = await make(links, 4)
            begun = await links.changes(None)
            assert not begun.resolutions
            assert not begun.gone
            assert not begun.more
            assert not begun.truncated
            await links.purge(codes[:1])
            told, cursor = await links.gone_since(begun.cursor)
            assert told == set(codes[:1])
            await links.purge(codes[1:2])
            process.kill()
    with start(store, tmp_path / "log") as process:
        async with connected(process) as links:
            assert (await links.gone_since(cursor))[0] == set(codes[1:2])
            await links.purge(codes[1:3])
            assert (await links.gone_since(cursor))[0] == set(codes[1:3])
            assert set(await links.resolve(codes)) == {codes[3]}


async def insist(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a call that a busy store refuses."""
    for _ in range(100):
        try:
            return await call()
        except AppError:
            await asyncio.sleep(0.1)
    return await call()


async def test_what_one_replica_acknowledged_every_other_tells(
    mongo_url: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        processes = [stack.enter_context(start(mongo_url, tmp_path / f"log{n}")) for n in range(2)]
        killed, stays = [await stack.enter_async_context(connected(one)) for one in processes]
        codes = await make(stays, 240)
        begin = (await stays.changes(None)).cursor
        enough = asyncio.Event()
        acknowledged: set[str] = set()
        finished = asyncio.Event()

        async def remove(number: int) -> None:
            """Remove some at one replica, see at the other that it is told at once."""
            for code in codes[number::8]:
                before = (await insist(lambda: stays.changes(None))).cursor
                try:
                    removed = await (killed if number % 2 else stays).purge([code])
                except AppError:
                    removed = await insist(partial(stays.purge, [code]))
                assert removed == [code]
                assert code in (await insist(partial(stays.gone_since, before)))[0]
                acknowledged.add(code)
                if len(acknowledged) >= len(codes) // 3:
                    enough.set()

        async def keep_up() -> set[str]:
            """Ask one replica after the other, each with the same cursor."""
            told: set[str] = set()
            cursor, last = begin, False
            while not last:
                last = finished.is_set()
                for links in (killed, stays):
                    try:
                        gone, cursor = await links.gone_since(cursor)
                    except AppError:
                        last = last and links is killed
                    else:
                        told |= gone
                await asyncio.sleep(0.01)
            return told

        async with asyncio.TaskGroup() as all_the_while:
            keeping_up = all_the_while.create_task(keep_up())
            async with asyncio.TaskGroup() as removing:
                for number in range(8):
                    removing.create_task(remove(number))
                await enough.wait()
                processes[0].kill()
            finished.set()
        assert keeping_up.result() == acknowledged == set(codes)
