"""MongoDB for tests: a replica set of one or more nodes on 127.0.0.1.

The server is the first of these that exists:

1. the replica set at ATAJO_TEST_MONGODB_URL, which keeps running;
2. `mongod` on the PATH or in .cache/bin, where `make mongo` puts it;
3. a container, if a Docker engine is running.

A server that is started here ends with the test run, even if that is killed.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.support.ports import free_port
from tests.support.processes import ROOT

URL_VARIABLE = "ATAJO_TEST_MONGODB_URL"
IMAGE = "mongo:8.0"
BIN = ROOT / ".cache" / "bin"
MISSING = f"""The tests need MongoDB 6.0 or newer, and there is none. One of these provides it:
  make mongo           fetches mongod for Linux on x86-64
  mongod on the PATH
  a running Docker engine, for the image {IMAGE}
  {URL_VARIABLE}=mongodb://host:port/?replicaSet=name, a replica set of your own"""

SET = "atajo"
SMALL = (
    *("--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "128"),
    *("--setParameter", "diagnosticDataCollectionEnabled=false"),
)
"""Options of a server with 150 MB of memory."""
_SHARED = (
    *SMALL,
    # Files of dropped databases stay open until a checkpoint after this time.
    *("--setParameter", "minSnapshotHistoryWindowInSeconds=0", "--syncdelay", "10"),
    # Killed processes leave transactions open, and a database is not dropped before they end. The
    # product ends them earlier by itself.
    *("--setParameter", "transactionLifetimeLimitSeconds=10"),
    # Tests use timestamps in the past.
    *("--setParameter", "ttlMonitorEnabled=false"),
)
Document = dict[str, Any]
_START_SECONDS = 60.0
_ROOM_BYTES = 4 << 30
_FIFO, _URL, _LOCK, _LOG = "mongo.fifo", "mongo.url", "mongo.lock", "mongo.log"
_KEEPER = """
folder=$1; shift
ulimit -n "$(ulimit -Hn)"
mkdir -p "$folder"
while read -r _; do wait; "$@" >&2 & echo $!; done
kill -9 $!; wait; rm -rf "$folder"
"""
"""Starts the command after the folder for each line of input, and kills it when the input ends.

Before a start it waits until the killed server has released its data and its port."""


_log: int | None = subprocess.DEVNULL
"""Where servers log; None is standard error."""


class NoServer(Exception):
    """This machine has no MongoDB server and no way to start one."""


class Node:
    """One `mongod` with a data folder of its own.

    `prefix` is a command that runs another one inside the server's container; empty without one.
    """

    def __init__(self, prefix: Sequence[str], program: str, port: int, *options: str) -> None:
        self.port = port
        self.pid = 0
        self._prefix = prefix
        folder = f"{'/tmp' if prefix else tempfile.gettempdir()}/atajo-mongod-{port}"
        command = [program, "--quiet", "--dbpath", folder, "--port", str(port), "--nounixsocket"]
        command += ["--bind_ip_all"] if prefix else ["--bind_ip", "127.0.0.1"]
        command += options
        self._keeper = subprocess.Popen(
            [*prefix, "sh", "-c", _KEEPER, "sh", folder, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=_log,
            text=True,
            start_new_session=True,  # Ctrl-C ends the tests first.
        )

    def start(self) -> None:
        """Start the server for the first time, or again after it was killed."""
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write("\n")
        self._keeper.stdin.flush()
        self.pid = int(self._keeper.stdout.readline())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server's process."""
        subprocess.run([*self._prefix, "kill", f"-{number}", str(self.pid)], check=True)

    def close(self) -> None:
        """Kill the server and delete its data."""
        with self._keeper:  # Closes the pipes and waits.
            pass


@contextmanager
def nodes(count: int, *options: str) -> Iterator[list[Node]]:
    """Yield servers on this machine or in a container, not started yet. Raises NoServer."""
    ports = [free_port() for _ in range(count)]
    with ExitStack() as stack:
        prefix: list[str] = []
        program = _mongod()
        if program is None:
            prefix, program = stack.enter_context(_container(ports)), "mongod"
        started = [Node(prefix, program, port, *options) for port in ports]
        for node in started:
            stack.callback(node.close)
        yield started


def initiate(ports: Sequence[int]) -> str:
    """Initiate a replica set of started nodes with these ports; return its URL."""
    hosts = [f"127.0.0.1:{port}" for port in ports]
    config = {
        "_id": SET,
        "members": [{"_id": number, "host": host} for number, host in enumerate(hosts)],
        "settings": {"electionTimeoutMillis": 2000, "heartbeatIntervalMillis": 500},
    }
    deadline = time.monotonic() + _START_SECONDS
    with MongoClient[Document](f"mongodb://{hosts[0]}/?directConnection=true") as client:
        while True:
            try:
                client.admin.command("replSetInitiate", config)
                break
            except PyMongoError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)  # Another node does not answer yet.
    url = f"mongodb://{','.join(hosts)}/"
    with MongoClient[Document](url, serverSelectionTimeoutMS=_START_SECONDS * 1000) as client:
        client.admin.command("ping")  # Waits for a primary.
    return url


@contextmanager
def single(*options: str) -> Iterator[str]:
    """Yield the URL of a new replica set of one node. Raises NoServer."""
    with nodes(1, "--replSet", SET, *options) as (node,):
        node.start()
        yield initiate([node.port])


@contextmanager
def running(*options: str) -> Iterator[str]:
    """Yield the URL of the given replica set, or of a new one of one node. Raises NoServer."""
    if url := os.environ.get(URL_VARIABLE):
        yield url
    else:
        with single(*options) as url:
            yield url


def lifeline(folder: Path) -> int:
    """Return a file descriptor. Closing it ends the server that `shared` starts."""
    os.mkfifo(folder / _FIFO)
    return os.open(folder / _FIFO, os.O_RDWR)


_started: list[subprocess.Popen[str]] = []


def shared(folder: Path) -> str:
    """Return the URL of the one server of a test run, which the first caller starts.

    `folder` is the same for all processes of the run, one of which holds its lifeline. Raises
    NoServer.
    """
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = folder / _URL
        if not known.exists():
            with (folder / _FIFO).open() as fifo, (folder / _LOG).open("w") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "tests.support.mongo.server"],
                    cwd=ROOT,
                    env={**os.environ, "TMPDIR": _fast_folder()},
                    stdin=fifo,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    start_new_session=True,
                )
            _started.append(process)  # Python warns of a running process without references.
            assert process.stdout is not None
            with process.stdout:
                url = process.stdout.readline().strip()
            if not url:
                raise NoServer(MISSING)
            known.write_text(url)
        return known.read_text()


