"""Invented referrers of a client, and the statistics of a link."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gateway.visits.enrichment.referrer_limit import MAX_NAMES_OF_LINK
from tests.conftest import STORES, store_of_product
from tests.support.gateway_client import new_code
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

REAL = "news.example"


@pytest.fixture(scope="module", params=STORES)
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The product behind a trusted proxy."""
    settings = {"ATAJO_TRUSTED_PROXIES": "127.0.0.0/8,::1/128"}
    with (
        store_of_product(request) as store,
        Product(tmp_path_factory.mktemp("product"), settings, store=store) as started,
    ):
        started.start()
        yield started


def test_invented_referrers_hide_no_real_one_and_do_not_fill_the_store(product: Product) -> None:
    owner = {"guest": secrets.token_urlsafe(32)}
    code = new_code()
    link = {**owner, "code": code, "url": "https://example.com/"}
    assert product.data("createShortLink", link)["success"]
    sent = 0

    def visit(address: str, *hosts: str) -> None:
        nonlocal sent
        with ThreadPoolExecutor(8) as pool:
            for reply in pool.map(
                lambda host: product.visit(
                    code, {"x-forwarded-for": address, "referer": f"https://{host}/"}
                ),
                hosts,
            ):
                assert reply.status_code == 302
        sent += len(hosts)

    def shown() -> Any:
        return product.data("showStatistics", {**owner, "code": code})

    visit("203.0.113.1", *(f"one{n}.example" for n in range(60)))
    visit("203.0.113.2", *(f"{n}.{'x' * 60}.{'y' * 60}.{'z' * 60}.{'w' * 40}" for n in range(120)))
    for client in range(6):
        visit(f"203.0.113.{10 + client}", *(f"c{client}-{n}.example" for n in range(20)))
    for client in range(40):
        visit(f"198.51.100.{client}", REAL)

    wait_until(lambda: shown()["totals"]["people"] == sent, RECOVERY_SECONDS)
    reply = shown()
    referrers = {one["name"]: one["people"] for one in reply["breakdowns"]["referrer"]}
    assert sum(referrers.values()) == sent
    assert referrers[REAL] > 10
    assert len(referrers.keys() - {"*"}) <= 100
    assert sum(name.startswith("one") for name in referrers) <= MAX_NAMES_OF_LINK
    assert max(map(len, referrers)) <= 100
