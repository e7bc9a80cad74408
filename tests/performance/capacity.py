"""Computes the capacity model of docs/performance.md: `make capacity`.

Visits of links follow Zipf's law. The hit ratio of a gateway's cache is Che's approximation for
LRU, with the time after which the gateway looks a link up again; `simulate` checks it. Costs per
operation are in `MEASURED` and `ASSUMED`. Writes the tables into the document, between markers.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gateway.visits.lanes import LANES

Floats = npt.NDArray[np.float64]

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
LINKS = (10**6, 10**8, 10**9)
REDIRECTS = (100, 10**4, 10**6)
EXPONENTS = (0.8, 1.0)
"""Zipf exponents. The capacity tables use the first one."""

CACHE_BYTES = 64_000_000
CACHED_LINK_BYTES = 522
FRESH_SECONDS = 60.0
WAIT_AFTER_SECONDS = 120.0
"""Age at which visitors wait for the lookup of a cached link: fresh plus stale seconds."""
HOT_US, COLD_US = 17.0, 41.0
LOOKUP_US = 160.0
CREATION_US = 900.0
NGINX_US = 22.0
BATCHES_PER_SECOND = 10
BATCH_VISITS, BATCH_LINKS = 2000, 100_000
APPLY_US, APPLY_MONGOD_US = 42.0, 49.0
VISIT_BYTES = 55
JOURNAL_BYTES = 121
POLL_US, OPLOG_ENTRY_US, POLL_LIMIT_US = 2900.0, 5.75, 1.2e6
NOTE_VIEWS_US = 8.0
MAINTENANCE_LINKS, MAINTENANCE_SECONDS = 500, 0.05
VIEWS_SECONDS = 2.0

ID_LOOKUP_US = 50.0
ID_UPDATE_US = 50.0
LINK_BYTES = 700
DAY_MIN_BYTES, DAY_MAX_BYTES = 150.0, 12_000.0
REDIRECT_BYTES, LOOKUP_BYTES = 1000, 250
CREATED_PER_DAY = 0.001
EDITED_PER_DAY = 0.0001
EDIT_US = 2300.0
UTILIZATION = 0.5
SHARD_CORES = 8
SHARD_BYTES = 2e12

MEASURED = (
    ("memory of a gateway's cache", f"{CACHE_BYTES // 10**6} MB", "`ATAJO_CACHE_BYTES`"),
    (
        "a cached link: code of 8, URL of 80 characters",
        f"{CACHED_LINK_BYTES} bytes",
        "`gateway/redirects/entry.py`, as it counts them",
    ),
    ("redirect from memory, gateway", f"{HOT_US:.0f} us", "ADR 0004"),
    ("redirect with lookup, gateway", f"{COLD_US:.0f} us", "ADR 0004"),
    (
        "lookup, links with its store",
        f"{LOOKUP_US:.0f} us",
        "ADR 0010: 0.2 ms in all processes (SQLite), less the gateway's share",
    ),
    ("creation, links and mongod", f"{CREATION_US / 1000:.1f} ms", "ADR 0001"),
    ("edit, links and mongod", f"{EDIT_US / 1000:.1f} ms", "ADR 0001"),
    ("nginx, a redirect", f"{NGINX_US:.0f} us", "ADR 0019: 20 to 24"),
    (
        "count a visit: analytics; mongod",
        f"{APPLY_US:.0f} us; {APPLY_MONGOD_US:.0f} us",
        f"ADR 0007, batches of {BATCH_VISITS:,} over {BATCH_LINKS:,} links",
    ),
    ("a visit on disk, MongoDB", f"{VISIT_BYTES} bytes", "`make bench-scale`, 100 million visits"),
    ("a visit in the journal", f"{JOURNAL_BYTES} bytes", "ADR 0003"),
    ("poll of the change feed, mongod", f"{POLL_US / 1000:.1f} ms", "ADR 0002"),
    (
        "unrelated oplog entry, a poll",
        f"{OPLOG_ENTRY_US} us",
        "ADR 0002: 200,000 in 1.0 to 1.3 s",
    ),
    ("note the views of a link, links", f"{NOTE_VIEWS_US:.0f} us", "ADR 0010 (SQLite)"),
)
ASSUMED = (
    ("find, or update, one document by `_id` in a large bulk, mongod", f"{ID_LOOKUP_US:.0f} us"),
    ("a link on disk with indexes, MongoDB (230 bytes measured on SQLite)", f"{LINK_BYTES} bytes"),
    (
        "a link's day on disk: smallest, largest (4 kB of sketch, 700 names)",
        f"{DAY_MIN_BYTES:.0f} bytes, {DAY_MAX_BYTES / 1000:.0f} kB",
    ),
    ("redirect on the network, both directions; a looked-up link", "1,000 bytes; 250 bytes"),
    ("links created a day; edited a day", "1 in 1,000; 1 in 10,000"),
    ("use of a core", f"{UTILIZATION * 100:.0f} %"),
    ("a node of a shard", f"{SHARD_CORES} cores, {SHARD_BYTES / 1e12:.0f} TB"),
)


class Popularity(NamedTuple):
    """Links in bins of similar rank."""

    links: Floats
    share: Floats
    """Share of one link of the bin in all visits."""


class Cache(NamedTuple):
    """Results of a gateway's cache, as shares of redirects."""

    looked_up: float
    """Redirects that cause a lookup."""
    waiting: float
    """Redirects that wait for it. The others use the cached entry."""


