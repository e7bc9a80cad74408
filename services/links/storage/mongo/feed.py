"""The change feed of links: a change stream of MongoDB.

A cursor is the `_data` of a resume token. It is valid on every replica of links and on every
primary, since the stream has only what a majority committed. Each read opens the stream, takes what
is there and closes it, so a replica keeps nothing between two reads. An empty read takes 2 ms.

The stream has changes in the oplog's order. Reading passes over all other entries of the oplog
since the cursor, about 200,000 a second. A read that takes too long from an old cursor, and one
whose cursor the oplog no longer reaches, returns the cursor of now with `truncated`. From a young
cursor there is little to pass over: the server is slow, and the caller tries again.
"""

from __future__ import annotations

import pymongo
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import OperationFailure, PyMongoError

from services.links.application.ports import MAX_CHANGES, FeedPage
from services.runtime.mongo import Database, Document

_ANSWER = ("url", "expires_at", "ended_url", "removed_at", "blocked", "scan_code")
"""Fields that decide what a short address answers."""
_PIPELINE: list[Document] = [
    {
        "$match": {
            "$or": [
                # A purge replaces the document.
                {"operationType": {"$in": ["replace", "delete"]}},
                {
                    "operationType": "update",
                    "$or": [
                        {"updateDescription.removedFields": {"$in": _ANSWER}},
                        *(
                            {f"updateDescription.updatedFields.{name}": {"$exists": True}}
                            for name in _ANSWER
                        ),
                    ],
                },
            ]
        }
    },
    {"$project": {"documentKey": 1}},
]
_SECONDS = 1.2
"""Time limit of a read, so that the cursor of now can be read within the limit of an operation."""


_YOUNG_SECONDS = 10
"""Age of a cursor up to which a slow read is tried again."""


class MongoChangeFeed:
    """The change feed of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_since(self, cursor: str | None) -> FeedPage:
        return await self._database.read_in_thread("links_changes", lambda db: _read(db, cursor))


def _read(db: PyMongoDatabase[Document], cursor: str | None) -> FeedPage:
    if cursor is None:
        return FeedPage(_cursor_of_now(db))
    page, slow = None, None
    try:
        with pymongo.timeout(_SECONDS):
            page = _read_since(db, cursor)
    except PyMongoError as error:
        if error.timeout:
            slow = error
        elif not isinstance(error, OperationFailure):
            raise
        # Whatever else the server has against the cursor, the caller goes on from now.
    if page:
        return page
    now = _cursor_of_now(db)
    if slow and _seconds_of(now) - _seconds_of(cursor) < _YOUNG_SECONDS:
        raise slow
    return FeedPage(now, truncated=True)


def _read_since(db: PyMongoDatabase[Document], cursor: str) -> FeedPage | None:
    """Read a page; None if the stream ended, as the collection was dropped."""
    codes: list[str] = []
    with db.links.watch(
        _PIPELINE, resume_after={"_data": cursor}, batch_size=MAX_CHANGES, max_await_time_ms=1
    ) as stream:
        while len(codes) < MAX_CHANGES and (change := stream.try_next()):
            codes.append(change["documentKey"]["_id"])
        if not stream.alive or not stream.resume_token:
            return None
        end = stream.resume_token["_data"]
    unique = tuple(dict.fromkeys(codes))
    if not unique:
        return FeedPage(end)
    scanned = db.links.find({"_id": {"$in": unique}, "scan_code": {"$ne": None}}, {"scan_code": 1})
    scan_codes = [one["scan_code"] for one in scanned]
    return FeedPage(
        end, tuple(dict.fromkeys((*unique, *scan_codes))), more=len(codes) == MAX_CHANGES
    )


def _cursor_of_now(db: PyMongoDatabase[Document]) -> str:
    with db.links.watch(_PIPELINE, max_await_time_ms=1) as stream:
        stream.try_next()
        if not stream.resume_token:
            raise OperationFailure("The change stream has no resume token.")
        return str(stream.resume_token["_data"])


def _seconds_of(cursor: str) -> int:
    """Return the cluster time of a cursor in seconds since the Unix epoch; 0 if it has none.

    A resume token is a KeyString: the type byte of a timestamp, 0x82, and its big-endian seconds.
    """
    is_timestamp = cursor.startswith("82") and len(cursor) >= 10
    try:
        return int(cursor[2:10], 16) if is_timestamp else 0
    except ValueError:
        return 0
