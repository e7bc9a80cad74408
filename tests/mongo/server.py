"""A MongoDB server for one test run: the first of these that can be had.

1. the one at ATAJO_TEST_MONGODB_URL, which is left running;
2. `mongod` of the PATH;
3. a container, where a Docker engine runs that has or can pull the image;
4. mongo-java-server by Maven and a JDK: in memory, on the real wire, with an event loop of its own.

What is started here ends when its standard input does: with the test run, however that ends.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pymongo
from pymongo.errors import PyMongoError

from tests.processes import ROOT
from tests.product import free_port

URL_VARIABLE = "ATAJO_TEST_MONGODB_URL"
IMAGE = "mongo:8.0"
MISSING = f"""The tests need a MongoDB server, and none can be had. One of these gives them one:
  apt-get install maven default-jdk-headless   on Debian and Ubuntu: a stand-in, in memory
  a running Docker engine                      takes the image {IMAGE}
  mongod on the PATH
  {URL_VARIABLE}=mongodb://host:port/     a server of your own, with databases atajo_test_*"""

_HERE = Path(__file__).parent
_CACHE = ROOT / ".cache"
_PATIENCE = 30.0
_MAVEN = ("mvn", "-q", "-B", "-f", str(_HERE / "pom.xml"), "dependency:copy-dependencies")
# The shell lives until its input ends, and takes the server along.
_HELD = '"$@" >&2 & cat >/dev/null; kill $!; wait $!'


class NoServer(Exception):
    """There is no way to a server on this machine."""


@contextmanager
def running(*, stand_in: bool = True) -> Iterator[str]:
    """The URL of a server. Raises NoServer, with the lines that help.

    `stand_in` says whether the last of them will do.
    """
    if url := os.environ.get(URL_VARIABLE):
        yield url
    elif mongod := shutil.which("mongod"):
        with TemporaryDirectory() as data:
            port = free_port()
            command = [mongod, "--quiet", "--bind_ip", "127.0.0.1"]
            command += ["--dbpath", data, "--port", str(port)]
            with _started(["sh", "-c", _HELD, "sh", *command]) as process:
                yield _answering(process, port)
    elif _has_image():
        port = free_port()
        command = ["docker", "run", "--rm", "-i", "-p", f"127.0.0.1:{port}:27017"]
        command += ["--entrypoint", "sh", IMAGE, "-c", _HELD, "sh"]
        command += ["mongod", "--quiet", "--bind_ip_all", "--dbpath", "/tmp"]
        with _started(command) as process:
            yield _answering(process, port)
    elif not stand_in:
        raise NoServer(
            f"These tests need mongod on the PATH, Docker with {IMAGE}, or {URL_VARIABLE}."
        )
    elif shutil.which("mvn") and shutil.which("java"):
        command = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m"]
        command += ["-cp", f"{_jars()}/*", str(_HERE / "MongoServer.java")]
        with _started(command) as process:
            assert process.stdout is not None
            port_line = process.stdout.readline().strip()
            if not port_line:
                raise NoServer(f"The stand-in did not start; JDK 17 or later? {MISSING}")
            yield _answering(process, int(port_line))
    else:
        raise NoServer(MISSING)


@contextmanager
def database(url: str) -> Iterator[str]:
    """The URL of a database of its own on a server, dropped afterwards.

    With it go those whose names begin with its name.
    """
    name = f"atajo_test_{secrets.token_hex(6)}"
    head, mark, options = url.partition("?")
    scheme, _, rest = head.partition("://")
    hosts = rest.partition("/")[0]
    # A user that the URL names is known to the database it named, or to `admin`.
    source = rest.partition("/")[2] or "admin"
    if "@" in hosts and "authsource=" not in options.lower():
        options, mark = f"authSource={source}&{options}".rstrip("&"), "?"
    try:
        yield f"{scheme}://{hosts}/{name}{mark}{options}"
    finally:
        with pymongo.MongoClient[dict[str, object]](url, serverSelectionTimeoutMS=5000) as client:
            for dropped in client.list_database_names():
                if dropped.startswith(name):
                    client.drop_database(dropped)


@contextmanager
def _started(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # Ctrl-C ends the tests first.
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _answering(process: subprocess.Popen[str], port: int) -> str:
    url = f"mongodb://127.0.0.1:{port}/"
    deadline = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with pymongo.MongoClient[dict[str, object]](url, serverSelectionTimeoutMS=500) as client:
            try:
                client.admin.command("ping")
            except PyMongoError:
                continue
            return url
    raise NoServer(f"The MongoDB server did not start. {MISSING}")


def _has_image() -> bool:
    if not shutil.which("docker"):
        return False
    return _succeeds("docker", "info") and (
        _succeeds("docker", "image", "inspect", IMAGE) or _succeeds("docker", "pull", IMAGE)
    )


def _succeeds(*command: str) -> bool:
    try:
        ended = subprocess.run(command, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


def _jars() -> Path:
    """The folder of the stand-in's jars, fetched once and checked. Raises NoServer."""
    pinned = (_HERE / "jars.sha256").read_bytes()
    folder = _CACHE / f"mongo-{hashlib.sha256(pinned).hexdigest()[:12]}"
    if folder.exists():
        return folder
    _CACHE.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=_CACHE) as work:
        jars = Path(work) / "jars"
        fetched = subprocess.run(
            (*_MAVEN, f"-DoutputDirectory={jars}"),
            capture_output=True,
            text=True,
            check=False,
        )
        if fetched.returncode != 0:
            raise NoServer(f"Maven cannot fetch the stand-in: {fetched.stdout[-500:]}\n{MISSING}")
        found = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars.iterdir()}
        lines = (line.split() for line in pinned.decode().splitlines())
        if found != {name: digest for digest, name in lines}:
            raise NoServer("The stand-in's jars are not those of jars.sha256.")
        try:
            jars.rename(folder)
        except OSError:  # Another run was faster.
            if not folder.exists():
                raise
    return folder


if __name__ == "__main__":
    with running() as started:
        sys.stdout.write(started + "\n")
        sys.stdout.flush()
        sys.stdin.read()
