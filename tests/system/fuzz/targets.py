"""The ports of a product, each sent the case of a number and held to how it answers."""

from __future__ import annotations

import random
import re
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import h11
from google.protobuf.descriptor import ServiceDescriptor

from tests.system.fuzz import http_cases, rpc_cases

TIMEOUT_SECONDS = 20.0
"""Seconds after which an answer that has not come counts as none."""

_5XX = re.compile(rb"HTTP/1\.1 5\d\d ")
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: a connection is closed by a reset, and what was sent may be lost."""
_BLOCKING_BYTES = 30_000
"""What a socket takes in one go: who sends more reads meanwhile, as the other side may answer."""
_NOISE_EVERY = 20
"""One in so many cases of a gRPC port is no gRPC."""
# What a caller is told when the fault is not its own.
_FAULTS = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.DATA_LOSS,
    }
)


class DefectError(Exception):
    """A case was answered as none may be."""


class PublicPort:
    """The gateway's HTTP. `token` is that of a session, which some cases have in them."""

    def __init__(self, address: str, seed: int, token: str) -> None:
        self._address = _split(address)
        self._seed = seed
        self._token = token

    def close(self) -> None:
        """Each case had a connection of its own."""

    def send(self, number: int) -> list[str]:
        """Send a case; returns the statuses of its answers. Raises DefectError, OSError."""
        case = http_cases.case(self._seed, number, self._token)
        with socket.create_connection(self._address, timeout=TIMEOUT_SECONDS) as connection:
            sender = threading.Thread(target=_send, args=(connection, case.pieces))
            sender.start() if sum(map(len, case.pieces)) > _BLOCKING_BYTES else sender.run()
            try:
                if case.methods is not None:
                    statuses = _answers(connection, case.methods, may_be_reset=case.is_long)
                    return [str(status or "reset") for status in statuses]
                if number % 4 == 0:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                else:
                    _read_to_the_end(connection)
                return ["broken"]
            finally:
                if sender.ident:
                    sender.join(TIMEOUT_SECONDS)


class InnerPort:
    """A service's gRPC on one of its ports."""

    def __init__(self, address: str, seed: int, service: ServiceDescriptor) -> None:
        self._target = address
        self._seed = seed
        self._service = service
        self._channel = grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)])

    def send(self, number: int) -> list[str]:
        """Send a case; returns how it ended. Raises DefectError, OSError."""
        if number % _NOISE_EVERY == 0:
            self._send_noise(number)
            return ["noise"]
        case = rpc_cases.case(self._seed, number, self._service)
        error = self._call(case)
        if error is not None and _was_let_go(error):
            error = self._call(case)
        if error is None:
            return ["OK"]
        code: grpc.StatusCode = error.code()
        if code in _FAULTS:
            raise DefectError(f"{case.path} ended with {code.name}: {error.details()}")
        return [code.name]

    def _call(self, case: rpc_cases.RpcCase) -> grpc.RpcError | None:
        channel: Any = self._channel  # Its types know no bytes that are sent as they are.
        try:
            if case.streams:
                for _ in channel.unary_stream(case.path)(case.message, timeout=TIMEOUT_SECONDS):
                    pass
            else:
                channel.unary_unary(case.path)(case.message, timeout=TIMEOUT_SECONDS)
        except grpc.RpcError as error:
            return error
        return None

    def close(self) -> None:
        self._channel.close()

    def _send_noise(self, number: int) -> None:
        """Bytes that are no gRPC, or stop being some."""
        chance = random.Random(f"noise {self._seed} {number}")
        start = chance.choice((b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"))
        with socket.create_connection(_split(self._target), timeout=TIMEOUT_SECONDS) as connection:
            _send(connection, (start + chance.randbytes(chance.randint(0, 2000)),))


def _was_let_go(error: grpc.RpcError) -> bool:
    """Whether the service ended the connection of a call because the connection was old.

    A service ends each connection after a while, so that callers spread over its replicas. A
    message above the 4 MiB that it takes is refused before it is read whole; where that meets
    the end of its connection, the caller may see the end in place of the refusal.
    """
    code: grpc.StatusCode = error.code()
    return code is grpc.StatusCode.UNAVAILABLE and "max_age" in (error.details() or "")


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _send(connection: socket.socket, pieces: Sequence[bytes]) -> None:
    try:
        for piece in pieces:
            connection.sendall(piece)
    except OSError:  # It was refused half-way; the answer tells why.
        return


def _answers(
    connection: socket.socket, methods: Sequence[bytes], *, may_be_reset: bool
) -> Iterator[int]:
    """The statuses of the answers to well-framed requests, each read by h11, which is strict.

    They end early where one of them ends the connection; 0 stands for a reset in place of an
    answer. Raises DefectError, also for an answer more than there were requests.
    """
    client = h11.Connection(h11.CLIENT)
    for method in methods:
        client.send(h11.Request(method=method, target="/", headers=[("host", "localhost")]))
        client.send(h11.EndOfMessage())
        status = _answer(connection, client, may_be_reset)
        if status >= 500:
            raise DefectError(f"answered {status}")
        yield status
        if client.their_state is not h11.DONE:
            return
        client.start_next_cycle()
    connection.shutdown(socket.SHUT_WR)
    if client.trailing_data[0] or connection.recv(1):
        raise DefectError("an answer to no request")


def _answer(connection: socket.socket, client: h11.Connection, may_be_reset: bool) -> int:
    status = 0
    while True:
        try:
            event = client.next_event()
            if event is h11.NEED_DATA:
                client.receive_data(connection.recv(65536))
        except h11.RemoteProtocolError as error:
            raise DefectError(f"no whole answer: {error}") from error
        except TimeoutError:
            raise DefectError("no answer") from None
        except ConnectionResetError:
            if status or may_be_reset:
                return status
            raise DefectError("reset without an answer") from None
        match event:
            case h11.Response():
                status = event.status_code
            case h11.EndOfMessage():
                return status


def _read_to_the_end(connection: socket.socket) -> None:
    """End our side and read whatever comes to broken requests. Raises DefectError."""
    data = bytearray()
    try:
        connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65536):
            data += chunk
    except TimeoutError:
        raise DefectError("a connection that its client has ended is still open") from None
    except OSError:  # A reset: bytes were left that nobody reads.
        pass
    if _5XX.search(data):
        raise DefectError(f"answered {bytes(data[:100])!r}")
