"""Statistics match the visits, and no personal data is stored, tested on the five processes.

Three browsers in two countries and a program follow a link on two days. The test compares
showStatistics with these visits. Then it searches every byte that the product has written or shows
for IP addresses, User-Agents, referrer paths and languages.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ipaddress
import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bson
import httpx
import pymongo
import pytest

from gateway.backends.analytics import AnalyticsClient
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.lines import Facts, Visit
from tests.conftest import STORES, store_of_product
from tests.support.processes import NO_TLS
from tests.support.product import PROCESSES, SERVICES, Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

DAY_SECONDS = 86_400
MARK = "Distintivo"
"""Part of everything that must not be found again."""


@dataclass(frozen=True)
class Browser:
    """A browser: what it sends, and which of that may appear in statistics."""

    address: str
    times: int
    user_agent: str
    language: str
    referrer: str
    told: dict[str, str]


_TABLE = Path(__file__).with_name("visitors.json").read_text(encoding="utf-8")
BROWSERS = [Browser(**one) for one in json.loads(_TABLE.replace("{mark}", MARK))]
PEOPLE = sum(browser.times for browser in BROWSERS)
BOTS = 2
BEFORE = {"people": 5, "bots": 1, "visitors": 2}
"""Visits of the day before."""
BOT_AGENT = f"curl/8.14 {MARK}"


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the URL of a MongoDB database, or an empty text for SQLite."""
    with store_of_product(request) as store:
        yield store