class Limits(NamedTuple):
    """Demand on resources that replicas do not increase, as shares of their limits."""

    lane: float
    views: float
    feed: float
    maintenance: float


LIMIT_NAMES = ("a lane of visits", "view counts", "change feed", "maintenance")


class Plan(NamedTuple):
    """Resources for a number of links and redirects."""

    links: int
    redirects: int
    gateways: int
    nginx_cores: float
    cache: Cache
    lookups: float
    visit_rows: float
    """Links in all batches of a second."""
    links_replicas: int
    analytics_replicas: int
    links_shards: int
    analytics_shards: int
    gigabits: float
    journal_megabytes: float
    links_gigabytes: float
    statistics_terabytes: float
    """Bytes per year."""
    feed_cores: float
    limits: Limits


def zipf(links: int, exponent: float) -> Popularity:
    """Return the popularity of links: the first thousand one by one, the others in bins."""
    exact = np.arange(1, min(links, 1000) + 2, dtype=np.float64)
    edges = exact
    if links > 1000:
        tail = np.floor(np.geomspace(1001, links + 1, 2000))
        edges = np.unique(np.concatenate([exact, tail]))
    count = np.diff(edges)
    weight = np.sqrt(edges[:-1] * (edges[1:] - 1)) ** -exponent
    return Popularity(count, weight / float(np.sum(count * weight)))


def distinct(popularity: Popularity, visits: float) -> float:
    """Return how many different links a number of visits has on average."""
    return float(np.sum(popularity.links * -np.expm1(-popularity.share * visits)))


def characteristic_seconds(popularity: Popularity, per_second: float, capacity: float) -> float:
    """Return after how long an unvisited link leaves an LRU cache (Che et al., 2002)."""
    if float(np.sum(popularity.links)) <= capacity:
        return math.inf
    low, high = 1e-6, 1e15
    while high / low > 1.0001:
        middle = math.sqrt(low * high)
        if distinct(popularity, per_second * middle) < capacity:
            low = middle
        else:
            high = middle
    return low


def cache_of(popularity: Popularity, per_second: float, capacity: float) -> Cache:
    """Return the results of the cache of a gateway with some redirects a second.

    A lookup happens after eviction, or at the first visit after `FRESH_SECONDS`. Between two of
    them are 1 + rate * FRESH_SECONDS visits, fewer if each may find its link evicted.
    """
    seconds = characteristic_seconds(popularity, per_second, capacity)
    rate = popularity.share * per_second
    visits = 1 + rate * FRESH_SECONDS
    if seconds < FRESH_SECONDS:
        evicted = np.maximum(np.exp(-rate * seconds), 1e-12)
        visits = -np.expm1(visits * np.log1p(-np.minimum(evicted, 1 - 1e-12))) / evicted
    weight = popularity.links * popularity.share
    waits = np.exp(-rate * min(seconds, WAIT_AFTER_SECONDS))
    return Cache(float(np.sum(weight / visits)), float(np.sum(weight * waits)))


def simulate(links: int, exponent: float, per_second: float, capacity: int, requests: int) -> Cache:
    """Return the results of an LRU cache with random requests. The first half fills it."""
    weight = np.arange(1, links + 1, dtype=np.float64) ** -exponent
    cumulated = np.cumsum(weight)
    drawn = np.random.default_rng(1).random(requests) * cumulated[-1]
    ranks: list[int] = np.searchsorted(cumulated, drawn).tolist()
    cache: OrderedDict[int, float] = OrderedDict()
    looked_up = waiting = 0
    for number, rank in enumerate(ranks):
        now = number / per_second
        fetched = cache.get(rank, -math.inf)
        is_counted = number >= requests // 2
        if now - fetched >= FRESH_SECONDS:
            looked_up += is_counted
            waiting += is_counted and now - fetched >= WAIT_AFTER_SECONDS
            fetched = now
        cache[rank] = fetched
        cache.move_to_end(rank)
        if len(cache) > capacity:
            cache.popitem(last=False)
    counted = requests - requests // 2
    return Cache(looked_up / counted, waiting / counted)


