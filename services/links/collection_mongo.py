"""The collection of links in a MongoDB database: what is read of it and changed in it alike.

Changes are of one document each, on a condition; where somebody was faster, they are tried again
from what is there then (`TURNS`, `pause`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence

from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateOne
from pymongo.errors import DuplicateKeyError
from pymongo.results import UpdateResult

from services.links.documents_mongo import LINK, behind, link_of
from services.links.domain import Link
from services.links.listing import LinkOrder, Position
from services.runtime.mongo import Database, Document, Operation

_CHUNK = 500
"""Most documents in one command that changes each by itself."""
TURNS = 200
"""How often others may be faster before a call is given up."""
_MANY = 1_000_000
"""More codes than come with one answer, which otherwise has the first hundred alone."""
_PATIENT_TURNS = 3
_LONGEST_PAUSE = 0.02
NEWEST_FIRST = [("created_at", DESCENDING), ("_id", DESCENDING)]
_OLDEST_FIRST = [("created_at", ASCENDING), ("_id", ASCENDING)]
Change = UpdateOne | ReplaceOne[Document]


class Collection:
    """The links of a database, and what lies beside them by the same rules."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def named(
        self, name: str, codes: Sequence[str], fields: Mapping[str, object]
    ) -> list[Document]:
        """The fields of the documents of some codes, in no order."""
        return await self._database.read(name, among(codes, fields))

    async def codes(
        self,
        name: str,
        query: Document,
        order: list[tuple[str, int]],
        most: int,
        index: str | None = None,
    ) -> list[str]:
        """The codes that a query finds by an index, in an order; 0 asks for all of them."""
        found = await self._database.read(name, in_order(query, order, most, index))
        return [one["_id"] for one in found]

    async def by_age(
        self,
        name: str,
        query: Document,
        order: LinkOrder,
        after: Position | None,
        size: int,
        index: str | None = None,
    ) -> list[Link]:
        """One page of the links that a query finds by an index."""
        oldest = order is LinkOrder.OLDEST
        if after is not None:
            query = {**query, **behind(after, oldest=oldest)}
        found = await self._database.read(
            name,
            lambda db: db.links.find(
                query,
                LINK,
                sort=_OLDEST_FIRST if oldest else NEWEST_FIRST,
                limit=size,
                batch_size=size,
                hint=index,
            ).to_list(None),
        )
        return [link for one in found if (link := link_of(one))]

    async def by_code(
        self, name: str, query: Document, most: int, index: str | None = None
    ) -> list[Link]:
        """The first links that a query finds by an index, in the order of their codes."""
        found = await self._database.read(
            name,
            lambda db: db.links.find(
                query, LINK, sort=[("_id", ASCENDING)], limit=most, batch_size=most, hint=index
            ).to_list(None),
        )
        return [link for one in found if (link := link_of(one))]

    async def change(self, name: str, changes: Sequence[Change]) -> bool:
        """Make changes of one document each; whether each of them found its document."""
        found = 0
        for chunk in _chunks(changes):
            found += await self._write(name, chunk)
        return found == len(changes)

    async def upsert(self, name: str, collection: str, query: Document, change: Document) -> bool:
        """Change the document of a query or make it; False where its `_id` is another's."""

        def operation(upsert: bool) -> Operation[UpdateResult]:
            return lambda db: db[collection].update_one(query, change, upsert=upsert)

        try:
            await self._database.write(name, operation(upsert=True))
        except DuplicateKeyError:
            # It does not meet the condition, or was made by another replica just now.
            changed = await self._database.write(name, operation(upsert=False))
            return changed.matched_count == 1
        return True

    async def _write(self, name: str, changes: list[Change]) -> int:
        written = await self._database.write(
            name, lambda db: db.links.bulk_write(changes, ordered=False)
        )
        return written.matched_count


def of_code(code: str, fields: Mapping[str, object] = LINK) -> Operation[Document | None]:
    """The operation that reads fields of the document under a code."""
    return lambda db: db.links.find_one({"_id": code}, fields)


def among(codes: Sequence[str], fields: Mapping[str, object]) -> Operation[list[Document]]:
    """The operation that reads the documents of some codes, in no order."""
    query = {"_id": {"$in": list(codes)}}
    # One more than there can be: a batch that is full is followed by a question for the next.
    return lambda db: db.links.find(query, fields, batch_size=len(codes) + 1).to_list(None)


def in_order(
    query: Document, order: list[tuple[str, int]], most: int, index: str | None = None
) -> Operation[list[Document]]:
    """The operation that reads the codes of a query by an index, in an order; 0 asks for all."""
    return lambda db: db.links.find(
        query, {"_id": 1}, sort=order, limit=most, batch_size=most or _MANY, hint=index
    ).to_list(None)


def _chunks(changes: Sequence[Change]) -> Iterator[list[Change]]:
    for start in range(0, len(changes), _CHUNK):
        yield list(changes[start : start + _CHUNK])


async def pause(turn: int) -> None:
    """Let others be first, once they were faster some times."""
    if turn >= _PATIENT_TURNS:
        await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311
