"""Links by code and by owner in a MongoDB database.

A transaction reads links, decides on that basis, and writes. It conflicts and runs again if another
transaction changed a document that it writes, but not one that it only reads. So every transaction
must write the documents that its decision depends on: scan codes, edits, purges and decisions on
reports all write the link.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo import ASCENDING, ReplaceOne, UpdateOne
from pymongo.database import Database as PyMongoDatabase
from pymongo.errors import DuplicateKeyError

from services.links.application.ports import MAX_CHANGES
from services.links.application.records.creations import delete_records
from services.links.domain.imports import CodeHolders
from services.links.domain.link import (
    MAX_FORMER_URLS,
    WITHDRAWN_BEFORE,
    FormerUrl,
    Link,
    TooManyUrls,
)
from services.links.domain.owner import Account, Guest
from services.links.domain.query import AgeCursor
from services.links.domain.resolution import Resolution, UnreadableLinks
from services.links.storage.link_encoding import encode_owner
from services.links.storage.mongo import reads
from services.links.storage.mongo.counts import invalidate_counts
from services.links.storage.mongo.documents import (
    LINK,
    PURGED,
    RESOLUTION_FIELDS,
    RESOLVED,
    decode_history,
    decode_link,
    decode_links,
    encode_link,
    encode_update,
)
from services.links.storage.mongo.lists import restorable
from services.links.storage.mongo.rankings import delete_orphaned_rankings, save_ranking
from services.links.storage.mongo.records import MongoSession
from services.links.storage.mongo.schema import BY_AGE, BY_HOST_KEY, OWNED_CODES
from services.shared.mongo import Database, Document, Documents, Operation
from services.shared.mongo.feed import MongoFeed
from services.shared.mongo.transactions import Transaction
from services.shared.timestamps import from_micros, to_micros

_SCAN_CODE = {"scan_of": 1}
MAX_EXACTLY_COUNTED = 100_000
"""Up to this many documents, links are counted in an index, within 90 ms (a million takes 450).
Beyond it, a sample tells the share of links among all documents, in 30 ms."""
_SAMPLED_DOCUMENTS = 1000
_EVENTS: Document = {
    "$or": [
        # A purge replaces the document.
        {"operationType": {"$in": ["replace", "delete"]}},
        {
            "operationType": "update",
            "$or": [
                {"updateDescription.removedFields": {"$in": RESOLUTION_FIELDS}},
                *(
                    {f"updateDescription.updatedFields.{name}": {"$exists": True}}
                    for name in RESOLUTION_FIELDS
                ),
            ],
        },
    ]
}


class MongoLinkReader:
    """The `LinkReader` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, link: Link) -> Link | None:
        new = encode_link(link)
        try:
            await self._database.write("links_add", lambda db: db.links.insert_one(new))
        except DuplicateKeyError:
            holder = await self._database.read_key_holder("links_held", _find(link.code))
            return next(iter(decode_links([holder])), None)
        return link

    async def holders(self, codes: Sequence[str]) -> CodeHolders:
        return _holders(await reads.find_documents(self._database, "links_holders", codes, LINK))

    async def find(self, code: str) -> Link | None:
        found = await self._database.read("links_find", _find(code))
        if found and "scan_of" in found:
            found = await self._database.read("links_find_scanned", _find(found["scan_of"]))
        return decode_link(found) if found else None

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        fields = RESOLVED | _SCAN_CODE
        found = await reads.find_documents(self._database, "links_resolve", codes, fields)
        scanned = {
            document["scan_of"]: document["_id"] for document in found if "scan_of" in document
        }
        unreadable: set[str] = set()
        resolutions = [link.resolution() for link in decode_links(found, unreadable)]
        if scanned:
            found = await reads.find_documents(
                self._database, "links_scanned", list(scanned), RESOLVED
            )
            by_scan_code: set[str] = set()
            resolutions += [
                link.resolution().via_scan_code(link.scan_code)
                for link in decode_links(found, by_scan_code)
            ]
            unreadable |= {scanned[code] for code in by_scan_code}
        if unreadable:
            raise UnreadableLinks(unreadable, resolutions)
        return resolutions

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        found = await reads.find_documents(self._database, "links_find_all", codes, LINK)
        links = {link.code: link for link in decode_links(found)}
        return [links[code] for code in codes if code in links and links[code].owner == owner]

    async def history(self, code: str) -> list[FormerUrl]:
        found = await self._database.read("links_history", _find(code, {"history": 1}))
        return decode_history(found) if found else []

    async def link_code(self, code: str) -> str | None:
        fields = {"scan_of": 1, "removed": 1}
        found = await self._database.read("links_link_code", _find(code, fields))
        if found and "scan_of" in found:
            return str(found["scan_of"])
        return code if found and "removed" not in found else None

    async def page_of_all(
        self, account: Account, after: AgeCursor | None, limit: int
    ) -> list[AgeCursor]:
        query: Document = {"creator": encode_owner(account), "bin": {"$in": [None, True]}}
        if after:
            at = to_micros(after.created_at)
            query["created_at"] = {"$gte": at}
            query["$or"] = [{"created_at": {"$gt": at}}, {"_id": {"$gt": after.code}}]
        found = await reads.find_ordered(
            self._database,
            "links_of_account",
            query,
            {"created_at": 1},
            reads.OLDEST_FIRST,
            limit,
            BY_AGE,
        )
        return [AgeCursor(from_micros(link["created_at"]), link["_id"]) for link in found]

    async def count_stored(self) -> int:
        # Every link has a host key, and scan codes and purged links have none.
        stored: Document = {"host_key": {"$gte": ""}}
        sampling: list[Document] = [
            {"$sample": {"size": _SAMPLED_DOCUMENTS}},
            {"$group": {"_id": {"$gte": ["$host_key", ""]}, "count": {"$sum": 1}}},
        ]

        async def count(db: Documents) -> int:
            documents = await db.links.estimated_document_count()
            if documents <= MAX_EXACTLY_COUNTED:
                return int(await db.links.count_documents(stored, hint=BY_HOST_KEY))
            sampled = await db.links.aggregate(sampling).to_list(None)
            by_kind: dict[bool, int] = {group["_id"]: group["count"] for group in sampled}
            return round(documents * by_kind.get(True, 0) / max(1, sum(by_kind.values())))

        return await self._database.read("links_count_stored", count)

    async def all_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        # Both values of `bin`, so that the index yields all links in order.
        query: Document = {"creator": encode_owner(owner), "bin": {"$in": [None, True]}}
        return await self._find_codes("links_newest", query, reads.NEWEST_FIRST, limit, BY_AGE)

    async def owned_codes(self, owner: Account | Guest, limit: int) -> list[str]:
        query: Document = {"creator": encode_owner(owner), "bin": None}
        return await self._find_codes("links_owned_codes", query, reads.NEWEST_FIRST, limit, BY_AGE)

    async def removed_before(self, moment: datetime, limit: int) -> list[str]:
        query = {"removed_at": {"$lte": to_micros(moment)}}
        order = (("removed_at", ASCENDING), *reads.BY_CODE)
        return await self._find_codes("links_removed_before", query, order, limit)

    async def codes_after(self, code: str, limit: int) -> list[str]:
        # Not by `$exists`, for which the server would read each document.
        query = {"_id": {"$gt": code}, "creator": {"$ne": None}}
        return await self._find_codes("links_codes", query, reads.BY_CODE, limit, OWNED_CODES)

    async def _find_codes(
        self, name: str, query: Document, order: reads.Order, limit: int, index: str | None = None
    ) -> list[str]:
        return await reads.find_codes(self._database, name, query, order, limit, index)


