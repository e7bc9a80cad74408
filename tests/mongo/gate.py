"""A way to a server that a test can shut, and on which it can hold up what travels."""

from __future__ import annotations

import select
import socket
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.mongo.server import with_options
from tests.product import free_port


class Gate:
    """Passes connections on from a port of its own. Shut at first; shutting it cuts them all."""

    def __init__(self, port: int) -> None:
        self.port = free_port()
        self._target = port
        self._listener: socket.socket | None = None
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        self._flowing = threading.Event()
        self._flowing.set()

    def through(self, url: str) -> str:
        """The URL of the same database behind the gate."""
        parts = urlsplit(url)
        netloc = parts.netloc.replace(str(parts.port), str(self.port))
        # Otherwise the driver takes the server's own address from the replica set.
        return with_options(parts._replace(netloc=netloc).geturl(), "directConnection=true")

    def open(self) -> None:
        """Let connections through."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._run(self._accept, self._listener)

    def shut(self) -> None:
        """Refuse new connections and cut those that are."""
        self._flowing.set()
        if self._listener:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        for pair in self._pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
        for thread in self._threads:
            thread.join()
        for pair in self._pairs:
            for end in pair:
                end.close()
        self._pairs, self._threads = [], []

    def hold(self) -> None:
        """Keep the connections, and whatever is sent on them."""
        self._flowing.clear()

    def let_go(self) -> None:
        """Let everything flow again."""
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
            self._pairs.append((near, far))
            self._run(self._pass_on, near, far)

    def _pass_on(self, near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        try:
            while True:
                for ready in select.select([near, far], [], [])[0]:
                    self._flowing.wait()
                    sent = ready.recv(65536)
                    if not sent:
                        return
                    other[ready].sendall(sent)
        except OSError:
            return
        finally:
            for end in other:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

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
