"""Assembles the store of links in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.domain.owner import Account, Guest
from services.links.storage.creations import CreationReader, CreationRepository
from services.links.storage.decisions import DecisionReader, DecisionRepository
from services.links.storage.imports import ImportReader, ImportRepository
from services.links.storage.leases import Leases
from services.links.storage.rescan_progress import RescanProgressStore
from services.links.storage.sqlite import rankings
from services.links.storage.sqlite.hosts import SqliteHostIndex
from services.links.storage.sqlite.links import FEED, SqliteLinkReader, SqliteLinkRepository
from services.links.storage.sqlite.lists import SqliteLinkLists, SqliteViewCounts
from services.links.storage.sqlite.records import SqliteBackend, SqliteSession
from services.links.storage.sqlite.reports import SqliteReportReader, SqliteReportRepository
from services.shared.feed import FeedPage
from services.shared.sqlite import Database

T = TypeVar("T")


def open_store(database: Database) -> LinkStore:
    """Return the store of an open database."""
    backend = SqliteBackend(database)
    return LinkStore(
        transactions=_SqliteTransactions(database),
        links=SqliteLinkReader(database),
        lists=SqliteLinkLists(database),
        views=SqliteViewCounts(database),
        hosts=SqliteHostIndex(database),
        reports=SqliteReportReader(database),
        decisions=DecisionReader(backend),
        imports=ImportReader(backend),
        creations=CreationReader(backend),
        leases=Leases(backend),
        rescan_progress=RescanProgressStore(backend),
        change_feed=_SqliteChangeFeed(database),
    )


class _SqliteUnitOfWork:
    def __init__(self, connection: sqlite3.Connection) -> None:
        session = SqliteSession(connection)
        self.links = SqliteLinkRepository(connection)
        self.reports = SqliteReportRepository(connection)
        self.decisions = DecisionRepository(session)
        self.rankings = _SqliteRankingRepository(connection)
        self.imports = ImportRepository(session)
        self.creations = CreationRepository(session)


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


class _SqliteChangeFeed:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_since(self, cursor: str | None) -> FeedPage:
        return await self._database.look_up(
            "links_changes", lambda connection: FEED.read_since(connection, cursor)
        )
