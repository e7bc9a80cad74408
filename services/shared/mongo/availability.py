"""Whether a MongoDB server can be reached and written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pymongo.errors import OperationFailure, PyMongoError

from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs

log = logs.get(__name__)

_PING_SECONDS = 0.5
"""Timeout of a ping."""
_WRITE_SECONDS = 2.0
"""Timeout of a test write: that of any other write."""
_WRITE_WAIT_SECONDS = 0.4
"""How long a check waits for the test write. With the ping, less than the timeout of a check."""


class Availability:
    """Remembers whether the server is away, and tests it.

    `send_ping` pings it, and `test_write` writes something that is already there. `describe` says
    why an operation failed.
    """

    def __init__(
        self,
        send_ping: Callable[[], Awaitable[object]],
        test_write: Callable[[], Awaitable[None]],
        describe: Callable[[Exception], str],
    ) -> None:
        self._send_ping = send_ping
        self._test_write = test_write
        self._describe = describe
        self._is_away = False
        self._is_logged = False
        """Whether a log line says that the server is away, and none yet that it is back."""
        self._pinging: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._write_error: Exception | None = None
        """The error of the last test write; None if it succeeded."""
        self._throttled = logs.Throttled(__name__)

    async def ensure_back(self) -> None:
        """Ping a server that was away. Raises PyMongoError or TimeoutError if it still is."""
        if self._is_away:
            await self.ping()

    async def ping(self) -> None:
        """Ping the server. Concurrent callers share one ping. Raises as `ensure_back` does."""
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.create_task(self._ping())
            self._pinging.add_done_callback(_on_ping_done)
        await asyncio.shield(self._pinging)

    async def check_writable(self) -> None:
        """Raise Unavailable if the last test write failed.

        Starts a test write unless one is running, and waits for it briefly. A slower one decides
        the following checks.
        """
        if self._writing is None or self._writing.done():
            self._writing = background.start_task(self._write(), "store-try")
        await asyncio.wait([self._writing], timeout=_WRITE_WAIT_SECONDS)
        if self._write_error:
            raise Unavailable(
                "The store cannot be written.", "STORE_UNWRITABLE"
            ) from self._write_error

    def report_away(self, error: Exception) -> None:
        """Record and log that the server is away, and why, without the driver's message."""
        self._is_away = True
        code = error.code if isinstance(error, OperationFailure) else None
        self._is_logged |= self._throttled.warning(
            "store_away", reason=self._describe(error), error=type(error).__name__, code=code
        )

    def report_success(self) -> None:
        """Log that the server is back, if a log line says that it was away."""
        if self._is_logged:
            self._is_logged = False
            log.info("store_back")

    def close(self) -> None:
        for task in (self._pinging, self._writing):
            if task:
                task.cancel()

    async def _ping(self) -> None:
        async with asyncio.timeout(_PING_SECONDS):
            await self._send_ping()
        self._is_away = False

    async def _write(self) -> None:
        try:
            async with asyncio.timeout(_WRITE_SECONDS):
                await self._test_write()
        except (PyMongoError, TimeoutError) as error:
            self._write_error = error
        else:
            self._write_error = None


def _on_ping_done(task: asyncio.Task[None]) -> None:
    """Report an unexpected error of a ping. All callers that it would reach may have given up."""
    error = None if task.cancelled() else task.exception()
    if error and not isinstance(error, PyMongoError | TimeoutError):
        background.report_failure("store-probe", error)
