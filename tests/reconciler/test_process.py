"""The reconciler over the running product: what it finishes, also when it is killed meanwhile."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pymongo
import pytest

from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from atajo.links.v1 import links_pb2, links_pb2_grpc
from tests.conftest import STORES, store_of_product
from tests.support.gateway_client import new_code, registration
from tests.support.processes import TIMEOUT_SECONDS, Process
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, RECOVERY_SECONDS, wait_until

TASKS = ("accounts", "purge", "views")
MONTH = 31 * 86_400 * 1_000_000
"""Microseconds, which moments are stored in."""
TAKEN_OVER = 12.0
"""Seconds within which another reconciler does the jobs of one that was killed. It is a promise."""
FINISHED = 60.0
"""Seconds within which all of an account is gone, once its reconciler is left alone."""
FREED = 15.0
"""Seconds within which the e-mail address of an account of up to 1,000 links is free. It is a
promise."""
KILLS = 2


class Stored(Product):
    """The product, with what only its operator, or its gateway, could ask of the services."""

    def __init__(self, folder: Path, store: str) -> None:
        super().__init__(folder, {"ATAJO_LIMITS": "off"}, store=store)
        self._url = store

    def accounts_with_links(self, count: int) -> dict[str, list[str]]:
        """Make accounts with three links each; returns the links' codes by e-mail address."""
        fields = registration("")
        codes: dict[str, list[str]] = {}
        with (
            grpc.insecure_channel(self.address("auth")) as to_auth,
            grpc.insecure_channel(self.address("links")) as to_links,
        ):
            auth = auth_pb2_grpc.AuthServiceStub(to_auth)
            links = links_pb2_grpc.LinksServiceStub(to_links)
            for _ in range(count):
                email = f"{new_code()}@example.com"
                request = auth_pb2.RegisterRequest(
                    email=email,
                    password_hash=fields["password"],
                    salt=fields["salt"],
                    username="walker",
                )
                account = auth.Register(request).account_id
                codes[email] = [new_code() for _ in range(3)]
                made = links.CreateLinks(
                    links_pb2.CreateLinksRequest(
                        links=[
                            links_pb2.CreateLinkRequest(
                                code=code, url="https://secret.example/", account_id=account
                            )
                            for code in codes[email]
                        ]
                    )
                )
                assert all(one.HasField("resolution") for one in made.creations)
        return codes

    def close(self, email: str) -> None:
        """Close an account as the operator does."""
        with grpc.insecure_channel(self.admin_address("auth")) as channel:
            stub = auth_pb2_grpc.AdminServiceStub(channel)
            stub.CloseAccount(auth_pb2.CloseAccountRequest(email=email))

    def account_of(self, token: str) -> str:
        with grpc.insecure_channel(self.address("auth")) as channel:
            request = auth_pb2.VerifyTokenRequest(token=token)
            return auth_pb2_grpc.AuthServiceStub(channel).VerifyToken(request).account_id

    def most_viewed(self, token: str) -> list[str]:
        links = self.data("showLinks", {"token": token, "order": "most viewed"})["links"]
        return [link["code"] for link in links]

    def let_a_month_pass(self, code: str) -> None:
        """For a removed link."""
        if not self._url:
            with closing(sqlite3.connect(self.folder / "links.sqlite3", timeout=20)) as file:
                sql = "UPDATE links SET removed_at = removed_at - ? WHERE code = ?"
                assert file.execute(sql, (MONTH, code)).rowcount == 1
                file.commit()
            return
        with self._database("links") as client:
            links = client.get_default_database().links
            earlier = {"$inc": {"removed_at": -MONTH}}
            assert links.update_one({"_id": code}, earlier).modified_count == 1

    def counted(self) -> set[str]:
        """The codes of which analytics knows any visit."""
        if not self._url:
            with closing(sqlite3.connect(self.folder / "analytics.sqlite3", timeout=20)) as file:
                tables = ("totals", "days")
                return {row[0] for t in tables for row in file.execute(f"SELECT code FROM {t}")}
        with self._database("analytics") as client:
            documents = client.get_default_database()
            days = {one["_id"].partition(":")[0] for one in documents.days.find()}
            return days | {one["_id"] for one in documents.totals.find()}

    def kept(self) -> str:
        """All that links keeps, as text."""
        if not self._url:
            with closing(sqlite3.connect(self.folder / "links.sqlite3", timeout=20)) as file:
                return "\n".join(file.iterdump())
        with self._database("links") as client:
            documents = client.get_default_database()
            names = documents.list_collection_names()
            return "\n".join(str(one) for name in names for one in documents[name].find())

    def _database(self, service: str) -> pymongo.MongoClient[dict[str, Any]]:
        return pymongo.MongoClient(self._env(service)["ATAJO_STORE"])

    def another_reconciler(self) -> Process:
        return Process.start(
            "services.reconciler", self._env("reconciler"), self.folder / "another.log"
        )

    def held(self, name: str = "reconciler") -> list[str]:
        """The tasks that a process does."""
        series = "atajo_reconciler_lease_held"
        return [task for task in TASKS if self.metric(f'{series}{{task="{task}"}}', name)]


