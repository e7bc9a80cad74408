"""MongoDB transactions, which run with PyMongo in threads.

A killed process leaves its transaction open. The server keeps its locks for a minute
(`transactionLifetimeLimitSeconds`), and every write to the same documents conflicts. No transaction
of Atajo is idle for longer than its deadline. So a process whose transaction conflicts until its
deadline aborts all transactions of Atajo that have been idle for longer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pymongo
from pymongo import MongoClient, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from services.shared.errors import Unavailable
from services.shared.mongo.aliases import Document, T
from services.shared.observability import logs

log = logs.Throttled(__name__)


APPLICATION = "atajo"
"""The application name of Atajo's connections on the server."""
_CONCERNS = (ReadConcern("snapshot"), WriteConcern("majority", j=True))
"""A transaction reads a snapshot of data that a majority has."""
_MAX_CONCURRENT = 16
"""Each transaction takes a thread and a connection."""
_WRITE_CONFLICT = 112
_ORPHAN_SECONDS = 3.0
"""A transaction that is idle for longer belongs to a killed or frozen process."""
_ABORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction. Every operation in it must pass the session.

    For example: `tx.db.links.find_one({"_id": code}, session=tx.session)`.
    """

    db: Database[Document]
    session: ClientSession


class Transactions:
    """Runs transactions, each with a deadline of `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(_MAX_CONCURRENT, thread_name_prefix="mongo-tx")
        self._aborting = threading.Lock()

    async def run(self, db: Database[Document], work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction of a database; return its result once the commit is durable.

        Raises what `work` raises, PyMongoError, and Unavailable (STORE_OVERLOADED) if conflicts
        lasted until the deadline.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, db, work)

    async def close(self) -> None:
        """Wait for the running transactions."""
        await asyncio.to_thread(self._threads.shutdown)

    def _run(self, db: Database[Document], work: Callable[[Transaction], T]) -> T:
        has_conflicted = False

        def attempt(session: ClientSession) -> T:
            nonlocal has_conflicted
            try:
                return work(Transaction(db, session))
            except OperationFailure as error:
                has_conflicted = has_conflicted or error.code == _WRITE_CONFLICT
                raise

        try:
            with pymongo.timeout(self._seconds), db.client.start_session() as session:
                return session.with_transaction(attempt, *_CONCERNS)
        except PyMongoError as error:
            if not (error.timeout and has_conflicted):
                raise
            self._abort_orphans(db.client)
            raise Unavailable("The store is overloaded.", "STORE_OVERLOADED") from error

    def _abort_orphans(self, client: MongoClient[Document]) -> None:
        """Abort the transactions of killed processes, in only one thread at a time."""
        if not self._aborting.acquire(blocking=False):
            return
        try:
            with pymongo.timeout(_ABORT_SECONDS):
                orphans = _orphans(client)
                if orphans:
                    client.admin.command("killSessions", orphans)
                    log.warning("transactions_aborted", count=len(orphans))
        except PyMongoError as error:
            log.warning("transactions_not_aborted", error=type(error).__name__)
        finally:
            self._aborting.release()


def _orphans(client: MongoClient[Document]) -> list[Document]:
    """Return the ids of Atajo's sessions with an idle transaction."""
    idle = {"$gt": int(_ORPHAN_SECONDS * 1e6)}
    found = client.admin.aggregate(
        [
            # The sessions of the own MongoDB user, which requires no privilege.
            {"$currentOp": {"allUsers": False, "idleSessions": True}},
            {"$match": {"appName": APPLICATION, "transaction.timeInactiveMicros": idle}},
            {"$project": {"lsid": 1}},
        ]
    )
    return [one["lsid"] for one in found]
