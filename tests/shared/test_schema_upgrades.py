"""Schema upgrades by concurrent replicas that are killed, and the refusal of newer schemas."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pymongo
import pytest

from deploy.local import child
from services.shared import mongo, sqlite, stores
from services.shared.mongo import database as database_module
from tests.shared.upgrade_replica import SCHEMA, adapters
from tests.support.processes import PYTHON_PATH, ROOT, TIMEOUT_SECONDS

OLD_THINGS = 20_000
KILLED_AFTER = (0.0, 0.02, 0.05, 0.1, 0.2)
"""Seconds after a replica begins to open the store."""


class Store:
    """Inspects a store without the product's code."""

    def __init__(self, setting: str) -> None:
        self.setting = setting
        self.is_shared = setting.startswith("mongodb://")
        """Whether several replicas can use it concurrently."""
        self.path = Path(setting.removeprefix(sqlite.SCHEME))
        self._client = pymongo.MongoClient[dict[str, Any]](setting) if self.is_shared else None

    def close(self) -> None:
        if self._client:
            self._client.close()

    @property
    def _mongo(self) -> Any:
        assert self._client
        return self._client.get_default_database()

    def version(self) -> int:
        if self.is_shared:
            return int(self._mongo.schema.find_one({"_id": "version"})["version"])
        return int(self._sqlite("PRAGMA user_version")[0][0])

    def set_version(self, version: int) -> None:
        if self.is_shared:
            self._mongo.schema.replace_one({"_id": "version"}, {"version": version}, upsert=True)
        else:
            self._sqlite(f"PRAGMA user_version = {version}")

    def add_old_things(self) -> None:
        names = [f"old {number}" for number in range(OLD_THINGS)]
        if self.is_shared:
            self._mongo.things.insert_many([{"name": name} for name in names])
        else:
            rows = ", ".join(f"('{name}')" for name in names)
            self._sqlite(f"INSERT INTO things (name) VALUES {rows}")

    def names(self) -> list[str]:
        if self.is_shared:
            return [thing["name"] for thing in self._mongo.things.find()]
        return [name for (name,) in self._sqlite("SELECT name FROM things")]

    def indexes(self) -> set[str]:
        if self.is_shared:
            return set(self._mongo.things.index_information())
        return {row[1] for row in self._sqlite("PRAGMA index_list (things)")}

    def _sqlite(self, statement: str) -> list[Any]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()


