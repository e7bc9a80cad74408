"""Reports change nothing about a link, and only the operator sees them.

Several people report a link for every reason. Then the responses of all functions to all callers,
all logs and all metrics are searched for what they wrote.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.support.gateway_client import new_code
from tests.support.product import PROCESSES, Product
from tests.support.waiting import wait_until

REASONS = ("phishing", "malware", "spam", "illegal", "other")
DETAILS, CONTACT = "Reporters-Own-Words", "reporter-of-links@people.example"
REPORTERS = [secrets.token_urlsafe(32) for _ in range(6)]
COUNTED = 10.0
"""Seconds until the metric of waiting reports is updated, with a margin."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product(tmp_path_factory.mktemp("reports"), {"ATAJO_LOG_LEVEL": "debug"}) as started:
        started.start()
        yield started


def report(product: Product, code: str, reason: str, guest: str) -> Any:
    payload = {"code": code, "reason": reason, "details": DETAILS, "contact": CONTACT}
    return product.data("reportLink", {**payload, "guest": guest})


@pytest.fixture(scope="module")
def operator(product: Product) -> Iterator[pb_grpc.ModerationServiceStub]:
    with grpc.insecure_channel(product.admin_address("links")) as channel:
        yield pb_grpc.ModerationServiceStub(channel)


def test_only_the_operator_sees_reports_and_nothing_changes(
    product: Product, operator: pb_grpc.ModerationServiceStub
) -> None:
    token = product.log_in(product.register())
    owners: tuple[dict[str, str], ...] = ({"token": token}, {"guest": secrets.token_urlsafe(32)})
    codes = []
    for owner in owners:
        codes.append(new_code())
        payload = {"code": codes[-1], "url": "https://example.com/", **owner}
        assert product.data("createShortLink", payload)["success"]

    def views_of_callers() -> list[Any]:
        """Return what the functions show owners, other guests and anonymous callers."""
        replies: list[Any] = [product.data("showProfile", {"token": token})]
        for caller in (*owners, {"guest": REPORTERS[0]}, {}):
            replies.append(product.data("showLinks", caller))
            for code in codes:
                replies.append(product.data("accessLink", {"code": code}))
                replies.append(product.data("showLink", {**caller, "code": code}))
                replies.append(product.data("showStatistics", {**caller, "code": code})["success"])
        return replies

    before = views_of_callers()
    ids = {
        (code, reason): {report(product, code, reason, guest)["report"] for guest in REPORTERS}
        for code in codes
        for reason in REASONS
    }
    assert all(len(same) == 1 for same in ids.values())
    # Visits by accessLink are counted meanwhile.
    after = views_of_callers()
    assert _without_views(after) == _without_views(before)
    for code in codes:
        assert product.visit(code).status_code == 302
    reported = {one for same in ids.values() for one in same}
    metrics = [product.http.get(product.metrics_url(name)).text for name in PROCESSES]
    for place in (json.dumps(after), product.logs(), *metrics):
        for text in (DETAILS, CONTACT, *REPORTERS, *reported):
            assert text not in place

    found = operator.ListReports(pb.ListReportsRequest(), timeout=10)
    assert {one.link.code for one in found.reports} == set(codes)
    assert {one.count for one in found.reports} == {len(REPORTERS)}
    assert {said.contact for one in found.reports for said in one.statements} == {CONTACT}


def _without_views(replies: list[Any]) -> Any:
    text = json.dumps(replies)
    return json.loads(
        text, object_hook=lambda one: {k: v for k, v in one.items() if k not in ("views", "bots")}
    )


def test_metrics_count_reports_and_waiting_ones(
    product: Product, operator: pb_grpc.ModerationServiceStub
) -> None:
    code = product.shorten("https://example.com/metrics")
    series = 'atajo_links_reports_total{reason="illegal"}'
    accepted = product.metric(series, "links")
    waiting = product.metric("atajo_links_reports_waiting", "links")
    for _ in range(3):
        report(product, code, "illegal", REPORTERS[0])
    report(product, code, "spam", REPORTERS[0])
    assert product.metric(series, "links") == accepted + 3

    def waits(count: float) -> bool:
        return product.metric("atajo_links_reports_waiting", "links") == count

    there = operator.ListReports(pb.ListReportsRequest(), timeout=10).waiting
    assert there >= waiting + 2
    wait_until(lambda: waits(there), COUNTED)
    product.kill("links")
    product.start("links")
    wait_until(lambda: waits(there), COUNTED)
    operator.DismissReports(pb.DismissReportsRequest(code=code), timeout=10)
    wait_until(lambda: waits(there - 2), COUNTED)


def test_an_address_has_a_hundred_reports_per_hour_in_a_local_run(product: Product) -> None:
    """Including those of the tests above."""
    statuses = []
    while 429 not in statuses:
        statuses.append(product.call("reportLink", {"code": new_code()}).status_code)
        assert len(statuses) <= 101
    assert set(statuses) == {200, 429}
