"""Assembles the store of links in a MongoDB database. Its collections:

links                  see `documents` and `reports`
counts, count_changes  see `counts`
rankings, ranked_codes see `rankings`
decisions, blocked_addresses
                       see `decisions`
imports, import_rows, import_days
                       see `imports`
creations              see `creations`
leases, marks          see `progress`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.storage.mongo.creations import MongoCreationReader, MongoCreationRepository
from services.links.storage.mongo.decisions import MongoDecisionReader, MongoDecisionRepository
from services.links.storage.mongo.feed import open_feed
from services.links.storage.mongo.hosts import MongoHostIndex
from services.links.storage.mongo.imports import MongoImportReader, MongoImportRepository
from services.links.storage.mongo.links import MongoLinkReader, MongoLinkRepository
from services.links.storage.mongo.lists import MongoLinkLists
from services.links.storage.mongo.progress import (
    MongoLeases,
    MongoRescanProgressStore,
    MongoViewCounts,
)
from services.links.storage.mongo.rankings import MongoRankingRepository
from services.links.storage.mongo.reports import MongoReportReader, MongoReportRepository
from services.shared.mongo import Database
from services.shared.mongo.transactions import Transaction

T = TypeVar("T")


def open_store(database: Database) -> LinkStore:
    """Return the store of an open database."""
    return LinkStore(
        transactions=_MongoTransactions(database),
        links=MongoLinkReader(database),
        lists=MongoLinkLists(database),
        views=MongoViewCounts(database),
        hosts=MongoHostIndex(database),
        reports=MongoReportReader(database),
        decisions=MongoDecisionReader(database),
        imports=MongoImportReader(database),
        creations=MongoCreationReader(database),
        leases=MongoLeases(database),
        rescan_progress=MongoRescanProgressStore(database),
        change_feed=open_feed(database),
    )


class _MongoUnitOfWork:
    def __init__(self, tx: Transaction) -> None:
        self.links = MongoLinkRepository(tx)
        self.reports = MongoReportRepository(tx)
        self.decisions = MongoDecisionRepository(tx)
        self.rankings = MongoRankingRepository(tx)
        self.imports = MongoImportRepository(tx)
        self.creations = MongoCreationRepository(tx)


class _MongoTransactions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        return await self._database.transaction(name, lambda tx: work(_MongoUnitOfWork(tx)))
