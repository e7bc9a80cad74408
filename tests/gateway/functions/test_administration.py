"""The functions of administrators, with the real services behind gRPC.

tests/system/test_administration.py has who may call them, on all processes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from gateway.backends.administration import (
    AccountsAdministrationClient,
    Decision,
    DecisionPage,
    LinksAdministrationClient,
)
from gateway.backends.auth import AuthClient
from gateway.use_cases import administration
from services.shared.administrators import (
    CONFIRMATION_LIFETIME,
    Administrator,
    issue_pass,
)
from services.shared.errors import PermissionDenied, Unauthenticated
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.product import ADMINISTRATION_SECRET
from tests.support.waiting import wait_until

ADA = "ada@example.com"
SESSION = {"token": "a session"}
NO_EXIST = {"success": False, "error": "no exist"}
FUNCTIONS: dict[str, dict[str, object]] = {
    "listReports": {},
    "showReports": {"code": "abcdefgh"},
    "decide": {"subject": "abcdefgh", "action": "dismiss"},
    "explainBlock": {"subject": "abcdefgh"},
    "listDecisions": {},
    "listAccounts": {},
    "changeAccount": {"id": "1", "changes": {"suspended": True}},
    "blockAccountLinks": {"id": "1", "class": "spam"},
    "endAccountSessions": {"id": "1"},
    "createResetLink": {"id": "1"},
    "createInvitation": {},
    "listInvitations": {},
    "revokeInvitation": {"id": "1"},
    "showInstance": {},
}
"""All functions with a valid payload."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("administration")) as started:
        yield started


@pytest.fixture
def administrator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session is one of an administrator."""

    async def issue(self: AuthClient, token: str) -> str:
        now = datetime.now(UTC)
        return issue_pass(ADMINISTRATION_SECRET, Administrator("1", ADA, now), now)

    monkeypatch.setattr(AuthClient, "issue_pass", issue)


def refuse(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    async def issue(self: AuthClient, token: str) -> str:
        raise error

    monkeypatch.setattr(AuthClient, "issue_pass", issue)


def create(gateway: InProcessGateway, url: str = "https://shop.example/") -> str:
    return gateway.shorten(url)


def report(gateway: InProcessGateway, code: str, reason: str, **written: str) -> str:
    reply = gateway.data("reportLink", {"code": code, "reason": reason, **written})
    identifier: str = reply["report"]
    return identifier


def call(gateway: InProcessGateway, function: str, **payload: object) -> Any:
    return gateway.data(function, {**SESSION, **payload})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_administrators_call_them(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    payload = FUNCTIONS[function]
    for error, outcome in (
        (PermissionDenied("", "NOT_ADMINISTRATOR"), "not allowed"),
        (PermissionDenied("", "CONFIRMATION_NEEDED"), "confirm"),
        (Unauthenticated("", "INVALID_TOKEN"), "invalid token"),
    ):
        refuse(monkeypatch, error)
        assert call(gateway, function, **payload) == {"success": False, "error": outcome}
    for nobody in ({}, {"token": None}, {"token": ""}):
        reply = gateway.data(function, {**payload, **nobody})
        assert reply == {"success": False, "error": "no logged"}


@pytest.mark.parametrize("token", [{}, SESSION])
def test_nobody_calls_them_without_the_page_for_administrators(
    tmp_path_factory: pytest.TempPathFactory, administrator: None, token: dict[str, str]
) -> None:
    with InProcessGateway(tmp_path_factory.mktemp("off"), admin_pages="off") as gateway:
        for function, payload in FUNCTIONS.items():
            reply = gateway.data(function, {**payload, **token})
            assert reply == {"success": False, "error": "not allowed"}


def test_a_gateway_cannot_act_without_an_administrators_pass(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot make one, and links reads who decides in the pass alone."""
    code, now = create(gateway), datetime.now(UTC)
    ada = Administrator("1", ADA, now)
    forged = issue_pass("another secret of another instance, 0123456789", ada, now)
    expired = issue_pass(ADMINISTRATION_SECRET, ada, now - timedelta(minutes=2))
    for text in ("", "nonsense", forged, expired):

        async def issue(self: AuthClient, token: str, text: str = text) -> str:
            return text

        monkeypatch.setattr(AuthClient, "issue_pass", issue)
        for function in ("decide", "listReports", "showReports", "blockAccountLinks"):
            payload: dict[str, object] = dict(FUNCTIONS[function])
            for name in {"subject", "code"} & payload.keys():
                payload[name] = code
            reply = call(gateway, function, **payload)
            assert reply == {"success": False, "error": "not allowed"}


