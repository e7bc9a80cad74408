"""The driver's client for a database, which is replaced when its connections have no sessions.

The driver asks a server whether it has sessions when it opens a connection, and never again. A
server that is not initiated as a replica set, or is no primary or secondary for other reasons, has
none. A client that connects directly (`directConnection=true`) uses such a server all the same: its
connections stay in the pool after the server has sessions, and every transaction that gets one of
them fails with ConfigurationError.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase
from pymongo.errors import PyMongoError
from pymongo.monitoring import (
    ServerHeartbeatFailedEvent,
    ServerHeartbeatListener,
    ServerHeartbeatStartedEvent,
    ServerHeartbeatSucceededEvent,
)
from pymongo.read_concern import ReadConcern

from services.shared import background
from services.shared.mongo import causes
from services.shared.mongo.aliases import Document
from services.shared.observability import logs

_MIN_SECONDS = 1.0
"""Minimum time between two replacements after errors."""


class Client:
    """The current client. Creates it with `connect`, which takes keyword arguments of PyMongo.

    `default` is the name of the database if the URL names none. A replaced client stays open for
    `retire_seconds`, the longest time that an operation takes.
    """

    def __init__(
        self,
        connect: Callable[..., AsyncIOMotorClient[Document]],
        default: str,
        retire_seconds: float,
    ) -> None:
        self._connect = connect
        self._default = default
        self._retire_seconds = retire_seconds
        self._retiring: dict[asyncio.Task[None], AsyncIOMotorClient[Document]] = {}
        self._log = logs.Throttled(__name__)
        self._open()

    def _open(self) -> None:
        opened_at = time.monotonic()
        loop = asyncio.get_running_loop()
        on_sessions = partial(loop.call_soon_threadsafe, self._on_sessions, opened_at)
        self.motor = self._connect(event_listeners=[_SessionListener(on_sessions)])
        self.documents: AsyncIOMotorDatabase[Document] = self.motor.get_default_database(
            self._default
        )
        self.majority = self.documents.with_options(read_concern=ReadConcern("majority"))
        self._opened_at = opened_at

    def replace_after_error(self, failed: AsyncIOMotorClient[Document]) -> None:
        """Replace the client `failed`, of which an operation got a connection without sessions.

        Does nothing if that client was replaced already.
        """
        if failed is self.motor and time.monotonic() - self._opened_at > _MIN_SECONDS:
            self._replace()

    def describe(self, error: Exception) -> str:
        """Return why an operation failed, in words for the operator; empty if nothing is known."""
        return causes.describe(error, self.motor.delegate.topology_description)

    async def close(self) -> None:
        """Disconnect from the server."""
        retiring = dict(self._retiring)
        for task in retiring:
            task.cancel()
        if retiring:
            await asyncio.wait(retiring)
        for client in (*retiring.values(), self.motor):
            await asyncio.to_thread(client.close)

    def _on_sessions(self, opened_at: float) -> None:
        """Replace the client of that time if it may have connections without sessions."""
        is_direct = self.motor.delegate.topology_description.topology_type_name == "Single"
        if is_direct and opened_at == self._opened_at:
            self._replace()

    def _replace(self) -> None:
        replaced = self.motor
        try:
            self._open()
        except (PyMongoError, OSError) as error:  # The message may contain the URL.
            self._log.warning("store_client_not_replaced", reason=type(error).__name__)
            return
        task = background.start_task(self._retire(replaced), "store-client")
        self._retiring[task] = replaced
        task.add_done_callback(self._retiring.pop)
        self._log.info("store_client_replaced")

    async def _retire(self, client: AsyncIOMotorClient[Any]) -> None:
        await asyncio.sleep(self._retire_seconds)
        await asyncio.to_thread(client.close)


class _SessionListener(ServerHeartbeatListener):
    """Calls `on_sessions` in a thread of the driver when a server without sessions gets them."""

    def __init__(self, on_sessions: Callable[[], object]) -> None:
        self._on_sessions = on_sessions
        self._had_none = False

    def started(self, event: ServerHeartbeatStartedEvent) -> None:
        pass

    def succeeded(self, event: ServerHeartbeatSucceededEvent) -> None:
        if not event.reply.is_readable:
            self._had_none = True
        elif self._had_none:
            self._had_none = False
            self._on_sessions()

    def failed(self, event: ServerHeartbeatFailedEvent) -> None:
        pass
