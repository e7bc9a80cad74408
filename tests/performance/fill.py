"""Writes millions of links directly into the SQLite files of stopped services."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from services.analytics.application.records import pack_counts
from services.analytics.domain.day_ranges import pack_days
from services.analytics.storage.sqlite import schema as analytics
from services.links.storage.sqlite import schema as links_schema
from services.shared import sqlite
from tests.support.gateway_client import ALPHABET

LINKS_OF_AN_ACCOUNT = 500
LISTED_ACCOUNT = "list"
"""The owner of the links of `fill_list`."""
FIRST_LISTED = 1 << 40
_CHUNK = 100_000


def code_of(number: int) -> str:
    """Return the code of the n-th link. Codes are distinct and unordered."""
    scattered = number * 0x9E3779B97F4B % (1 << 48)
    return "".join(ALPHABET[scattered >> shift & 63] for shift in range(0, 48, 6))


def fill_links(path: Path, first: int, last: int) -> None:
    """Store links `first` up to `last`, 500 per account."""
    micros = time.time_ns() // 1000 - last * 1_000_000
    rows = (
        (
            code_of(n),
            f"https://example.com/articles/{n}?from=bench",
            f"{n // LINKS_OF_AN_ACCOUNT:024x}",
            micros + n * 1_000_000,
        )
        for n in range(first, last)
    )
    with closing(opened(path, links_schema.MIGRATIONS)) as connection:
        while chunk := sorted(islice(rows, _CHUNK)):
            connection.executemany(
                "INSERT INTO links (code, url, creator, created_at) VALUES (?, ?, ?, ?)", chunk
            )
            connection.commit()


def fill_list(
    path: Path, count: int, account: str = LISTED_ACCOUNT, first: int = FIRST_LISTED
) -> list[str]:
    """Store links of one account from `first` on, with unordered titles, tags and views.

    Returns their codes.
    """
    micros = time.time_ns() // 1000 - count * 1_000_000
    numbers = list(range(count))
    random.Random(1).shuffle(numbers)
    rows, views = [], []
    for n in numbers:
        code, url = code_of(first + n), f"https://example.org/list/{n}?from=bench"
        title, tags = f"{'Año' if n % 10 == 0 else 'Year'} {n}", "news\nlist"
        folded = None if n % 10 else f"{code}\n{url}\n{title}\n{tags}".casefold()
        at = micros + n * 1_000_000
        rows.append((code, url, account, at, title, tags, folded))
        views.append((code, n * 7 % 1000))
    with closing(opened(path, links_schema.MIGRATIONS)) as connection:
        connection.executemany(
            "INSERT INTO links (code, url, creator, created_at, title, tags, folded) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.executemany("INSERT INTO views VALUES (?, ?)", sorted(views))
        connection.commit()
    return [row[0] for row in rows]


def fill_days(path: Path, codes: Sequence[str], days: int) -> None:
    """Store visits of these links on each of a number of days before today."""
    today = int(time.time()) // 86_400
    ago = range(today - days, today)
    counts = pack_counts(({7: 1}, {}, {1: {"news.example": 1}}))
    with closing(opened(path, analytics.MIGRATIONS)) as connection:
        visited = pack_days(ago)
        totals = sorted((code, days, 0, visited, 0, 0) for code in codes)
        connection.executemany("INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?)", totals)
        for day in ago:
            rows = ((day, code, counts, b"") for code, *_ in totals)
            connection.executemany("INSERT INTO days VALUES (?, ?, ?, ?)", rows)
        connection.commit()


def fill_counts(path: Path, first: int, last: int) -> None:
    """Store visits of links `first` up to `last`, spread over the last 30 days."""
    today = int(time.time()) // 86_400
    with closing(opened(path, analytics.MIGRATIONS)) as connection:
        for start in range(first, last, _CHUNK):
            numbers = range(start, min(start + _CHUNK, last))
            codes = [code_of(n) for n in numbers]
            totals = sorted(
                (code, 3, 1, pack_days([today - n % 30]), 0, 0)
                for n, code in zip(numbers, codes, strict=True)
            )
            days = sorted(
                (today - n % 30, code, pack_counts(({n % 24: 3}, {n % 24: 1}, {})), b"")
                for n, code in zip(numbers, codes, strict=True)
            )
            connection.executemany("INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?)", totals)
            connection.executemany("INSERT INTO days VALUES (?, ?, ?, ?)", days)
            connection.commit()


def write_codes(path: Path, count: int) -> None:
    """Return the codes of the first links, one per line, at most a million."""
    step = max(1, count // 1_000_000)
    path.write_text("".join(f"{code_of(n)}\n" for n in range(0, count, step)))


def opened(path: Path, migrations: Sequence[sqlite.Migration]) -> sqlite3.Connection:
    """Open the file with its schema, without durability."""
    asyncio.run(_migrated(path, migrations))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -262144")
    return connection


async def _migrated(path: Path, migrations: Sequence[sqlite.Migration]) -> None:
    database = await sqlite.Database.open(path, migrations)
    await database.close()
