"""A seeded run of faults under load: `make faults`, or `SEED=… KILLS=… STORE=… make faults`.

STORE is `sqlite` or `mongodb`; without it there is a run on each. MongoDB has three nodes, whose
primary is killed, frozen and told to step down, too, and two replicas of analytics.

At the end the run compares with the store: every acknowledged link, account and report; each
answered visit by code or scan code, with its names and visitor; and every acknowledged change,
removal, restoration, claim and scan code. None may be lost or counted twice, each row of an import
that two tabs sent must have one link, each call with an idempotency key that two clients made must
have created its links once, and no cached redirect may have failed while its gateway was up. The
names of every dimension add up to the people.
Whenever all parts are up, two gateways must apply the operator's blocks within five seconds and
never return to an earlier state. Each decision is stored.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import grpc
import httpx

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from tests.support.load_generator import Load
from tests.support.nginx import start_gateway
from tests.support.processes import NO_TLS
from tests.support.product import Product
from tests.support.visitor_profiles import PROFILES, VisitorProfile
from tests.support.waiting import RECOVERY_SECONDS, wait_until
from tests.system.faults.creators import Creators
from tests.system.faults.fleet import STORES, Fleet, Storm, fleet_on
from tests.system.faults.importers import Importers
from tests.system.faults.operator import Operator
from tests.system.faults.reporters import NO_LIMIT, Reporters

KILLS = 60
BESIDE_SETTINGS = {
    **NO_LIMIT,
    "ATAJO_JOURNAL_BYTES": str(1 << 20),
    "ATAJO_LIMIT_REGISTRATIONS": "10000/second",
    "ATAJO_TRUSTED_PROXIES": "127.0.0.0/8,::1/128",  # So that visitors have different addresses.
}
"""A small journal, which is full at times. A long freshness, so that this gateway learns of changes
only from the change feed."""
SETTINGS = {
    **BESIDE_SETTINGS,
    "ATAJO_CACHE_FRESH_SECONDS": "2",
    "ATAJO_CACHE_STALE_SECONDS": "1",
}
"""A short freshness, so that entries are looked up again, too."""
DIMENSIONS = {"referrer", "device", "browser", "system", "language", "country", "source"}


def run(folder: Path, seed: int, kills: int, store: str = "sqlite") -> dict[str, Any]:
    """Cause faults until a number of processes was killed, then compare. Returns what was done.

    Raises AssertionError.
    """
    started, started_on = time.monotonic(), datetime.now(UTC).date()
    chance = random.Random(seed)
    with fleet_on(store, folder, SETTINGS, nodes=3, replicas=["analytics-2"]) as fleet:
        fleet.start()
        token = fleet.log_in(fleet.register())
        codes = [fleet.shorten(f"https://example.com/{n}", token) for n in range(20)]
        scan_codes = {
            code: fleet.data("createScanCode", {"token": token, "code": code})["scan_code"]
            for code in codes[:10]
        }
        reported = [fleet.shorten(f"https://example.com/reported/{n}") for n in range(5)]
        importer = fleet.log_in(fleet.register())
        storm = Storm(fleet, seed)
        with start_gateway(fleet, folder / "beside", BESIDE_SETTINGS) as beside:
            other = f"http://{beside.addresses['http']}"
            operator = Operator(fleet, 6, [fleet.url, other], {fleet.url: fleet.life})
            with (
                operator.visitors,
                operator,
                Reporters(fleet, reported, random.Random(seed), count=1, pause=0.05) as reporters,
                Importers(fleet, importer, pause=1.0) as importers,
                Creators(fleet, pause=1.0) as creators,
                Load(
                    fleet,
                    token,
                    codes,
                    visitors=3,
                    makers=1,
                    callers=1,
                    members=1,
                    owners=2,
                    pause=0.01,
                    life=fleet.life,
                    profiles=PROFILES,
                    scan_codes=scan_codes,
                ) as load,
            ):
                load.await_more(visits=50, created=5)
                operator.visitors.await_round()  # No gateway has unknown links in its cache.
                while fleet.kills < kills:
                    storm.blow()
                    if chance.random() < 0.7:
                        _await_calm(fleet, operator)
                        load.await_more(
                            visits=chance.randint(10, 150), created=chance.randint(1, 5)
                        )
                _await_calm(fleet, operator)
                load.await_more(visits=100, created=10)
                reporters.await_more(20)
            wait_until(lambda: fleet.metric("atajo_visitor_key_known") == 1, RECOVERY_SECONDS)
            load.visit_with_all_profiles(codes, fleet.url)
            load.visit_with_all_profiles(codes, other)
        broken = fleet.kills + fleet.freezes + storm.database_faults.total()

        def compare_all() -> None:
            compare(fleet, token, load)
            compare_statistics(fleet, codes, load, started_on)
            compare_together(fleet, token)
            operator.compare()
            reporters.compare(broken)
            importers.compare()
            creators.compare()

        # It was killed; it sends its journal after its next start.
        with start_gateway(fleet, folder / "beside", BESIDE_SETTINGS):
            compare_all()
        # Journals and logs are replayed at a start: nothing may count twice.
        fleet.strike(*fleet.processes)
        fleet.await_all()
        compare_all()
        return {
            "seed": seed,
            "store": store,
            "kills": fleet.kills,
            "freezes": fleet.freezes,
            "stops": fleet.stops,
            "database_faults": dict(storm.database_faults),
            "answered": load.answered.total(),
            "unanswered": load.unanswered.total(),
            "created": len(load.created) + len(load.anonymous),
            "registered": len(load.registered),
            "logged_in": load.logged_in,
            "changed": load.edits["changeLink"],
            "removed": load.edits["removeLinks"],
            "restored": load.edits["restoreLinks"],
            "claimed": load.edits["claimLinks"],
            "scan_codes": load.edits["createScanCode"],
            "reported": reporters.acknowledged.total(),
            "decided": operator.decisions,
            "imported_rows": importers.rows,
            "created_by_key": creators.links,
            "slowest_followed_ms": round(operator.slowest * 1000),
            "slowest_cached_ms": round(load.slowest_cached * 1000),
            "seconds": round(time.monotonic() - started),
        }


def _await_calm(fleet: Fleet, operator: Operator) -> None:
    """Wait until all parts are up and decisions are applied."""
    fleet.await_all()
    fleet.await_links()
    operator.await_followed()


def compare(product: Product, token: str, load: Load) -> None:
    """Assert that what is stored matches what was acknowledged."""
    assert not load.failures, load.failures[:20]
    product.http.close()  # Its connections may be to an earlier gateway process.
    product.http = httpx.Client(timeout=30, verify=NO_TLS)
    links = product.data("showProfile", {"token": token})["data"]
    times = Counter(link["short_link"] for link in links)
    assert not [code for code, n in times.items() if n > 1], "a link is there twice"
    stored = {link["short_link"]: link["long_link"] for link in links}
    lost = {code: url for code, url in load.created.items() if stored.get(code) != url}
    assert not lost, f"links were lost: {lost}"
    for code, url in load.anonymous.items():
        head = product.http.head(f"{product.url}/{code}")
        assert head.headers.get("location") == url, f"{code} was lost: {head.status_code}"
    load.check_owned()
    for account in load.registered:
        # Another username: 'exist' if the account is there, a success if it was lost.
        reply = product.data("registerUser", {**account, "username": "another"})
        assert reply == {"success": False, "error": "exist"}, f"an account was lost: {reply}"

    def wrong() -> list[str]:
        # Views of a link without an owner cannot be read.
        views = product.views(token)
        return [
            f"{code}: {load.answered[code]} answered, {load.unanswered[code]} unanswered, {n} views"
            for code, n in views.items()
            if not load.answered[code] <= n <= load.answered[code] + load.unanswered[code]
        ]

    deadline = time.monotonic() + RECOVERY_SECONDS
    while wrong() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not wrong(), f"visits were lost or counted twice: {wrong()}"
    time.sleep(1.0)
    assert not wrong(), f"visits came on top: {wrong()}"


def compare_statistics(product: Product, codes: list[str], load: Load, since: date) -> None:
    """Assert the same for the statistics of each code.

    Each profile that can visit a code did so while there was a visitor key. Two may look like one
    (for one in a thousand codes), but resends, restarts and other gateways add none, on each day
    since `since`.
    """
    days = (datetime.now(UTC).date() - since).days + 1
    wrong = []
    with grpc.insecure_channel(product.address("analytics")) as channel:
        stub = pb_grpc.AnalyticsServiceStub(channel)
        for code in codes:
            # A visitor is an address and a User-Agent.
            visitors = len(
                {
                    (profile.headers["user-agent"], profile.headers.get("x-forwarded-for"))
                    for profile in load.profiles_of(code)
                    if not profile.is_bot
                }
            )
            span = pb.GetStatisticsRequest(
                codes=[code], recent=pb.RECENT_SPAN_7_DAYS, timezone="UTC"
            )
            told = stub.GetStatistics(span, timeout=20)
            assert visitors - 1 <= told.totals.visitors <= visitors * days, (
                f"{code} has {told.totals}"
            )
            named = {
                pb.Dimension.Name(breakdown.dimension).removeprefix("DIMENSION_").lower(): {
                    one.name: one.people for one in breakdown.names
                }
                for breakdown in told.breakdowns
            }
            assert named.keys() == DIMENSIONS
            for dimension, names in named.items():
                wrong += _differences(load, code, dimension, names)
            wrong += _differences(load, code, "bots", {"": told.totals.bots})
            wrong += _not_in_all(code, told.totals.people, named)
            if sum(step.people for step in told.series) != told.totals.people:
                wrong.append(f"{code}: its steps are not the {told.totals.people} people")
    assert not wrong, f"visits are told wrongly: {wrong}"


def compare_together(product: Product, token: str) -> None:
    """Assert that the totals of all links of an account are the sums of each."""
    payload = {"token": token, "code": None, "range": "7 days", "timezone": "UTC"}

    def wrong() -> list[str]:
        views = product.views(token)
        told = product.data("showStatistics", payload)
        people = told["totals"]["people"]
        named = {
            dimension: {one["name"]: one["people"] for one in names}
            for dimension, names in told["breakdowns"].items()
        }
        assert named.keys() == DIMENSIONS
        found = _not_in_all("all links", people, named)
        if people != sum(views.values()):
            found.append(f"all links: {people} people, and {sum(views.values())} views")
        if sum(step["people"] for step in told["series"]) != people:
            found.append(f"all links: their steps are not the {people} people")
        found += [
            f"{one['code']}: {one['people']} people, and {views[one['code']]} views"
            for one in told["top"]
            if one["people"] != views[one["code"]]
        ]
        return found

    assert not wrong(), f"visits are told wrongly: {wrong()}"


def _not_in_all(what: str, people: int, named: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Dimensions whose names do not add up to the people."""
    return [
        f"{what}, {dimension}: {sum(names.values())} by their names, {people} people"
        for dimension, names in named.items()
        if sum(names.values()) != people
    ]


