"""Scan codes of links in a MongoDB database.

**A scan code** takes three writes. The link says first which one it wants, so that all who give it
one want the same; then a document of that code takes it, unless it is another's, and another one is
drawn; and then the link has it. From then on it answers. Wherever that breaks off, the next call
goes on. The last write counts as an edit, so that an edit which read the link without its scan code
finds it changed, and announces both.

**A purge** takes a scan code away ahead of its link, and announces it, so that a repetition still
finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from pymongo import ReplaceOne, UpdateOne
from pymongo.errors import DuplicateKeyError

from services.links.codes import NoFreeCode
from services.links.collection_mongo import TURNS, Collection, of_code, pause
from services.links.documents_mongo import PURGED, SCAN_OF, SCANNED, link_of
from services.links.domain import Account, Guest
from services.runtime.errors import Unavailable
from services.runtime.feed_mongo import MongoFeed
from services.runtime.mongo import Database, Document


class ScanCodes:
    """The scan codes of a database's links."""

    def __init__(self, database: Database, links: Collection, feed: MongoFeed) -> None:
        self._database = database
        self._links = links
        self._feed = feed

    async def give(
        self, owner: Account | Guest, code: str, drawn: Iterator[str], now: datetime
    ) -> str | None:
        """Give a link a scan code, or find the one that it has, as `LinkStore.give_scan_code`."""
        for turn in range(TURNS):
            await pause(turn)
            held = await self._database.read_majority("links_to_scan", of_code(code, SCANNED))
            link = link_of(held) if held else None
            if held is None or link is None or link.owner != owner or link.is_gone_at(now):
                return None
            scan_code = link.scan_code or await self._step(held, drawn)
            if scan_code:
                await self._feed.announce([scan_code], now)
                return scan_code
        raise Unavailable("The link is changed by too many at once.", "STORE_OVERLOADED")

    async def purge(self, scanned: Mapping[str, str], now: datetime) -> None:
        """Take scan codes away from links, told by their codes, that are purged next."""
        await self._links.change(
            "links_scan_purge",
            [ReplaceOne({"_id": one, "scan_of": code}, PURGED) for one, code in scanned.items()],
        )
        if scanned:
            await self._feed.announce(list(scanned), now)

    async def _step(self, held: Document, drawn: Iterator[str]) -> str:
        """Take the next step on the way to a scan code; empty where it is to be read again.

        Raises NoFreeCode.
        """
        as_read = {
            "_id": held["_id"],
            "url": {"$exists": True},
            "creator": held["creator"],
            "scan_code": None,
            "scan_wanted": held.get("scan_wanted"),
        }
        wanted: str | None = as_read["scan_wanted"]
        if wanted is None or not await self._take(wanted, held["_id"]):
            wanted = next(drawn, None)
            if wanted is None:
                raise NoFreeCode("No free code was found.")
            await self._links.change(
                "links_scan_wanted", [UpdateOne(as_read, {"$set": {"scan_wanted": wanted}})]
            )
            return ""
        given = {"$set": {"scan_code": wanted}, "$unset": {"scan_wanted": ""}, "$inc": {"rev": 1}}
        return (
            wanted
            if await self._links.change("links_scan_code", [UpdateOne(as_read, given)])
            else ""
        )

    async def _take(self, scan_code: str, code: str) -> bool:
        """Take a code as the scan code of a link; False where it is another's."""
        new = {"_id": scan_code, "scan_of": code}
        try:
            await self._database.write("links_scan_take", lambda db: db.links.insert_one(new))
        except DuplicateKeyError:
            held = await self._database.read_held("links_scan_taken", of_code(scan_code, SCAN_OF))
            return held.get("scan_of") == code
        return True
