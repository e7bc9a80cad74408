"""A MongoDB replica set in which tests provoke failovers, crashes and network failures."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.support.mongo import server
from tests.support.mongo.server import Node
from tests.support.mongo.tcp_proxy import TcpProxy
from tests.support.waiting import wait_until

_STEP_DOWN_SECONDS = 10
"""How long a primary that stepped down is not elected again, if there are other nodes."""


class ReplicaSet:
    """Nodes that know each other, and are known to clients, by the ports of their proxies."""

    def __init__(self, nodes: list[Node], proxies: list[TcpProxy]) -> None:
        self.nodes = nodes
        self._proxies = proxies
        for node in nodes:
            node.start()
        self.url = server.initiate([proxy.port for proxy in proxies])
        self._client = MongoClient[dict[str, Any]](self.url)
        self._failed = nodes[0]

    def primary(self) -> Node:
        """Return the primary, once the set is healthy."""
        self.await_healthy()
        port = int(self._client.admin.command("hello")["me"].rpartition(":")[2])
        return next(
            node
            for node, proxy in zip(self.nodes, self._proxies, strict=True)
            if proxy.port == port
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

        wait_until(is_healthy)

    def step_down(self) -> None:
        """Make the primary a secondary."""
        self.await_healthy()
        command = {"replSetStepDown": _STEP_DOWN_SECONDS, "force": True}
        self._client.admin.command(command)

    def kill_primary(self) -> None:
        """SIGKILL the primary."""
        self._failed = self.primary()
        self._failed.signal(signal.SIGKILL)

    def restart(self) -> None:
        """Start the killed node again with its data."""
        self._failed.start()

    def freeze_primary(self) -> None:
        """SIGSTOP the primary: it accepts connections but does not answer."""
        self._failed = self.primary()
        self._failed.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT the frozen node."""
        self._failed.signal(signal.SIGCONT)

    def cut(self) -> None:
        """Close all connections to and between the nodes, and refuse new ones."""
        for proxy in self._proxies:
            proxy.shut()

    def mend(self) -> None:
        """Accept connections again."""
        for proxy in self._proxies:
            proxy.open()

    def close(self) -> None:
        self._client.close()


@contextmanager
def replica_set(count: int) -> Iterator[ReplicaSet]:
    """Yield a new replica set of `count` nodes. Raises NoServer."""
    with server.nodes(count, "--replSet", server.SET, *server.SMALL) as nodes, ExitStack() as stack:
        proxies = [stack.enter_context(TcpProxy(node.port)) for node in nodes]
        for proxy in proxies:
            proxy.open()
        started = ReplicaSet(nodes, proxies)
        stack.callback(started.close)
        yield started
