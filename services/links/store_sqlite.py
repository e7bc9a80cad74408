"""Links in an SQLite file.

The rows of `links` lie by owner and age: a page of an owner's links, and a search in them, read
rows that lie side by side. With the 100,000 links of one owner among a million others', in
milliseconds of a core: a page 1, a search 100, a ranking 120. Rows that lay by code, in no order of
interest, took five times as long for a search; a copy of URL and the like in an index twice as
long, and a third more room. A short address is found by its code in an index first.

How often a link was visited is a row of its own (`views`). It changes more often than all the rest
of a link, and 140 of those rows share a page: what many visits cost links is a third of what it
costs to write their links anew, and a tenth of the bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from services.links import decisions_sqlite as decisions
from services.links import hosts_sqlite as hosts
from services.links import rankings_sqlite as rankings
from services.links import reports_sqlite as reports
from services.links.blocks import BlockReason
from services.links.codes import NoFreeCode, codes_of, may_be_scan_code
from services.links.decisions import BlockedAddress, Decision, DecisionKind
from services.links.domain import (
    FEED,
    MAX_FORMER_URLS,
    RESTORABLE_FOR,
    WITHDRAWN_BEFORE,
    Account,
    FormerUrl,
    Guest,
    Link,
    Resolution,
    TooManyUrls,
)
from services.links.edits import Edit
from services.links.hosts import HostPlace
from services.links.leases import latest_end
from services.links.listing import LinkOrder, Position, Wanted
from services.links.reports import Report, ReportPlace, Statement
from services.links.rows_sqlite import (
    COLUMNS,
    RESOLVED,
    WRITTEN,
    Select,
    StateList,
    creator_of,
    link_of,
    marks,
    resolution_of,
    row_of,
)
from services.links.search_sqlite import Search
from services.links.stages import Sweep
from services.runtime.feed import Told
from services.runtime.feed_sqlite import announce, announced
from services.runtime.moments import micros_of, moment_of
from services.runtime.sqlite import Database

T = TypeVar("T")

_TAKEN = (
    "SELECT 1 FROM links WHERE code = ?1 UNION ALL SELECT 1 FROM links WHERE scan_code = ?1 "
    "UNION ALL SELECT 1 FROM removed_codes WHERE code = ?1"
)
"""Finds something where a code is a link's, the scan code of one, or that of one that is gone."""
_PLACES = {name: f"?{place}" for place, name in enumerate(WRITTEN.split(", "), 1)}
_ADD = (
    f"INSERT INTO links ({WRITTEN}) SELECT {', '.join(_PLACES.values())} "
    f"WHERE NOT EXISTS ({_TAKEN})"
)
_CHANGED = [name for name in _PLACES if name not in ("code", "creator", "created_at")]
_CHANGE = (
    f"UPDATE links SET {', '.join(f'{name} = {_PLACES[name]}' for name in _CHANGED)} "
    "WHERE code = ?1"
)

_NOTE_VIEWS = """
    INSERT INTO views (code, people)
    SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM links WHERE code = ?1 AND creator <> '')
    ON CONFLICT (code) DO UPDATE SET people = excluded.people WHERE people < excluded.people
"""


