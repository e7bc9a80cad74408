"""Links of every length through nginx: the gateway's Location, and every visit counted once."""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from gateway.support.edge import Edge
from services.links.domain.url import MAX_URL_LENGTH
from tests.support.gateway_client import BROWSER, new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.nginx import Nginx
from tests.support.waiting import RECOVERY_SECONDS, wait_until

LINKS = 1000
GUEST = {"guest": "g" * 43}
ALPHABETS = {
    "ASCII": [chr(point) for point in range(0x21, 0x7F)],
    "Latin": [chr(point) for point in range(0xC0, 0x180)],
    "Cyrillic": [chr(point) for point in range(0x410, 0x450)],
    "Arabic": [chr(point) for point in range(0x620, 0x64B)],
    "Devanagari": [chr(point) for point in range(0x905, 0x93A)],
    "Chinese": [chr(point) for point in range(0x4E00, 0x9FA6)],
    "emoji": [chr(point) for point in range(0x1F300, 0x1F5FF)],
    "every plane": [chr(point) for point in (*range(0x3041, 0x3097), *range(0x20000, 0x20100))],
}
PLACES = ("example.com/", "https://example.com/?q=", "https://example.com/#", "http://example.com/")
LIMIT = Edge.load().redirect_header_bytes


def filled(start: str, alphabet: list[str], length: int, chance: random.Random) -> str:
    """Return a URL that begins with `start` and has `length` characters."""
    return start + "".join(chance.choices(alphabet, k=length - len(start)))


def urls(chance: random.Random) -> Iterator[str]:
    """Yield URLs. The first are the longest of each alphabet and part of a URL."""
    for alphabet in ALPHABETS.values():
        for place in PLACES:
            yield filled(place, alphabet, MAX_URL_LENGTH, chance)
    # The character that takes the most bytes in a host.
    yield f"https://{'㌖。' * 490}example.com/"
    yield filled("a/", ["\U0010fffd"], MAX_URL_LENGTH, chance)
    while True:
        alphabet = chance.choice(list(ALPHABETS.values()))
        host = "".join(chance.choices(alphabet, k=chance.randint(1, 20)))
        place = chance.choice([*PLACES, f"https://{host}.example/"])
        yield filled(place, alphabet, chance.randint(len(place) + 1, MAX_URL_LENGTH), chance)


@dataclass(frozen=True)
class Followed:
    """A short URL to follow."""

    code: str
    counts: bool
    """Whether a visit counts. Visits of an expired link do not."""


def make_links(gateway: InProcessGateway, chance: random.Random) -> list[Followed]:
    """Return links to the first accepted URLs: every third followed after expiry, every third by
    its scan code."""
    made: list[Followed] = []
    for url in urls(chance):
        code = new_code()
        if gateway.call("createShortLink", {**GUEST, "code": code, "url": url}).is_error:
            continue
        kind = len(made) % 3
        if kind == 1:
            changes = {"expires_at": "2020-01-01T00:00:00Z", "ended_url": url}
            gateway.data("changeLink", {**GUEST, "code": code, "changes": changes})
        elif kind == 2:
            code = gateway.data("createScanCode", {**GUEST, "code": code})["scan_code"]
        made.append(Followed(code, counts=kind != 1))
        if len(made) == LINKS:
            return made
    raise AssertionError("URLs do not end.")


def follow(http: HTTPConnection, code: str) -> tuple[int, str | None]:
    """Return status and Location. Clients that parse URLs refuse some that browsers accept."""
    http.request("GET", f"/{code}", headers={"user-agent": BROWSER})
    response = http.getresponse()
    response.read()
    return response.status, response.getheader("location")


def test_nginx_follows_every_accepted_url_as_the_gateway_does_and_each_visit_counts_once(
    tmp_path: Path,
) -> None:
    chance = random.Random(20)
    with (
        InProcessGateway(tmp_path, limits="off") as gateway,
        Nginx(tmp_path, gateway.url.removeprefix("http://"), gateway.url) as web,
        closing(HTTPConnection(gateway.url.removeprefix("http://"), timeout=30)) as direct,
        closing(HTTPConnection(web.address, timeout=30)) as proxied,
    ):
        made = make_links(gateway, chance)
        expected: Counter[str] = Counter()
        for link in made:
            by_gateway, by_nginx = follow(direct, link.code), follow(proxied, link.code)
            assert by_nginx == by_gateway
            assert by_gateway[0] == 302
            expected[link.code] += 2 * link.counts

        def counted() -> Counter[str]:
            counts: Counter[str] = Counter()
            for visit in list(gateway.analytics.visits):
                counts[visit.code] += visit.count
            return counts

        total = expected.total()
        wait_until(lambda: counted().total() >= total, RECOVERY_SECONDS)
        assert counted().total() == total


def test_the_buffer_for_a_redirect_is_what_the_longest_url_needs(tmp_path: Path) -> None:
    """Four kilobytes less are not enough. nginx reserves this memory for each request."""
    longest = "a/" + "\U0010fffd" * (MAX_URL_LENGTH - 2)
    with InProcessGateway(tmp_path, public_url="https://atajo.example") as gateway:
        code = gateway.shorten(longest)
        port = int(gateway.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET /%s HTTP/1.1\r\nhost: a\r\n\r\n" % code.encode())
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65_536)
    head = received.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    assert head.startswith(b"HTTP/1.1 302 ")
    assert LIMIT - 4096 < len(head) <= LIMIT
