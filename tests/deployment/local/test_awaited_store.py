"""A run over MongoDB that is not there yet waits for it, says why once, and goes on."""

from __future__ import annotations

import re
import select
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.deployment.local.test_run import STOP_SECONDS, LocalRun, refused
from tests.support.gateway_client import GatewayClient
from tests.support.mongo import server
from tests.support.mongo.server import Node
from tests.support.waiting import wait_until

WAITS = re.compile(r"The MongoDB of ATAJO_STORE cannot be used \((.+)\): Atajo waits for it\.\n")
RETRIES_SECONDS = 4.0
"""A time in which every service tries several times."""


@pytest.fixture
def node() -> Iterator[Node]:
    """Return a server of a replica set that is neither started nor initiated."""
    with server.nodes(1, "--replSet", server.SET, *server.SMALL) as (node,):
        yield node


def next_line(run: LocalRun) -> str:
    assert run.popen.stderr is not None
    return run.popen.stderr.readline()


def next_cause(run: LocalRun) -> str:
    """Return why the run waits, in its next line."""
    line = next_line(run)
    said = WAITS.fullmatch(line)
    assert said, line
    return said[1]


def says_something(run: LocalRun, seconds: float) -> bool:
    """Return whether a run prints anything, or ends, within a time."""
    streams = [stream for stream in (run.popen.stdout, run.popen.stderr) if stream]
    return bool(select.select(streams, [], [], seconds)[0])


def await_started(node: Node) -> None:
    """Start a server and wait until it answers."""
    node.start()

    def answers() -> bool:
        url = f"mongodb://127.0.0.1:{node.port}/?directConnection=true"
        with MongoClient[Any](url, serverSelectionTimeoutMS=500) as client:
            try:
                client.admin.command("ping")
            except PyMongoError:
                return False
        return True

    wait_until(answers)


@pytest.mark.parametrize(
    "options",
    [
        f"?replicaSet={server.SET}",
        *(pytest.param(other, marks=pytest.mark.slow) for other in ("", "?directConnection=true")),
    ],
)
def test_a_run_waits_for_a_primary(tmp_path: Path, node: Node, options: str) -> None:
    with LocalRun(tmp_path, {"ATAJO_STORE": f"mongodb://127.0.0.1:{node.port}/{options}"}) as run:
        place = f"127.0.0.1:{node.port}"
        assert next_cause(run) == f"{place}: Connection refused"
        assert not says_something(run, RETRIES_SECONDS)
        await_started(node)
        while next_cause(run) != f"{place}: not initiated as a replica set":
            pass
        assert not says_something(run, RETRIES_SECONDS), "nobody has initiated the replica set"
        with pytest.raises(httpx.ConnectError):
            httpx.get(run.url)
        server.initiate([node.port])
        assert run.popen.stdout is not None  # Meanwhile it may say that there is no primary yet.
        assert run.popen.stdout.readline() == f"Atajo is ready: {run.url}\n"
        with GatewayClient(run.url) as client:
            code = client.shorten("https://example.com/")
            assert client.visit(code).status_code == 302
        run.popen.terminate()
        exit_code, stdout, stderr = run.end()
        assert (exit_code, stdout) == (0, "")
        assert all(WAITS.fullmatch(line) for line in stderr.splitlines(keepends=True))


@pytest.mark.parametrize("place", ["mongodb://nowhere.invalid/", "mongodb+srv://nowhere.invalid/"])
def test_a_run_waits_for_a_name_and_can_be_stopped(tmp_path: Path, place: str) -> None:
    with LocalRun(tmp_path, {"ATAJO_STORE": place}) as run:
        assert next_cause(run).startswith("nowhere.invalid:")
        assert not says_something(run, RETRIES_SECONDS)
        started = time.monotonic()
        run.popen.terminate()
        assert run.end() == (0, "", "")
        assert time.monotonic() - started < STOP_SECONDS


def test_a_refused_log_in_ends_a_run_that_waited(tmp_path: Path, node: Node) -> None:
    store = f"mongodb://walker:camino@127.0.0.1:{node.port}/"
    with LocalRun(tmp_path, {"ATAJO_STORE": store}) as run:
        next_cause(run)
        await_started(node)
        server.initiate([node.port])
        code, stdout, stderr = run.end()
    assert (code, stdout) == (1, "")
    *waits, last = stderr.splitlines(keepends=True)
    assert last == "The MongoDB of ATAJO_STORE refuses the log-in.\n"
    assert all(WAITS.fullmatch(line) for line in waits)
    assert "camino" not in stderr


def test_a_server_that_is_no_replica_set_is_refused(tmp_path: Path) -> None:
    with server.nodes(1, *server.SMALL) as (node,):
        await_started(node)
        line = refused(LocalRun(tmp_path, {"ATAJO_STORE": f"mongodb://127.0.0.1:{node.port}/"}))
    assert line.startswith("The MongoDB of ATAJO_STORE is no replica set.")