def test_links_checks_the_age_of_the_confirmation_itself(
    gateway: InProcessGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def issue(self: AuthClient, token: str) -> str:
        now = datetime.now(UTC)
        ada = Administrator("1", ADA, now - CONFIRMATION_LIFETIME - timedelta(seconds=5))
        return issue_pass(ADMINISTRATION_SECRET, ada, now - timedelta(seconds=10))

    monkeypatch.setattr(AuthClient, "issue_pass", issue)
    for function in ("decide", "listReports", "explainBlock", "blockAccountLinks"):
        reply = call(gateway, function, **FUNCTIONS[function])
        assert reply == {"success": False, "error": "confirm"}


def test_reports_are_listed_shown_and_decided(
    gateway: InProcessGateway, administrator: None
) -> None:
    code = create(gateway)
    ids = [
        report(gateway, code, "phishing", details="asks for a password", contact="x@example.org"),
        report(gateway, code, "phishing"),
        report(gateway, code, "spam"),
    ]
    assert gateway.visit(code).status_code == 302
    listed = call(gateway, "listReports")
    assert listed["cursor"] is None
    (row,) = (row for row in listed["reports"] if row["code"] == code)
    assert set(row) == {
        *("code", "long_link", "state", "created_at", "views", "reports", "classes"),
        *("first_reported_at", "last_reported_at"),
    }
    assert (row["long_link"], row["state"]) == ("https://shop.example/", "active")
    assert (row["reports"], row["classes"]) == (3, ["phishing", "spam"])
    assert row["first_reported_at"] <= row["last_reported_at"]

    shown = call(gateway, "showReports", code=code)
    assert set(shown) == {"success", "link", "reports", "decisions", "history"}
    assert set(shown["link"]) == {
        *("code", "long_link", "state", "reason", "created_at", "changed_at", "owner")
    }
    assert shown["link"]["owner"] == "nobody"
    for entry in shown["reports"]:
        assert datetime.fromisoformat(entry.pop("created_at"))
    assert shown["reports"] == [
        {
            "id": ids[0],
            "reason": "phishing",
            "details": "asks for a password",
            "contact": "x@example.org",
        },
        {"id": ids[2], "reason": "spam", "details": "", "contact": None},
    ]
    assert (shown["decisions"], shown["history"]) == ([], [])

    made = call(
        gateway,
        "decide",
        subject=f"{gateway.url}/{code}",
        action="block",
        comment="a bank",
        **{"class": "phishing"},
    )
    assert set(made) == {"success", "decision"}
    shown = call(gateway, "showReports", code=code)
    assert (shown["link"]["state"], shown["link"]["reason"]) == ("blocked", "phishing")
    assert shown["reports"] == []
    (decision,) = shown["decisions"]
    assert datetime.fromisoformat(decision.pop("at"))
    assert decision == {
        "id": made["decision"],
        "action": "block",
        "subject": code,
        "class": "phishing",
        "comment": "a bank",
        "by": ADA,
    }
    assert call(gateway, "explainBlock", subject=code) == {
        "success": True,
        "blocked": True,
        "by": "decision",
        "class": "phishing",
        "detail": "a bank",
    }
    assert call(gateway, "decide", subject=code, action="dismiss") == NO_EXIST
    assert call(gateway, "decide", subject=code, action="unblock", comment=None)["success"]
    assert call(gateway, "explainBlock", subject=code) == {
        "success": True,
        "blocked": False,
        "by": None,
        "class": None,
        "detail": "",
    }


def test_the_owner_and_the_history_of_a_link_are_shown(
    gateway: InProcessGateway, administrator: None
) -> None:
    guest, code = secrets.token_urlsafe(32), new_code()
    link = {"code": code, "url": "https://one.example/", "guest": guest}
    gateway.data("createShortLink", link)
    change = {"code": code, "guest": guest, "changes": {"url": "https://two.example/"}}
    gateway.data("changeLink", change)
    shown = call(gateway, "showReports", code=code)
    assert shown["link"]["owner"] == "guest"
    assert [former["long_link"] for former in shown["history"]] == ["https://one.example/"]
    token = gateway.log_in(gateway.register())
    code = gateway.shorten("https://one.example/", token)
    assert call(gateway, "showReports", code=code)["link"]["owner"] == "account"


def test_what_does_not_exist_and_what_is_invalid(
    gateway: InProcessGateway, administrator: None
) -> None:
    spam = {"class": "spam"}
    missing: tuple[tuple[str, dict[str, object]], ...] = (
        ("showReports", {"code": "unknown-"}),
        ("explainBlock", {"subject": "unknown-"}),
        ("decide", {"subject": "unknown-", "action": "block", **spam}),
        ("decide", {"subject": "unblocked.example", "action": "unblock"}),
    )
    for function, payload in missing:
        assert call(gateway, function, **payload) == NO_EXIST
    code = create(gateway)
    invalid: tuple[tuple[str, dict[str, object], str], ...] = (
        ("decide", {"subject": "no subject", "action": "block", **spam}, "INVALID_ADDRESS"),
        ("decide", {"subject": "co.uk", "action": "block", **spam}, "INVALID_ADDRESS"),
        ("decide", {"subject": code, "action": "block"}, "INVALID_REASON"),
        ("decide", {"subject": code, "action": "block", "class": "ugly"}, "INVALID_ARGUMENT"),
        ("decide", {"subject": code, "action": "purge"}, "INVALID_ARGUMENT"),
        (
            "decide",
            {"subject": code, "action": "unblock", "comment": "x" * 501},
            "INVALID_CAUSE",
        ),
        ("decide", {"subject": "shop.example", "action": "dismiss"}, "INVALID_ACTION"),
        ("listReports", {"cursor": "x"}, "INVALID_CURSOR"),
        ("listDecisions", {"cursor": "x"}, "INVALID_CURSOR"),
        ("listDecisions", {"cursor": "x,y"}, "INVALID_CURSOR"),
        ("changeAccount", {"id": "1", "changes": {}}, "NO_CHANGES"),
        ("blockAccountLinks", {"id": "1"}, "INVALID_ARGUMENT"),
        ("blockAccountLinks", {"id": "", **spam}, "INVALID_OWNER"),
    )
    for function, payload, reason in invalid:
        response = gateway.call(function, {**SESSION, **payload})
        assert response.status_code == 400, (function, payload, response.text)
        assert response.json()["error"]["details"]["reason"] == reason


def test_all_links_of_an_account_are_blocked(
    gateway: InProcessGateway, administrator: None
) -> None:
    token = gateway.log_in(gateway.register())
    codes = [gateway.shorten("https://theirs.example/", token) for _ in range(3)]
    account = jwt.decode(token, options={"verify_signature": False})["sub"]
    block = {"id": account, "class": "malware", "comment": "all"}
    assert call(gateway, "blockAccountLinks", **block) == {"success": True, "blocked": 3}
    assert call(gateway, "blockAccountLinks", **block) == {"success": True, "blocked": 0}
    for code in codes:
        assert call(gateway, "explainBlock", subject=code)["detail"] == "all"
    assert call(gateway, "decide", subject=codes[0], action="unblock")["success"]
    assert not call(gateway, "explainBlock", subject=codes[0])["blocked"]


def test_decisions_of_both_services_are_merged(
    gateway: InProcessGateway, administrator: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(administration, "DECISIONS_PAGE_SIZE", 3)
    start = datetime(2026, 3, 1, tzinfo=UTC)

    def page_of(names: dict[str, list[int]]) -> Any:
        async def read(self: object, administrator_pass: str, text: str, cursor: str) -> Any:
            (service, seconds), size = next(iter(names.items())), 4
            decisions = [
                Decision(
                    str(second), start + timedelta(seconds=second), "x", service, None, text, ""
                )
                for second in sorted(seconds, reverse=True)
            ]
            if cursor:
                after = next(n for n, one in enumerate(decisions) if one.cursor == cursor) + 1
                decisions = decisions[after:]
            more = decisions[size - 1].cursor if len(decisions) > size else ""
            return DecisionPage(decisions[:size], more)

        return read

    links, accounts = [1, 2, 3, 4, 5, 6, 20], [7, 8, 9, 10, 11, 12, 20]
    monkeypatch.setattr(LinksAdministrationClient, "decisions", page_of({"links": links}))
    monkeypatch.setattr(AccountsAdministrationClient, "decisions", page_of({"auth": accounts}))
    seen: list[tuple[str, str]] = []
    cursor: str | None = None
    while True:
        page = call(gateway, "listDecisions", query="text", cursor=cursor)
        assert len(page["decisions"]) <= 3
        seen += [(one["subject"], one["id"]) for one in page["decisions"]]
        assert {(one["comment"], one["by"]) for one in page["decisions"]} == {("text", "operator")}
        cursor = page["cursor"]
        if cursor is None:
            break
    assert sorted(seen[:2]) == [("auth", "20"), ("links", "20")]
    assert seen[2:] == [
        *(("auth", str(second)) for second in range(12, 6, -1)),
        *(("links", str(second)) for second in range(6, 0, -1)),
    ]


def test_the_instance_is_shown_also_while_services_are_away(
    gateway: InProcessGateway, administrator: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def usage(self: object, administrator_pass: str) -> tuple[int, int]:
        return 7, 1000

    monkeypatch.setattr(AccountsAdministrationClient, "usage", usage)
    code = create(gateway)
    before = call(gateway, "showInstance")
    assert set(before) == {
        *("success", "version", "links", "accounts", "visits", "storage_bytes", "backup_at"),
        "processes",
    }
    assert (before["accounts"], before["backup_at"], before["version"]) == (7, None, "dev")
    assert before["links"] >= 1
    assert before["storage_bytes"] > 1000
    ready = {process["name"]: process["ready"] for process in before["processes"]}
    assert ready == {
        **dict.fromkeys(("auth", "links", "analytics", "gateway"), True),
        "reconciler": False,
    }
    for agent in ("curl/8", None):
        headers = {"user-agent": agent} if agent else {}
        assert gateway.visit(code, headers).status_code == 302
    wanted = sum(before["visits"].values()) + 2
    wait_until(lambda: sum(call(gateway, "showInstance")["visits"].values()) == wanted)
    gateway.analytics.failing.add("usage")
    try:
        shown = call(gateway, "showInstance")
    finally:
        gateway.analytics.failing.clear()
    assert shown["visits"] == {"today": None, "yesterday": None}
    assert (shown["storage_bytes"], shown["links"]) == (None, before["links"])
