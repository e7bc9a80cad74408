"""The status page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
import structlog

from gateway.support.edge import Edge
from services.links.domain.link import TooManyQueries
from tests.support.gateway_client import GatewayClient
from tests.support.in_process_gateway import InProcessGateway
from tests.support.in_process_services import ClientSpy
from tests.support.load_generator import fill_journal
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

ALL_WORKS = dict.fromkeys(("following", "shortening", "counting", "reading", "accounts"), "works")


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcessGateway]:
    """A gateway that checks its services 20 times a second."""
    monkeypatch.setattr("services.shared.observability.health._INTERVAL_SECONDS", 0.05)
    with InProcessGateway(tmp_path, journal_bytes=1 << 20) as gateway:
        yield gateway


def states_of(product: GatewayClient) -> dict[str, str]:
    response = product.http.get(f"{product.url}/status", headers={"accept": "application/json"})
    assert response.headers["content-type"] == "application/json"
    works: dict[str, str] = response.json()
    assert response.status_code == (200 if works["following"] == "works" else 503)
    return works


def has_states(product: GatewayClient, expected: dict[str, str]) -> bool:
    return states_of(product) == expected


def page(product: GatewayClient) -> httpx.Response:
    response = product.http.get(f"{product.url}/status", headers={"accept": "text/html,*/*;q=0.8"})
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return response


class Elements(HTMLParser):
    """The tags of a document with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_it_reports_that_everything_works(running: InProcessGateway) -> None:
    response = page(running)
    assert response.status_code == 200
    for words in (
        "All systems operational",
        "Short links work.",
        "Creating links works.",
        "Visit counting works: new visits are counted within 1 second.",
        "Link lists and statistics work.",
        "Login and registration work.",
    ):
        assert words in response.text
    assert states_of(running) == ALL_WORKS


def test_it_reports_failures_and_recoveries(running: InProcessGateway) -> None:
    code = running.shorten("https://example.com/")
    services: tuple[tuple[ClientSpy, dict[str, str], str], ...] = (
        (
            running.links,
            {"following": "partly", "shortening": "fails", "reading": "fails"},
            "Creating links does not work.",
        ),
        (
            running.auth,
            {"shortening": "partly", "reading": "partly", "accounts": "fails"},
            "who are not logged in",
        ),
        (
            running.analytics,
            {"counting": "partly", "reading": "partly"},
            "Visit counting is delayed: no visits are lost",
        ),
    )
    with structlog.testing.capture_logs() as logged:
        for service, works, words in services:
            service.away = True
            expected = ALL_WORKS | works
            wait_until(partial(has_states, running, expected), RECOVERY_SECONDS)
            response = page(running)
            assert words in response.text
            assert "Some features do not work" in response.text
            if service is running.links:
                assert (response.status_code, response.headers["retry-after"]) == (503, "2")
                assert running.visit(code).status_code == 302, "cached links work"
            service.away = False
            wait_until(lambda: states_of(running) == ALL_WORKS, RECOVERY_SECONDS)
    assert [line["event"] for line in logged if line["event"] == "dependency_away"]
    told_of_itself = [line for line in logged if line.get("route") == "/status"]
    assert told_of_itself == [], "a reported failure is not a failure of the page"


def test_it_reports_rejected_reads(
    running: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reject(*_: object) -> None:
        raise TooManyQueries("Too many searches at once.", retry_after=1)

    monkeypatch.setattr(running.links, "query", reject)
    refused = running.call("showLinks", {"guest": "g" * 43, "query": "a"})
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    wait_until(lambda: states_of(running) == ALL_WORKS | {"reading": "partly"}, RECOVERY_SECONDS)
    assert "some requests were rejected in the last minute" in page(running).text


def test_it_reports_that_visits_are_not_counted_while_the_journal_is_full(
    running: InProcessGateway,
) -> None:
    code = running.shorten("https://example.com/")
    running.analytics.away = True
    fill_journal(running.url, code)
    wait_until(lambda: states_of(running)["counting"] == "fails", RECOVERY_SECONDS)
    assert "current visits are not counted" in page(running).text
    running.analytics.away = False
    wait_until(lambda: states_of(running) == ALL_WORKS, RECOVERY_SECONDS)


def test_it_is_accessible_and_shows_no_details_of_the_deployment(product: Product) -> None:
    response = page(product)
    document = Elements(response.text)
    assert ("html", {"lang": "en"}) in document.tags
    assert ("meta", {"name": "color-scheme", "content": "light dark"}) in document.tags
    names = [tag for tag, _ in document.tags]
    assert [names.count(tag) for tag in ("title", "main", "h1")] == [1, 1, 1]
    assert not {"script", "style", "link", "img"} & set(names), (
        "the content security policy allows none inline"
    )
    assert not any("style" in attributes for _, attributes in document.tags)
    # No number except the seconds, no name of a process, no IP address.
    assert re.findall(r"\d+", document.text) == ["1"]
    for word in (
        "links service",
        "auth",
        "analytics",
        "mongo",
        "sqlite",
        "grpc",
        "127.",
        "version",
    ):
        assert word not in document.text.lower()
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["vary"] == "accept"
    for name, value in Edge.load().page_headers:
        assert response.headers[name.decode()] == value.decode()
    assert product.http.head(f"{product.url}/status").status_code == 200
    posted = product.http.post(f"{product.url}/status")
    assert posted.status_code == 404
