"""Assembles the store of links in a MongoDB database. Its collections:

links                  see `documents` and `reports`
counts, count_changes  see `counts`
rankings, ranked_codes see `rankings`
marks                  see `records` and `views`
decisions, blocked_addresses, imports, import_rows, import_days, creations, leases
                       see `records`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.storage.creations import CreationReader, CreationRepository
from services.links.storage.decisions import DecisionReader, DecisionRepository
from services.links.storage.imports import ImportReader, ImportRepository
from services.links.storage.leases import Leases
from services.links.storage.mongo.feed import open_feed
from services.links.storage.mongo.hosts import MongoHostIndex
from services.links.storage.mongo.links import MongoLinkReader, MongoLinkRepository
from services.links.storage.mongo.lists import MongoLinkLists
from services.links.storage.mongo.rankings import MongoRankingRepository
from services.links.storage.mongo.records import MongoBackend, MongoSession
from services.links.storage.mongo.reports import MongoReportReader, MongoReportRepository
from services.links.storage.mongo.views import MongoViewCounts
from services.links.storage.rescan_progress import RescanProgressStore
from services.shared.mongo import Database
from services.shared.mongo.transactions import Transaction

T = TypeVar("T")


def open_store(database: Database) -> LinkStore:
    """Return the store of an open database."""
    backend = MongoBackend(database)
    return LinkStore(
        transactions=_MongoTransactions(database),
        links=MongoLinkReader(database),
        lists=MongoLinkLists(database),
        views=MongoViewCounts(database),
        hosts=MongoHostIndex(database),
        reports=MongoReportReader(database),
        decisions=DecisionReader(backend),
        imports=ImportReader(backend),
        creations=CreationReader(backend),
        leases=Leases(backend),
        rescan_progress=RescanProgressStore(backend),
        change_feed=open_feed(database),
    )


class _MongoUnitOfWork:
    def __init__(self, tx: Transaction) -> None:
        session = MongoSession(tx.db, tx.session)
        self.links = MongoLinkRepository(tx)
        self.reports = MongoReportRepository(tx)
        self.decisions = DecisionRepository(session)
        self.rankings = MongoRankingRepository(tx)
        self.imports = ImportRepository(session)
        self.creations = CreationRepository(session)


class _MongoTransactions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        return await self._database.transaction(name, lambda tx: work(_MongoUnitOfWork(tx)))
