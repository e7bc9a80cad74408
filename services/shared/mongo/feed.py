"""The change feed of a MongoDB collection: its change stream. Nothing is written for it.

A cursor is the `_data` of a resume token. It is valid on every replica of a service and on every
primary, since the stream has only what a majority committed. Each read opens the stream, takes what
is there and closes it, so a replica keeps nothing between two reads. An empty read takes 2 ms.

The stream has changes in the oplog's order. Reading passes over all other entries of the oplog
since the cursor, about 200,000 a second. A read that takes too long from an old cursor, and one
whose cursor the oplog no longer reaches, returns the cursor of now with `truncated`. From a young
cursor there is little to pass over: the server is slow, and the caller tries again.
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

_SECONDS = 1.2
"""Time limit of a read, so that the cursor of now can be read within the limit of an operation."""
_PAGE_SECONDS = 0.6
"""Time after which a page ends with the keys that it has."""
_BATCH = 500
"""Maximum events of one command: about 50 ms."""
_YOUNG_SECONDS = 10
"""Age of a cursor up to which a slow read is tried again."""


def _nothing(db: PyMongoDatabase[Document], keys: Sequence[str]) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class MongoFeed:
    """The feed of a collection. Its keys are the `_id` of documents.

    `events` is the query for the events of the change stream that count, at most `max_events` on a
    page. `related` finds further keys that changed with those of a page. `name` is the operation's
    name in the metrics.
    """

    database: Database
    name: str
    collection: str
    events: Document
    max_events: int
    related: Callable[[PyMongoDatabase[Document], Sequence[str]], Iterable[str]] = _nothing

    async def read_since(self, cursor: str | None) -> FeedPage:
        """Return what was committed after a cursor; None asks for the cursor of now.

        Raises Unavailable.
        """
        return await self.database.read_in_thread(self.name, lambda db: self._read(db, cursor))

    def _read(self, db: PyMongoDatabase[Document], cursor: str | None) -> FeedPage:
        if cursor is None:
            return FeedPage(self._cursor_of_now(db))
        page, slow = None, None
        try:
            with pymongo.timeout(_SECONDS):
                page = self._read_since(db, cursor)
        except PyMongoError as error:
            if error.timeout:
                slow = error
            elif not isinstance(error, OperationFailure):
                raise
            # Whatever else the server has against the cursor, the caller goes on from now.
        if page:
            return page
        now = self._cursor_of_now(db)
        if slow and _seconds_of(now) - _seconds_of(cursor) < _YOUNG_SECONDS:
            raise slow
        return FeedPage(now, truncated=True)

    def _read_since(self, db: PyMongoDatabase[Document], cursor: str) -> FeedPage | None:
        """Read a page; None if the stream ended, as the collection was dropped."""
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

    def _cursor_of_now(self, db: PyMongoDatabase[Document]) -> str:
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


def _seconds_of(cursor: str) -> int:
    """Return the cluster time of a cursor in seconds since the Unix epoch; 0 if it has none.

    A resume token is a KeyString: the type byte of a timestamp, 0x82, and its big-endian seconds.
    """
    is_timestamp = cursor.startswith("82") and len(cursor) >= 10
    try:
        return int(cursor[2:10], 16) if is_timestamp else 0
    except ValueError:
        return 0
