"""A service that is killed or frozen: what works, what is refused, and how fast."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import httpx
import pytest

from gateway.backends.auth import AuthClient
from gateway.backends.view_counts import RETRY_SECONDS
from services.shared.errors import Unauthenticated, Unavailable
from services.shared.rpc import channels
from tests.support.gateway_client import BROWSER, new_code, registration
from tests.support.processes import NO_TLS
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

RESOLVE_SECONDS = 2.0
CALL_SECONDS = 5.0
LEEWAY = 1.5
"""Seconds, on a busy machine."""
SHORT_CACHE = {"ATAJO_CACHE_FRESH_SECONDS": "0.3", "ATAJO_CACHE_STALE_SECONDS": "0.3"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product(tmp_path_factory.mktemp("shared"), SHORT_CACHE) as product:
        product.start()
        yield product


@pytest.fixture
def running(shared: Product) -> Iterator[Product]:
    """Return the product. Restarts what a test stopped."""
    yield shared
    shared.revive()


@contextmanager
def away(product: Product, name: str, how: str) -> Iterator[None]:
    """Kill or freeze a service while the block lasts."""
    if how == "killed":
        product.kill(name)
        yield
        product.start(name)
    else:
        with product.suspended(name):
            yield


def timed(ask: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    started = time.monotonic()
    response = ask()
    return response, time.monotonic() - started


def refused(response: httpx.Response) -> str:
    """Return the status of a callable error that asks to retry later."""
    status: str = response.json()["error"]["status"]
    assert (response.status_code, status) in ((503, "UNAVAILABLE"), (504, "DEADLINE_EXCEEDED"))
    assert "traceback" not in response.text.lower()
    return status


def median_and_maximum(product: Product, code: str, times: int) -> tuple[float, float]:
    """Return the seconds of consecutive redirects, each of which must succeed."""
    seconds = []
    for _ in range(times):
        response, took = timed(lambda: product.visit(code))
        assert response.status_code == 302
        seconds.append(took)
    return sorted(seconds)[len(seconds) // 2], max(seconds)


KILLED = pytest.param("killed", marks=pytest.mark.slow)
"""Callers notice a process that is frozen later than one that is killed."""


@pytest.mark.parametrize("how", [KILLED, "frozen"])
def test_links_away(running: Product, how: str) -> None:
    token = running.log_in(running.register())
    known = [running.shorten(f"https://example.com/{n}", token) for n in range(3)]
    for code in known:
        assert running.visit(code).status_code == 302
    with away(running, "links", how):
        # First while entries are fresh, then beyond all their limits.
        for pause in (0.0, 1.0):
            time.sleep(pause)
            for code in known:
                _, maximum = median_and_maximum(running, code, 20)
                assert maximum < RESOLVE_SECONDS, "a code in memory waits for nobody"
        unknown, seconds = timed(lambda: running.visit(new_code()))
        assert unknown.status_code == 503
        assert int(unknown.headers["retry-after"]) >= 1
        assert unknown.headers["content-type"].startswith("text/html")
        assert seconds < RESOLVE_SECONDS + LEEWAY
        link = {"code": new_code(), "url": "https://example.com", "token": token}
        created, seconds = timed(lambda: running.call("createShortLink", link))
        refused(created)
        assert seconds < CALL_SECONDS + LEEWAY
        refused(running.call("accessLink", {"code": new_code()}))
        assert running.data("accessLink", {"code": known[0]})["longUrl"]
    wait_until(lambda: running.visit(new_code()).status_code == 404, RECOVERY_SECONDS)
    wait_until(lambda: running.call("createShortLink", link).status_code == 200, RECOVERY_SECONDS)
    # A refused request is no visit, and the function's caller is no person.
    wait_until(
        lambda: running.views(token) == {**dict.fromkeys(known, 41), link["code"]: 0},
        RECOVERY_SECONDS,
    )


@pytest.mark.parametrize("how", [KILLED, "frozen"])
def test_auth_away(running: Product, how: str) -> None:
    email = running.register()
    token = running.log_in(email)
    code = running.shorten("https://example.com/", token)
    account = registration(f"{new_code()}@example.com")
    log_in = {"email": email, "password": "Camino-42"}
    link = {"code": new_code(), "url": "https://example.com", "token": token}
    post = partial(httpx.post, timeout=70)
    with away(running, "auth", how), ThreadPoolExecutor(4) as askers:
        asked = [
            askers.submit(timed, partial(post, f"{running.url}/{name}", json={"data": data}))
            for name, data in (
                ("createShortLink", link),
                ("showProfile", {"token": token}),
                ("registerUser", account),
                ("verifyUser", log_in),
            )
        ]
        _, maximum = median_and_maximum(running, code, 100)
        assert maximum < RESOLVE_SECONDS
        assert running.shorten("https://example.com/anonymous"), "nobody's links need no account"
        *quick, logged_in = asked
        for answer in quick:
            response, seconds = answer.result()
            refused(response)
            assert seconds < CALL_SECONDS + LEEWAY
        response, seconds = logged_in.result()
        refused(response)
        # A log-in may queue for a minute, but a silent service is detected sooner.
        assert seconds < (channels.KEEPALIVE_MS + channels.KEEPALIVE_TIMEOUT_MS) / 1000 + LEEWAY
    wait_until(lambda: running.call("createShortLink", link).status_code == 200, RECOVERY_SECONDS)
    wait_until(lambda: running.call("verifyUser", log_in).status_code == 200, RECOVERY_SECONDS)
    assert running.data("registerUser", account) == {"success": True}
    wait_until(lambda: running.views(token)[code] == 100, RECOVERY_SECONDS)


async def test_a_long_call_detects_a_silent_service(
    running: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "KEEPALIVE_MS", 1000)
    monkeypatch.setattr(channels, "KEEPALIVE_TIMEOUT_MS", 500)
    auth = AuthClient(running._addresses["auth"])
    with pytest.raises(Unauthenticated):
        await auth.account_of("no token")
    with away(running, "auth", "frozen"):
        started = time.monotonic()
        with pytest.raises(Unavailable):
            await auth.login("somebody@example.com", "Camino-42", "", "")
        assert time.monotonic() - started < 10
    await auth.close()


@pytest.mark.parametrize("how", [KILLED, "frozen"])
def test_analytics_away(running: Product, how: str) -> None:
    token = running.log_in(running.register())
    code = running.shorten("https://example.com/", token)
    with away(running, "analytics", how):
        _, maximum = median_and_maximum(running, code, 300)
        assert maximum < RESOLVE_SECONDS
        running.shorten("https://example.com/more", token)
        profile, seconds = timed(lambda: running.call("showProfile", {"token": token}))
        assert [link["views"] for link in profile.json()["data"]["data"]] == [None, None]
        assert seconds < CALL_SECONDS + LEEWAY
        _, seconds = timed(lambda: running.call("showProfile", {"token": token}))
        assert seconds < CALL_SECONDS, "it is not waited for again and again"
    wait_until(lambda: running.views(token)[code] == 300, RETRY_SECONDS + 5.0)
    wait_until(lambda: running.metric("atajo_visits_pending") == 0, RECOVERY_SECONDS)
    assert running.views(token)[code] == 300, "what was resent counts once"


@pytest.mark.alone
def test_a_restarted_service_is_used_within_two_seconds(running: Product) -> None:
    """Long after it stopped, when the client's backoff has reached its maximum."""
    running.kill("links")
    until = time.monotonic() + 5
    while time.monotonic() < until:
        assert running.visit(new_code()).status_code == 503
        time.sleep(0.05)
    running.start("links")
    started = time.monotonic()
    wait_until(lambda: running.visit(new_code()).status_code == 404, RECOVERY_SECONDS)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("how", [KILLED, "frozen"])
