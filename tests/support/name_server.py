"""A DNS server for tests (RFC 1035, section 4.1)."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_IPV4 = 1
_NO_SUCH_NAME = 3


class NameServer:
    """Answers every query with `address`, or with "no such name" if that is None.

    `listens` is its host and port, `asked` the number of queries so far.
    """

    def __init__(self, address: str | None, listening: socket.socket) -> None:
        self.address = address
        self.asked = 0
        self.listens = "{}:{}".format(*listening.getsockname())

    def answer(self, query: bytes) -> bytes:
        """Return the response to a query."""
        self.asked += 1
        end = query.index(b"\0", 12) + 5
        (kind,) = struct.unpack("!H", query[end - 4 : end - 2])
        record = b""
        if self.address and kind == _IPV4:
            record = struct.pack("!HHHIH", 0xC00C, _IPV4, 1, 1, 4) + socket.inet_aton(self.address)
        flags = 0x8180 | (0 if self.address else _NO_SUCH_NAME)
        return query[:2] + struct.pack("!5H", flags, 1, bool(record), 0, 0) + query[12:end] + record


@contextmanager
def name_server(address: str | None = None) -> Iterator[NameServer]:
    """Run a DNS server during the block."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        server = NameServer(address, listening)

        def serve() -> None:
            while (received := listening.recvfrom(512))[0]:
                listening.sendto(server.answer(received[0]), received[1])

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", listening.getsockname())
            thread.join()
