"""Links in an SQLite file.

The rows of `links` lie by owner and age: a page of an owner's links, and a search in them, read
rows that lie side by side. With the 100,000 links of one owner among a million others', in
milliseconds of a core: a page 1, a search 100, a ranking 120. Rows that lay by code, in no order of
interest, took five times as long for a search; a copy of URL and the like in an index twice as
long, and a third more room. A short address is found by its code in an index first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from services.links import decisions_sqlite as decisions
from services.links import reports_sqlite as reports
from services.links.blocks import BlockReason
from services.links.codes import NoFreeCode, codes_of, may_be_scan_code
from services.links.decisions import BlockedAddress, Decision, DecisionKind
from services.links.domain import (
    FEED,
    MAX_FORMER_URLS,
    NOBODY,
    RESTORABLE_FOR,
    Account,
    FormerUrl,
    Guest,
    Link,
    LinkState,
    Owner,
    Resolution,
    TooManyUrls,
)
from services.links.edits import Edit
from services.links.hosts import HostPlace, host_key, host_of_key, keys_below
from services.links.listing import KEPT_RANKINGS, RANKING_KEPT_FOR, LinkOrder, Position, Wanted
from services.links.reports import Report, ReportPlace, Statement
from services.links.stages import Stage, Sweep
from services.links.stored import owner_of, value_of
from services.links.texts import folded
from services.runtime.feed import Told
from services.runtime.feed_sqlite import announce, announced
from services.runtime.moments import micros_of, moment_of
from services.runtime.sqlite import Database


def _by_owner(connection: sqlite3.Connection) -> None:
    """Lay links by owner and age, and give them all that they can have today."""
    for statement in _BY_OWNER:
        connection.execute(statement)
    connection.create_function("folded", 1, folded, deterministic=True)
    connection.execute(f"UPDATE links SET folded = folded({_SEARCHED}) WHERE {_NOT_ASCII}")


def _turn_hosts(connection: sqlite3.Connection) -> None:
    """Lay hosts so that those below a host lie behind it."""
    connection.create_function("host_key", 1, host_key, deterministic=True)
    for statement in _TURNED_HOSTS:
        connection.execute(statement)


# Moments are microseconds since the Unix epoch.
MIGRATIONS = (
    """
    CREATE TABLE links (
        code TEXT PRIMARY KEY,
        url TEXT NOT NULL,
        creator TEXT,  -- the owner: id of an account, or as a blob the hash of a guest's key
        created_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    ) WITHOUT ROWID;
    CREATE INDEX links_of_creator ON links (creator, created_at, code) WHERE creator IS NOT NULL;
    """,
    """
    -- Codes whose link was purged: they are never given out again.
    CREATE TABLE removed_codes (code TEXT PRIMARY KEY) WITHOUT ROWID;
    """,
    """
    -- Which links changed. Numbers have no gap: SQLite gives the one after the highest.
    CREATE TABLE announcements (
        number INTEGER PRIMARY KEY,
        codes TEXT NOT NULL,  -- with a blank between them
        announced_at INTEGER NOT NULL  -- microseconds since the Unix epoch
    );
    """,
    _by_owner,
    """
    ALTER TABLE links ADD COLUMN listed TEXT;  -- the list that blocked it
    ALTER TABLE links ADD COLUMN spared INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX links_by_list ON links (code) WHERE listed IS NOT NULL;
    CREATE TABLE hosts (
        host TEXT NOT NULL,
        code TEXT NOT NULL,
        PRIMARY KEY (host, code)
    ) WITHOUT ROWID;
    -- Up to which code the hosts of older links are in there; no row: of all.
    CREATE TABLE hosts_noted (id INTEGER PRIMARY KEY CHECK (id = 1), code TEXT NOT NULL);
    INSERT INTO hosts_noted SELECT 1, '' WHERE EXISTS (SELECT 1 FROM links);
    CREATE TABLE sweep (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        contents TEXT NOT NULL,
        round INTEGER NOT NULL,
        stage TEXT NOT NULL,
        after TEXT NOT NULL
    );
    """,
    reports.MIGRATION,
    decisions.MIGRATION,
    """
    ALTER TABLE links ADD COLUMN scan_code TEXT;  -- a code that no other row has as its code
    CREATE UNIQUE INDEX links_by_scan_code ON links (scan_code) WHERE scan_code IS NOT NULL;
    """,
    _turn_hosts,
)
_TURNED_HOSTS = (
    """
    CREATE TABLE turned_hosts (
        key TEXT NOT NULL,  -- the host, turned round
        code TEXT NOT NULL,
        PRIMARY KEY (key, code)
    ) WITHOUT ROWID
    """,
    "INSERT INTO turned_hosts SELECT host_key(host), code FROM hosts ORDER BY 1, 2",
    "DROP TABLE hosts",
    "ALTER TABLE turned_hosts RENAME TO hosts",
    # How far it is was said in the order of before: it begins anew.
    "DELETE FROM sweep WHERE stage = 'blocking'",
)
_BY_OWNER = (
    """
    CREATE TABLE links_by_owner (
        creator NOT NULL DEFAULT '',  -- as before, and empty for nobody
        created_at INTEGER NOT NULL,
        code TEXT NOT NULL,
        removed_at INTEGER,
        expires_at INTEGER,
        blocked TEXT,  -- the reason
        people INTEGER NOT NULL DEFAULT 0,  -- how often they visited it
        url TEXT NOT NULL,
        title TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '',  -- a line each
        folded TEXT,  -- what it is searched in, where that is not ASCII
        changed_at INTEGER,
        created_url TEXT NOT NULL DEFAULT '',
        ended_url TEXT NOT NULL DEFAULT '',
        public_statistics INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (creator, created_at, code)
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO links_by_owner (creator, created_at, code, url)
    SELECT coalesce(creator, ''), created_at, code, url FROM links ORDER BY 1, 2, 3
    """,
    "DROP TABLE links",
    "ALTER TABLE links_by_owner RENAME TO links",
    "CREATE UNIQUE INDEX links_by_code ON links (code)",
    "CREATE INDEX links_by_removal ON links (removed_at) WHERE removed_at IS NOT NULL",
    # How many links an owner has that are not removed: to count 100,000 takes 10 ms.
    "CREATE TABLE owners (creator PRIMARY KEY NOT NULL, links INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO owners SELECT creator, count(*) FROM links WHERE creator <> '' GROUP BY creator",
    """
    CREATE TRIGGER link_counted AFTER INSERT ON links
    WHEN new.removed_at IS NULL AND new.creator <> ''
    BEGIN
        INSERT INTO owners VALUES (new.creator, 1)
        ON CONFLICT (creator) DO UPDATE SET links = links + 1;
    END
    """,
    """
    CREATE TRIGGER link_discounted AFTER DELETE ON links
    WHEN old.removed_at IS NULL AND old.creator <> ''
    BEGIN
        UPDATE owners SET links = links - 1 WHERE creator = old.creator;
        DELETE FROM owners WHERE creator = old.creator AND links = 0;
    END
    """,
    """
    CREATE TRIGGER link_recounted AFTER UPDATE OF creator, removed_at ON links
    WHEN (old.creator, old.removed_at IS NULL) IS NOT (new.creator, new.removed_at IS NULL)
    BEGIN
        UPDATE owners SET links = links - 1
        WHERE old.removed_at IS NULL AND creator = old.creator;
        DELETE FROM owners WHERE creator = old.creator AND links = 0;
        INSERT INTO owners SELECT new.creator, 1
        WHERE new.removed_at IS NULL AND new.creator <> ''
        ON CONFLICT (creator) DO UPDATE SET links = links + 1;
    END
    """,
    """
    CREATE TABLE former_urls (
        code TEXT NOT NULL,
        number INTEGER NOT NULL,  -- from 1 on
        url TEXT NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (code, number)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE rankings (
        creator NOT NULL,
        key TEXT NOT NULL,
        start INTEGER NOT NULL,  -- the place of the first of the codes
        codes TEXT NOT NULL,  -- with a blank between them
        kept_at INTEGER NOT NULL,
        PRIMARY KEY (creator, key, start)
    )
    """,
    "CREATE INDEX rankings_by_age ON rankings (kept_at)",
    "CREATE TABLE rank_mark (id INTEGER PRIMARY KEY CHECK (id = 1), mark INTEGER NOT NULL)",
    """
    CREATE TABLE leases (
        job TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        ends_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)

_SEARCHED = "code || char(10) || url || char(10) || title || char(10) || tags"
_NOT_ASCII = f"({_SEARCHED}) GLOB '*[^' || char(1) || '-' || char(127) || ']*'"
_COLUMNS = (
    "code, url, creator, created_at, title, tags, changed_at, created_url, expires_at, ended_url, "
    "public_statistics, removed_at, blocked, listed, spared, spared_at, scan_code"
)
"""What makes a link; `_link` reads it."""
_RESOLVED = "code, url, removed_at, expires_at, blocked, ended_url"
"""What decides what a short address answers; `_resolution` reads it."""
_TAKEN = (
    "SELECT 1 FROM links WHERE code = :code UNION ALL SELECT 1 FROM links WHERE scan_code = :code "
    "UNION ALL SELECT 1 FROM removed_codes WHERE code = :code"
)
"""Finds something where a code is a link's, the scan code of one, or that of one that is gone."""
_RANKED_TOGETHER = 1000
"""Codes of a ranking in one row."""
_FORGOTTEN = 1000
"""Most rows of old rankings that the next one clears away: more than it makes, of most owners."""


class SqliteLinkStore:
    """The `LinkStore` of an SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, link: Link) -> Link | None:
        row = _row(link)

        def operation(connection: sqlite3.Connection) -> Link | None:
            added = connection.execute(
                f"INSERT INTO links ({', '.join(row)}) SELECT :{', :'.join(row)} "
                f"WHERE NOT EXISTS ({_TAKEN})",
                row,
            )
            if added.rowcount == 1:
                _note_hosts(connection, link)
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
                f"SELECT {_RESOLVED} FROM links WHERE code IN ({_marks(codes)})", codes
            )
            found = [_resolution(row) for row in rows]
            held = {one.code for one in found}
            others = [code for code in codes if code not in held and may_be_scan_code(code)]
            if others:
                rows = connection.execute(
                    f"SELECT scan_code, {_RESOLVED} FROM links "
                    f"WHERE scan_code IN ({_marks(others)})",
                    others,
                )
                found += [_resolution(row).by(scan_code) for scan_code, *row in rows]
            return found

        return await self._database.read("links_resolve", operation)

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
            select = _Select(owner).behind(after, LinkOrder.NEWEST, page_size)
            links = await self._database.read("links_by_owner", select.links)
            if links:
                yield links
            if len(links) < page_size:
                return
            after = Position(links[-1].created_at, links[-1].code)

    async def owned_codes(self, owner: Account | Guest, most: int) -> list[str]:
        select = _Select(owner).not_removed().first(most)
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
                (_creator(account), _creator(guest), most),
            )
            _forget_rankings(connection, [_creator(guest)])
            return claimed.rowcount

        return await self._database.write("links_claim", operation)

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        select = _Select(owner).wanted(wanted, now).behind(after, order, limit)
        return await self._database.read("links_page", select.links)

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        def kept(connection: sqlite3.Connection) -> int:
            found = connection.execute(
                "SELECT links FROM owners WHERE creator = ?", (_creator(owner),)
            ).fetchone()
            return found[0] if found else 0

        select = _Select(owner).wanted(wanted, now)
        operation = kept if wanted == Wanted() else select.count
        return await self._database.read("links_count", operation)

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        select = _Select(owner).wanted(wanted, now).most_viewed_first()
        return await self._database.read("links_ranking", select.codes)

    async def keep_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        creator, kept_at = _creator(owner), micros_of(now)
        rows = [
            (creator, key, start, " ".join(codes[start : start + _RANKED_TOGETHER]), kept_at)
            for start in range(0, len(codes), _RANKED_TOGETHER)
        ]

        def operation(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM rankings WHERE creator = ? AND key = ?", (creator, key))
            connection.executemany("INSERT INTO rankings VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute(
                "DELETE FROM rankings WHERE creator = :creator AND key NOT IN (SELECT key "
                "FROM rankings WHERE creator = :creator AND start = 0 "
                "ORDER BY kept_at DESC, rowid DESC LIMIT :most)",
                {"creator": creator, "most": KEPT_RANKINGS},
            )
            connection.execute(
                "DELETE FROM rankings WHERE rowid IN "
                "(SELECT rowid FROM rankings WHERE kept_at <= ? ORDER BY kept_at LIMIT ?)",
                (micros_of(now - RANKING_KEPT_FOR), _FORGOTTEN),
            )

        await self._database.write("links_keep_ranking", operation)

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, most: int, now: datetime
    ) -> list[str] | None:
        parameters = {
            "creator": _creator(owner),
            "key": key,
            "first": start - start % _RANKED_TOGETHER,
            "end": start + most,
            "from": micros_of(now - RANKING_KEPT_FOR),
        }

        def operation(connection: sqlite3.Connection) -> list[str] | None:
            of_key = "FROM rankings WHERE creator = :creator AND key = :key AND kept_at > :from"
            if not connection.execute(f"SELECT 1 {of_key} AND start = 0", parameters).fetchone():
                return None
            rows = connection.execute(
                f"SELECT codes {of_key} AND start >= :first AND start < :end ORDER BY start",
                parameters,
            )
            codes = [code for (some,) in rows for code in some.split()]
            skipped = start % _RANKED_TOGETHER
            return codes[skipped : skipped + most]

        return await self._database.read("links_kept_ranking", operation)

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            # The plus: each is looked up by its code, not all of the owner's looked through.
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM links WHERE code IN ({_marks(codes)}) AND +creator = ?",
                (*codes, _creator(owner)),
            )
            found = {link.code: link for link in map(_link, rows)}
            return [found[code] for code in codes if code in found]

        return await self._database.read("links_find_all", operation)

    async def rank(self, people: Mapping[str, int], mark: int | None) -> None:
        numbers = [(count, code, count) for code, count in people.items()]

        def operation(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE links SET people = ? WHERE code = ? AND +creator <> '' AND people < ?",
                numbers,
            )
            if mark is not None:
                connection.execute("REPLACE INTO rank_mark VALUES (1, ?)", (mark,))

        await self._database.write("links_rank", operation)

    async def rank_mark(self) -> int | None:
        def operation(connection: sqlite3.Connection) -> int | None:
            found = connection.execute("SELECT mark FROM rank_mark").fetchone()
            return found[0] if found else None

        return await self._database.read("links_rank_mark", operation)

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        among = f"code IN ({_marks(codes)})"

        def operation(connection: sqlite3.Connection) -> list[str]:
            found = connection.execute(f"SELECT DISTINCT creator FROM links WHERE {among}", codes)
            creators = [creator for (creator,) in found]
            found = connection.execute(f"SELECT {_COLUMNS} FROM links WHERE {among}", codes)
            links = [_link(row) for row in found]
            connection.executemany(
                "INSERT INTO removed_codes (code) VALUES (?)",
                [(code,) for code in codes_of(links)],
            )
            for link in links:
                _forget_hosts(connection, link)
            connection.execute(f"DELETE FROM links WHERE {among}", codes)
            connection.execute(f"DELETE FROM former_urls WHERE {among}", codes)
            reports.purge(connection, codes)
            _forget_rankings(connection, creators)
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
        def operation(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT key FROM hosts WHERE key > ? ORDER BY key LIMIT ?", (host_key(host), most)
            )
            return [host_of_key(key) for key in dict.fromkeys(key for (key,) in rows)]

        return await self._database.read("links_hosts", operation)

    async def at_host(self, host: str, code: str, most: int) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM links WHERE code IN (SELECT code FROM hosts "
                "WHERE key = ? AND code > ? ORDER BY code LIMIT ?) ORDER BY code",
                (host_key(host), code, most),
            )
            return [_link(row) for row in rows]

        return await self._database.read("links_at_host", operation)

    async def at_or_below(
        self, host: str, after: HostPlace | None, most: int
    ) -> tuple[list[Link], HostPlace | None]:
        first, end = keys_below(host)
        start = after or HostPlace(first, "")

        def operation(connection: sqlite3.Connection) -> tuple[list[Link], HostPlace | None]:
            places = connection.execute(
                "SELECT key, code FROM hosts WHERE (key, code) > (?, ?) AND key < ? "
                "ORDER BY key, code LIMIT ?",
                (start.key, start.code, end, most),
            ).fetchall()
            codes = list(dict.fromkeys(code for _, code in places))
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM links WHERE code IN ({_marks(codes)})", codes
            )
            links = [_link(row) for row in rows]
            return links, HostPlace(*places[-1]) if len(places) == most else None

        return await self._database.read("links_at_or_below", operation)

    async def listed_after(self, code: str, most: int) -> list[Link]:
        def operation(connection: sqlite3.Connection) -> list[Link]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM links WHERE listed IS NOT NULL AND code > ? "
                "ORDER BY code LIMIT ?",
                (code, most),
            )
            return [_link(row) for row in rows]

        return await self._database.read("links_listed", operation)

    async def note_hosts(self, code: str, most: int) -> str | None:
        def operation(connection: sqlite3.Connection) -> str | None:
            # No other version writes to the file: what is noted stays so, whoever asks.
            noted = connection.execute("SELECT code FROM hosts_noted").fetchone()
            if noted is None:
                return None
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM links WHERE code > ? ORDER BY code LIMIT ?",
                (*noted, most),
            )
            links = [_link(row) for row in rows]
            for link in links:
                _note_hosts(connection, link)
            if len(links) < most:
                connection.execute("DELETE FROM hosts_noted")
                return None
            connection.execute("UPDATE hosts_noted SET code = ?", (links[-1].code,))
            return links[-1].code

        return await self._database.write("links_note_hosts", operation)

    async def sweep(self) -> Sweep | None:
        def operation(connection: sqlite3.Connection) -> Sweep | None:
            found = connection.execute("SELECT contents, round, stage, after FROM sweep").fetchone()
            return Sweep(found[0], found[1], Stage(found[2]), found[3]) if found else None

        return await self._database.read("links_sweep", operation)

    async def note_sweep(self, sweep: Sweep) -> None:
        row = (sweep.contents, sweep.round, sweep.stage.value, sweep.after)

        def operation(connection: sqlite3.Connection) -> None:
            connection.execute("REPLACE INTO sweep VALUES (1, ?, ?, ?, ?)", row)

        await self._database.write("links_note_sweep", operation)

    async def take_lease(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        def give_back(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM leases WHERE job = ? AND holder = ?", (job, holder))
            return False

        def take(connection: sqlite3.Connection) -> bool:
            taken = connection.execute(
                "INSERT INTO leases VALUES (:job, :holder, :ends_at) ON CONFLICT (job) "
                "DO UPDATE SET holder = :holder, ends_at = :ends_at "
                "WHERE holder = :holder OR ends_at <= :now",
                {
                    "job": job,
                    "holder": holder,
                    "ends_at": micros_of(now + duration),
                    "now": micros_of(now),
                },
            )
            return taken.rowcount == 1

        return await self._database.write("links_lease", take if duration else give_back)

    async def announcements(self, mark: int | None) -> Told:
        return await self._database.read(
            "links_announcements", lambda connection: announced(connection, FEED, mark)
        )


class _Select:
    """What is read of an owner's links, put together of conditions. Its last methods read it."""

    def __init__(self, owner: Account | Guest) -> None:
        self._conditions = ["creator = :creator"]
        self._parameters: dict[str, Any] = {"creator": _creator(owner)}
        self._end = ""

    def not_removed(self) -> _Select:
        self._conditions.append("removed_at IS NULL")
        return self

    def wanted(self, wanted: Wanted, now: datetime) -> _Select:
        self._parameters["now"] = micros_of(now)
        self._parameters["gone"] = micros_of(now - RESTORABLE_FOR)
        self._conditions += {
            None: ["removed_at IS NULL"],
            LinkState.ACTIVE: [
                "removed_at IS NULL AND blocked IS NULL",
                "(expires_at IS NULL OR expires_at > :now)",
            ],
            LinkState.EXPIRED: ["removed_at IS NULL AND blocked IS NULL AND expires_at <= :now"],
            LinkState.BLOCKED: ["removed_at IS NULL AND blocked IS NOT NULL"],
            LinkState.REMOVED: ["removed_at > :gone"],
        }[wanted.state]
        if wanted.text:
            # For ASCII, LIKE makes no difference between cases, and is twice as fast as lower().
            self._parameters["text"] = f"%{_literally(wanted.text)}%"
            self._conditions.append(f"coalesce(folded, {_SEARCHED}) LIKE :text ESCAPE '!'")
        return self

    def behind(self, after: Position | None, order: LinkOrder, limit: int) -> _Select:
        newest = order is LinkOrder.NEWEST
        if after is not None:
            self._parameters["at"], self._parameters["code"] = (
                micros_of(after.created_at),
                after.code,
            )
            self._conditions.append(f"(created_at, code) {'<' if newest else '>'} (:at, :code)")
        direction = "DESC" if newest else "ASC"
        self._parameters["limit"] = limit
        self._end = f"ORDER BY created_at {direction}, code {direction} LIMIT :limit"
        return self

    def most_viewed_first(self) -> _Select:
        self._end = "ORDER BY people DESC, created_at DESC, code DESC"
        return self

    def first(self, most: int) -> _Select:
        """Up to `most` of them, whichever lie first."""
        self._parameters["limit"] = most
        self._end = "LIMIT :limit"
        return self

    def links(self, connection: sqlite3.Connection) -> list[Link]:
        return [_link(row) for row in self._read(connection, _COLUMNS, self._end)]

    def count(self, connection: sqlite3.Connection) -> int:
        (count,) = self._read(connection, "count(*)", "").fetchone()
        return int(count)

    def codes(self, connection: sqlite3.Connection) -> list[str]:
        """Their codes alone, as one text, made with the loop let go on meanwhile."""
        (codes,) = connection.execute(
            f"SELECT group_concat(code, ' ') FROM (SELECT code FROM links "
            f"WHERE {' AND '.join(self._conditions)} {self._end})",
            self._parameters,
        ).fetchone()
        return codes.split() if codes else []

    def _read(self, connection: sqlite3.Connection, columns: str, end: str) -> sqlite3.Cursor:
        where = " AND ".join(self._conditions)
        return connection.execute(
            f"SELECT {columns} FROM links WHERE {where} {end}", self._parameters
        )


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _literally(text: str) -> str:
    """A text as the part of a pattern of LIKE that matches it alone."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _creator(owner: Owner) -> str | bytes:
    """An owner as the column `creator` has it."""
    return value_of(owner) or ""


def _find(connection: sqlite3.Connection, code: str, column: str = "code") -> Link | None:
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM links WHERE {column} = ?", (code,)
    ).fetchone()
    return _link(found) if found else None


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
        if not connection.execute(_TAKEN, {"code": code}).fetchone():
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
        _forget_hosts(connection, before)
        _note_hosts(connection, after)
    row = _row(after)
    changed = [name for name in row if name not in ("code", "creator", "created_at")]
    connection.execute(
        f"UPDATE links SET {', '.join(f'{name} = :{name}' for name in changed)} WHERE code = :code",
        row,
    )


def _note_hosts(connection: sqlite3.Connection, link: Link) -> None:
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("INSERT OR IGNORE INTO hosts VALUES (?, ?)", rows)


def _forget_hosts(connection: sqlite3.Connection, link: Link) -> None:
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("DELETE FROM hosts WHERE key = ? AND code = ?", rows)


def _forget_rankings(connection: sqlite3.Connection, creators: Iterable[str | bytes]) -> None:
    """Delete the rankings of those of the owners who have no links any more."""
    connection.executemany(
        "DELETE FROM rankings WHERE creator = :creator "
        "AND NOT EXISTS (SELECT 1 FROM links WHERE creator = :creator)",
        [{"creator": creator} for creator in creators],
    )


def _row(link: Link) -> dict[str, Any]:
    """The columns of a link but `people`."""
    searched = "\n".join((link.code, link.url, link.title, *link.tags))
    return {
        "code": link.code,
        "url": link.url,
        "creator": _creator(link.owner),
        "created_at": micros_of(link.created_at),
        "title": link.title,
        "tags": "\n".join(link.tags),
        "changed_at": _micros(link.changed_at),
        "created_url": link.created_url,
        "expires_at": _micros(link.expires_at),
        "ended_url": link.ended_url,
        "public_statistics": link.public_statistics,
        "removed_at": _micros(link.removed_at),
        "blocked": link.blocked and link.blocked.value,
        "listed": link.listed or None,
        "spared": link.spared,
        "spared_at": _micros(link.spared_at),
        "scan_code": link.scan_code or None,
        "folded": None if searched.isascii() else link.searched(),
    }


def _link(row: tuple[Any, ...]) -> Link:
    return Link(
        code=row[0],
        url=row[1],
        owner=owner_of(row[2]) if row[2] else NOBODY,
        created_at=moment_of(row[3]),
        title=row[4],
        tags=tuple(row[5].split("\n")) if row[5] else (),
        changed_at=_moment(row[6]),
        created_url=row[7],
        expires_at=_moment(row[8]),
        ended_url=row[9],
        public_statistics=bool(row[10]),
        removed_at=_moment(row[11]),
        blocked=BlockReason(row[12]) if row[12] else None,
        listed=row[13] or "",
        spared=bool(row[14]),
        spared_at=_moment(row[15]),
        scan_code=row[16] or "",
    )


def _resolution(row: Sequence[Any]) -> Resolution:
    """What the short address of a link answers."""
    code, url, removed_at, expires_at, blocked, ended_url = row
    if blocked is not None:
        return Resolution(code, LinkState.BLOCKED, reason=BlockReason(blocked))
    if removed_at is not None:
        return Resolution(code, LinkState.REMOVED)
    return Resolution(code, LinkState.ACTIVE, url, _moment(expires_at), ended_url)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros_of(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else moment_of(micros)
