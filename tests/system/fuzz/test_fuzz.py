"""Random requests do no harm, and the fuzzer would detect harm."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import pytest

from tests.support.product import Product
from tests.system.fuzz import targets
from tests.system.fuzz.http_cases import case
from tests.system.fuzz.run import Fuzzing, fuzz
from tests.system.fuzz.targets import DefectError, PublicPort

SEED = 1


@pytest.mark.alone
def test_ten_seconds_of_random_requests_do_no_harm(tmp_path: Path) -> None:
    ends = fuzz(tmp_path, SEED, 10)
    assert all(counts.total() for counts in ends.values()), "a port was sent nothing"
    assert {"200", "302", "400", "404"} <= set(ends.pop("public"))
    for port, codes in ends.items():
        # Calls of administration are refused first.
        assert {"INVALID_ARGUMENT", "PERMISSION_DENIED"} & set(codes), f"{port} read no message"


class _Server(socketserver.ThreadingTCPServer):
    """A server that does not wait for its connections: gRPC keeps an unanswered one for 20 s."""

    daemon_threads = True


@contextmanager
def _server_that_answers(data: bytes | None) -> Iterator[str]:
    """Run a server that answers each request with the same bytes, or never."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(ConnectionError):
                while received := self.request.recv(65536):
                    if data is not None and b"\r\n\r\n" in received:
                        self.request.sendall(data)
                        return

    with _Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "answered 503"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "no whole answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nno header\r\n\r\n", "no whole answer"),
        (b"", "no whole answer"),
    ],
)
def test_a_wrong_response_is_a_defect(answer: bytes, message: str) -> None:
    # A well-framed request of one piece.
    number = next(n for n in range(100) if _is_plain(n))
    with _server_that_answers(answer) as address, pytest.raises(DefectError, match=message):
        PublicPort(address, SEED, "token").send(number)


def _is_plain(number: int) -> bool:
    one = case(SEED, number, "token")
    return one.methods == (b"GET",) and len(one.pieces) == 1


class _Silent:
    """A product whose ports are all one that never answers."""

    def __init__(self, address: str) -> None:
        self._address = address

    def address(self, name: str) -> str:
        return self._address

    admin_address = address


def test_a_defect_that_shows_only_at_the_end_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "TIMEOUT_SECONDS", 0.5)
    with (
        _server_that_answers(None) as address,
        pytest.raises(DefectError),
        Fuzzing(cast(Product, _Silent(address)), SEED, "token"),
    ):
        pass  # Its first cases are running, and nothing waits for their end.


def test_a_case_is_identified_by_its_number() -> None:
    assert case(SEED, 7, "token") == case(SEED, 7, "token")
    assert case(SEED, 7, "token") != case(SEED + 1, 7, "token")
