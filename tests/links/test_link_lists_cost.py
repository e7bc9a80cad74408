"""The cost of a page of links does not depend on the number of an owner's links."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.links.__main__ import STORE_FACTORIES
from services.links.application.queries import LinkQueries, Page
from services.links.domain.owner import Account
from services.links.domain.query import LinkOrder
from services.links.domain.resolution import LinkState
from services.links.storage.sqlite import MIGRATIONS
from services.shared import sqlite
from services.shared.timestamps import to_micros
from tests.performance.fill import opened

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FEW, MANY = 1_000, 6_000
PER_STEP = 100
"""Instructions of SQLite's virtual machine that count as one step."""

Case = tuple[timedelta | None, timedelta | None, str | None]
"""By state: how long ago a link was removed, when it expires, and why it is blocked."""
CASES: dict[str, Case] = {
    "active": (None, None, None),
    "expiring": (None, DAY, None),
    "expired": (None, -DAY, None),
    "removed": (DAY, None, None),
    "blocked": (None, None, "spam"),
}
STATE_OF = {
    "active": LinkState.ACTIVE,
    "expiring": LinkState.ACTIVE,
    "expired": LinkState.EXPIRED,
    "removed": LinkState.REMOVED,
    "blocked": LinkState.BLOCKED,
}


def fill(path: Path, mostly: str) -> None:
    """Create owners with few and many links: a hundred in each state, and the rest in one."""
    rows = []
    for owner, count in (("few", FEW), ("many", MANY)):
        for n in range(count):
            case = [*CASES][n] if n < len(CASES) else mostly
            removed, expires, blocked = CASES[case]
            made = to_micros(NOW - 9 * DAY + timedelta(seconds=n))
            rows.append(
                (
                    *(f"{owner}{n:06}", "https://example.com/", owner, made),
                    removed and to_micros(NOW - removed),
                    expires and to_micros(NOW + expires),
                    blocked,
                )
            )
    with closing(opened(path, MIGRATIONS)) as connection:
        connection.executemany(
            "INSERT INTO links (code, url, creator, created_at, removed_at, expires_at, blocked) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.commit()


class Steps:
    """Counts SQLite's steps on every connection opened from now on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        connect = sqlite3.connect

        def counted(*args: object, **named: object) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*args, **named)  # type: ignore[call-overload]
            connection.set_progress_handler(self._step, PER_STEP)
            return connection

        monkeypatch.setattr(sqlite3, "connect", counted)

    def _step(self) -> None:
        self.count += 1


@pytest.mark.parametrize("order", [LinkOrder.NEWEST, LinkOrder.OLDEST])
@pytest.mark.parametrize("mostly", CASES)
async def test_the_cost_of_a_page_does_not_depend_on_the_number_of_links(
    mostly: str, order: LinkOrder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(fill, tmp_path / "store", mostly)
    steps = Steps(monkeypatch)
    async with sqlite.open_database(
        f"sqlite:///{tmp_path}/store", STORE_FACTORIES.migrations
    ) as database:
        store = STORE_FACTORIES.on_sqlite(database)
        queries = LinkQueries(store, lambda: NOW)
        while await store.lists.mark_expired(NOW, 1000):
            pass
        for state in (None, *LinkState):
            taken: dict[str, int] = {}
            for owner, count in (("few", FEW), ("many", MANY)):
                before = steps.count
                page = await queries.query(Account(owner), "", state, order, 100, "")
                taken[owner] = steps.count - before
                check(page, state, mostly, count)
            assert taken["many"] <= 1.5 * taken["few"] + 10, (state, taken)


def check(page: Page, state: LinkState | None, mostly: str, count: int) -> None:
    """Check that the page is correct."""
    cases = [*CASES, *[mostly] * (count - len(CASES))]
    states = [STATE_OF[case] for case in cases]
    total = sum(one is state or (state is None and one is not LinkState.REMOVED) for one in states)
    assert (page.total, len(page.links)) == (total, min(100, total))
    for link in page.links:
        assert state is None or STATE_OF[cases[int(link.code[-6:])]] is state
