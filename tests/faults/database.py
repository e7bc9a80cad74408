"""A MongoDB server that can be frozen and whose connections can be cut."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.mongo import server
from tests.mongo.gate import Gate
from tests.procfs import descendants_of


class Database:
    """A database of the run's own, reached through a gate. A server that was given is not frozen:
    what travels to it is held up.
    """

    def __init__(self, url: str, gate: Gate, pid: int | None) -> None:
        self.url = url
        self._gate = gate
        self._pid = pid

    def freeze(self) -> None:
        """The server takes connections and answers nothing."""
        if self._pid is None:
            self._gate.hold()
        else:
            os.kill(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        if self._pid is None:
            self._gate.let_go()
        else:
            os.kill(self._pid, signal.SIGCONT)

    def cut(self) -> None:
        """End every connection to it, and take no new one."""
        self._gate.shut()

    def mend(self) -> None:
        """Take connections again."""
        self._gate.open()


@contextmanager
def mongodb() -> Iterator[Database]:
    """A server as the tests find one (tests/mongo). Raises NoServer."""
    with server.running() as url:
        port = urlsplit(url).port or 27017
        with server.database(url) as own, Gate(port) as gate:
            gate.open()
            pid = None if os.environ.get(server.URL_VARIABLE) else _listener_of(port)
            address = urlsplit(own)
            host = (address.netloc.rpartition("@")[0] + "@") if "@" in address.netloc else ""
            near = address._replace(netloc=f"{host}127.0.0.1:{gate.port}").geturl()
            database = Database(near, gate, pid)
            try:
                yield database
            finally:
                database.thaw()


def _listener_of(port: int) -> int | None:
    """The process of ours that listens on a port, None where it is nobody we may stop."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for pid in descendants_of(os.getpid()):
        try:
            files = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
        except OSError:
            continue
        if inodes & files:
            return pid
    return None