@pytest.fixture(params=["sqlite", "mongodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    setting = f"{sqlite.SCHEME}{tmp_path}/store.sqlite3"
    if request.param == "mongodb":
        setting = request.getfixturevalue("mongo_url")
    store = Store(setting)
    yield store
    store.close()


class Replica:
    """A replica in a process of its own."""

    def __init__(self, store: Store, version: int, folder: Path) -> None:
        self._output = folder / f"{time.monotonic_ns()}"
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.shared.upgrade_replica", store.setting, str(version)],
                cwd=ROOT,
                env={"PYTHONPATH": PYTHON_PATH},
                stdout=output,
                stderr=output,
            )

    def await_loaded(self) -> None:
        self._await(lambda: b"loaded\n" in self._output.read_bytes())

    def await_added(self, count: int) -> None:
        """Wait until it has added `count` further things."""
        count += len(self.added())
        self._await(lambda: len(self.added()) >= count)

    def added(self) -> list[str]:
        """Return the names of the added things. After a kill the last line may be incomplete."""
        lines = self._output.read_text().split("\n")[:-1]
        return [line.removeprefix("added ") for line in lines if line.startswith("added ")]

    def kill(self) -> list[str]:
        """Kill it; return the names of the added things."""
        self._process.kill()
        self._process.wait()
        return self.added()

    def _await(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not condition():
            assert self._process.poll() is None, self._output.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)


async def make(store: Store, version: int = 1) -> None:
    """Create or upgrade the store as a program with this schema version does."""
    async with stores.open_stores(store.setting, "test", adapters(version)) as (_, database):
        await database.wait_for_schema()


@pytest.mark.timeout(180)
async def test_replicas_upgrade_a_store_while_they_are_killed(store: Store, tmp_path: Path) -> None:
    await make(store)
    store.add_old_things()
    added = [f"old {number}" for number in range(OLD_THINGS)]
    older = Replica(store, 1, tmp_path) if store.is_shared else None
    if older:
        older.await_added(2)
    for seconds in KILLED_AFTER:
        replica = Replica(store, 2, tmp_path)
        replica.await_loaded()
        await asyncio.sleep(seconds)
        added += replica.kill()
        assert store.version() in (1, 2)

    newer = [Replica(store, 2, tmp_path) for _ in range(2 if store.is_shared else 1)]
    for replica in newer:
        replica.await_added(2)
    if older:
        older.await_added(2)  # The older replica continues meanwhile.
        newer.append(older)
    for replica in newer:
        added += replica.kill()

    assert store.version() == 2
    assert "things_by_name" in store.indexes()
    names = store.names()
    assert names.count("same") == 1, "the unique index was there before anything was written"
    assert len(names) == len(set(names))
    assert set(added) <= set(names), "acknowledged writes are there"


async def test_a_newer_store_is_refused_with_one_line_and_unchanged(store: Store) -> None:
    await make(store)
    store.set_version(3)

    with pytest.raises(SystemExit) as refused:
        await make(store, 2)

    line = str(refused.value)
    assert "has schema version 3; this program knows up to 2." in line
    assert "\n" not in line
    assert store.version() == 3
    assert "things_by_name" not in store.indexes()


async def test_opening_again_changes_nothing(store: Store) -> None:
    for _ in range(2):
        await make(store, 2)
        assert store.version() == 2


async def test_a_failed_upgrade_of_sqlite_leaves_the_file_unchanged(
    tmp_path: Path,
) -> None:
    store = Store(f"{sqlite.SCHEME}{tmp_path}/store.sqlite3")
    await make(store)
    store._sqlite("INSERT INTO things VALUES ('twice'), ('twice')")

    with pytest.raises(SystemExit):
        await make(store, 2)

    assert store.version() == 1
    assert store._sqlite("SELECT * FROM things") == [("twice",), ("twice",)]


async def test_a_missing_index_of_mongodb_is_built_again(mongo_url: str) -> None:
    store = Store(mongo_url)
    await make(store, 2)
    store._mongo.things.drop_index("things_by_name")
    async with mongo.open_database(mongo_url, "", SCHEMA) as database:
        await database.check()
        assert "things_by_name" in store.indexes()
    store.close()


async def test_an_upgrade_is_reported_to_the_supervisor(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(store)
    told, tell = os.pipe()
    monkeypatch.setenv("ATAJO_READY_FD", str(tell))
    monkeypatch.setattr(
        database_module, "_UPGRADE_WAIT_SECONDS", 0.0
    )  # Regardless of its duration.
    for _ in range(2):
        await make(store, 2)
    os.close(tell)
    name = (
        str(store.path)
        if not store.is_shared
        else "the database " + urlsplit(store.setting).path[1:]
    )
    with os.fdopen(told) as lines:
        assert [json.loads(line) for line in lines] == [{"upgrading": name}]


async def test_a_process_that_upgrades_its_store_may_take_longer_to_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child, "_START_TIMEOUT", 0.1)
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    told, tell = os.pipe()
    delays: list[tuple[str, Mapping[str, str]]] = []
    started = child.Child("links", process, told, lambda *delay: delays.append(delay))
    watching = asyncio.create_task(started.watch())
    os.write(tell, b'{"upgrading": "its store"}\n')
    serving = asyncio.create_task(started.serving())
    assert await asyncio.wait([serving], timeout=1) == (set(), {serving})
    os.write(tell, b'{"grpc": "127.0.0.1:1"}\n')
    await serving
    assert started.addresses == {"grpc": "127.0.0.1:1"}
    assert delays == [("links", {"upgrading": "its store"})]
    os.close(tell)
    process.kill()
    with pytest.raises(child.Failed, match="links died with code 137"):
        await watching
