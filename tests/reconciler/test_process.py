"""The reconciler in the running product, including when it is killed."""

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
"""In microseconds, the unit of stored timestamps."""
TAKEOVER_SECONDS = 12.0
"""Promised time until another reconciler runs the jobs of a killed one."""
REMOVAL_SECONDS = 60.0
"""Time until an account is removed completely, once the reconciler is no longer killed."""
SMALL_REMOVAL_SECONDS = 15.0
"""Promised time until an account of up to 1,000 links is removed and its e-mail address free."""
KILLS = 2


class InspectableProduct(Product):
    """The product, with access to its stores and to calls of the operator and the gateway."""

    def __init__(self, folder: Path, store: str) -> None:
        super().__init__(folder, {"ATAJO_LIMITS": "off"}, store=store)
        self._url = store

    def accounts_with_links(self, count: int) -> dict[str, list[str]]:
        """Create accounts with three links each; return the codes by e-mail address."""
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

    def backdate_removal(self, code: str) -> None:
        """Set the removal of a removed link back by a month."""
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

    def codes_with_counts(self) -> set[str]:
        """Return the codes for which analytics has any data."""
        if not self._url:
            with closing(sqlite3.connect(self.folder / "analytics.sqlite3", timeout=20)) as file:
                tables = ("totals", "days")
                return {row[0] for t in tables for row in file.execute(f"SELECT code FROM {t}")}
        with self._database("analytics") as client:
            documents = client.get_default_database()
            days = {one["_id"].partition(":")[0] for one in documents.days.find()}
            return days | {one["_id"] for one in documents.totals.find()}

    def dump_links(self) -> str:
        """Return all data in the store of links as text."""
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

    def tasks_of(self, name: str = "reconciler") -> list[str]:
        """Return the tasks that a process runs."""
        series = "atajo_reconciler_lease_held"
        return [task for task in TASKS if self.metric(f'{series}{{task="{task}"}}', name)]


@pytest.fixture(params=STORES)
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InspectableProduct]:
    """A product for a single test, on either store."""
    with store_of_product(request) as store, InspectableProduct(tmp_path, store) as product:
        product.start()
        yield product


@pytest.fixture(scope="module", params=STORES)
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InspectableProduct]:
    """A product for the tests of this module. A test that stops a process starts it again."""
    folder = tmp_path_factory.mktemp("reconciled")
    with store_of_product(request) as store, InspectableProduct(folder, store) as product:
        product.start()
        yield product


def is_gone(product: InspectableProduct, code: str) -> bool:
    return product.visit(code).status_code == 404


@pytest.mark.timeout(300)
def test_a_closed_account_is_removed_with_all_data_although_the_reconciler_is_killed(
    own: InspectableProduct,
) -> None:
    neighbor = own.log_in(own.register())
    kept = own.shorten("https://example.com/kept", neighbor)
    email = own.register()
    token = own.log_in(email)
    codes = [own.shorten(f"https://secret.example/{n}", token) for n in range(150)]
    for code in (*codes[:5], kept):
        own.visit(code)
    own.await_views(token, {code: int(code in codes[:5]) for code in codes})

    assert own.data("removeAccount", {"token": token, "password": "Camino-42"})["success"]
    wait_until(lambda: own.visit(codes[0]).status_code == 410, PROPAGATION_SECONDS)
    # Deletion starts after the settling time; the first kill interrupts it.
    for turn in range(KILLS):
        time.sleep(random.uniform(0, 2) if turn % 2 else random.uniform(10, 12))
        own.kill("reconciler")
        own.start("reconciler")

    again = registration(email)
    # The address stays taken until everything else is removed.
    wait_until(lambda: bool(own.data("registerUser", again)["success"]), REMOVAL_SECONDS)
    wait_until(lambda: all(is_gone(own, code) for code in codes[:5]), PROPAGATION_SECONDS)
    assert own.codes_with_counts() == {kept}
    assert "secret.example" not in own.dump_links()
    assert own.views(own.log_in(email)) == {}
    assert own.views(neighbor) == {kept: 1}
    assert (
        own.call(
            "createShortLink", {"code": codes[0], "url": "a.example", "token": neighbor}
        ).status_code
        == 409
    )
    for text in (email, "secret.example"):
        assert text not in own.logs("reconciler")


@pytest.mark.alone
def test_a_removed_account_s_links_no_longer_reveal_their_destinations(
    product: InspectableProduct,
) -> None:
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
    # Together a thousand links, the maximum for the promised time.
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
    left = SMALL_REMOVAL_SECONDS - (time.monotonic() - closed_at)
    wait_until(lambda: bool(product.data("registerUser", again)["success"]), left)
    assert not any(map(reveals, codes))


@pytest.mark.alone
def test_links_of_many_accounts_closed_at_once_stop_in_time(product: InspectableProduct) -> None:
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


def test_links_removed_a_month_ago_are_deleted_with_their_counts(
    product: InspectableProduct,
) -> None:
    token = product.log_in(product.register())
    old, new, stays = (product.shorten(f"https://{n}.example/", token) for n in ("old", "new", "x"))
    for code in (old, new, stays):
        product.visit(code)
    product.await_views(token, {old: 1, new: 1, stays: 1})
    product.data("removeLinks", {"token": token, "codes": [old, new]})
    product.backdate_removal(old)

    purged = 'atajo_links_purged_total{cause="removed"}'
    wait_until(lambda: product.metric(purged, "reconciler") == 1, RECOVERY_SECONDS)
    wait_until(lambda: product.metric("atajo_links_purgeable", "reconciler") == 0, RECOVERY_SECONDS)
    assert product.codes_with_counts() & {old, new, stays} == {new, stays}
    assert "old.example" not in product.dump_links()
    assert "new.example" in product.dump_links()
    wait_until(lambda: is_gone(product, old), PROPAGATION_SECONDS)
    assert product.visit(new).status_code == 410
    again = {"code": old, "url": "https://old.example/", "token": token}
    assert product.call("createShortLink", again).status_code == 409


def test_links_are_sorted_by_views_within_seconds(product: InspectableProduct) -> None:
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


def test_only_one_reconciler_runs_the_jobs(product: InspectableProduct) -> None:
    wait_until(lambda: product.tasks_of() == [*TASKS], TAKEOVER_SECONDS)
    with product.another_reconciler() as another:
        product._processes["another"] = another
        time.sleep(3)  # It tries to take the leases every two seconds.
        assert (product.tasks_of(), product.tasks_of("another")) == ([*TASKS], [])

        # A stopped process returns its leases; those of a killed one expire.
        assert product.stop("reconciler") == 0
        wait_until(lambda: product.tasks_of("another") == [*TASKS], PROPAGATION_SECONDS)
        product.start("reconciler")
        assert product.tasks_of() == []
        product.kill("another")
        wait_until(lambda: product.tasks_of() == [*TASKS], TAKEOVER_SECONDS)


def test_it_stops_in_good_order_while_services_are_away(product: InspectableProduct) -> None:
    wait_until(lambda: set(product.dependencies("reconciler").values()) == {"ok"}, TIMEOUT_SECONDS)
    product.kill("links", "analytics")
    away = {"auth": "ok", "links": "UNAVAILABLE", "analytics": "UNAVAILABLE"}
    wait_until(lambda: product.dependencies("reconciler") == away)
    assert product.metric("atajo_ready", "reconciler") == 1
    assert product.stop("reconciler") == 0
    assert '"event": "stopped"' in product.logs("reconciler")
    product.start("links", "analytics", "reconciler")