def _differences(load: Load, code: str, dimension: str, told: dict[str, int]) -> list[str]:
    """Return how people by name, or bots, differ from those who were answered."""

    def by_name(visits: Counter[tuple[str, VisitorProfile]]) -> Counter[str]:
        names = Counter[str]()
        for (visited, profile), count in visits.items():
            if visited == code and profile.is_bot == (dimension == "bots"):
                unknown = "link" if dimension == "source" else ""
                names[profile.names.get(dimension, unknown)] += count
        return names

    answered, unanswered = by_name(load.seen), by_name(load.unseen)
    return [
        f"{code}, {dimension} {name!r}: {answered[name]} answered, {unanswered[name]} unanswered, "
        f"{told.get(name, 0)} told"
        for name in told.keys() | answered.keys()
        if not answered[name] <= told.get(name, 0) <= answered[name] + unanswered[name]
    ]


def main() -> None:
    """Run with the environment's seed or a new one, and print what was done."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    kills = int(os.environ.get("KILLS") or KILLS)
    for store in [os.environ["STORE"]] if os.environ.get("STORE") else STORES:
        _report(seed, kills, store)


def _report(seed: int, kills: int, store: str) -> None:
    sys.stdout.write(f"SEED={seed} KILLS={kills} STORE={store}\n")
    sys.stdout.flush()
    folder = mkdtemp(prefix="atajo-faults-")
    try:
        summary = run(Path(folder), seed, kills, store)
    except BaseException:
        sys.stdout.write(f"Failed with SEED={seed}; its logs and stores are in {folder}\n")
        raise
    rmtree(folder)
    for name, value in summary.items():
        sys.stdout.write(f"{name:18} {value}\n")


if __name__ == "__main__":
    main()