@pytest.fixture(params=["sqlite", "mongodb"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stored]:
    """A product of one test alone, over either store."""
    with store_of_product(request) as store, Stored(tmp_path, store) as product:
        product.start()
        yield product


@pytest.fixture(scope="module", params=STORES)
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stored]:
    """A product of the tests here. Who stops a part of it starts it again."""
    folder = tmp_path_factory.mktemp("reconciled")
    with store_of_product(request) as store, Stored(folder, store) as product:
        product.start()
        yield product


def is_gone(product: Stored, code: str) -> bool:
    return product.visit(code).status_code == 404


@pytest.mark.timeout(300)
def test_a_closed_account_goes_with_all_it_had_however_often_the_reconciler_is_killed(
    own: Stored,
) -> None:
    neighbour = own.log_in(own.register())
    kept = own.shorten("https://example.com/kept", neighbour)
    email = own.register()
    token = own.log_in(email)
    codes = [own.shorten(f"https://secret.example/{n}", token) for n in range(150)]
    for code in (*codes[:5], kept):
        own.visit(code)
    own.await_views(token, {code: int(code in codes[:5]) for code in codes})

    assert own.data("removeAccount", {"token": token, "password": "Camino-42"})["success"]
    wait_until(lambda: own.visit(codes[0]).status_code == 410, PROPAGATION_SECONDS)
    # What is on its way is waited for, so the first kill comes when it is deleted.
    for turn in range(KILLS):
        time.sleep(random.uniform(0, 2) if turn % 2 else random.uniform(10, 12))
        own.kill("reconciler")
        own.start("reconciler")

    again = registration(email)
    # It is taken until all else is gone.
    wait_until(lambda: bool(own.data("registerUser", again)["success"]), FINISHED)
    wait_until(lambda: all(is_gone(own, code) for code in codes[:5]), PROPAGATION_SECONDS)
    assert own.counted() == {kept}
    assert "secret.example" not in own.kept()
    assert own.views(own.log_in(email)) == {}
    assert own.views(neighbour) == {kept: 1}
    assert (
        own.call(
            "createShortLink", {"code": codes[0], "url": "a.example", "token": neighbour}
        ).status_code
        == 409
    )
    for text in (email, "secret.example"):
        assert text not in own.logs("reconciler")


@pytest.mark.alone
def test_a_removed_account_s_links_no_longer_reveal_their_destinations(product: Stored) -> None:
    email = product.register()
    token = product.log_in(email)
    active, removed, public = (
        product.shorten(f"https://secret.example/{n}", token) for n in range(3)
    )
    scan_code = product.data("createScanCode", {"token": token, "code": active})["scan_code"]
    product.data(
        "changeLink", {"token": token, "code": public, "changes": {"public_statistics": True}}
    )
    product.data("removeLinks", {"token": token, "codes": [removed]})
    # A thousand links with these: an account of so many is gone in time.
    account = product.account_of(token)
    with grpc.insecure_channel(product.address("links")) as channel:
        for _ in range(4):
            requests = [
                links_pb2.CreateLinkRequest(
                    code=new_code(), url="https://secret.example/", account_id=account
                )
                for _ in range(249)
            ]
            links_pb2_grpc.LinksServiceStub(channel).CreateLinks(
                links_pb2.CreateLinksRequest(links=requests)
            )
    codes = (active, removed, public, scan_code)
    assert all(product.data("previewLink", {"code": code})["preview"] for code in codes)
    assert product.data("showStatistics", {"code": public})["success"]

    own = {"token": token, "password": "Camino-42"}
    assert product.data("removeAccount", own) == {"success": True}
    closed_at = time.monotonic()

    def reveals(code: str) -> bool:
        return (
            product.data("previewLink", {"code": code})["preview"] is not None
            or bool(product.data("accessLink", {"code": code})["longUrl"])
            or product.visit(code).status_code == 302
            or bool(product.data("showStatistics", {"code": code}).get("success"))
        )

    wait_until(lambda: not any(map(reveals, codes)), PROPAGATION_SECONDS)
    again = registration(email)
    left = FREED - (time.monotonic() - closed_at)
    wait_until(lambda: bool(product.data("registerUser", again)["success"]), left)
    assert not any(map(reveals, codes))