def with_options(url: str, options: str) -> str:
    """Return a URL with further options, such as `w=1&journal=false`."""
    return f"{url}{'&' if '?' in url else '?'}{options}"


@contextmanager
def database(url: str) -> Iterator[str]:
    """Yield the URL of a new database on a server.

    Drops it afterwards, and all databases whose names begin with its name.
    """
    name = f"atajo_test_{secrets.token_hex(6)}"
    parts = urlsplit(url)
    own = parts._replace(path=f"/{name}").geturl()
    if "@" in parts.netloc and "authsource=" not in parts.query.lower():
        # The user in the URL is defined in its database, or in `admin`.
        own = with_options(own, f"authSource={parts.path.lstrip('/') or 'admin'}")
    try:
        yield own
    finally:
        with MongoClient[Document](url, serverSelectionTimeoutMS=5000) as client:
            for dropped in client.list_database_names():
                if dropped.startswith(name):
                    client.drop_database(dropped)


def empty(url: str) -> None:
    """Delete all documents of a database except the version of its schema."""
    with MongoClient[Document](url) as client:
        database = client.get_default_database()
        for name in database.list_collection_names():
            if name != "schema":
                database[name].delete_many({})


def _fast_folder() -> str:
    """Return a folder for temporary data: in memory if there is space."""
    in_memory = Path("/dev/shm")
    if in_memory.is_dir() and shutil.disk_usage(in_memory).free > _ROOM_BYTES:
        return str(in_memory)
    return tempfile.gettempdir()


def _mongod() -> str | None:
    return shutil.which("mongod") or shutil.which("mongod", path=BIN)


@contextmanager
def _container(ports: Sequence[int]) -> Iterator[list[str]]:
    """Start a container with these ports; yield a command that runs another one in it."""
    if not shutil.which("docker"):
        raise NoServer(MISSING)
    name = f"atajo-test-{secrets.token_hex(6)}"
    command = ["docker", "run", "--rm", "-i", "--name", name, "--entrypoint", "sh"]
    for port in ports:
        command += ["-p", f"127.0.0.1:{port}:{port}"]
    with subprocess.Popen(
        [*command, IMAGE, "-c", "echo; cat >/dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=_log,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        if not process.stdout.readline():  # There is no engine, or no image.
            raise NoServer(MISSING)
        yield ["docker", "exec", "-i", name]


if __name__ == "__main__":
    _log = None
    try:
        with running(*_SHARED) as started:
            sys.stdout.write(started + "\n")
            sys.stdout.flush()
            sys.stdin.read()
    except NoServer as missing:
        sys.exit(str(missing))
