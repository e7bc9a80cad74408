"""showStatistics: results, access and invalid input."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.links.domain.block import BlockReason
from services.links.domain.edit import block
from tests.support.gateway_client import BROWSER, GatewayClient, new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

KEYS = ["success", "range", "totals", "previous", "series", "breakdowns"]
BREAKDOWNS = ["referrer", "device", "browser", "system", "language", "country", "source"]
FIGURES = ["people", "bots", "visitors"]
NO_LOGGED = {"success": False, "error": "no logged"}
INVALID_TOKEN = {"success": False, "error": "invalid token"}
NO_EXIST = {"success": False, "error": "no exist"}
STEPS = {
    "24 hours": ("hour", 24, 25),
    "7 days": ("hour", 168, 168),
    "30 days": ("day", 30, 30),
    "90 days": ("day", 90, 90),
    "12 months": ("week", 53, 54),
    "all": ("hour", 24, 24),
}
"""Length and number of steps by range. `all` is for a link created today."""
EXAMPLE = "https://example.com/"

Owner = dict[str, str | None]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("statistics")) as gateway:
        yield gateway


def new_guest() -> Owner:
    return {"token": None, "guest": secrets.token_urlsafe(32)}


@pytest.fixture(params=["account", "guest"])
def owner(request: pytest.FixtureRequest, gateway: InProcessGateway) -> Owner:
    """An owner without links, as in payloads."""
    if request.param == "guest":
        return new_guest()
    return {"token": gateway.log_in(gateway.register()), "guest": None}


def create_link(gateway: InProcessGateway, owner: Owner) -> str:
    code = new_code()
    payload = {**owner, "code": code, "url": EXAMPLE}
    assert gateway.data("createShortLink", payload)["success"]
    return code


def show_statistics(
    gateway: GatewayClient, owner: Owner, code: str | None, **asked: object
) -> dict[str, Any]:
    reply: dict[str, Any] = gateway.data("showStatistics", {**owner, "code": code, **asked})
    assert reply["success"], reply
    return reply


def visit(gateway: InProcessGateway, owner: Owner, code: str, people: int, bots: int) -> None:
    """Visit a link, and wait until all visits are counted."""
    for _ in range(people):
        gateway.visit(code)
    for _ in range(bots):
        gateway.visit(code, {"user-agent": "curl/8"})

    def counted() -> bool:
        totals = show_statistics(gateway, owner, code)["totals"]
        return (totals["people"], totals["bots"]) == (people, bots)

    wait_until(counted, RECOVERY_SECONDS)


def total_of(rows: list[dict[str, Any]], key: str = "people") -> int:
    return sum(row[key] for row in rows)


def test_a_link_without_visits_has_every_step_and_no_counts(gateway: InProcessGateway) -> None:
    owner = new_guest()
    code = create_link(gateway, owner)
    today = datetime.now(UTC).date()
    reply = show_statistics(gateway, owner, code)
    assert list(reply) == KEYS
    last = date.fromisoformat(reply["range"]["to"])
    assert last in (today, datetime.now(UTC).date())
    assert reply["range"] == {
        "from": (last - timedelta(days=29)).isoformat(),
        "to": last.isoformat(),
        "step": "day",
        "timezone": "UTC",
    }
    nothing = dict.fromkeys(FIGURES, 0)
    assert reply["totals"] == reply["previous"] == nothing
    days = [last - timedelta(days=29 - n) for n in range(30)]
    assert reply["series"] == [
        {"start": f"{day.isoformat()}T00:00:00+00:00", **nothing} for day in days
    ]
    assert reply["breakdowns"] == {name: [] for name in BREAKDOWNS}
    assert list(reply["breakdowns"]) == BREAKDOWNS


def test_a_visit_is_once_in_every_part_for_every_range(gateway: InProcessGateway) -> None:
    owner = new_guest()
    code = create_link(gateway, owner)
    visit(gateway, owner, code, people=3, bots=2)
    for period, (step, least, most) in STEPS.items():
        reply = show_statistics(gateway, owner, code, range=period)
        assert list(reply) == KEYS
        assert reply["range"]["step"] == step
        assert least <= len(reply["series"]) <= most
        assert list(reply["totals"]) == FIGURES
        assert (reply["totals"]["people"], reply["totals"]["bots"]) == (3, 2)
        assert (total_of(reply["series"]), total_of(reply["series"], "bots")) == (3, 2)
        for row in reply["series"]:
            assert list(row) == ["start", *FIGURES]
            assert (row["visitors"] is None) == (step == "hour")
        assert reply["previous"] == (None if period == "all" else dict.fromkeys(FIGURES, 0))
        assert list(reply["breakdowns"]) == BREAKDOWNS
        for people in reply["breakdowns"].values():
            assert total_of(people) == 3
            assert all(list(one) == ["name", "people"] for one in people)
        assert reply["breakdowns"]["source"] == [{"name": "link", "people": 3}]

    said = {"range": "30 days", "timezone": "UTC"}
    expected = show_statistics(gateway, owner, code, **said)
    for left_out in ({}, dict.fromkeys(said), {"range": None, "timezone": "UTC"}):
        assert show_statistics(gateway, owner, code, **left_out) == expected


def test_a_period_of_dates_includes_both(gateway: InProcessGateway) -> None:
    owner = new_guest()
    code = create_link(gateway, owner)
    visit(gateway, owner, code, people=2, bots=1)
    today = datetime.now(UTC).date()
    for days, step in ((0, "hour"), (7, "day"), (92, "week")):
        own = {"from": (today - timedelta(days=days)).isoformat(), "to": today.isoformat()}
        reply = show_statistics(gateway, owner, code, range=own)
        assert reply["range"] == {**own, "step": step, "timezone": "UTC"}
        assert total_of(reply["series"]) == 2
    past = {"from": "2017-01-01", "to": "2026-01-01"}
    reply = show_statistics(gateway, owner, code, range=past, timezone="Asia/Kolkata")
    assert reply["range"] == {**past, "step": "month", "timezone": "Asia/Kolkata"}
    assert [row["start"][10:] for row in reply["series"]] == ["T00:00:00+05:30"] * (9 * 12 + 1)
    assert reply["totals"] == reply["previous"] == dict.fromkeys(FIGURES, 0)


def test_statistics_of_all_links_are_summed_and_list_the_most_visited(
    gateway: InProcessGateway,
) -> None:
    owner = new_guest()
    assert show_statistics(gateway, owner, None)["top"] == []
    codes = [create_link(gateway, owner) for _ in range(4)]
    gateway.visit(create_link(gateway, new_guest()))
    for people, code in enumerate(codes):
        for _ in range(people):
            gateway.visit(code)
        gateway.visit(code, {"user-agent": "curl/8"})
    wait_until(
        lambda: show_statistics(gateway, owner, None)["totals"]["bots"] == 4, RECOVERY_SECONDS
    )
    reply = show_statistics(gateway, owner, None)
    assert list(reply) == [*KEYS, "top"]
    assert (reply["totals"]["people"], reply["totals"]["bots"]) == (6, 4)
    assert total_of(reply["series"]) == 6
    assert [total_of(people) for people in reply["breakdowns"].values()] == [6] * len(BREAKDOWNS)
    expected = [{"code": codes[n], "people": n} for n in (3, 2, 1)]
    assert reply["top"] == expected

    gateway.data("removeLinks", {**owner, "codes": codes[3:]})
    change = {"expires_at": "2020-01-01T00:00Z"}
    gateway.data("changeLink", {**owner, "code": codes[1], "changes": change})
    gateway.links.do(codes[2], block(BlockReason.SPAM))
    reply = show_statistics(gateway, owner, None)
    assert reply["totals"]["people"] == 3
    assert reply["top"] == expected[1:]
    gateway.data("restoreLinks", {**owner, "codes": codes[3:]})
    assert show_statistics(gateway, owner, None)["top"] == expected


def test_an_owner_of_too_many_links_gets_an_error(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = new_guest()
    for module in ("domain.link", "application.queries"):
        monkeypatch.setattr(f"services.links.{module}.MAX_OWNED_CODES", 2)
    for _ in range(2):
        create_link(gateway, owner)
    assert show_statistics(gateway, owner, None)["totals"]["people"] == 0
    create_link(gateway, owner)
    response = gateway.call("showStatistics", {**owner, "code": None})
    assert reason_of(response) == "TOO_MANY_LINKS"


# Access


def test_statistics_are_for_the_owner_only_unless_they_are_public(
    gateway: InProcessGateway,
) -> None:
    owner, other = new_guest(), {"token": gateway.log_in(gateway.register())}
    code = create_link(gateway, owner)
    nobodies: tuple[dict[str, Any], ...] = ({}, {"token": None, "guest": ""}, {"token": ""})
    bad = {"token": "no.session.token", "guest": new_guest()["guest"]}
    for foreign in (code, new_code(), "abc", "ñ", "", "a" * 5000):
        assert gateway.data("showStatistics", {**other, "code": foreign}) == NO_EXIST
    for nobody in nobodies:
        for asked in (code, new_code(), "", None):
            assert gateway.data("showStatistics", {**nobody, "code": asked}) == NO_LOGGED
    for asked in (code, None):
        assert gateway.data("showStatistics", {**bad, "code": asked}) == INVALID_TOKEN

    changes = {"title": "a secret title", "tags": ["a secret tag"], "public_statistics": True}
    gateway.data("changeLink", {**owner, "code": code, "changes": changes})
    visit(gateway, owner, code, people=2, bots=1)
    expected = show_statistics(gateway, owner, code)
    assert "secret" not in json.dumps(expected)
    callers: tuple[dict[str, Any], ...] = (*nobodies, other, new_guest())
    for caller in callers:
        assert gateway.data("showStatistics", {**caller, "code": code}) == expected
    assert gateway.data("showStatistics", {**bad, "code": code}) == INVALID_TOKEN
    gateway.data("removeLinks", {**owner, "codes": [code]})
    assert show_statistics(gateway, owner, code) == expected
    assert gateway.data("showStatistics", {"code": code}) == NO_LOGGED
    assert gateway.data("showStatistics", {**other, "code": code}) == NO_EXIST


@pytest.mark.parametrize("away", ["links", "analytics"])
def test_an_outage_is_an_error(gateway: InProcessGateway, away: str) -> None:
    owner = new_guest()
    code = create_link(gateway, owner)
    part = getattr(gateway, away)
    part.away = True
    try:
        for asked in (code, None):
            response = gateway.call("showStatistics", {**owner, "code": asked})
            error = response.json()["error"]
            assert (response.status_code, error["status"]) == (503, "UNAVAILABLE")
    finally:
        part.away = False
    assert show_statistics(gateway, owner, code)["success"]


# Invalid input

DAY = "2026-01-01"
NO_RANGES: tuple[object, ...] = (
    *(7, True, math.nan, [], {}, ["30 days"], "", "31 days", "30 Days", " 30 days", "30 days\0"),
    *({"from": DAY}, {"from": DAY, "to": DAY, "step": "day"}, {"From": DAY, "To": DAY}),
    *({"from": DAY, "to": None}, {"from": DAY, "to": 7}, {"from": DAY, "to": "2026-02-30"}),
    *({"from": 7, "to": DAY}, {"from": DAY, "to": "2025-12-31"}),
)


def payloads_with(name: str, *values: object) -> list[dict[str, object]]:
    """Return payloads with these values of one field."""
    return [{name: value} for value in values]


WRONG = [
    *payloads_with("unknown", None),
    *payloads_with("token", 7, "a\0b"),
    *payloads_with("guest", 7, "a" * 42),
    *payloads_with("code", 7, True, ["abcdefgh"], "abc\0efgh", "abc\ud800efgh"),
    *payloads_with("range", *NO_RANGES),
    *payloads_with("timezone", 7, [], "", "Nowhere", "UTC\0", "\ud800"),
]


def reason_of(response: httpx.Response) -> str:
    """Return the reason of an invalid argument. Fails for any other response."""
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["message"]
    reason: str = error["details"]["reason"]
    return reason


@pytest.fixture(scope="module")
def unchanged(gateway: InProcessGateway) -> tuple[Owner, str]:
    owner = new_guest()
    return owner, create_link(gateway, owner)


@pytest.mark.parametrize("wrong", WRONG)
def test_invalid_input_is_rejected_with_a_reason(
    gateway: InProcessGateway, unchanged: tuple[Owner, str], wrong: dict[str, object]
) -> None:
    owner, code = unchanged
    expected = "INVALID_RANGE" if "range" in wrong else "INVALID_ARGUMENT"
    if wrong.get("timezone") in ("", "Nowhere"):
        expected = "INVALID_TIMEZONE"
    for asked in (code, None):
        body = json.dumps(
            {"data": {**owner, "code": asked, **wrong}}
        )  # Only `json` writes such values.
        response = gateway.http.post(
            f"{gateway.url}/showStatistics",
            content=body,
            headers={"content-type": "application/json"},
        )
        assert reason_of(response) == expected


def test_code_is_required(gateway: InProcessGateway, unchanged: tuple[Owner, str]) -> None:
    owner, _ = unchanged
    assert reason_of(gateway.call("showStatistics", owner)) == "INVALID_ARGUMENT"


def test_days_before_the_retention_are_not_days_without_visits(tmp_path: Path) -> None:
    with Product(tmp_path, {"ATAJO_STATISTICS_DAYS": "7"}) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten(EXAMPLE, token)
        for asked in (code, None):
            before = datetime.now(UTC).date()
            reply = show_statistics(product, {"token": token}, asked, range="30 days")
            days = {before, datetime.now(UTC).date()}
            assert reply["previous"] is None
            assert reply["kept_from"] in {(day - timedelta(days=7)).isoformat() for day in days}


# Headers of visits


def names_of(gateway: InProcessGateway, owner: Owner, code: str) -> dict[str, dict[str, int]]:
    breakdowns = show_statistics(gateway, owner, code)["breakdowns"]
    return {
        kind: {one["name"]: one["people"] for one in people} for kind, people in breakdowns.items()
    }


def test_headers_are_counted_under_known_names_only(
    gateway: InProcessGateway,
) -> None:
    owner = new_guest()
    code = create_link(gateway, owner)
    app = "Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; wv) Chrome/142 Mobile"
    visits: list[dict[str, bytes]] = [
        {"referer": "https://blog.example/größe".encode(), "accept-language": b"iw-IL,en"},
        {"referer": "https://blog.example/größe".encode("latin-1"), "accept-language": b"he"},
        {"referer": b"https://BLOG.example./", "accept-language": b"en_US"},
        {"referer": b"android-app://com.google.android.gm/", "accept-language": b"aaq"},
        {"referer": f"{gateway.url}/my-links".encode(), "accept-language": b"xyz"},
        {"user-agent": f"{app} Quark/7.9.7.782".encode()},
        {"user-agent": f"{app} MetaIAB Facebook".encode()},
        {"user-agent": b"Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)"},
        {"user-agent": b"Mozilla/4.0 (compatible; ms-office; MSOffice 16)"},
        {"purpose": b"Prefetch"},
    ]
    for headers in visits:
        sent = {"user-agent": BROWSER.encode(), **headers}
        gateway.http.get(
            f"{gateway.url}/{code}", headers={name.encode(): sent[name] for name in sent}
        )

    def counted() -> bool:
        totals = show_statistics(gateway, owner, code)["totals"]
        return (totals["people"], totals["bots"]) == (7, 2)

    wait_until(counted, RECOVERY_SECONDS)
    names = names_of(gateway, owner, code)
    assert names["referrer"] == {"blog.example": 3, "android-app://com.google.android.gm": 1, "": 3}
    assert names["language"] == {"he": 2, "en": 1, "": 4}
    assert names["browser"] == {"Chrome": 5, "Quark": 1, "Facebook": 1}
