"""The host index of links in a MongoDB database.

It is ordered by host key, which sorts subdomains next to their host (`domain.host.host_key`).
"""

from __future__ import annotations

import asyncio

from pymongo import ASCENDING

from services.links.domain.host import HostCursor, host_key, key_range, to_host
from services.links.domain.link import Link
from services.links.storage.mongo import reads
from services.links.storage.mongo.documents import LINK, decode_links
from services.links.storage.mongo.schema import BY_ENDED_HOST_KEY, BY_HOST_KEY, LISTED
from services.shared.mongo import Database, Document

_INDEXES = {"host_key": BY_HOST_KEY, "ended_host_key": BY_ENDED_HOST_KEY}
"""The indexes of the two fields. Queries name them, or the server may choose the one by code."""


class MongoHostIndex:
    """The `HostIndex` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def hosts_after(self, host: str, limit: int) -> list[str]:
        key = host_key(host)
        entries = await self._entries({field: {field: {"$gt": key}} for field in _INDEXES}, limit)
        return [to_host(key) for key in dict.fromkeys(key for key, _ in entries)]

    async def at(
        self, host: str, after: HostCursor | None, limit: int, *, with_subdomains: bool = False
    ) -> tuple[list[Link], HostCursor | None]:
        first, end = key_range(host, with_subdomains=with_subdomains)
        start = after or HostCursor(first, "")
        queries: dict[str, Document] = {
            field: {
                "$or": [
                    {field: {"$gt": start.key, "$lt": end}},
                    {field: start.key, "_id": {"$gt": start.code}},
                ]
            }
            for field in _INDEXES
        }
        entries = await self._entries(queries, limit)
        codes = list(dict.fromkeys(code for _, code in entries))
        found = await reads.find_documents(self._database, "links_at_host", codes, LINK)
        return decode_links(found), HostCursor(*entries[-1]) if len(entries) >= limit else None

    async def listed_after(self, code: str, limit: int) -> list[Link]:
        query = {"_id": {"$gt": code}, "listed": {"$exists": True}}
        return await reads.find_links(
            self._database, "links_listed", query, reads.BY_CODE, limit, LISTED
        )

    async def _entries(self, queries: dict[str, Document], limit: int) -> list[tuple[str, str]]:
        """Return host key and code of the first entries that the queries find, in order."""
        pages = await asyncio.gather(
            *(
                reads.find_ordered(
                    self._database,
                    "links_host_keys",
                    query,
                    {field: 1},
                    ((field, ASCENDING), *reads.BY_CODE),
                    limit,
                    _INDEXES[field],
                )
                for field, query in queries.items()
            )
        )
        entries = {
            (document[field], document["_id"])
            for field, page in zip(queries, pages, strict=True)
            for document in page
        }
        # The first `limit` of both pages are the first of all.
        return sorted(entries)[:limit]
