"""Coalesces what is written to a connection within one turn of the event loop.

uvicorn writes the head and the body of a response separately, and uvloop sends each at once: two
system calls and two TCP segments. Buffered until the end of the turn, they are one. Before anything
is sent, the visits of the turn are written to the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from services.shared.observability import logs

log = logs.Throttled(__name__)


class WriteQueue:
    """Transports with buffered data, flushed by one callback at the end of the turn.

    One callback per transport would cost more than the rest of its write. `before_sending` is
    called before anything is written to a transport.
    """

    def __init__(self, before_sending: Callable[[], None]) -> None:
        self.before_sending = before_sending
        self._waiting: list[CoalescingTransport] = []

    def add(self, transport: CoalescingTransport) -> None:
        """Flush a transport at the end of the turn."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(transport)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for transport in waiting:
            try:
                transport.flush()
            except Exception as error:  # Only this connection is affected.
                log.error("http_not_sent", exc_info=error)


class CoalescingTransport:
    """Wraps a transport, and sends everything written in one turn of the event loop at once."""

    def __init__(self, transport: asyncio.Transport, queue: WriteQueue) -> None:
        self._transport = transport
        self._queue = queue
        self._buffer: list[bytes] = []
        self._is_ended = False

    def write(self, data: bytes) -> None:
        """Send `data` together with everything else that is written in this turn."""
        if not self._buffer:
            self._queue.add(self)
        self._buffer.append(data)

    def close(self) -> None:
        """Send everything that was written, and close."""
        self.flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Send everything that was written, and close the sending side."""
        self.flush()
        if not self.is_closing():
            self._transport.write_eof()
        self._is_ended = True

    def is_closing(self) -> bool:
        """Whether data that is written now will not be sent."""
        return self._is_ended or self._transport.is_closing()

    def flush(self) -> None:
        """Send the buffered data, after `before_sending`."""
        buffer, self._buffer = self._buffer, []
        if buffer and not self._transport.is_closing():
            self._queue.before_sending()
            self._transport.write(b"".join(buffer))

    # The rest of a transport that the protocol uses. `__getattr__` would slow down every attribute.

    def abort(self) -> None:
        """Close without sending what was written."""
        self._transport.abort()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information about the connection."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Receive nothing until `resume_reading`."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive data again."""
        self._transport.resume_reading()