class SqliteLinkStore:
    """The `LinkStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, link: Link) -> Link | None:
        row = row_of(link)

        def operation(connection: sqlite3.Connection) -> Link | None:
            if connection.execute(_ADD, row).rowcount == 1:
                hosts.note(connection, link)
                return link
            return _find(connection, link.code)

        return await self._database.write("links_add", operation)

    async def find(self, code: str) -> Link | None:
        def operation(connection: sqlite3.Connection) -> Link | None:
            return _find(connection, code) or _find(connection, code, "scan_code")

        return await self._database.read("links_find", operation)

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        def operation(connection: sqlite3.Connection) -> list[Resolution]:
            rows = connection.execute(
                f"SELECT {RESOLVED} FROM links WHERE code IN ({marks(codes)})", codes
            )
            found = [resolution_of(row) for row in rows]
            held = {one.code for one in found}
            others = [code for code in codes if code not in held and may_be_scan_code(code)]
            if others:
                rows = connection.execute(
                    f"SELECT scan_code, {RESOLVED} FROM links WHERE scan_code IN ({marks(others)})",
                    others,
                )
                found += [resolution_of(row).by(scan_code) for scan_code, *row in rows]
            return found

        return await self._database.look_up("links_resolve", operation)

    async def give_scan_code(
        self, owner: Account | Guest, code: str, drawn: Iterator[str], now: datetime
    ) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            link = _find(connection, code)
            if link is None or link.owner != owner or link.is_gone_at(now):
                return None
            scan_code = link.scan_code or _first_free(connection, drawn)
            connection.execute("UPDATE links SET scan_code = ? WHERE code = ?", (scan_code, code))
            announce(connection, FEED, [scan_code], now)
            return scan_code

        return await self._database.write("links_scan_code", operation)

    async def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        # Keyset pages: each goes on below the last link seen, whatever came on top meanwhile.
        after = None
        while True:
            select = Select(owner).behind(after, LinkOrder.NEWEST, page_size)
            links = await self._database.read("links_by_owner", select.links)
            if links:
                yield links
            if len(links) < page_size:
                return
            after = Position(links[-1].created_at, links[-1].code)

    async def owned_codes(self, owner: Account | Guest, most: int) -> list[str]:
        select = Select(owner).not_removed().first(most)
        return await self._database.read("links_owned_codes", select.codes)

    async def history(self, code: str) -> list[FormerUrl]:
        def operation(connection: sqlite3.Connection) -> list[FormerUrl]:
            rows = connection.execute(
                "SELECT url, until FROM former_urls WHERE code = ? ORDER BY number DESC", (code,)
            )
            return [FormerUrl(url, moment_of(until)) for url, until in rows]

        return await self._database.read("links_history", operation)

    async def edit(
        self, owner: Account | Guest | None, codes: Sequence[str], edit: Edit, now: datetime
    ) -> list[Link] | None:
        return await self._database.write(
            "links_edit", lambda connection: _edit(connection, owner, codes, edit, now)
        )

    async def announce_left(self, until: datetime) -> None:
        """Nothing is left: an edit and its announcement are one transaction."""

    async def decide(self, decision: Decision, edit: Edit) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            if _edit(connection, None, [decision.code], edit, decision.at) is None:
                return False
            decided = 0
            if decision.kind is DecisionKind.BLOCK:
                decided = reports.decide(connection, decision.code, decision.at)
            decisions.keep(connection, replace(decision, reports=decided))
            return True

        return await self._database.write("links_decide", operation)

    async def block_address(self, blocked: BlockedAddress, decision: Decision) -> None:
        def operation(connection: sqlite3.Connection) -> None:
            decisions.keep(connection, decision)
            decisions.put_address(connection, blocked)

        await self._database.write("links_block_address", operation)

    async def unblock_address(self, address: str, decision: Decision) -> bool:
        def operation(connection: sqlite3.Connection) -> bool:
            if not decisions.take_address(connection, address):
                return False
            decisions.keep(connection, decision)
            return True

        return await self._database.write("links_unblock_address", operation)

    async def blocked_addresses(self) -> list[BlockedAddress]:
        return await self._database.read("links_addresses", decisions.addresses)

    async def addresses_mark(self) -> int:
        return await self._database.read("links_addresses_mark", decisions.last_number)

    async def decisions(self, skip: int, most: int) -> list[Decision]:
        return await self._database.read(
            "links_decisions", lambda connection: decisions.behind(connection, skip, most)
        )

    async def claim(self, guest: Guest, account: Account, most: int) -> int:
        def operation(connection: sqlite3.Connection) -> int:
            claimed = connection.execute(
                "UPDATE links SET creator = ? "
                "WHERE code IN (SELECT code FROM links WHERE creator = ? LIMIT ?)",
                (creator_of(account), creator_of(guest), most),
            )
            rankings.forget(connection, [creator_of(guest)])
            return claimed.rowcount

        return await self._database.write("links_claim", operation)

    async def withdraw(self, account: Account, most: int, now: datetime) -> int:
        removed_at, gone = micros_of(now - WITHDRAWN_BEFORE), micros_of(now - RESTORABLE_FOR)

        def operation(connection: sqlite3.Connection) -> int:
            withdrawn = connection.execute(
                "UPDATE links SET removed_at = ? WHERE code IN (SELECT code FROM links "
                "WHERE creator = ? AND (removed_at IS NULL OR removed_at > ?) LIMIT ?) "
                "RETURNING code, scan_code",
                (removed_at, creator_of(account), gone, most),
            ).fetchall()
            announce(connection, FEED, [code for row in withdrawn for code in row if code], now)
            return len(withdrawn)

        return await self._database.write("links_withdraw", operation)

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        if not wanted.text:
            in_state = StateList(owner, wanted.state, now)
            return await self._database.read(
                "links_page", lambda connection: in_state.page(connection, order, after, limit)
            )
        search = Search(owner, wanted, order, now)
        links: list[Link] = []
        end = after
        while len(links) < limit:
            found, end = await self._database.read(
                "links_search",
                partial(search.links, after=end, limit=limit - len(links)),
            )
            links += found
            if end is None:
                break
        return links

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        if not wanted.text:
            return await self._database.read(
                "links_count", StateList(owner, wanted.state, now).total
            )
        search = Search(owner, wanted, LinkOrder.NEWEST, now)
        return sum([len(found) async for found in self._chunks("links_count", search.codes)])

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        if not wanted.text:
            select = Select(owner).in_state(wanted.state, now).most_viewed_first()
            return await self._database.read("links_ranking", select.codes)
        search = Search(owner, wanted, LinkOrder.NEWEST, now)
        found = [one async for some in self._chunks("links_ranking", search.views) for one in some]
        found.sort(key=lambda one: -one[1])
        return [code for code, _ in found]

    async def _chunks(
        self,
        name: str,
        read: Callable[[sqlite3.Connection, Position | None], tuple[list[T], Position | None]],
    ) -> AsyncIterator[list[T]]:
        """What each chunk of a search finds, in reads of their own."""
        end: Position | None = None
        while True:
            found, end = await self._database.read(name, partial(_read_chunk, read, end))
            yield found
            if end is None:
                return

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        due = "FROM links WHERE marked_expired = 0 AND expires_at <= ?"

        def is_due(connection: sqlite3.Connection) -> bool:
            found = connection.execute(f"SELECT 1 {due} LIMIT 1", (micros_of(now),))
            return found.fetchone() is not None

        def mark(connection: sqlite3.Connection) -> bool:
            marked = connection.execute(
                "UPDATE links SET marked_expired = 1 "
                f"WHERE code IN (SELECT code {due} ORDER BY expires_at LIMIT ?)",
                (micros_of(now), limit),
            )
            return marked.rowcount == limit

        # A look leaves the writer alone.
        if not await self._database.read("links_expired", is_due):
            return False
        return await self._database.write("links_mark_expired", mark)

    async def keep_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        await self._database.write(
            "links_keep_ranking",
            lambda connection: rankings.keep(connection, owner, key, codes, now),
        )

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, most: int, now: datetime
    ) -> list[str] | None:
        return await self._database.read(
            "links_kept_ranking",
            lambda connection: rankings.kept(connection, owner, key, start, most, now),
        )

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            # The plus: each is looked up by its code, not all of the owner's looked through.
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM links WHERE code IN ({marks(codes)}) AND +creator = ?",
                (*codes, creator_of(owner)),
            )
            found = {link.code: link for link in map(link_of, rows)}
            return [found[code] for code in codes if code in found]

        return await self._database.read("links_find_all", operation)

    async def rank(self, people: Mapping[str, int], mark: int | None) -> None:
        # In the order in which the rows lie.
        numbers = sorted((code, count) for code, count in people.items() if count)

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(_NOTE_VIEWS, numbers)
            if mark is not None:
                connection.execute("REPLACE INTO rank_mark VALUES (1, ?)", (mark,))

        await self._database.write("links_rank", operation)

    async def rank_mark(self) -> int | None:
        def operation(connection: sqlite3.Connection) -> int | None:
            found = connection.execute("SELECT mark FROM rank_mark").fetchone()
            return found[0] if found else None

        return await self._database.read("links_rank_mark", operation)

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        among = f"code IN ({marks(codes)})"

        def operation(connection: sqlite3.Connection) -> list[str]:
            found = connection.execute(f"SELECT DISTINCT creator FROM links WHERE {among}", codes)
            creators = [creator for (creator,) in found]
            found = connection.execute(f"SELECT {COLUMNS} FROM links WHERE {among}", codes)
            links = [link_of(row) for row in found]
            connection.executemany(
                "INSERT INTO removed_codes (code) VALUES (?)",
                [(code,) for code in codes_of(links)],
            )
            for link in links:
                hosts.forget(connection, link)
            connection.execute(f"DELETE FROM links WHERE {among}", codes)
            connection.execute(f"DELETE FROM former_urls WHERE {among}", codes)
            reports.purge(connection, codes)
            rankings.forget(connection, creators)
            rows = connection.execute(f"SELECT code FROM removed_codes WHERE {among}", codes)
            purged = [code for (code,) in rows]
            announce(connection, FEED, list(dict.fromkeys([*purged, *codes_of(links)])), now)
            return purged

        return await self._database.write("links_purge", operation)

    async def report(
        self, code: str, reason: BlockReason, said: Statement, new_id: str
    ) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            if _find(connection, code) is None:
                return None
            return reports.add(connection, code, reason, said, new_id)

        return await self._database.write("links_report", operation)

    async def reports(
        self, after: ReportPlace | None, most: int
    ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
        def operation(
            connection: sqlite3.Connection,
        ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
            connection.execute("BEGIN")  # One look: a link may be purged meanwhile.
            try:
                found, place = reports.waiting(connection, after, most)
                with_links = [
                    (link, report) for report in found if (link := _find(connection, report.code))
                ]
                return with_links, place
            finally:
                connection.execute("ROLLBACK")

        return await self._database.read("links_reports", operation)

    async def waiting_reports(self) -> int:
        return await self._database.read("links_reports_waiting", reports.count_waiting)

    async def dismiss(self, decision: Decision) -> int:
        def operation(connection: sqlite3.Connection) -> int:
            dismissed = reports.decide(connection, decision.code, decision.at)
            if dismissed:
                decisions.keep(connection, replace(decision, reports=dismissed))
            return dismissed

        return await self._database.write("links_reports_dismiss", operation)

    async def forget_reports(self, until: datetime, most: int) -> bool:
        # Seldom is there anything, and a look leaves the writer alone.
        if not await self._database.read(
            "links_reports_due", lambda connection: reports.is_due(connection, until)
        ):
            return False
        return await self._database.write(
            "links_reports_forget", lambda connection: reports.forget(connection, until, most)
        )

    async def removed_before(self, moment: datetime, most: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT code FROM links WHERE removed_at <= ? ORDER BY removed_at LIMIT ?",
                (micros_of(moment), most),
            )
            return [code for (code,) in rows]

        return await self._database.read("links_removed_before", operation)

    async def codes_after(self, code: str, most: int) -> list[str]:
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT code FROM links WHERE code > ? AND +creator <> '' ORDER BY code LIMIT ?",
                (code, most),
            )
            return [code for (code,) in rows]

        return await self._database.read("links_codes_after", operation)

    async def hosts_after(self, host: str, most: int) -> list[str]:
        return await self._database.read(
            "links_hosts", lambda connection: hosts.after(connection, host, most)
        )

    async def at_host(self, host: str, code: str, most: int) -> list[Link]:
        return await self._database.read(
            "links_at_host", lambda connection: hosts.links_at(connection, host, code, most)
        )

    async def at_or_below(
        self, host: str, after: HostPlace | None, most: int
    ) -> tuple[list[Link], HostPlace | None]:
        return await self._database.read(
            "links_at_or_below",
            lambda connection: hosts.links_at_or_below(connection, host, after, most),
        )

    async def listed_after(self, code: str, most: int) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM links WHERE listed IS NOT NULL AND code > ? "
                "ORDER BY code LIMIT ?",
                (code, most),
            )
            return [link_of(row) for row in rows]

        return await self._database.read("links_listed", operation)

    async def note_hosts(self, code: str, most: int) -> str | None:
        # No other version writes to the file: what is noted stays so, whoever asks.
        return await self._database.write(
            "links_note_hosts", lambda connection: hosts.note_more(connection, most)
        )

    async def sweep(self) -> Sweep | None:
        return await self._database.read("links_sweep", hosts.sweep)

    async def note_sweep(self, sweep: Sweep) -> None:
        await self._database.write(
            "links_note_sweep", lambda connection: hosts.note_sweep(connection, sweep)
        )

    async def take_lease(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        def give_back(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM leases WHERE job = ? AND holder = ?", (job, holder))
            return False

        def take(connection: sqlite3.Connection) -> bool:
            taken = connection.execute(
                "INSERT INTO leases VALUES (:job, :holder, :ends_at) ON CONFLICT (job) "
                "DO UPDATE SET holder = :holder, ends_at = :ends_at "
                "WHERE holder = :holder OR ends_at <= :now OR ends_at > :latest",
                {
                    "job": job,
                    "holder": holder,
                    "ends_at": micros_of(now + duration),
                    "now": micros_of(now),
                    "latest": micros_of(latest_end(now)),
                },
            )
            return taken.rowcount == 1

        return await self._database.write("links_lease", take if duration else give_back)

    async def announcements(self, mark: int | None) -> Told:
        return await self._database.look_up(
            "links_announcements", lambda connection: announced(connection, FEED, mark)
        )


def _read_chunk(
    read: Callable[[sqlite3.Connection, Position | None], T],
    after: Position | None,
    connection: sqlite3.Connection,
) -> T:
    return read(connection, after)


def _find(connection: sqlite3.Connection, code: str, column: str = "code") -> Link | None:
    found = connection.execute(
        f"SELECT {COLUMNS} FROM links WHERE {column} = ?", (code,)
    ).fetchone()
    return link_of(found) if found else None


def _edit(
    connection: sqlite3.Connection,
    owner: Account | Guest | None,
    codes: Sequence[str],
    edit: Edit,
    now: datetime,
) -> list[Link] | None:
    """`LinkStore.edit` in a transaction."""
    links: dict[str, Link] = {}
    for code in codes:
        link = _find(connection, code)
        if link is None or link.is_gone_at(now) or owner not in (None, link.owner):
            return None
        links[code] = link
    edited = {code: edit.of(link) for code, link in links.items()}
    for code, link in links.items():
        _replace(connection, link, edited[code], now)
    if edit.is_announced:
        announce(connection, FEED, codes_of(edited.values()), now)
    return [edited[code] for code in codes]


def _first_free(connection: sqlite3.Connection, drawn: Iterator[str]) -> str:
    """The first of some codes that is free. Raises Unavailable."""
    for code in drawn:
        if not connection.execute(_TAKEN, (code,)).fetchone():
            return code
    raise NoFreeCode("No free code was found.")


def _replace(connection: sqlite3.Connection, before: Link, after: Link, now: datetime) -> None:
    """Write a link that changed, and keep the URL it had. Raises TooManyUrls."""
    if after == before:
        return
    if after.url != before.url:
        (last,) = connection.execute(
            "SELECT coalesce(max(number), 0) FROM former_urls WHERE code = ?", (before.code,)
        ).fetchone()
        if last >= MAX_FORMER_URLS:
            raise TooManyUrls(f"A link leads to {MAX_FORMER_URLS + 1} URLs at most, in its life.")
        connection.execute(
            "INSERT INTO former_urls VALUES (?, ?, ?, ?)",
            (before.code, last + 1, before.url, micros_of(now)),
        )
    if (after.url, after.ended_url) != (before.url, before.ended_url):
        hosts.forget(connection, before)
        hosts.note(connection, after)
    connection.execute(_CHANGE, row_of(after))