def row_costs() -> tuple[float, float]:
    """Return the microseconds of analytics and of mongod for one link of a batch.

    The measured ones are for a visit. How many links the batches had follows from Zipf's law with
    exponent 1.
    """
    rows = distinct(zipf(BATCH_LINKS, 1.0), BATCH_VISITS) / BATCH_VISITS
    return APPLY_US / rows, APPLY_MONGOD_US / rows


def plan(links: int, redirects: int, exponent: float) -> Plan:
    """Compute the resources. An instance of a process has one core. There are at least two."""
    popularity = zipf(links, exponent)
    capacity = CACHE_BYTES / CACHED_LINK_BYTES
    gateways = 2
    while True:
        cache = cache_of(popularity, redirects / gateways, capacity)
        lookups = redirects * cache.looked_up
        cores = (redirects * HOT_US + lookups * (COLD_US - HOT_US)) / 1e6
        wanted = _instances(cores)
        if wanted <= gateways:
            break
        gateways = wanted

    batches = gateways * BATCHES_PER_SECOND
    rows = batches * distinct(popularity, redirects / batches)
    viewed = distinct(popularity, redirects * VIEWS_SECONDS) / VIEWS_SECONDS
    created, edited = (links * share / 86_400 for share in (CREATED_PER_DAY, EDITED_PER_DAY))
    apply_us, apply_mongod_us = row_costs()

    edits_us = created * CREATION_US + edited * EDIT_US
    links_cores = (lookups * LOOKUP_US + viewed * NOTE_VIEWS_US + edits_us) / 1e6
    entries = viewed + created + edited
    feed_us = gateways * entries * OPLOG_ENTRY_US
    store_us = lookups * ID_LOOKUP_US + viewed * ID_UPDATE_US + edits_us + feed_us
    # A poll queries every shard.
    budget_us = SHARD_CORES * UTILIZATION * 1e6 - gateways * POLL_US
    links_bytes = links * LINK_BYTES
    links_shards = max(math.ceil(store_us / budget_us), math.ceil(links_bytes / SHARD_BYTES))

    visits = popularity.share * redirects * 86_400
    smallest = -np.expm1(-visits) * DAY_MIN_BYTES
    a_day = np.minimum(np.maximum(visits * VISIT_BYTES, smallest), DAY_MAX_BYTES)
    year_bytes = 365 * float(np.sum(popularity.links * a_day))
    apply_cores = rows * apply_mongod_us / 1e6
    analytics_shards = max(
        math.ceil(apply_cores / (SHARD_CORES * UTILIZATION)), math.ceil(year_bytes / SHARD_BYTES)
    )
    network = redirects * REDIRECT_BYTES + lookups * LOOKUP_BYTES + redirects * JOURNAL_BYTES
    return Plan(
        links=links,
        redirects=redirects,
        gateways=gateways,
        nginx_cores=redirects * NGINX_US / 1e6 / UTILIZATION,
        cache=cache,
        lookups=lookups,
        visit_rows=rows,
        links_replicas=max(2, _instances(links_cores)),
        analytics_replicas=max(2, _instances(rows * apply_us / 1e6)),
        links_shards=links_shards,
        analytics_shards=analytics_shards,
        gigabits=network * 8 / 1e9,
        journal_megabytes=redirects * JOURNAL_BYTES / 1e6,
        links_gigabytes=links_bytes / 1e9,
        statistics_terabytes=year_bytes / 1e12,
        feed_cores=(feed_us + gateways * links_shards * POLL_US) / 1e6,
        limits=Limits(
            lane=rows / LANES * (apply_us + apply_mongod_us) / 1e6,
            views=viewed * (NOTE_VIEWS_US + ID_UPDATE_US) / 1e6,
            feed=(POLL_US + entries / links_shards * OPLOG_ENTRY_US) / POLL_LIMIT_US,
            maintenance=links / MAINTENANCE_LINKS * MAINTENANCE_SECONDS / 86_400,
        ),
    )


def _instances(cores: float) -> int:
    return math.ceil(cores / UTILIZATION)


def _number(value: float) -> str:
    """Write a number with two significant digits, in full."""
    if value == 0:
        return "0"
    digits = 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    return f"{rounded:,.{max(digits, 0)}f}" if rounded < 10 else f"{rounded:,.0f}"


