"""Calls whose bodies do not arrive."""

from __future__ import annotations

import socket
from typing import Self

from tests.support.processes import TIMEOUT_SECONDS


class BodilessCall:
    """A call whose client waits with the body until the server reads it.

    `size` is the declared length in bytes; None declares a chunked body. `address` is
    sent as that of the client.
    """

    def __init__(
        self,
        url: str,
        path: str,
        address: str = "",
        key: str = "",
        size: int | None = 400_000,
    ) -> None:
        port = int(url.rpartition(":")[2])
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        lines = [
            f"POST {path} HTTP/1.1",
            "host: localhost",
            "content-type: application/json",
            "transfer-encoding: chunked" if size is None else f"content-length: {size}",
            "expect: 100-continue",
            *([f"x-forwarded-for: {address}"] if address else []),
            *([f"authorization: Bearer {key}"] if key else []),
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())

    def answer(self) -> tuple[int, dict[str, str]]:
        """Wait for a response; return its status and headers.

        100: the gateway reads the body. nginx sends 100 before it rejects a call, too.
        """
        received = b""
        while b"\r\n\r\n" not in received:
            more = self._socket.recv(65_536)
            assert more, "closed without a response"
            received += more
        head = received.partition(b"\r\n\r\n")[0].decode()
        first, *lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        return int(first.split()[1]), headers

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
