"""Reads of the collection `links`. Each is one command, since its batch holds the whole result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymongo import ASCENDING, DESCENDING

from services.links.domain.link import Link
from services.links.storage.mongo.documents import LINK, decode_link, read_code
from services.shared.mongo import Database, Document
from services.shared.unreadable_records import decode_page_async

Order = Sequence[tuple[str, int]]
NEWEST_FIRST: Order = (("created_at", DESCENDING), ("_id", DESCENDING))
OLDEST_FIRST: Order = (("created_at", ASCENDING), ("_id", ASCENDING))
BY_CODE: Order = (("_id", ASCENDING),)
_NO_LIMIT = 1_000_000
"""Batch size of a read without a limit."""


async def find_documents(
    database: Database, name: str, codes: Sequence[str], fields: Mapping[str, object]
) -> list[Document]:
    """Return fields of the documents of some codes, unordered."""
    if not codes:
        return []
    query = {"_id": {"$in": list(codes)}}
    # A full batch would cause a second command.
    return await database.read(
        name, lambda db: db.links.find(query, fields, batch_size=len(codes) + 1).to_list(None)
    )


async def find_ordered(
    database: Database,
    name: str,
    query: Document,
    fields: Mapping[str, object],
    order: Order,
    limit: int,
    index: str | None = None,
) -> list[Document]:
    """Return fields of the first documents of a query; limit 0 asks for all."""
    return await database.read(
        name,
        lambda db: db.links.find(
            query, fields, sort=list(order), limit=limit, batch_size=limit or _NO_LIMIT, hint=index
        ).to_list(None),
    )


async def find_links(
    database: Database, name: str, query: Document, order: Order, limit: int, index: str | None
) -> list[Link]:
    """Return the first links of a query by an index. Fewer than `limit` are the last ones."""

    async def read(wanted: int) -> list[Document]:
        return await find_ordered(database, name, query, LINK, order, wanted, index)

    links = await decode_page_async("link", read, limit, decode_link, read_code)
    return [link for link in links if link]


async def find_codes(
    database: Database, name: str, query: Document, order: Order, limit: int, index: str | None
) -> list[str]:
    """Return the first codes of a query by an index; limit 0 asks for all."""
    found = await find_ordered(database, name, query, {"_id": 1}, order, limit, index)
    return [document["_id"] for document in found]