def _power(value: int) -> str:
    return f"10^{round(math.log10(value))}" if value >= 10**4 else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def tables() -> dict[str, str]:
    """Return the tables of the document by name."""
    plans = {
        exponent: [plan(links, rate, exponent) for links in LINKS for rate in REDIRECTS]
        for exponent in EXPONENTS
    }
    base = plans[EXPONENTS[0]]
    sizes = ("links", "redirects/s")
    checked = [(exponent, *_checked(exponent)) for exponent in EXPONENTS]
    return {
        "measured": _table(("cost", "figure", "source"), MEASURED),
        "assumed": _table(("not measured", "assumption"), ASSUMED),
        "processes": _table(
            (
                *sizes,
                "gateways",
                "nginx cores",
                "links replicas",
                "analytics replicas",
                "shards: links, analytics",
            ),
            [
                (
                    *_size(one),
                    f"{one.gateways:,}",
                    _number(one.nginx_cores),
                    f"{one.links_replicas:,}",
                    f"{one.analytics_replicas:,}",
                    f"{one.links_shards:,}, {one.analytics_shards:,}",
                )
                for one in base
            ],
        ),
        "traffic": _table(
            (
                *sizes,
                "network, Gbit/s",
                "journals, MB/s",
                "links, GB",
                "statistics, TB a year",
                "creations, edits a day",
            ),
            [
                (
                    *_size(one),
                    _number(one.gigabits),
                    _number(one.journal_megabytes),
                    _number(one.links_gigabytes),
                    _number(one.statistics_terabytes),
                    f"{one.links * CREATED_PER_DAY:,.0f}, {one.links * EDITED_PER_DAY:,.0f}",
                )
                for one in base
            ],
        ),
        "limits": _table(
            (*sizes, *LIMIT_NAMES, "cores for the feed", "exceeded, the first bottleneck first"),
            [
                (
                    *_size(one),
                    *map(_number, one.limits),
                    _number(one.feed_cores),
                    _bottleneck(one.limits),
                )
                for one in base
            ],
        ),
        "sensitivity": _table(
            (
                *sizes,
                *(f"{what}, {exponent}" for what in _COMPARED for exponent in EXPONENTS),
            ),
            [
                (
                    *_size(pair[0]),
                    *(_percent(1 - one.cache.looked_up) for one in pair),
                    *(_percent(one.cache.waiting) for one in pair),
                    *(_number(one.lookups) for one in pair),
                    *(_number(one.visit_rows) for one in pair),
                )
                for pair in zip(*plans.values(), strict=True)
            ],
        ),
        "remedies": _table(
            (
                "links",
                "lookups/s",
                "codes divided among gateways",
                "view counts/s",
                "noted once a minute",
            ),
            [_remedies(one) for one in base if one.redirects == REDIRECTS[-1]],
        ),
        "simulation": _table(
            ("exponent", "lookups: model", "simulation", "waiting: model", "simulation"),
            [
                (
                    str(exponent),
                    _percent(model.looked_up),
                    _percent(simulated.looked_up),
                    _percent(model.waiting),
                    _percent(simulated.waiting),
                )
                for exponent, model, simulated in checked
            ],
        ),
    }


_COMPARED = ("hits", "waiting", "lookups/s", "links in batches/s")


def _remedies(one: Plan) -> list[str]:
    """Return the work per second now and after a change that would reduce it."""
    popularity = zipf(one.links, EXPONENTS[0])
    capacity = one.gateways * CACHE_BYTES / CACHED_LINK_BYTES
    divided = cache_of(popularity, one.redirects, capacity).looked_up * one.redirects
    now, minute = (
        distinct(popularity, one.redirects * seconds) / seconds for seconds in (VIEWS_SECONDS, 60)
    )
    figures = (one.lookups, divided, now, minute)
    return [_power(one.links), *map(_number, figures)]


def _size(one: Plan) -> tuple[str, str]:
    return _power(one.links), _power(one.redirects)


def _bottleneck(limits: Limits) -> str:
    """Name the exceeded limits, most exceeded first."""
    over = sorted(zip(limits, LIMIT_NAMES, strict=True), reverse=True)
    return ", ".join(name for share, name in over if share > 1) or "none"


def _checked(exponent: float) -> tuple[Cache, Cache]:
    """Return a small case by the model and by simulation."""
    links, per_second, capacity = 200_000, 2000, 20_000
    model = cache_of(zipf(links, exponent), per_second, capacity)
    return model, simulate(links, exponent, per_second, capacity, requests=1_000_000)


def fill(text: str, by_name: dict[str, str]) -> str:
    """Return a document with each table between its markers. Raises KeyError for an unknown one."""
    return re.sub(
        r"(<!-- capacity: (\w+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + by_name[match[2]] + match[3],
        text,
        flags=re.DOTALL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the document differs")
    check = parser.parse_args().check
    before = DOCUMENT.read_text()
    after = fill(before, tables())
    if check and after != before:
        sys.exit("docs/performance.md is not current: make capacity")
    if not check:
        DOCUMENT.write_text(after)


if __name__ == "__main__":
    main()
