"""The limit of referrer names per client."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from gateway.visits.enrichment import referrer_limit
from gateway.visits.enrichment.referrer_limit import (
    MAX_NAMES_OF_CLIENT,
    MAX_NAMES_OF_LINK,
    OTHER_NAMES,
    ReferrerLimiter,
)
from gateway.visits.journal.journal import Journal
from gateway.visits.pipeline import VisitPipeline
from tests.gateway.visits.test_pipeline import visitors_of_nowhere
from tests.gateway.visits.test_sender import Sink

ONE, OTHER = b"\xc0\0\2\1", b"\xc0\0\2\2"
MORE = 3 * MAX_NAMES_OF_LINK
DAY_SECONDS = 86_400.0


def new_limiter() -> ReferrerLimiter:
    limit = ReferrerLimiter()
    limit.begin(1)
    return limit


def test_a_client_has_a_limit_of_names_per_link() -> None:
    limit = new_limiter()
    hosts = [f"{n}.example" for n in range(MORE)]
    sent = [limit.name_for(ONE, "abcdefgh", host) for host in hosts]
    assert sent == hosts[:MAX_NAMES_OF_LINK] + [OTHER_NAMES] * (MORE - MAX_NAMES_OF_LINK)
    assert [limit.name_for(ONE, "abcdefgh", host) for host in hosts] == sent, (
        "known names still count"
    )
    assert limit.name_for(OTHER, "abcdefgh", hosts[-1]) == hosts[-1]
    assert limit.name_for(ONE, "other---", hosts[-1]) == hosts[-1]


def test_a_client_has_a_limit_of_names_for_all_links() -> None:
    limit = new_limiter()
    names = [limit.name_for(ONE, f"code{n}", "a.example") for n in range(2 * MAX_NAMES_OF_CLIENT)]
    assert Counter(names) == {"a.example": MAX_NAMES_OF_CLIENT, OTHER_NAMES: MAX_NAMES_OF_CLIENT}
    assert limit.name_for(OTHER, "code0", "a.example") == "a.example"


def test_a_new_day_starts_empty() -> None:
    limit = new_limiter()
    for n in range(MORE):
        limit.name_for(ONE, "abcdefgh", f"{n}.example")
    limit.begin(1)
    assert limit.name_for(ONE, "abcdefgh", "new.example") == OTHER_NAMES
    limit.begin(2)
    assert limit.name_for(ONE, "abcdefgh", "new.example") == "new.example"


def test_memory_is_bounded_and_recent_clients_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(referrer_limit, "_MAX_ENTRIES", 3000)
    limit = new_limiter()
    for n in range(MORE):
        limit.name_for(ONE, "abcdefgh", f"{n}.example")
    for n in range(10_000):
        limit.name_for(b"%d" % n, "abcdefgh", "a.example")
        assert limit.name_for(ONE, "abcdefgh", "0.example") == "0.example"
    assert len(limit._recent) + len(limit._older) <= 6000


def contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize(
    ("clients", "names"),
    [
        (["192.0.2.1"], MAX_NAMES_OF_LINK),
        (["192.0.2.1", "192.0.2.2"], 2 * MAX_NAMES_OF_LINK),
        # Addresses of one household (IPv6 /64), and of two.
        ([f"2001:db8::{n:x}" for n in range(9)], MAX_NAMES_OF_LINK),
        (["2001:db8:0:1::1", "2001:db8:0:2::1"], 2 * MAX_NAMES_OF_LINK),
        (["no address", "neither"], MAX_NAMES_OF_LINK),
    ],
)
async def test_all_visits_with_invented_referrers_count(
    tmp_path: Path, clients: list[str], names: int
) -> None:
    sink, now = Sink(), 20_779 * DAY_SECONDS
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere(), lambda: now)
    pipeline.start()
    for n in range(MORE * len(clients)):
        referrer = f"https://{n}.example/".encode()
        user_agent = f"Mozilla/5.0 {n}".encode()
        pipeline.record("abcdefgh", user_agent, referrer, host=clients[n % len(clients)])
        pipeline.record("abcdefgh", b"curl/8.5.0", referrer, host="192.0.2.9")
    pipeline.flush()
    on_file = await asyncio.to_thread(contents, tmp_path)
    assert b"abcdefgh" in on_file
    assert not any(client.encode() in on_file for client in clients)
    await pipeline.stop(5)

    people = Counter[str]()
    for batch in sink.batches:
        for visit, count in batch.counts.items():
            if visit.kind == "person":
                people[visit.referrer_host] += count
    assert sum(people.values()) == MORE * len(clients)
    assert len(people.keys() - {OTHER_NAMES}) == names
