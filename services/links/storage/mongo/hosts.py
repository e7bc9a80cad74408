"""Links by the hosts that they lead to, in a MongoDB database.

Hosts are ordered by their keys, which have a host's subdomains next to it (`hosts.host_key`).
"""

from __future__ import annotations

import asyncio

from pymongo import ASCENDING

from services.links.domain.host import HostPlace, host_key, host_of_key, keys_below
from services.links.domain.link import Link
from services.links.storage.mongo import reads
from services.links.storage.mongo.documents import LINK, links_of
from services.links.storage.mongo.schema import BY_ENDED_HOST_KEY, BY_HOST_KEY, LISTED
from services.shared.mongo import Database, Document

_INDEXES = {"host_key": BY_HOST_KEY, "ended_host_key": BY_ENDED_HOST_KEY}
"""The indexes of the two fields, which queries name: left to itself, the server may go by code."""


class MongoHostIndex:
    """Links by host."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def hosts_after(self, host: str, limit: int) -> list[str]:
        key = host_key(host)
        places = await self._places({field: {field: {"$gt": key}} for field in _INDEXES}, limit)
        return [host_of_key(key) for key in dict.fromkeys(key for key, _ in places)]

    async def at(self, host: str, code: str, limit: int) -> list[Link]:
        following: Document = {"_id": {"$gt": code}}
        pages = await asyncio.gather(
            *(
                reads.find_links(
                    self._database,
                    "links_at_host",
                    {field: host_key(host), **following},
                    reads.BY_CODE,
                    limit,
                    index,
                )
                for field, index in _INDEXES.items()
            )
        )
        found = {link.code: link for page in pages for link in page}
        return [found[code] for code in sorted(found)][:limit]

    async def at_or_below(
        self, host: str, after: HostPlace | None, limit: int
    ) -> tuple[list[Link], HostPlace | None]:
        first, end = keys_below(host)
        start = after or HostPlace(first, "")
        queries: dict[str, Document] = {
            field: {
                "$or": [
                    {field: {"$gt": start.key, "$lt": end}},
                    {field: start.key, "_id": {"$gt": start.code}},
                ]
            }
            for field in _INDEXES
        }
        places = await self._places(queries, limit)
        codes = list(dict.fromkeys(code for _, code in places))
        found = await reads.find_documents(self._database, "links_at_or_below", codes, LINK)
        return links_of(found), HostPlace(*places[-1]) if len(places) >= limit else None

    async def listed_after(self, code: str, limit: int) -> list[Link]:
        query = {"_id": {"$gt": code}, "listed": {"$exists": True}}
        return await reads.find_links(
            self._database, "links_listed", query, reads.BY_CODE, limit, LISTED
        )

    async def _places(self, queries: dict[str, Document], limit: int) -> list[tuple[str, str]]:
        """Return host key and code of links that queries find by either field, in their order."""
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
        places = {
            (one[field], one["_id"])
            for field, page in zip(queries, pages, strict=True)
            for one in page
        }
        # The first `limit` of both pages together are the first of all.
        return sorted(places)[:limit]
