"""Assembles the store of links in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.domain.lease import latest_end
from services.links.domain.owner import Account, Guest
from services.links.storage.sqlite import rankings
from services.links.storage.sqlite.creations import SqliteCreationReader, SqliteCreationRepository
from services.links.storage.sqlite.decisions import (
    SqliteDecisionReader,
    SqliteDecisionRepository,
)
from services.links.storage.sqlite.hosts import SqliteHostIndex, SqliteRescanProgressStore
from services.links.storage.sqlite.imports import SqliteImportReader, SqliteImportRepository
from services.links.storage.sqlite.links import FEED, SqliteLinkReader, SqliteLinkRepository
from services.links.storage.sqlite.lists import SqliteLinkLists, SqliteViewCounts
from services.links.storage.sqlite.reports import SqliteReportReader, SqliteReportRepository
from services.shared.feed import FeedPage
from services.shared.sqlite import Database
from services.shared.timestamps import to_micros

T = TypeVar("T")


def open_store(database: Database) -> LinkStore:
    """Return the store of an open database."""
    return LinkStore(
        transactions=_SqliteTransactions(database),
        links=SqliteLinkReader(database),
        lists=SqliteLinkLists(database),
        views=SqliteViewCounts(database),
        hosts=SqliteHostIndex(database),
        reports=SqliteReportReader(database),
        decisions=SqliteDecisionReader(database),
        imports=SqliteImportReader(database),
        creations=SqliteCreationReader(database),
        leases=_SqliteLeases(database),
        rescan_progress=SqliteRescanProgressStore(database),
        change_feed=_SqliteChangeFeed(database),
    )


class _SqliteUnitOfWork:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.links = SqliteLinkRepository(connection)
        self.reports = SqliteReportRepository(connection)
        self.decisions = SqliteDecisionRepository(connection)
        self.rankings = _SqliteRankingRepository(connection)
        self.imports = SqliteImportRepository(connection)
        self.creations = SqliteCreationRepository(connection)


class _SqliteTransactions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        return await self._database.write(
            name, lambda connection: work(_SqliteUnitOfWork(connection))
        )


class _SqliteRankingRepository:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def save(self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime) -> None:
        rankings.save(self._connection, owner, key, codes, now)


class _SqliteLeases:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        def release(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM leases WHERE job = ? AND holder = ?", (job, holder))
            return False

        def take(connection: sqlite3.Connection) -> bool:
            taken = connection.execute(
                "INSERT INTO leases (job, holder, ends_at) VALUES (:job, :holder, :ends_at) "
                "ON CONFLICT (job) "
                "DO UPDATE SET holder = :holder, ends_at = :ends_at "
                "WHERE holder = :holder OR ends_at <= :now OR ends_at > :latest",
                {
                    "job": job,
                    "holder": holder,
                    "ends_at": to_micros(now + duration),
                    "now": to_micros(now),
                    "latest": to_micros(latest_end(now)),
                },
            )
            return taken.rowcount == 1

        return await self._database.write("links_lease", take if duration else release)


class _SqliteChangeFeed:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_since(self, cursor: str | None) -> FeedPage:
        return await self._database.look_up(
            "links_changes", lambda connection: FEED.read_since(connection, cursor)
        )
