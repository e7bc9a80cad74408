"""A TCP proxy in front of a server, which tests can close and pause."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self, cast
from urllib.parse import urlsplit

from tests.support.mongo.server import with_options
from tests.support.ports import free_port


class TcpProxy:
    """Forwards connections from its own port to `port`. Initially closed."""

    def __init__(self, port: int) -> None:
        self.port = free_port()
        self._target = port
        self._listener: socket.socket | None = None
        self._ends: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._flowing = threading.Event()
        self._flowing.set()

    def through(self, url: str) -> str:
        """Return the URL of the same database through the proxy."""
        parts = urlsplit(url)
        netloc = parts.netloc.replace(str(parts.port), str(self.port))
        # Otherwise the driver takes the server's own address from the replica set.
        return with_options(parts._replace(netloc=netloc).geturl(), "directConnection=true")

    def open(self) -> None:
        """Accept connections."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._run(self._accept, self._listener)

    def shut(self) -> None:
        """Refuse new connections and close the existing ones."""
        self._flowing.set()
        if self._listener:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        for end in self._ends.copy():
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._threads = []

    def pause(self) -> None:
        """Keep the connections open, but forward nothing."""
        self._flowing.clear()

    def resume(self) -> None:
        """Forward again, beginning with the data sent meanwhile."""
        self._flowing.set()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            self._ends |= {near, far}
            self._run(self._forward, near, far)

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        with suppress(OSError), near, far, selectors.DefaultSelector() as selector:
            for end in other:
                selector.register(end, selectors.EVENT_READ)
            sent = b"any"
            while sent:
                for key, _ in selector.select():
                    ready = cast(socket.socket, key.fileobj)
                    self._flowing.wait()
                    sent = ready.recv(65536)
                    if not sent:
                        break
                    other[ready].sendall(sent)
        self._ends -= {near, far}

    def _run(self, target: object, *args: socket.socket) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shut()