def test_the_gateway_stops_gracefully_while_analytics_is_down(running: Product, how: str) -> None:
    token = running.log_in(running.register())
    code = running.shorten("https://example.com/", token)
    before = running.logs().count("visits_left_in_journal")
    with away(running, "analytics", how):
        for _ in range(50):
            assert running.visit(code).status_code == 302
        with ThreadPoolExecutor(1) as asker:
            waiting = asker.submit(running.call, "showProfile", {"token": token})
            time.sleep(0.2)
            started = time.monotonic()
            assert running.stop("gateway") == 0
            assert time.monotonic() - started < 5
            waiting.exception()
        assert running.logs().count("visits_left_in_journal") == before + 1
    running.start("gateway")
    running.http.close()
    running.http = httpx.Client(timeout=30, verify=NO_TLS)
    wait_until(lambda: running.views(token)[code] == 50, RECOVERY_SECONDS)


def test_clients_that_disconnect_or_never_finish_harm_nobody(
    running: Product,
) -> None:
    token = running.log_in(running.register())
    code = running.shorten("https://example.com/", token)
    host, _, port = running.url.removeprefix("http://").partition(":")
    address = (host, int(port))
    request = f"GET /{code} HTTP/1.1\r\nhost: x\r\nuser-agent: {BROWSER}\r\n\r\n".encode()
    with away(running, "links", "frozen"):
        # Some disconnect in the middle of a request, some while waiting, some after the response.
        for asked in (request[:20], f"GET /{new_code()} HTTP/1.1\r\nhost: x\r\n\r\n".encode()):
            for _ in range(50):
                with socket.create_connection(address) as leaving:
                    leaving.sendall(asked)
    idle = [socket.create_connection(address) for _ in range(500)]
    try:
        slow = idle[:100]

        def dribble() -> None:
            for byte in f"GET /{code} HTTP/1.1\r\nhost: x".encode():
                for connection in slow:
                    connection.send(bytes([byte]))
                time.sleep(0.02)

        dribbler = threading.Thread(target=dribble)
        dribbler.start()
        _, maximum = median_and_maximum(running, code, 200)
        assert maximum < RESOLVE_SECONDS
        dribbler.join()
        dribbled = slow[0]
        dribbled.sendall(f"\r\nuser-agent: {BROWSER}\r\n\r\n".encode())
        assert dribbled.recv(4096).startswith(b"HTTP/1.1 302"), "who was slow is answered too"
    finally:
        for connection in idle:
            connection.close()
    wait_until(lambda: running.views(token)[code] == 201, RECOVERY_SECONDS)
    assert running.stop("gateway") == 0


@pytest.mark.alone
def test_redirects_continue_during_a_burst_of_log_ins(running: Product) -> None:
    email = running.register()
    code = running.shorten("https://example.com/")
    log_in = {"data": {"email": email, "password": "Camino-42"}}
    with (
        httpx.Client(
            timeout=70,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=100),
            verify=NO_TLS,
        ) as many,
        ThreadPoolExecutor(100) as askers,
    ):
        asked = [
            askers.submit(many.post, f"{running.url}/verifyUser", json=log_in) for _ in range(50)
        ]
        median, maximum = median_and_maximum(running, code, 200)
        assert any(not answer.done() for answer in asked), "the burst was over too soon to tell"
        assert median < 0.5
        assert maximum < 2.0
        assert all(answer.result().status_code == 200 for answer in asked)
