"""Assembles the store of links in a MongoDB database. Its collections:

links                  see `documents` and `reports`
counts, count_changes  see `counts`
rankings, ranked_codes see `rankings`
marks                  see `records` and `lists`
decisions, blocked_addresses, imports, import_rows, import_days, creations, leases
                       see `records`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.records.creations import CreationReader, CreationRepository
from services.links.application.records.decisions import DecisionReader, DecisionRepository
from services.links.application.records.imports import ImportReader, ImportRepository
from services.links.application.records.leases import Leases
from services.links.application.records.rescan_progress import RescanProgressStore
from services.links.storage.mongo.hosts import MongoHostIndex
from services.links.storage.mongo.links import MongoLinkReader, MongoLinkRepository, open_feed
from services.links.storage.mongo.lists import MongoLinkLists
from services.links.storage.mongo.records import MongoBackend, MongoSession
from services.links.storage.mongo.reports import MongoReportReader, MongoReportRepository
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
        hosts=MongoHostIndex(database),
        reports=MongoReportReader(database),
        decisions=DecisionReader(backend),
        imports=ImportReader(backend),
        creations=CreationReader(backend),
        leases=Leases(backend),
        rescan_progress=RescanProgressStore(backend),
        change_feed=open_feed(database),
    )


class _MongoTransactions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        return await self._database.transaction(name, lambda tx: work(_open_unit(tx)))


def _open_unit(tx: Transaction) -> UnitOfWork:
    session = MongoSession(tx.db, tx.session)
    return UnitOfWork(
        links=MongoLinkRepository(tx),
        reports=MongoReportRepository(tx),
        decisions=DecisionRepository(session),
        imports=ImportRepository(session),
        creations=CreationRepository(session),
    )
