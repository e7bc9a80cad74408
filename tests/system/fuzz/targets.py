"""The ports of a product, which receive cases and whose responses are checked."""

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
"""Seconds after which a response counts as missing."""

_5XX = re.compile(rb"HTTP/1\.1 5\d\d ")
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER value that closes a connection with a reset, which may lose sent data."""
_BLOCKING_BYTES = 30_000
"""Bytes that a socket accepts at once. Larger requests are sent while reading responses."""
_NOISE_EVERY = 20
"""One in so many cases of a gRPC port is not gRPC."""
# Codes of errors that are not the caller's fault.
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
    """A response to a case is not allowed."""


class PublicPort:
    """The gateway's HTTP port. `token` is a session token that some cases contain."""

    def __init__(self, address: str, seed: int, token: str) -> None:
        self._address = _split(address)
        self._seed = seed
        self._token = token

    def close(self) -> None:
        """Nothing to close: each case had its own connection."""

    def send(self, number: int) -> list[str]:
        """Send a case and return the statuses of the responses. Raises DefectError, OSError."""
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
    """One of a service's gRPC ports."""

    def __init__(self, address: str, seed: int, service: ServiceDescriptor) -> None:
        self._target = address
        self._seed = seed
        self._service = service
        self._channel = grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)])

    def send(self, number: int) -> list[str]:
        """Send a case and return its result. Raises DefectError, OSError."""
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
        if code in _FAULTS and not _is_for_later_version(error):
            raise DefectError(f"{case.path} ended with {code.name}: {error.details()}")
        return [code.name]

    def _call(self, case: rpc_cases.RpcCase) -> grpc.RpcError | None:
        channel: Any = self._channel  # Its types do not allow raw bytes.
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
        """Send bytes that are not gRPC, or not any more."""
        chance = random.Random(f"noise {self._seed} {number}")
        start = chance.choice((b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"))
        with socket.create_connection(_split(self._target), timeout=TIMEOUT_SECONDS) as connection:
            _send(connection, (start + chance.randbytes(chance.randint(0, 2000)),))


def _was_let_go(error: grpc.RpcError) -> bool:
    """Return whether the service closed the call's connection because of its age.

    A service closes each connection after a while, so that callers spread over its replicas. A
    message above its limit of 4 MiB is refused before it is read completely. If the connection is
    closed at the same time, the caller may see that instead of the refusal.
    """
    code: grpc.StatusCode = error.code()
    return code is grpc.StatusCode.UNAVAILABLE and "max_age" in (error.details() or "")


def _is_for_later_version(error: grpc.RpcError) -> bool:
    """Return whether analytics took random values for those of a later version of the gateway.

    Only a later version of analytics can count such a batch, so it is unavailable until then.
    """
    metadata: Any = error.trailing_metadata()
    return b"LATER_VERSION" in dict(metadata).get("grpc-status-details-bin", b"")


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _send(connection: socket.socket, pieces: Sequence[bytes]) -> None:
    try:
        for piece in pieces:
            connection.sendall(piece)
    except OSError:  # It was refused early; the response says why.
        return


def _answers(
    connection: socket.socket, methods: Sequence[bytes], *, may_be_reset: bool
) -> Iterator[int]:
    """Return the statuses of responses to well-framed requests, parsed strictly by h11.

    They end early if one of them ends the connection. 0 stands for a reset instead of a response.
    Raises DefectError, also for more responses than requests.
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
    """Close our side and read all responses to broken requests. Raises DefectError."""
    data = bytearray()
    try:
        connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65536):
            data += chunk
    except TimeoutError:
        raise DefectError("a connection that its client has ended is still open") from None
    except OSError:  # A reset, because of unread bytes.
        pass
    if _5XX.search(data):
        raise DefectError(f"answered {bytes(data[:100])!r}")
