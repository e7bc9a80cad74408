"""MongoDB transactions, which run with PyMongo in threads.

A killed process leaves its transaction open. The server keeps its locks for a minute
(`transactionLifetimeLimitSeconds`), and every write to the same documents conflicts. No transaction
of Atajo is idle for longer than its deadline. So a process whose transaction conflicts until its
deadline, or whose write does not end before it, aborts all transactions of Atajo that have been
idle for longer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
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
_WRITE_CONFLICT = 112
_ORPHAN_SECONDS = 3.0
"""A transaction that is idle for longer belongs to a killed or frozen process."""
_ABORT_SECONDS = 0.5
_aborting = threading.Lock()


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction. Every operation in it must pass the session.

    For example: `tx.db.links.find_one({"_id": code}, session=tx.session)`.
    """

    db: Database[Document]
    session: ClientSession


def run_transaction(db: Database[Document], work: Callable[[Transaction], T], seconds: float) -> T:
    """Run `work` in a transaction of a database; return its result once the commit is durable.

    The deadline is in `seconds`. Raises what `work` raises, PyMongoError, and Unavailable
    (STORE_OVERLOADED) if conflicts lasted until the deadline.
    """
    has_conflicted = False

    def attempt(session: ClientSession) -> T:
        nonlocal has_conflicted
        try:
            return work(Transaction(db, session))
        except OperationFailure as error:
            has_conflicted = has_conflicted or error.code == _WRITE_CONFLICT
            raise

    try:
        with pymongo.timeout(seconds), db.client.start_session() as session:
            return session.with_transaction(attempt, *_CONCERNS)
    except PyMongoError as error:
        if not (error.timeout and has_conflicted):
            raise
        abort_orphans(db.client)
        raise Unavailable("The store is overloaded.", "STORE_OVERLOADED") from error


def abort_orphans(client: MongoClient[Document]) -> None:
    """Abort the transactions of killed processes, in only one thread at a time."""
    if not _aborting.acquire(blocking=False):
        return
    try:
        with pymongo.timeout(_ABORT_SECONDS):
            orphans = _find_orphans(client)
            if orphans:
                client.admin.command("killSessions", orphans)
                log.warning("transactions_aborted", count=len(orphans))
    except PyMongoError as error:
        log.warning("transactions_not_aborted", error=type(error).__name__)
    finally:
        _aborting.release()


def _find_orphans(client: MongoClient[Document]) -> list[Document]:
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
    return [operation["lsid"] for operation in found]
