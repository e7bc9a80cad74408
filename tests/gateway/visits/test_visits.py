"""Facts about visitors on every request path, and what the journal stores of them."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote

import pytest

from gateway.visits.journal import lines
from services.analytics.domain.visits import Dimension
from tests.support.country_database import write_country_database
from tests.support.gateway_client import GatewayClient
from tests.support.in_process_gateway import InProcessGateway
from tests.support.waiting import wait_until

PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
)
PERUVIAN = {
    "User-Agent": PHONE,
    "Accept-Language": "es-PE,es;q=0.9",
    "X-Forwarded-For": "198.51.100.7, 192.0.2.9",
}
KNOWN = {
    Dimension.DEVICE: "phone",
    Dimension.BROWSER: "Safari",
    Dimension.SYSTEM: "iOS",
    Dimension.LANGUAGE: "es",
    Dimension.COUNTRY: "PE",
}
TRUSTED = "127.0.0.0/8,::1/128"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    """A gateway behind a trusted proxy, with countries for two networks."""
    folder = tmp_path_factory.mktemp("visits")
    countries = folder / "countries.mmdb"
    networks = {"192.0.2.0/24": "PE", "198.51.100.0/24": "CL"}
    write_country_database(
        countries, {net: {"country": {"iso_code": c}} for net, c in networks.items()}
    )
    with InProcessGateway(folder, trusted_proxies=TRUSTED, countries_file=countries) as gateway:
        yield gateway


def rows(gateway: InProcessGateway, code: str) -> list[dict[Dimension, str]]:
    """Return the known facts of each row that was counted for a link."""
    total_of = [visit for visit in gateway.analytics.visits if visit.code == code]
    return [{of: name for of, name in visit.names.items() if name} for visit in total_of]


def total_of(gateway: InProcessGateway, code: str) -> int:
    return sum(visit.count for visit in gateway.analytics.visits if visit.code == code)


def send(client: GatewayClient, request: str) -> None:
    """Send exactly this request, and wait for the whole response."""
    port = int(client.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request.encode("latin-1"))
        answer = b""
        while not (received := answer).endswith(b"Redirecting...") and b'"longUrl"' not in received:
            answer += connection.recv(65_536)
            assert answer != received, received


def request(line: str, headers: dict[str, str], body: str = "") -> str:
    told = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{line} HTTP/1.1\r\nhost: x\r\n{told}\r\n{body}"


def call_of_access_link(code: str) -> str:
    body = json.dumps({"data": {"code": code}})
    sized = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
    return request("POST /accessLink", {**PERUVIAN, **sized}, body)


WAYS: dict[str, Callable[[str], str]] = {
    "from memory": lambda code: request(f"GET /{code}", PERUVIAN),
    "through the application": lambda code: request(
        f"GET /{code}", {**PERUVIAN, "Connection": "close"}
    ),
    "by the function": call_of_access_link,
    "header sent twice": lambda code: request(
        f"GET /{code}",
        {
            **PERUVIAN,
            "X-Forwarded-For": "198.51.100.7",
            "x-forwarded-for": "192.0.2.9",
        },
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_facts_are_the_same_on_every_request_path(gateway: InProcessGateway, way: str) -> None:
    code = gateway.shorten("https://example.com/")
    send(gateway, request(f"GET /{code}", PERUVIAN))  # It may be looked up.
    send(gateway, WAYS[way](code))
    wait_until(lambda: total_of(gateway, code) == 2)
    assert rows(gateway, code) in ([KNOWN], [KNOWN, KNOWN])
    visitors = [who for (_, of), who in gateway.analytics.visitors.items() if of == code]
    assert len(set().union(*visitors)) == 1


def test_unknown_dimensions_and_the_key_have_metrics(gateway: InProcessGateway) -> None:
    code = gateway.shorten("https://example.com/")
    before = {
        name: gateway.metric("atajo_visits_unknown_total", dimension=name)
        for name in ("browser", "country")
    }
    gateway.visit(code, {"user-agent": "Mozilla/5.0 (of nobody)", "x-forwarded-for": "192.0.2.1"})
    gateway.visit(code, {"x-forwarded-for": "203.0.113.1"})
    gateway.visit(code, {"x-forwarded-for": "203.0.113.1"})
    gateway.visit(code, {"user-agent": "curl/8"})
    for name, people in (("browser", 1), ("country", 2)):
        wait_until(
            lambda name=name, people=people: (  # type: ignore[misc]
                gateway.metric("atajo_visits_unknown_total", dimension=name)
                == before[name] + people
            )
        )
    assert gateway.metric("atajo_visitor_key_known") == 1
    assert gateway.metric("atajo_visitor_key_requests_total", result="changed") == 1


MARKED = ("203.0.113.77", "2001:db8:feed:face:1234:5678:9abc:def0")
MARKS = {
    "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7 markone) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.1 Safari/605.1.15 Marktwo/1.0 (marktri)",
    "referer": "https://markfour:markfive@news.example:8443/marksix?markseven=1#markeight",
    "accept-language": "es-marknine;q=0.9, marktenn;q=0.8",
    "cookie": "markeleven=1",
}


def test_nothing_of_a_person_is_in_the_journal(tmp_path: Path) -> None:
    with InProcessGateway(tmp_path, trusted_proxies=TRUSTED) as gateway:
        code = gateway.shorten("https://example.com/")
        gateway.analytics.away = True
        for address in MARKED:
            gateway.visit(code, {**MARKS, "x-forwarded-for": f"198.51.100.99, {address}"})
            gateway.visit(code, {**MARKS, "x-forwarded-for": address, "user-agent": "Mozilla/5.0 "
                                 "(X11; Linux; markone) Marktwo/1 Chrome/1.0 mark3"})  # fmt: skip
    kept = b"".join(path.read_bytes() for path in (tmp_path / "journal").iterdir())
    assert kept.count(b"\n") == 4
    text = kept.decode("ascii").lower()
    assert "mark" not in text
    assert "198.51.100.99" not in text
    for marked in map(ip_address, MARKED):
        for form in (str(marked), marked.exploded, quote(str(marked)), marked.packed.hex()):
            assert form.lower() not in text
        assert marked.packed not in kept
    visits = [visit for visit in map(lines.visit_of, kept.splitlines()) if visit]
    assert len(visits) == 4
    assert {visit.referrer_host for visit in visits} == {"news.example"}
    facts = {lines.facts_of(visit.facts) for visit in visits}
    assert facts == {
        lines.Facts("desktop", "Safari", "macOS", "es"),
        lines.Facts("desktop", "Chrome", "Linux", "es"),
    }
