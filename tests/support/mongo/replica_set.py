"""A MongoDB replica set whose primary steps down, dies or freezes, and whose connections break."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.support.mongo import server
from tests.support.mongo.gate import Gate
from tests.support.mongo.server import Node
from tests.support.waiting import await_that

_STEP_DOWN_SECONDS = 10
"""For which a primary that stepped down is not elected again, if there are others."""


class ReplicaSet:
    """Nodes that know each other, and are known, by the ports of gates in front of them."""

    def __init__(self, nodes: list[Node], gates: list[Gate]) -> None:
        self.nodes = nodes
        self._gates = gates
        for node in nodes:
            node.start()
        self.url = server.initiate([gate.port for gate in gates])
        self._client = MongoClient[dict[str, Any]](self.url)
        self._failed = nodes[0]

    def primary(self) -> Node:
        """Return the primary, once all nodes are there."""
        self.await_healthy()
        port = int(self._client.admin.command("hello")["me"].rpartition(":")[2])
        return next(
            node for node, gate in zip(self.nodes, self._gates, strict=True) if gate.port == port
        )

    def await_healthy(self) -> None:
        """Wait until there is a primary and every other node is a secondary."""

        def is_healthy() -> bool:
            try:
                members = self._client.admin.command("replSetGetStatus")["members"]
            except PyMongoError:
                return False
            states = sorted(member["stateStr"] for member in members)
            return states == ["PRIMARY", *["SECONDARY"] * (len(self.nodes) - 1)]

        await_that(is_healthy)

    def step_down(self) -> None:
        """Let the primary become a secondary."""
        self.await_healthy()
        command = {"replSetStepDown": _STEP_DOWN_SECONDS, "force": True}
        self._client.admin.command(command)

    def kill_primary(self) -> None:
        """SIGKILL the primary."""
        self._failed = self.primary()
        self._failed.signal(signal.SIGKILL)

    def restart(self) -> None:
        """Start the killed node again over its data."""
        self._failed.start()

    def freeze_primary(self) -> None:
        """SIGSTOP the primary: it takes connections and answers nothing."""
        self._failed = self.primary()
        self._failed.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the frozen node go on."""
        self._failed.signal(signal.SIGCONT)

    def cut(self) -> None:
        """End every connection to the nodes and between them, and refuse new ones."""
        for gate in self._gates:
            gate.shut()

    def mend(self) -> None:
        """Accept connections again."""
        for gate in self._gates:
            gate.open()

    def close(self) -> None:
        self._client.close()


@contextmanager
def replica_set(count: int) -> Iterator[ReplicaSet]:
    """Yield a new replica set of so many nodes. Raises NoServer."""
    with server.nodes(count, "--replSet", server.SET, *server.SMALL) as nodes, ExitStack() as stack:
        gates = [stack.enter_context(Gate(node.port)) for node in nodes]
        for gate in gates:
            gate.open()
        started = ReplicaSet(nodes, gates)
        stack.callback(started.close)
        yield started
