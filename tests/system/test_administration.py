"""Administrators act through the gateway, and lose it within five seconds on every gateway."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import jwt
import pytest
from pymongo import MongoClient

from atajo.links.v1 import links_pb2, links_pb2_grpc
from services.shared.administrators import Administrator, issue_pass
from tests.support.administrators import log_in_administrator
from tests.support.gateway_client import new_code
from tests.support.product import ADMINISTRATION_SECRET, Product
from tests.support.waiting import PROPAGATION_SECONDS, RECOVERY_SECONDS, wait_until
from tests.system.several_gateways import GATEWAYS, SeveralGateways
from tests.system.several_gateways import gateways as gateways

NOT_ALLOWED = {"success": False, "error": "not allowed"}
NO_EXIST = {"success": False, "error": "no exist"}
CONFIRM = {"success": False, "error": "confirm"}


@pytest.fixture
def administrator(gateways: SeveralGateways) -> str:
    """The session token of an administrator."""
    return log_in_administrator(gateways.product)


def call(gateways: SeveralGateways, function: str, token: str, **payload: object) -> Any:
    return gateways.product.data(function, {"token": token, **payload})


def everywhere(
    gateways: SeveralGateways, function: str, token: str, **payload: object
) -> list[Any]:
    """Call a function on every gateway."""
    data = {"data": {"token": token, **payload}}
    return [
        gateways.product.http.post(f"{url}/{function}", json=data).json()["data"]
        for url in gateways.urls
    ]


def account_of(token: str) -> str:
    account: str = jwt.decode(token, options={"verify_signature": False})["sub"]
    return account


def age_confirmation(product: Product, token: str, by: timedelta) -> None:
    """Let the last confirmation of a session be longer ago."""
    session = jwt.decode(token, options={"verify_signature": False})["jti"]
    micros = by // timedelta(microseconds=1)
    store = product.store_setting("auth")
    if store.startswith("mongodb"):
        with MongoClient[dict[str, Any]](store) as client:
            changed = client.get_default_database().accounts.update_one(
                {"sessions.id": session}, {"$inc": {"sessions.$.confirmed_at": -micros}}
            )
            assert changed.modified_count == 1
        return
    with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as connection, connection:
        changed_rows = connection.execute(
            "UPDATE sessions SET confirmed_at = confirmed_at - ? WHERE id = ?", (micros, session)
        )
        assert changed_rows.rowcount == 1


def test_a_stolen_session_reads_and_changes_nothing_without_a_confirmation(
    gateways: SeveralGateways, administrator: str
) -> None:
    product = gateways.product
    code = product.shorten("https://example.com/")
    age_confirmation(product, administrator, timedelta(minutes=16))
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("listReports", {}),
        ("showReports", {"code": code}),
        ("decide", {"subject": code, "action": "block", "class": "spam"}),
        ("explainBlock", {"subject": code}),
        ("listDecisions", {}),
        ("listAccounts", {}),
        ("changeAccount", {"id": "1", "changes": {"suspended": True}}),
        ("blockAccountLinks", {"id": "1", "class": "spam"}),
        ("endAccountSessions", {"id": "1"}),
        ("createResetLink", {"id": "1"}),
        ("createInvitation", {}),
        ("listInvitations", {}),
        ("revokeInvitation", {"id": "1"}),
        ("showInstance", {}),
    )
    for function, payload in calls:
        assert everywhere(gateways, function, administrator, **payload) == [CONFIRM] * GATEWAYS
    assert product.visit(code).status_code == 302
    wrong = {"token": administrator, "password": "camino-42"}
    assert product.data("confirmSession", wrong) == {"success": False, "error": "incorrect"}
    assert call(gateways, "listReports", administrator) == CONFIRM
    right = {"token": administrator, "password": "Camino-42"}
    assert product.data("confirmSession", right)["success"]
    assert call(gateways, "listReports", administrator)["success"]


def test_a_member_is_not_allowed_anything(gateways: SeveralGateways) -> None:
    member = gateways.product.log_in(gateways.product.register())
    for function in ("listReports", "listAccounts", "showInstance"):
        replies = everywhere(gateways, function, member)
        assert replies == [NOT_ALLOWED] * GATEWAYS


def test_a_suspended_account_stops_on_every_gateway(
    gateways: SeveralGateways, administrator: str
) -> None:
    product = gateways.product
    email = product.register()
    token = product.log_in(email)
    created = product.data(
        "createKey",
        {
            "token": token,
            "password": "Camino-42",
            "name": "key",
            "scopes": ["links:read"],
            "expires_at": None,
        },
    )
    key = created["key"]
    code = product.shorten("https://example.com/", token)
    wait_until(lambda: gateways.statuses(key) == [200] * GATEWAYS, RECOVERY_SECONDS)
    assert gateways.accepts(token) == [True] * GATEWAYS
    changes = {"id": account_of(token), "changes": {"suspended": True}}
    changed = call(gateways, "changeAccount", administrator, **changes)
    assert changed["account"]["suspended"]
    wait_until(
        lambda: (
            gateways.accepts(token) == [False] * GATEWAYS
            and gateways.statuses(key) == [401] * GATEWAYS
        ),
        PROPAGATION_SECONDS,
    )
    right = {"email": email, "password": "Camino-42"}
    assert product.data("verifyUser", right) == {"success": False, "error": "suspended"}
    wrong = {**right, "password": "camino-42"}
    assert product.data("verifyUser", wrong) == {"success": False, "error": "incorrect"}
    assert product.visit(code).status_code == 302, "its links remain"

    resume = {"id": account_of(token), "changes": {"suspended": False}}
    assert not call(gateways, "changeAccount", administrator, **resume)["account"]["suspended"]
    wait_until(lambda: gateways.statuses(key) == [200] * GATEWAYS, PROPAGATION_SECONDS)
    assert gateways.accepts(token) == [False] * GATEWAYS, "its sessions have ended"
    assert gateways.accepts(product.log_in(email)) == [True] * GATEWAYS
    actions = call(gateways, "listDecisions", administrator, query=account_of(token))
    assert [one["action"] for one in actions["decisions"]] == ["resume", "suspend"]


def test_a_demoted_administrator_can_do_nothing_on_any_gateway(
    gateways: SeveralGateways, administrator: str
) -> None:
    demoted = log_in_administrator(gateways.product)
    assert all(one["success"] for one in everywhere(gateways, "listReports", demoted))
    change = {"id": account_of(demoted), "changes": {"role": "member"}}
    assert call(gateways, "changeAccount", administrator, **change)["account"]["role"] == "member"

    def is_refused() -> bool:
        functions = ("listReports", "listAccounts", "showInstance")
        replies = [everywhere(gateways, function, demoted) for function in functions]
        return replies == [[NOT_ALLOWED] * GATEWAYS] * len(functions)

    wait_until(is_refused, PROPAGATION_SECONDS)
    assert gateways.accepts(demoted) == [True] * GATEWAYS, "it is a member"


def test_an_administrator_ends_sessions_and_lets_owners_return(
    gateways: SeveralGateways, administrator: str
) -> None:
    product = gateways.product
    email = product.register()
    token = product.log_in(email)
    account = {"id": account_of(token)}
    assert call(gateways, "endAccountSessions", administrator, **account) == {"success": True}
    wait_until(lambda: gateways.accepts(token) == [False] * GATEWAYS, PROPAGATION_SECONDS)
    url = call(gateways, "createResetLink", administrator, **account)["url"]
    assert url.startswith(f"{product.url}/reset-password#email=")
    actions = call(gateways, "listDecisions", administrator, query=account["id"])["decisions"]
    assert [one["action"] for one in actions] == ["reset link", "end sessions"]
    assert {one["subject"] for one in actions} == {account["id"]}
    assert call(gateways, "endAccountSessions", administrator, id="unknown") == NO_EXIST


def test_accounts_are_listed_with_their_links(
    gateways: SeveralGateways, administrator: str
) -> None:
    product = gateways.product
    email = product.register()
    token = product.log_in(email)
    product.shorten("https://example.com/", token)
    (account,) = call(gateways, "listAccounts", administrator, query=email.upper())["accounts"]
    assert set(account) == {
        *("id", "email", "username", "role", "suspended", "links", "created_at", "last_seen_at")
    }
    assert (account["id"], account["email"], account["links"]) == (account_of(token), email, 1)
    assert (account["role"], account["suspended"]) == ("member", False)
    blocked = call(
        gateways, "blockAccountLinks", administrator, id=account["id"], **{"class": "spam"}
    )
    assert blocked == {"success": True, "blocked": 1}


def test_an_invitation_is_listed_until_it_is_revoked(
    gateways: SeveralGateways, administrator: str
) -> None:
    email = f"{new_code()}@example.com"
    made = call(gateways, "createInvitation", administrator, email=email, role="administrator")
    assert made["url"].startswith(f"{gateways.product.url}/register#invitation=")
    listed = call(gateways, "listInvitations", administrator)["invitations"]
    (invitation,) = (one for one in listed if one["id"] == made["id"])
    assert set(invitation) == {"id", "email", "role", "created_at", "expires_at"}
    assert (invitation["email"], invitation["role"]) == (email, "administrator")
    for _ in range(2):
        assert call(gateways, "revokeInvitation", administrator, id=made["id"])["success"]
    listed = call(gateways, "listInvitations", administrator)["invitations"]
    assert made["id"] not in {one["id"] for one in listed}


def test_the_instance_is_shown(gateways: SeveralGateways, administrator: str) -> None:
    def ready() -> dict[str, bool]:
        shown = call(gateways, "showInstance", administrator)
        assert shown["success"]
        assert min(shown["links"], shown["accounts"], shown["storage_bytes"]) >= 0
        return {process["name"]: process["ready"] for process in shown["processes"]}

    names = ("auth", "links", "analytics", "gateway", "reconciler")
    wait_until(lambda: ready() == dict.fromkeys(names, True), RECOVERY_SECONDS)


@contextmanager
def administration(product: Product) -> Iterator[links_pb2_grpc.AdministrationServiceStub]:
    """Yield what a compromised gateway has of links."""
    with grpc.insecure_channel(product.address("links")) as channel:
        yield links_pb2_grpc.AdministrationServiceStub(channel)


def test_a_gateway_that_lies_about_the_account_can_do_nothing(
    gateways: SeveralGateways, administrator: str
) -> None:
    """It can make no pass, and nothing in a request names who decides."""
    product = gateways.product
    code, now = product.shorten("https://example.com/"), datetime.now(UTC)
    somebody = Administrator(account_of(administrator), "admin@example.com", now)
    passes = [
        "",
        administrator,  # A session token is no pass.
        issue_pass(secrets.token_urlsafe(48), somebody, now),
        issue_pass(ADMINISTRATION_SECRET, somebody, now - timedelta(seconds=90)),
    ]
    with administration(product) as stub:
        for forged in passes:
            request = links_pb2.DecideRequest(
                administrator_pass=forged,
                subject=code,
                action=links_pb2.DECISION_KIND_BLOCK,
                reason=links_pb2.BLOCK_REASON_SPAM,
            )
            with pytest.raises(grpc.RpcError) as refused:
                stub.Decide(request)
            assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert product.visit(code).status_code == 302
