"""Coalesces what is written to a connection within one turn of the event loop.

uvicorn writes status line with headers and body apart, and uvloop sends each at once: two system
calls and two segments. Held until the end of the turn they are one. Before anything is sent, the
visits of the turn are recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from services.shared.observability import logs

log = logs.Throttled(__name__)


class WriteQueue:
    """The transports with something to send, flushed by one callback at the end of the turn.

    One callback for each transport would cost more than the rest of its write. `before_sending` is
    called before anything is handed to a transport.
    """

    def __init__(self, before_sending: Callable[[], None]) -> None:
        self.before_sending = before_sending
        self._filled: list[CoalescingTransport] = []

    def add(self, transport: CoalescingTransport) -> None:
        """Flush a transport at the end of the turn."""
        if not self._filled:
            asyncio.get_running_loop().call_soon(self._flush)
        self._filled.append(transport)

    def _flush(self) -> None:
        filled, self._filled = self._filled, []
        for transport in filled:
            try:
                transport.flush()
            except Exception as error:  # One connection's error: the others are flushed.
                log.error("http_not_sent", exc_info=error)


class CoalescingTransport:
    """Wraps a transport: what is written in one turn of the loop is sent at once."""

    def __init__(self, transport: asyncio.Transport, queue: WriteQueue) -> None:
        self._transport = transport
        self._queue = queue
        self._held: list[bytes] = []
        self._is_ended = False

    def write(self, data: bytes) -> None:
        """Send `data` with whatever else is written in this turn."""
        if not self._held:
            self._queue.add(self)
        self._held.append(data)

    def close(self) -> None:
        """Close once everything written is sent."""
        self.flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Close the sending side once everything written is sent."""
        self.flush()
        if not self.is_closing():
            self._transport.write_eof()
        self._is_ended = True

    def is_closing(self) -> bool:
        """Whether nothing that is written now is sent."""
        return self._is_ended or self._transport.is_closing()

    def flush(self) -> None:
        """Hand over what is held, after its visits are recorded."""
        held, self._held = self._held, []
        if held and not self._transport.is_closing():
            self._queue.before_sending()
            self._transport.write(b"".join(held))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
