"""The change feed of a MongoDB collection, based on its change stream. Nothing is written for it.

A cursor is the `_data` of a resume token. It is valid on every replica of a service and on every
primary, since the stream contains only changes that a majority committed. Each read opens the
stream, reads the available changes and closes it, so a replica keeps no state between two reads. An
empty read takes 2 ms.

The stream has the changes in oplog order. A read scans all other oplog entries since the cursor,
about 200,000 a second. If that takes too long from an old cursor, or the oplog no longer contains
the cursor, the read returns the current cursor with `truncated`. From a recent cursor there is
little to scan: then the server is slow, and the caller tries again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pymongo
from pymongo.change_stream import CollectionChangeStream
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import OperationFailure, PyMongoError

from services.shared.feed import FeedPage
from services.shared.mongo import Database, Document

_TIMEOUT_SECONDS = 1.2
"""Timeout of a read. It leaves time to read the current cursor within the operation's deadline."""
_PAGE_SECONDS = 0.6
"""Time after which a page ends with the keys read so far."""
_BATCH = 500
"""Maximum events per command: about 50 ms."""
_RECENT_SECONDS = 10
"""Maximum age of a cursor for which a slow read is tried again."""


def _no_keys(db: PyMongoDatabase[Document], keys: Sequence[str]) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class MongoFeed:
    """The feed of a collection. Its keys are the `_id` of documents.

    `events` is the query for the relevant events of the change stream; a page has at most
    `max_events`. `related` finds further keys that changed with those of a page. `name` is the
    operation's name in the metrics.
    """

    database: Database
    name: str
    collection: str
    events: Document
    max_events: int
    related: Callable[[PyMongoDatabase[Document], Sequence[str]], Iterable[str]] = _no_keys

    async def read_since(self, cursor: str | None) -> FeedPage:
        """Return the changes committed after a cursor; None returns the current cursor only.

        Raises Unavailable.
        """
        return await self.database.read_feed(self.name, lambda db: self._read(db, cursor))

    def _read(self, db: PyMongoDatabase[Document], cursor: str | None) -> FeedPage:
        if cursor is None:
            return FeedPage(self._current_cursor(db))
        page, slow = None, None
        try:
            with pymongo.timeout(_TIMEOUT_SECONDS):
                page = self._read_since(db, cursor)
        except PyMongoError as error:
            if error.timeout:
                slow = error
            elif not isinstance(error, OperationFailure):
                raise
            # The server rejects the cursor, so the caller continues from now.
        if page:
            return page
        now = self._current_cursor(db)
        if slow and _parse_seconds(now) - _parse_seconds(cursor) < _RECENT_SECONDS:
            raise slow
        return FeedPage(now, truncated=True)

    def _read_since(self, db: PyMongoDatabase[Document], cursor: str) -> FeedPage | None:
        """Read a page. Return None if the stream ended because the collection was dropped."""
        deadline = time.monotonic() + _PAGE_SECONDS
        found: list[str] = []
        is_full = False
        with self._open(db, {"_data": cursor}) as stream:
            while not is_full and (change := stream.try_next()):
                found.append(change["documentKey"]["_id"])
                is_full = len(found) == self.max_events or time.monotonic() > deadline
            if not stream.alive or not stream.resume_token:
                return None
            end = stream.resume_token["_data"]
        keys = list(dict.fromkeys(found))
        if keys:
            keys = list(dict.fromkeys((*keys, *self.related(db, keys))))
        return FeedPage(end, tuple(keys), more=is_full)

    def _current_cursor(self, db: PyMongoDatabase[Document]) -> str:
        with self._open(db, None) as stream:
            stream.try_next()
            if not stream.resume_token:
                raise OperationFailure("The change stream has no resume token.")
            return str(stream.resume_token["_data"])

    def _open(
        self, db: PyMongoDatabase[Document], resume_after: Document | None
    ) -> CollectionChangeStream[Document]:
        return db[self.collection].watch(
            [{"$match": self.events}, {"$project": {"documentKey": 1}}],
            resume_after=resume_after,
            batch_size=min(self.max_events, _BATCH),
            max_await_time_ms=1,
        )


def _parse_seconds(cursor: str) -> int:
    """Return the cluster time of a cursor in seconds since the Unix epoch; 0 if it has none.

    A resume token is a KeyString: the type byte of a timestamp, 0x82, and its big-endian seconds.
    """
    is_timestamp = cursor.startswith("82") and len(cursor) >= 10
    try:
        return int(cursor[2:10], 16) if is_timestamp else 0
    except ValueError:
        return 0
