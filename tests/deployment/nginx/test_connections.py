"""Clients that hold connections do not keep nginx from answering other clients and probes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from tests.deployment.nginx.test_gateway import upstream
from tests.support.bodiless_calls import BodilessCall
from tests.support.gateway_client import new_code
from tests.support.nginx import Nginx, edited
from tests.support.processes import NO_TLS, TIMEOUT_SECONDS
from tests.support.waiting import wait_until

JSON = {"content-type": "application/json"}
LIMIT = 512
"""Maximum connections of one client, from deploy/nginx/connections.conf."""
UNFINISHED = (
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nhost: a\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"x" * 7000,
    b"POST /accessLink HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n{",
)
"""Requests that are never complete."""


class Flood:
    """Connections with requests that are never complete."""

    def __init__(self) -> None:
        self._open: list[socket.socket] = []

    def add(self, number: int, address: str, source: str) -> None:
        host, _, port = address.rpartition(":")
        for n in range(number):
            try:
                held = socket.create_connection(
                    (host.strip("[]"), int(port)), timeout=10, source_address=(source, 0)
                )
                held.sendall(UNFINISHED[n % len(UNFINISHED)])
            except (ConnectionError, TimeoutError):
                continue
            held.setblocking(False)
            self._open.append(held)

    def count(self) -> int:
        """Return the connections that nginx has not closed."""
        still = []
        for held in self._open:
            try:
                is_open = bool(held.recv(4096))
            except BlockingIOError:
                is_open = True
            except ConnectionError:
                is_open = False
            if is_open:
                still.append(held)
            else:
                held.close()
        self._open = still
        return len(still)

    def close(self) -> None:
        for held in self._open:
            held.close()


@contextmanager
def flood() -> Iterator[Flood]:
    with closing(Flood()) as made:
        yield made


def ask(address: str, path: str, source: str) -> int:
    """Return the status of a response on a new connection."""
    with closing(HTTPConnection(address, timeout=10, source_address=(source, 0))) as http:
        http.request("GET", path)
        response = http.getresponse()
        response.read()
        return response.status


PATIENT = (r"client_(header|body)_timeout \d+s", r"client_\1_timeout 600s")
"""Long timeouts, so that only the connection limit closes connections."""


def test_one_client_gets_only_its_share_of_connections(tmp_path: Path) -> None:
    web = Nginx(tmp_path, "127.0.0.1:9", "http://localhost")
    web.script = edited(tmp_path, PATIENT)
    with web, flood() as held:
        held.add(4 * LIMIT, web.address, "127.0.0.1")
        wait_until(lambda: held.count() <= LIMIT)
        for n in range(66):
            assert ask(web.address, "/", f"127.0.0.{2 + n}") == 200
        for path in ("/livez", "/readyz", "/metrics"):
            assert httpx.get(web.metrics_url + path, trust_env=False, verify=NO_TLS).is_success
        # A client can return after its connections are closed.
        held.close()
        wait_until(lambda: _is_served(web.address, "127.0.0.1"))


def _is_served(address: str, source: str) -> bool:
    try:
        return ask(address, "/", source) == 200
    except (ConnectionError, OSError):
        return False


def test_an_ipv6_network_counts_as_one_client(tmp_path: Path) -> None:
    port = _free_ipv6_port()
    listen = {"ATAJO_LISTEN": f"[::1]:{port}"}
    web = Nginx(tmp_path, "127.0.0.1:9", "http://localhost", settings=listen)
    web.script = edited(tmp_path, PATIENT)
    with web, flood() as held:
        held.add(2 * LIMIT, f"[::1]:{port}", "::1")
        wait_until(lambda: held.count() <= LIMIT)


def _free_ipv6_port() -> int:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
            port: int = server.getsockname()[1]
            return port
    except OSError:
        pytest.skip("This machine has no IPv6.")


def test_probes_are_answered_while_nginx_has_no_connection_left(tmp_path: Path) -> None:
    web = Nginx(tmp_path, "127.0.0.1:9", "http://localhost")
    web.script = edited(tmp_path, PATIENT, (r"worker_connections \d+", "worker_connections 64"))
    with web, flood() as held:
        for n in range(10):
            held.add(40, web.address, f"127.0.0.{2 + n}")
        for path in ("/livez", "/readyz"):
            assert httpx.get(web.metrics_url + path, trust_env=False, verify=NO_TLS).is_success


@pytest.mark.parametrize("setting", ["ATAJO_TRUSTED_PROXIES=127.0.0.1", "ATAJO_TRUSTED_HOPS=1"])
def test_behind_proxies_each_client_is_limited_and_no_proxy(tmp_path: Path, setting: str) -> None:
    limit, clients = 4, 8
    statuses: list[int] = []
    threads: list[threading.Thread] = []

    def visit(client: str) -> None:
        with closing(HTTPConnection(web.address, timeout=60)) as http:
            http.request("GET", f"/{new_code()}", headers={"x-forwarded-for": client})
            statuses.append(http.getresponse().status)

    def start(client: str) -> None:
        threads.append(threading.Thread(target=visit, args=(client,)))
        threads[-1].start()

    with upstream(answers=0) as server:
        gateway = f"127.0.0.1:{server.server_port}"
        web = Nginx(tmp_path, gateway, "http://localhost", settings=dict([setting.split("=")]))
        web.script = edited(tmp_path, (r"limit_conn requests \d+", f"limit_conn requests {limit}"))
        with web:
            try:
                for n in range(clients):
                    start(f"192.0.2.{n}")
                wait_until(lambda: server.requests == clients)
                for _ in range(2 * limit):
                    start("2001:db8::1")
                wait_until(lambda: len(statuses) == limit)
                assert statuses == [503] * limit
                wait_until(lambda: server.requests == clients + limit)
                start("192.0.2.77")
                wait_until(lambda: server.requests == clients + limit + 1)
            finally:
                server.held.set()
                for thread in threads:
                    thread.join()


LARGE_PATHS = ("/importLinks", "/checkImport", "/api/v1/links/bulk", "/api/v1/links")
LARGE_BYTES = 100_000


def send(web: Nginx, path: str, content: bytes | list[bytes], source: str = "127.0.0.1") -> int:
    """Return the status of the response to a body. A list is sent in chunks."""
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport, timeout=TIMEOUT_SECONDS) as http:
        return http.post(web.url + path, content=content, headers=JSON).status_code


def test_a_client_has_64_arriving_large_bodies_at_most(tmp_path: Path) -> None:
    """The gateway would read those that it refuses."""
    large = b"a" * LARGE_BYTES
    with upstream() as server, ExitStack() as stack:
        web = Nginx(tmp_path, f"127.0.0.1:{server.server_port}", "http://localhost")
        web.script = edited(tmp_path, PATIENT)
        stack.enter_context(web)
        kinds = [(path, size) for path in LARGE_PATHS for size in [LARGE_BYTES, None] * 8]
        assert len(kinds) == 64
        for path, size in kinds:
            call = stack.enter_context(BodilessCall(web.url, path, size=size))
            assert call.answer()[0] == 100
        for path in LARGE_PATHS:
            assert send(web, path, large) == send(web, path, [b"{", b"}"]) == 429
            assert send(web, path, large[1:]) == 200
            assert send(web, path, large, "127.0.0.2") == 200
        assert ask(web.address, "/api/v1/links", "127.0.0.1") == 200
        assert server.requests == 2 * len(LARGE_PATHS) + 1
        call.close()
        wait_until(lambda: send(web, LARGE_PATHS[0], large) == 200)