@pytest.fixture(scope="module")
def product(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Return the product behind a trusted proxy."""
    settings = {"ATAJO_TRUSTED_PROXIES": "127.0.0.0/8,::1/128", "ATAJO_LOG_LEVEL": "debug"}
    with Product(tmp_path_factory.mktemp("product"), settings, store=store) as started:
        started.start()
        yield started


@dataclass(frozen=True)
class Followed:
    """A visited link and its owner."""

    code: str
    guest: str
    day: int
    """The UTC day of the visits."""

    def shown(self, product: Product, **asked: object) -> Any:
        return product.data("showStatistics", {"guest": self.guest, "code": self.code, **asked})


@pytest.fixture(scope="module")
def followed(product: Product) -> Followed:
    """Return the link once all its visits are counted."""
    now = time.time()
    if DAY_SECONDS - now % DAY_SECONDS < 60:  # Midnight is near: begin on the next day.
        time.sleep(DAY_SECONDS - now % DAY_SECONDS + 1)
    day = int(time.time()) // DAY_SECONDS
    guest = secrets.token_urlsafe(32)
    code = "abcdefgh"
    link = {"guest": guest, "code": code, "url": "https://example.com/"}
    assert product.data("createShortLink", link)["success"]
    wait_until(lambda: product.metric("atajo_visitor_key_known") == 1)
    for browser in BROWSERS:
        for _ in range(browser.times):
            _follow(product, code, browser)
    for _ in range(BOTS):
        proxied = {"x-forwarded-for": BROWSERS[0].address, "user-agent": BOT_AGENT}
        assert product.visit(code, proxied).status_code == 302
    asyncio.run(_record_the_day_before(product, code, day - 1))
    followed = Followed(code, guest, day)

    def counted() -> bool:
        totals = followed.shown(product)["totals"]
        return (totals["people"], totals["bots"]) == (
            PEOPLE + BEFORE["people"],
            BOTS + BEFORE["bots"],
        )

    wait_until(counted, RECOVERY_SECONDS)
    return followed


def _follow(product: Product, code: str, browser: Browser) -> None:
    headers = {
        # Addresses to the left of the proxy's entry are not trusted.
        "x-forwarded-for": f"192.0.2.1, {browser.address}",
        "user-agent": browser.user_agent,
    }
    if browser.language:
        headers["accept-language"] = browser.language
    if browser.referrer:
        headers["referer"] = browser.referrer
    assert product.visit(code, headers).status_code == 302


async def _record_the_day_before(product: Product, code: str, day: int) -> None:
    """Send a visit as another gateway that was cut off since."""
    hour = day * 24 + 12
    facts = lines.text_of(Facts("tablet", "Chrome", "Android", "es", "CL"))
    counts = {
        Visit(code, hour, "person", "", facts): BEFORE["people"],
        Visit(code, hour, "bot", ""): BEFORE["bots"],
    }
    visitors = {(day, code): [random.getrandbits(32) for _ in range(BEFORE["visitors"])]}
    client = AnalyticsClient(product.address("analytics"))
    try:
        await client.record(Batch("another-gateway", 1, counts, sum(counts.values()), visitors))
    finally:
        await client.close()


def test_statistics_match_the_visits(product: Product, followed: Followed) -> None:
    shown = followed.shown(product)
    today, before = {"people": PEOPLE, "bots": BOTS, "visitors": len(BROWSERS)}, BEFORE
    *zeros, yesterday_shown, today_shown = shown["series"]
    assert {key: today_shown[key] for key in today} == today
    assert {key: yesterday_shown[key] for key in before} == before
    assert all((step["people"], step["bots"], step["visitors"]) == (0, 0, 0) for step in zeros)
    assert shown["totals"] == {key: today[key] + before[key] for key in today}
    assert shown["previous"] == dict.fromkeys(today, 0)

    tablet = ("", "tablet", "Chrome", "Android", "es", "CL", "link")
    sent: dict[str, Counter[str]] = {}
    for place, name in enumerate(BROWSERS[0].told):
        sent[name] = Counter({tablet[place]: BEFORE["people"]})
        for browser in BROWSERS:
            sent[name][browser.told[name]] += browser.times
    told = {
        name: [(one["name"], one["people"]) for one in people]
        for name, people in shown["breakdowns"].items()
    }
    assert told == {
        name: sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        for name, counts in sent.items()
    }


def test_no_personal_data_is_anywhere(product: Product, store: str, followed: Followed) -> None:
    assert followed.shown(product)["success"]
    places = _files(product.folder) | _documents(store)
    for name in PROCESSES:
        places[f"metrics of {name}"] = httpx.get(product.metrics_url(name), verify=NO_TLS).content
    for place, content in places.items():
        lower = content.lower()
        for secret in _secrets():
            assert secret.lower() not in lower, (place, secret)
    # And the search does find what should be there.
    assert any(b"news.example" in content for content in places.values())


def test_only_analytics_stores_the_visitor_key(
    product: Product, store: str, followed: Followed
) -> None:
    day, key = asyncio.run(_key(product))
    assert day == followed.day
    hidden = (key, key.hex().encode(), base64.b64encode(key), base64.urlsafe_b64encode(key))
    having = {
        place
        for place, content in (_files(product.folder) | _documents(store)).items()
        if any(one in content for one in hidden)
    }
    assert having
    assert all("analytics" in place for place in having), having


async def _key(product: Product) -> tuple[int, bytes]:
    client = AnalyticsClient(product.address("analytics"))
    try:
        return await client.visitor_key()
    finally:
        await client.close()


def _secrets() -> Iterator[bytes]:
    """Return the personal data that was sent, and its unkeyed hashes."""
    yield MARK.encode()
    for browser in BROWSERS:
        address = ipaddress.ip_address(browser.address)
        for text in (browser.address, address.exploded, browser.user_agent):
            yield text.encode()
            for digest in ("md5", "sha1", "sha256", "blake2b"):
                hashed = hashlib.new(digest, text.encode()).digest()
                yield hashed
                yield hashed.hex().encode()
                yield base64.b64encode(hashed).rstrip(b"=")
        yield address.packed.hex().encode()
        if address.version == 6:  # Four bytes may occur by chance.
            yield address.packed


def _files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of stores, journal and logs."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _documents(store: str) -> dict[str, bytes]:
    """Return the contents of MongoDB, if it is used."""
    if not store:
        return {}
    found = {}
    with pymongo.MongoClient[dict[str, Any]](store) as client:
        name = client.get_default_database().name
        for service in SERVICES:
            database = client[f"{name}_{service}"]
            for collection in database.list_collection_names():
                documents = database[collection].find()
                found[f"{service} {collection}"] = b"".join(map(bson.encode, documents))
    return found
