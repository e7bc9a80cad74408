"""Processes killed during visits and creations: nothing is lost or counted twice."""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import cast

import httpx
import pytest

from tests.support.gateway_client import BROWSER, new_code
from tests.support.http_connection import Connection, NotReachedError
from tests.support.load_generator import Load
from tests.support.nginx import start_gateway
from tests.support.processes import NO_TLS, TIMEOUT_SECONDS
from tests.support.product import PROCESSES, Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product(tmp_path_factory.mktemp("shared")) as product:
        product.start()
        yield product


@pytest.fixture
def product(shared: Product) -> Iterator[Product]:
    """Return the product. Restarts what a test killed."""
    yield shared
    shared.revive()


@pytest.mark.timeout(240)
def test_each_process_killed_in_turn_and_all_at_once(product: Product) -> None:
    token = product.log_in(product.register())
    codes = [product.shorten(f"https://example.com/{n}", token) for n in range(10)]
    with Load(product, token, codes, visitors=3, makers=2) as load:
        for name in PROCESSES:
            load.await_more(visits=100, created=10)
            product.kill(name)
            if name in ("auth", "analytics"):
                load.await_more(visits=100)  # Redirects continue without them.
            elif name == "links":
                load.await_more(visits=100)  # From the cache.
            product.start(name)
        load.await_more(visits=100, created=10)
        product.kill()
        product.start()
        load.await_more(visits=100, created=10)
    assert load.unanswered.total() <= 3 * 2 * 4, "a few a visitor and kill of the gateway"
    load.check_created_and_counted()


@pytest.mark.timeout(240)
def test_the_gateway_killed_many_times(product: Product) -> None:
    token = product.log_in(product.register())
    codes = [product.shorten(f"https://example.com/{n}", token) for n in range(3)]
    with Load(product, token, codes, visitors=4, makers=0) as load:
        for turn in range(8):
            load.await_more(visits=25 * (turn % 4 + 1))
            product.kill("gateway")
            product.start("gateway")
        load.await_more(visits=50)
    load.check_created_and_counted()


def visit_until_killed(product: Product, code: str, at_once: int, answers: int) -> tuple[int, int]:
    """Send many visits per turn of the gateway's loop, and kill it after a number of responses.

    Returns how many visits were sent and how many were answered.
    """
    request = f"GET /{code} HTTP/1.1\r\nhost: x\r\nuser-agent: {BROWSER}\r\n\r\n".encode()
    address = ("127.0.0.1", int(product.url.rpartition(":")[2]))
    sent = answered = 0
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for _ in range(8):
            connection = stack.enter_context(socket.create_connection(address, timeout=10))
            selector.register(connection, selectors.EVENT_READ, bytearray())
            connection.sendall(request * at_once)
            sent += at_once
        killed = False
        while open_connections := len(selector.get_map()):
            ready = selector.select(TIMEOUT_SECONDS)
            assert ready, f"{open_connections} connections say nothing"
            for key, _ in ready:
                connection, received = cast(socket.socket, key.fileobj), key.data
                try:
                    data = connection.recv(65_536)
                except ConnectionResetError:
                    data = b""
                received += data
                if not data:
                    selector.unregister(connection)
                complete = received.count(b"Redirecting...")
                if complete:
                    del received[: received.rfind(b"Redirecting...") + len(b"Redirecting...")]
                    answered += complete
                    if not killed:
                        connection.sendall(request * complete)
                        sent += complete
            if answered >= answers and not killed:
                product.kill("gateway")
                killed = True
    return sent, answered


async def make_at_once(
    product: Product, token: str, links: dict[str, str], kill_at: int = -1
) -> int:
    """Create links concurrently. Returns how many creations were acknowledged.

    links is killed once it created `kill_at` of them.
    """
    answers: list[int] = []

    async def make(http: httpx.AsyncClient, code: str, url: str) -> None:
        data = {"code": code, "url": url, "token": token}
        answer = await http.post("/createShortLink", json={"data": data})
        assert answer.status_code == 503 or answer.json()["data"]["success"], answer.text
        answers.append(answer.status_code)
        if answer.status_code == 200 and answers.count(200) == kill_at:
            product.kill("links")

    bounds = httpx.Limits(max_connections=len(links))
    async with httpx.AsyncClient(
        base_url=product.url, timeout=TIMEOUT_SECONDS, limits=bounds, verify=NO_TLS
    ) as http:
        await asyncio.gather(*(make(http, code, url) for code, url in links.items()))
    return answers.count(200)


