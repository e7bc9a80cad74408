"""Assembles the store of links in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.records.creations import CreationReader, CreationRepository
from services.links.application.records.decisions import DecisionReader, DecisionRepository
from services.links.application.records.imports import ImportReader, ImportRepository
from services.links.application.records.leases import Leases
from services.links.application.records.rescan_progress import RescanProgressStore
from services.links.storage.sqlite.hosts import SqliteHostIndex
from services.links.storage.sqlite.links import FEED, SqliteLinkReader, SqliteLinkRepository
from services.links.storage.sqlite.lists import SqliteLinkLists
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
        hosts=SqliteHostIndex(database),
        reports=SqliteReportReader(database),
        decisions=DecisionReader(backend),
        imports=ImportReader(backend),
        creations=CreationReader(backend),
        leases=Leases(backend),
        rescan_progress=RescanProgressStore(backend),
        change_feed=_SqliteChangeFeed(database),
    )


class _SqliteTransactions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        return await self._database.write(name, lambda connection: work(_open_unit(connection)))


def _open_unit(connection: sqlite3.Connection) -> UnitOfWork:
    session = SqliteSession(connection)
    return UnitOfWork(
        links=SqliteLinkRepository(connection),
        reports=SqliteReportRepository(connection),
        decisions=DecisionRepository(session),
        imports=ImportRepository(session),
        creations=CreationRepository(session),
    )


class _SqliteChangeFeed:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_since(self, cursor: str | None) -> FeedPage:
        return await self._database.look_up(
            "links_changes", lambda connection: FEED.read_since(connection, cursor)
        )