class MongoLinkRepository:
    """The `LinkRepository` of a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._links = tx.db.links

    def get(self, codes: Sequence[str]) -> dict[str, Link]:
        found = self._find({"_id": {"$in": list(codes)}}, LINK, len(codes))
        return {link.code: link for link in decode_links(found)}

    def holders(self, codes: Sequence[str]) -> CodeHolders:
        return _holders(self._find({"_id": {"$in": list(codes)}}, LINK, len(codes)))

    def add_all(self, links: Sequence[Link], now: datetime) -> None:
        documents = [encode_link(link) for link in links]
        self._links.insert_many(documents, session=self._tx.session)
        # Cached counts are of links dated long ago, as imported ones may be.
        owners = {encode_owner(link.owner) for link in links if link.created_at < now}
        invalidate_counts(self._tx, owners - {None})

    def save(self, updates: Sequence[tuple[Link, Link]], now: datetime) -> None:
        operations = []
        scan_codes: list[Document] = []
        for old, new in updates:
            query: Document = {"_id": old.code}
            if new.url != old.url:
                query[f"history.{MAX_FORMER_URLS - 1}"] = {"$exists": False}
            if update := encode_update(old, new, now):
                operations.append(UpdateOne(query, update))
            if new.scan_code != old.scan_code:
                scan_codes.append({"_id": new.scan_code, "scan_of": new.code})
        if scan_codes:
            self._links.insert_many(scan_codes, session=self._tx.session)
        if operations:
            saved = self._links.bulk_write(operations, session=self._tx.session)
            if saved.matched_count < len(operations):
                raise TooManyUrls(f"A link can have at most {MAX_FORMER_URLS + 1} URLs.")
        owners = {
            encode_owner(new.owner)
            for old, new in updates
            if (old.removed_at is None) != (new.removed_at is None)
        }
        invalidate_counts(self._tx, owners - {None})

    def reassign(self, guest: Guest, account: Account, limit: int) -> int:
        of_guest, of_account = encode_owner(guest), encode_owner(account)
        found = self._find({"creator": of_guest}, {"_id": 1}, limit)
        if found:
            self._update_all(found, {"creator": of_account})
            invalidate_counts(self._tx, [of_guest, of_account])
        delete_orphaned_rankings(self._tx, [of_guest])
        return len(found)

    def withdraw(self, account: Account, limit: int, now: datetime) -> int:
        creator = encode_owner(account)
        found = self._find(
            # Each alternative is a range of the index by age.
            {"$or": [{"creator": creator, "bin": None}, {"creator": creator, **restorable(now)}]},
            {"_id": 1},
            limit,
        )
        if found:
            removed_at = to_micros(now - WITHDRAWN_BEFORE)
            self._update_all(found, {"removed_at": removed_at, "bin": True})
            invalidate_counts(self._tx, [creator])
        return len(found)

    def save_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        save_ranking(self._tx, owner, key, codes, now)

    def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        fields = dict.fromkeys(
            ("created_at", "creator", "scan_code", "scan_of", "bin", "removed"), 1
        )
        found = self._find({"_id": {"$in": list(codes)}}, fields, len(codes))
        # Links that cannot be read are purged, too: any of their fields may be missing.
        links = [
            document
            for document in found
            if "removed" not in document and "scan_of" not in document
        ]
        gone = [code for link in links for code in (link["_id"], link.get("scan_code")) if code]
        if gone:
            # Deletes all other fields.
            replacements = [ReplaceOne({"_id": code}, PURGED) for code in gone]
            self._links.bulk_write(replacements, session=self._tx.session)
            owned = [link for link in links if "creator" in link]
            delete_orphaned_rankings(self._tx, {link["creator"] for link in owned})
            created = [(link.get("creator"), link.get("created_at")) for link in links]
            delete_records(MongoSession(self._tx.db, self._tx.session), created, now)
            counted = {link["creator"] for link in owned if "bin" not in link}
            invalidate_counts(self._tx, counted)
        return [document["_id"] for document in found if "scan_of" not in document]

    def _find(self, query: Document, fields: Document, limit: int) -> list[Document]:
        return self._links.find(
            query, fields, limit=limit, batch_size=limit, session=self._tx.session
        ).to_list()

    def _update_all(self, found: Sequence[Document], fields: Document) -> None:
        query = {"_id": {"$in": [document["_id"] for document in found]}}
        self._links.update_many(query, {"$set": fields}, session=self._tx.session)


def _find(code: str, fields: Document | None = None) -> Operation[Document | None]:
    """Return the operation that reads fields of the document under a code."""
    return lambda db: db.links.find_one({"_id": code}, fields or LINK | _SCAN_CODE)


def _holders(found: list[Document]) -> CodeHolders:
    """Return what holds the codes of some documents."""
    links = {link.code: link for link in decode_links(found)}
    return CodeHolders(links, frozenset({document["_id"] for document in found} - links.keys()))


def open_feed(database: Database) -> MongoFeed:
    """Return the feed of codes and scan codes whose resolutions changed."""
    return MongoFeed(database, "links_changes", "links", _EVENTS, MAX_CHANGES, _scan_codes)


def _scan_codes(db: PyMongoDatabase[Document], codes: Sequence[str]) -> Iterable[str]:
    with_scan_code = {"_id": {"$in": codes}, "scan_code": {"$ne": None}}
    return (document["scan_code"] for document in db.links.find(with_scan_code, {"scan_code": 1}))
