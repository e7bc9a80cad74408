"""uvicorn's HTTP protocol with one write an answer.

uvicorn hands status line with headers and body to the transport apart, and uvloop sends each at
once: two system calls and two segments. Held back until the loop's turn ends they are one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class CorkedProtocol(HttpToolsProtocol):
    """What `uvicorn.Config(http=...)` takes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_CorkedTransport(transport, self.loop))  # type: ignore[arg-type]


class _CorkedTransport:
    """A transport whose writes of one turn of the loop leave together; else the one it wraps."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send `data` with what else is written in this turn."""
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def close(self) -> None:
        """Close once everything written is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._held:
            self._transport.write(b"".join(self._held))
            self._held.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