@pytest.mark.alone
def test_links_of_many_accounts_closed_at_once_stop_in_time(product: Stored) -> None:
    codes = product.accounts_with_links(300)
    for email in codes:
        product.close(email)
    waiting = {code for theirs in codes.values() for code in theirs[:1]}

    def reveals(code: str) -> bool:
        return (
            product.data("previewLink", {"code": code})["preview"] is not None
            or product.visit(code).status_code == 302
        )

    def all_stopped() -> bool:
        waiting.difference_update([code for code in waiting if not reveals(code)])
        return not waiting

    wait_until(all_stopped, PROPAGATION_SECONDS)


def test_what_was_removed_a_month_ago_is_deleted_with_its_counts(product: Stored) -> None:
    token = product.log_in(product.register())
    old, new, stays = (product.shorten(f"https://{n}.example/", token) for n in ("old", "new", "x"))
    for code in (old, new, stays):
        product.visit(code)
    product.await_views(token, {old: 1, new: 1, stays: 1})
    product.data("removeLinks", {"token": token, "codes": [old, new]})
    product.let_a_month_pass(old)

    purged = 'atajo_links_purged_total{cause="removed"}'
    wait_until(lambda: product.metric(purged, "reconciler") == 1, RECOVERY_SECONDS)
    wait_until(lambda: product.metric("atajo_links_purgeable", "reconciler") == 0, RECOVERY_SECONDS)
    assert product.counted() & {old, new, stays} == {new, stays}
    assert "old.example" not in product.kept()
    assert "new.example" in product.kept()
    wait_until(lambda: is_gone(product, old), PROPAGATION_SECONDS)
    assert product.visit(new).status_code == 410
    again = {"code": old, "url": "https://old.example/", "token": token}
    assert product.call("createShortLink", again).status_code == 409


def test_links_are_ordered_by_views_within_seconds(product: Stored) -> None:
    token = product.log_in(product.register())
    codes = [product.shorten(f"https://{n}.example/", token) for n in range(3)]
    assert product.most_viewed(token) == codes[::-1]
    for code, times in zip(codes, (2, 1, 3), strict=True):
        for _ in range(times):
            product.visit(code)
    wait_until(
        lambda: product.most_viewed(token) == [codes[2], codes[0], codes[1]], RECOVERY_SECONDS
    )

    product.kill("reconciler", "analytics")
    for _ in range(5):
        product.visit(codes[1])
    product.start("analytics", "reconciler")
    wait_until(lambda: product.most_viewed(token)[0] == codes[1], RECOVERY_SECONDS)
    assert product.metric("atajo_views_lost_total", "reconciler") == 0


def test_one_reconciler_works_at_a_time(product: Stored) -> None:
    wait_until(lambda: product.held() == [*TASKS], TAKEN_OVER)
    with product.another_reconciler() as another:
        product._processes["another"] = another
        time.sleep(3)  # It asks for the leases every two seconds.
        assert (product.held(), product.held("another")) == ([*TASKS], [])

        # One that is asked to stop gives them back, one that is killed is waited for.
        assert product.stop("reconciler") == 0
        wait_until(lambda: product.held("another") == [*TASKS], PROPAGATION_SECONDS)
        product.start("reconciler")
        assert product.held() == []
        product.kill("another")
        wait_until(lambda: product.held() == [*TASKS], TAKEN_OVER)


def test_its_end_is_orderly_whatever_is_away(product: Stored) -> None:
    wait_until(lambda: set(product.dependencies("reconciler").values()) == {"ok"}, TIMEOUT_SECONDS)
    product.kill("links", "analytics")
    away = {"auth": "ok", "links": "UNAVAILABLE", "analytics": "UNAVAILABLE"}
    wait_until(lambda: product.dependencies("reconciler") == away)
    assert product.metric("atajo_ready", "reconciler") == 1
    assert product.stop("reconciler") == 0
    assert '"event": "stopped"' in product.logs("reconciler")
    product.start("links", "analytics", "reconciler")
