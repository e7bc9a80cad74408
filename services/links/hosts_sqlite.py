"""The hosts of links in an SQLite file, and how far a sweep has come.

Each write is part of a transaction of the store's.
"""

from __future__ import annotations

import sqlite3

from services.links.domain import Link
from services.links.hosts import HostPlace, host_key, host_of_key, keys_below
from services.links.rows_sqlite import COLUMNS, link_of, marks
from services.links.stages import Stage, Sweep


def note(connection: sqlite3.Connection, link: Link) -> None:
    """Keep at which hosts a link is to be found."""
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("INSERT OR IGNORE INTO hosts VALUES (?, ?)", rows)


def forget(connection: sqlite3.Connection, link: Link) -> None:
    """Let a link be found at none of its hosts."""
    rows = [(host_key(host), link.code) for host in link.hosts()]
    connection.executemany("DELETE FROM hosts WHERE key = ? AND code = ?", rows)


def note_more(connection: sqlite3.Connection, most: int) -> str | None:
    """Keep the hosts of up to `most` links that another version made, where there are such.

    Returns the code up to which it is done, None where all are.
    """
    noted = connection.execute("SELECT code FROM hosts_noted").fetchone()
    if noted is None:
        return None
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM links WHERE code > ? ORDER BY code LIMIT ?", (*noted, most)
    )
    links = [link_of(row) for row in rows]
    for link in links:
        note(connection, link)
    if len(links) < most:
        connection.execute("DELETE FROM hosts_noted")
        return None
    connection.execute("UPDATE hosts_noted SET code = ?", (links[-1].code,))
    return links[-1].code


def after(connection: sqlite3.Connection, host: str, most: int) -> list[str]:
    """The hosts of the next `most` places behind a host, in the order of their keys."""
    rows = connection.execute(
        "SELECT key FROM hosts WHERE key > ? ORDER BY key LIMIT ?", (host_key(host), most)
    )
    return [host_of_key(key) for key in dict.fromkeys(key for (key,) in rows)]


def links_at(connection: sqlite3.Connection, host: str, code: str, most: int) -> list[Link]:
    """Up to `most` links at a host behind a code, in the order of their codes."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM links WHERE code IN (SELECT code FROM hosts "
        "WHERE key = ? AND code > ? ORDER BY code LIMIT ?) ORDER BY code",
        (host_key(host), code, most),
    )
    return [link_of(row) for row in rows]


def links_at_or_below(
    connection: sqlite3.Connection, host: str, after: HostPlace | None, most: int
) -> tuple[list[Link], HostPlace | None]:
    """Links of up to `most` places at a host or below it, and the place to go on behind."""
    first, end = keys_below(host)
    start = after or HostPlace(first, "")
    places = connection.execute(
        "SELECT key, code FROM hosts WHERE (key, code) > (?, ?) AND key < ? "
        "ORDER BY key, code LIMIT ?",
        (start.key, start.code, end, most),
    ).fetchall()
    codes = list(dict.fromkeys(code for _, code in places))
    rows = connection.execute(f"SELECT {COLUMNS} FROM links WHERE code IN ({marks(codes)})", codes)
    links = [link_of(row) for row in rows]
    return links, HostPlace(*places[-1]) if len(places) == most else None


def sweep(connection: sqlite3.Connection) -> Sweep | None:
    """How far the last sweep has come."""
    found = connection.execute("SELECT contents, round, stage, after FROM sweep").fetchone()
    return Sweep(found[0], found[1], Stage(found[2]), found[3]) if found else None


def note_sweep(connection: sqlite3.Connection, sweep: Sweep) -> None:
    """Keep how far a sweep has come."""
    row = (sweep.contents, sweep.round, sweep.stage.value, sweep.after)
    connection.execute("REPLACE INTO sweep VALUES (1, ?, ?, ?, ?)", row)