def all_made_at_once(product: Product, token: str, links: dict[str, str]) -> bool:
    """Create links concurrently. Returns whether none was refused."""
    return asyncio.run(make_at_once(product, token, links)) == len(links)


@pytest.mark.timeout(240)
def test_links_killed_during_concurrent_creations(product: Product) -> None:
    """Concurrent creations share a call. A refused client repeats, as the page does. Then the link
    exists once, whether or not the first call created it."""
    token = product.log_in(product.register())
    links: dict[str, str] = {}
    refused = 0
    # On a busy machine, all creations may share a call that the kill does not reach.
    for number, made in enumerate((1, 20, 60, *range(2, 12))):
        if refused and number >= 3:
            break
        some = {new_code(): f"https://example.com/{made}/{n}" for n in range(120)}
        refused += len(some) - asyncio.run(make_at_once(product, token, some, kill_at=made))
        links |= some
        product.revive()
        wait_until(partial(all_made_at_once, product, token, some), RECOVERY_SECONDS)
    assert refused, "every link was made ahead of the kill"
    for code, url in links.items():
        assert product.data("accessLink", {"code": code})["longUrl"] == [{"long_link": url}]
    assert product.views(token) == dict.fromkeys(links, 0)


@pytest.mark.timeout(240)
def test_the_gateway_killed_during_many_visits_of_one_turn(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    assert product.visit(code).status_code == 302
    sent = answered = 1
    for turn in range(10):
        more = visit_until_killed(product, code, at_once=turn % 5 + 1, answers=500 + 37 * turn)
        sent += more[0]
        answered += more[1]
        product.start("gateway")
    wait_until(lambda: product.metric("atajo_visits_restoring") == 0, RECOVERY_SECONDS)
    wait_until(lambda: product.metric("atajo_visits_pending") == 0, RECOVERY_SECONDS)
    assert answered <= product.views(token)[code] <= sent
    assert product.metric("atajo_visits_lost_total") == 0


def test_a_clean_stop_leaves_no_visit_uncounted(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    for _ in range(30):
        assert product.visit(code).status_code == 302
    assert product.stop("gateway") == 0
    for name in ("reconciler", "auth", "links", "analytics"):
        assert product.stop(name) == 0
    product.start()
    assert product.views(token) == {code: 30}, "they were there before the gateway came back"


def test_a_connection_that_is_not_told_of_the_end_is_answered_nothing_that_is_not_counted(
    product: Product, tmp_path: Path
) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    settings = {"ATAJO_DRAIN_SECONDS": "0.2"}
    with start_gateway(product, tmp_path, settings, "tests.system.untold") as ending:
        connection = Connection(f"http://{ending.addresses['http']}", TIMEOUT_SECONDS)
        answered = 0
        with product.suspended("analytics"):  # So that its stop takes long enough.
            with suppress(NotReachedError, OSError):
                while connection.ask("GET", f"/{code}")[0] == 302:
                    answered += 1
                    if answered == 20:
                        ending.terminate()
            assert ending.wait() == 0
        assert "visits_lost" not in ending.stderr()
    connection.close()
    with start_gateway(product, tmp_path, settings):
        product.await_views(token, {code: answered})


def test_redirects_do_not_wait_for_analytics(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    product.kill("analytics")
    for _ in range(200):
        assert product.visit(code).status_code == 302
    profile = product.data("showProfile", {"token": token})
    assert [link["views"] for link in profile["data"]] == [None]
    product.start("analytics")
    wait_until(lambda: product.views(token)[code] == 200, RECOVERY_SECONDS)


def test_without_links_cached_codes_work_and_others_are_503(product: Product) -> None:
    known = product.shorten("https://example.com/")
    product.kill("links")
    assert product.visit(known).status_code == 302
    unknown = product.visit("zzzzzzzz")
    assert unknown.status_code == 503
    assert int(unknown.headers["retry-after"]) >= 1
    assert unknown.headers["content-type"].startswith("text/html")
    link = {"code": "yyyyyyyy", "url": "https://example.com", "token": None}
    created = product.call("createShortLink", link)
    assert (created.status_code, created.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert product.data("verifyUser", {"email": "a@b.c", "password": "x"})["error"]
    product.start("links")
    wait_until(lambda: product.visit("zzzzzzzz").status_code == 404, RECOVERY_SECONDS)
