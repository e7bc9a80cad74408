"""Links and their changes in a MongoDB database.

    links                  see `documents_mongo`, and of reports `reports_mongo`
    rankings, ranked_codes see `rankings_mongo`
    decisions, blocked_addresses
                           see `decisions_mongo`
    edits                  see `edits_mongo`
    leases                 _id (the job), holder, ends_at
    marks                  _id "rank", mark; _id "sweep", and the fields of a `Sweep`
    announcements          see `services.runtime.feed_mongo`

**An edit** is one conditional update of each document: it holds where the document is as it was
read, which its number `rev` says. A URL that changes and its place in the history are one update.
Documents are read, what each is to be is decided from that, and where somebody was faster at one of
them, all are read again; those that are as they are to be are passed over. So a call that broke off
is healed by its repetition, which writes what is missing and announces all.

**A claim** finds some of a guest's links and moves those of them that are the guest's still, until
it has moved all that it found: two accounts that claim at once divide the links, and whoever comes
to the end has left none behind, whatever became of the other.

Both read what a majority has. Where a call finds all done already, by one that broke off, no
failover undoes it any more; until then the conditions do not hold, and it is read again.

**A scan code** takes three writes. The link says first which one it wants, so that all who give it
one want the same; then a document of that code takes it, unless it is another's, and another one is
drawn; and then the link has it. From then on it answers. Wherever that breaks off, the next call
goes on. The last write counts as an edit, so that an edit which read the link without its scan code
finds it changed, and announces both.

**A purge** takes a scan code away ahead of its link, and announces it, so that a repetition still
finds it.

**Indexes.** Those of an owner's links leave out links of nobody, and codes alone are asked for
where they are enough: then the index answers.

    links_of_creator   all links of an owner by age: `by_owner`, and what a claim finds
    links_by_age       pages of the links in a list, or of the removed ones, in either direction,
                       their number, and the codes of all in a list. The conditions of states
                       follow the order: a list of the expired ones passes over the others without
                       reading their documents
    links_by_views     rankings, in their order
    links_removed      what was removed, the first first; it has nothing else in it
    links_owned        codes with an owner, in their order, however many of nobody are between them
    links_by_host, links_by_ended_host
                       hosts that links lead to, and the links of one, in the order of codes
    links_by_host_key, links_by_ended_host_key
                       the links of a host and of those below it
    links_listed       links that a blocklist blocked, in the order of codes
    links_reported     links with reports that wait, the most often reported first, and how many
                       reports of each wait
    links_decided      links with reports that were decided on, for those that are to be forgotten

No index helps with a text that may be anywhere: a search looks through all links of its owner. A
page of it ends where it is full, its number takes them all. `folded` is in no index, where it would
take more room than the links do.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from pymongo import ASCENDING, DESCENDING, IndexModel, ReplaceOne, UpdateOne
from pymongo.errors import DuplicateKeyError
from pymongo.results import UpdateResult

from services.links.blocks import BlockReason
from services.links.codes import NoFreeCode, codes_of
from services.links.decisions import BlockedAddress, Decision, DecisionKind
from services.links.decisions_mongo import INDEXES, Decisions
from services.links.documents_mongo import (
    EDITED,
    LINK,
    PURGED,
    RESOLVED,
    SCAN_OF,
    SCANNED,
    behind,
    change_of,
    document_of,
    history_of,
    hosts_of,
    link_of,
    wanted_of,
)
from services.links.domain import FEED, Account, FormerUrl, Guest, Link, Resolution
from services.links.edits import Edit
from services.links.edits_mongo import Edits
from services.links.hosts import HostPlace, keys_below
from services.links.listing import LinkOrder, Position, Wanted
from services.links.rankings_mongo import Rankings
from services.links.reports import Report, ReportPlace, Statement
from services.links.reports_mongo import Reports
from services.links.stages import Stage, Sweep
from services.links.stored import OwnerValue, value_of
from services.runtime.errors import Unavailable
from services.runtime.feed import Told
from services.runtime.feed_mongo import MongoFeed
from services.runtime.moments import micros_of
from services.runtime.mongo import Database, Document, Operation, Schema

_OWNED: Document = {"creator": {"$exists": True}}
"""What the indexes of owners' links have in them: links of nobody would only take room."""

SCHEMA: Schema = (
    {
        "links": [
            IndexModel(
                [("creator", DESCENDING), ("created_at", DESCENDING), ("_id", DESCENDING)],
                name="links_of_creator",
                partialFilterExpression=_OWNED,
            )
        ]
    },
    {
        "links": [
            IndexModel(
                [
                    ("creator", DESCENDING),
                    ("bin", DESCENDING),
                    ("created_at", DESCENDING),
                    ("_id", DESCENDING),
                    ("blocked", DESCENDING),
                    ("expires_at", DESCENDING),
                    ("removed_at", DESCENDING),
                ],
                name="links_by_age",
                partialFilterExpression=_OWNED,
            ),
            IndexModel(
                [
                    ("creator", DESCENDING),
                    ("bin", DESCENDING),
                    ("people", DESCENDING),
                    ("created_at", DESCENDING),
                    ("_id", DESCENDING),
                    ("blocked", DESCENDING),
                    ("expires_at", DESCENDING),
                    ("removed_at", DESCENDING),
                ],
                name="links_by_views",
                partialFilterExpression=_OWNED,
            ),
            IndexModel(
                [("removed_at", ASCENDING), ("_id", ASCENDING)],
                name="links_removed",
                partialFilterExpression={"removed_at": {"$exists": True}},
            ),
            IndexModel(
                [("_id", ASCENDING), ("creator", ASCENDING)],
                name="links_owned",
                partialFilterExpression=_OWNED,
            ),
        ],
        "rankings": [IndexModel("tidied_at", name="rankings_tidied", expireAfterSeconds=0)],
        "ranked_codes": [IndexModel("tidied_at", name="ranked_codes_tidied", expireAfterSeconds=0)],
    },
    {
        "links": [
            IndexModel(
                [("host", ASCENDING), ("_id", ASCENDING)],
                name="links_by_host",
                partialFilterExpression={"host": {"$exists": True}},
            ),
            IndexModel(
                [("ended_host", ASCENDING), ("_id", ASCENDING)],
                name="links_by_ended_host",
                partialFilterExpression={"ended_host": {"$exists": True}},
            ),
            IndexModel(
                [("_id", ASCENDING), ("listed", ASCENDING)],
                name="links_listed",
                partialFilterExpression={"listed": {"$exists": True}},
            ),
        ]
    },
    {
        "links": [
            IndexModel(
                [("reported", DESCENDING), ("_id", ASCENDING), ("reports_waiting", ASCENDING)],
                name="links_reported",
                partialFilterExpression={"reported": {"$exists": True}},
            ),
            IndexModel(
                [("reports_decided_at", ASCENDING)],
                name="links_decided",
                partialFilterExpression={"reports_decided_at": {"$exists": True}},
            ),
        ]
    },
    INDEXES,
    {
        "links": [
            IndexModel(
                [("host_key", ASCENDING), ("_id", ASCENDING)],
                name="links_by_host_key",
                partialFilterExpression={"host_key": {"$exists": True}},
            ),
            IndexModel(
                [("ended_host_key", ASCENDING), ("_id", ASCENDING)],
                name="links_by_ended_host_key",
                partialFilterExpression={"ended_host_key": {"$exists": True}},
            ),
        ]
    },
)

_CHUNK = 500
"""Most documents in one command that changes each by itself."""
_TURNS = 200
"""How often others may be faster before a call is given up."""
_PATIENT_TURNS = 3
_LONGEST_PAUSE = 0.02
_NEWEST_FIRST = [("created_at", DESCENDING), ("_id", DESCENDING)]
_OLDEST_FIRST = [("created_at", ASCENDING), ("_id", ASCENDING)]
_MOST_VIEWED_FIRST = [("people", DESCENDING), *_NEWEST_FIRST]
_RANK = {"_id": "rank"}
_SWEEP = {"_id": "sweep"}
_Change = UpdateOne | ReplaceOne[Document]


class MongoLinkStore:
    """The `LinkStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._feed = MongoFeed(database, FEED, "links")
        self._rankings = Rankings(database)
        self._reports = Reports(database)
        self._decisions = Decisions(database)
        self._edits = Edits(database)

    async def add(self, link: Link) -> Link | None:
        new = document_of(link)
        try:
            await self._database.write("links_add", lambda db: db.links.insert_one(new))
        except DuplicateKeyError:
            return link_of(await self._database.read_held("links_held", _of_code(link.code)))
        return link

    async def find(self, code: str) -> Link | None:
        found = await self._database.read("links_find", _of_code(code, LINK | SCAN_OF))
        if found and "scan_of" in found:
            found = await self._database.read("links_find_scanned", _of_code(found["scan_of"]))
            return link if found and (link := link_of(found)) and link.scan_code == code else None
        return link_of(found) if found else None

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        found = await self._named("links_resolve", codes, RESOLVED | SCAN_OF)
        resolutions = [link.resolution() for one in found if (link := link_of(one))]
        if scanned := {one["_id"]: one["scan_of"] for one in found if "scan_of" in one}:
            of_links = await self._named("links_scanned", list(scanned.values()), RESOLVED)
            # One that its link does not have yet answers nothing: no edit would announce it.
            resolutions += [
                link.resolution().by(link.scan_code)
                for one in of_links
                if (link := link_of(one)) and scanned.get(link.scan_code) == link.code
            ]
        return resolutions

    async def give_scan_code(
        self, owner: Account | Guest, code: str, drawn: Iterator[str], now: datetime
    ) -> str | None:
        for turn in range(_TURNS):
            await _pause(turn)
            held = await self._database.read_majority("links_to_scan", _of_code(code, SCANNED))
            link = link_of(held) if held else None
            if held is None or link is None or link.owner != owner or link.is_gone_at(now):
                return None
            scan_code = link.scan_code or await self._give_scan_code(held, drawn)
            if scan_code:
                await self._feed.announce([scan_code], now)
                return scan_code
        raise Unavailable("The link is changed by too many at once.", "STORE_OVERLOADED")

    async def _give_scan_code(self, held: Document, drawn: Iterator[str]) -> str:
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
            await self._change(
                "links_scan_wanted", [UpdateOne(as_read, {"$set": {"scan_wanted": wanted}})]
            )
            return ""
        given = {"$set": {"scan_code": wanted}, "$unset": {"scan_wanted": ""}, "$inc": {"rev": 1}}
        return wanted if await self._change("links_scan_code", [UpdateOne(as_read, given)]) else ""

    async def _take(self, scan_code: str, code: str) -> bool:
        """Take a code as the scan code of a link; False where it is another's."""
        new = {"_id": scan_code, "scan_of": code}
        try:
            await self._database.write("links_scan_take", lambda db: db.links.insert_one(new))
        except DuplicateKeyError:
            held = await self._database.read_held("links_scan_taken", _of_code(scan_code, SCAN_OF))
            return held.get("scan_of") == code
        return True

    async def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        # Keyset pages: each goes on below the last link seen, whatever came on top meanwhile.
        query: Document = {"creator": value_of(owner)}
        after: Position | None = None
        while True:
            found = await self._by_age("links_by_owner", query, LinkOrder.NEWEST, after, page_size)
            if found:
                yield found
            if len(found) < page_size:
                return
            after = Position(found[-1].created_at, found[-1].code)

    async def owned_codes(self, owner: Account | Guest, most: int) -> list[str]:
        query: Document = {"creator": value_of(owner), "bin": None}
        return await self._codes("links_owned_codes", query, _NEWEST_FIRST, most)

    async def history(self, code: str) -> list[FormerUrl]:
        found: Document | None = await self._database.read(
            "links_history", lambda db: db.links.find_one({"_id": code}, {"history": 1})
        )
        return history_of(found) if found else []

    async def edit(
        self, owner: Account | Guest | None, codes: Sequence[str], edit: Edit, now: datetime
    ) -> list[Link] | None:
        named = sorted(set(codes))
        was_written = False
        begun = ""
        for turn in range(_TURNS):
            await _pause(turn)
            read = await self._database.read_majority("links_to_edit", _among(named, EDITED))
            held = {one["_id"]: one for one in read}
            links = {
                code: link
                for code, one in held.items()
                if (link := link_of(one))
                and (owner is None or link.owner == owner)
                and not link.is_gone_at(now)
            }
            if len(links) < len(named):
                # Somebody took a link after others were written, which have changed all the same.
                if was_written and edit.is_announced:
                    scanned = [one["scan_code"] for one in read if "scan_code" in one]
                    await self._feed.announce([*named, *scanned], now)
                if begun:
                    await self._edits.end(begun)
                return None
            edited = {code: edit.of(link) for code, link in links.items()}
            changes = [
                UpdateOne(*change_of(held[code], links[code], edited[code], now))
                for code in named
                if edited[code] != links[code]
            ]
            if owner is None and edit.is_announced and changes and not begun:
                begun = await self._edits.begin(named, now)
            if await self._change("links_edit", changes):
                break
            was_written = True
        else:
            raise Unavailable("The links are changed by too many at once.", "STORE_OVERLOADED")
        if edit.is_announced:
            await self._feed.announce(codes_of(edited.values()), now)
        if begun:
            await self._edits.end(begun)
        return [edited[code] for code in codes]

    async def announce_left(self, until: datetime) -> None:
        for begun, codes in await self._edits.left(until):
            held = await self._named("links_left", codes, {"scan_code": 1})
            scanned = [one["scan_code"] for one in held if "scan_code" in one]
            await self._feed.announce([*codes, *scanned], until)
            await self._edits.end(begun)

    async def decide(self, decision: Decision, edit: Edit) -> bool:
        link = await self.find(decision.code)
        if link is None or link.is_gone_at(decision.at):
            return False
        begun = await self._decisions.begin(decision, await self._decisions.find_open(decision))
        if await self.edit(None, [decision.code], edit, decision.at) is None:
            await self._decisions.drop(begun)  # The link was purged just now.
            return False
        if decision.kind is DecisionKind.BLOCK:
            await self._decide_reports(begun, decision)
        await self._decisions.close(decision)
        return True

    async def block_address(self, blocked: BlockedAddress, decision: Decision) -> None:
        await self._decisions.begin(decision, await self._decisions.find_open(decision))
        await self._decisions.put_address(blocked)
        await self._decisions.close(decision)

    async def unblock_address(self, address: str, decision: Decision) -> bool:
        left_open = await self._decisions.find_open(decision)
        if left_open is None and not await self._decisions.is_blocked(address):
            return False
        await self._decisions.begin(decision, left_open)
        await self._decisions.take_address(address)
        await self._decisions.close(decision)
        return True

    async def blocked_addresses(self) -> list[BlockedAddress]:
        return await self._decisions.addresses()

    async def addresses_mark(self) -> int:
        return await self._decisions.mark()

    async def decisions(self, skip: int, most: int) -> list[Decision]:
        return await self._decisions.behind(skip, most)

    async def claim(self, guest: Guest, account: Account, most: int) -> int:
        of_guest = {"creator": value_of(guest)}
        to_account = {"$set": {"creator": value_of(account)}}
        moved = 0
        for turn in range(_TURNS):
            await _pause(turn)
            found = await self._database.read_majority(
                "links_to_claim", _in_order(of_guest, _NEWEST_FIRST, most - moved)
            )
            named = {"_id": {"$in": sorted(one["_id"] for one in found)}, **of_guest}
            taken = await self._move(named, to_account) if found else 0
            moved += taken
            if moved >= most:
                return moved
            # All that there was, but for what is made meanwhile. Else somebody took some of them.
            if taken == len(found):
                await self._rankings.forget([value_of(guest)])
                return moved
        raise Unavailable("The links are claimed by too many at once.", "STORE_OVERLOADED")

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        query = wanted_of(owner, wanted, now)
        return await self._by_age("links_page", query, order, after, limit)

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        query = wanted_of(owner, wanted, now)
        # The command, not the aggregation of the driver's method: it counts in the index.
        counted: Document = await self._database.read(
            "links_count", lambda db: db.command("count", "links", query=query)
        )
        return int(counted["n"])

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        query = wanted_of(owner, wanted, now)
        return await self._codes("links_ranked", query, _MOST_VIEWED_FIRST, 0)

    async def keep_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        await self._rankings.keep(owner, key, codes, now)

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, most: int, now: datetime
    ) -> list[str] | None:
        return await self._rankings.kept(owner, key, start, most, now)

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        found = await self._named("links_find_all", codes, LINK)
        links = {link.code: link for one in found if (link := link_of(one))}
        return [links[code] for code in codes if code in links and links[code].owner == owner]

    async def rank(self, people: Mapping[str, int], mark: int | None) -> None:
        # No 0: links that nobody visited have no number, and are alike in this.
        await self._change(
            "links_rank",
            [
                UpdateOne({"_id": code, **_OWNED}, {"$max": {"people": count}})
                for code, count in sorted(people.items())
                if count > 0
            ],
        )
        if mark is not None:
            noted = {"$set": {"mark": mark}}
            await self._upsert("links_rank_mark", "marks", _RANK, noted)

    async def rank_mark(self) -> int | None:
        found: Document | None = await self._database.read(
            "links_rank_marked", lambda db: db.marks.find_one(_RANK)
        )
        return found["mark"] if found else None

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        creators: set[OwnerValue] = set()
        for turn in range(_TURNS):
            await _pause(turn)
            fields = {"creator": 1, "scan_code": 1, "scan_of": 1}
            held = await self._named("links_to_purge", sorted(set(codes)), fields)
            creators.update(one["creator"] for one in held if "creator" in one)
            await self._purge_scan_codes(
                {one["scan_code"]: one["_id"] for one in held if "scan_code" in one}, now
            )
            # Whatever documents have in them goes: nothing is named here that could be forgotten.
            bare = [
                ReplaceOne({"_id": one["_id"], "scan_code": one.get("scan_code")}, PURGED)
                for one in held
                if "scan_of" not in one
            ]
            if await self._change("links_purge", bare):
                break
        else:
            raise Unavailable("The links are changed by too many at once.", "STORE_OVERLOADED")
        await self._forget_rankings(creators)
        found = await self._named("links_purged", codes, PURGED)
        purged = [one["_id"] for one in found if "removed" in one]
        await self._feed.announce(purged, now)
        return purged

    async def report(
        self, code: str, reason: BlockReason, said: Statement, new_id: str
    ) -> str | None:
        return await self._reports.add(code, reason, said, new_id)

    async def reports(
        self, after: ReportPlace | None, most: int
    ) -> tuple[list[tuple[Link, Report]], ReportPlace | None]:
        found, place = await self._reports.waiting(after, most, LINK)
        return [(link, report) for held, report in found if (link := link_of(held))], place

    async def waiting_reports(self) -> int:
        return await self._reports.count_waiting()

    async def dismiss(self, decision: Decision) -> int:
        left_open = await self._decisions.find_open(decision)
        if left_open is None and not await self._reports.count_waiting_of(decision.code):
            return 0
        begun = await self._decisions.begin(decision, left_open)
        dismissed = await self._decide_reports(begun, decision)
        if dismissed:
            await self._decisions.close(decision)
        else:  # Somebody else was faster.
            await self._decisions.drop(begun)
        return dismissed

    async def forget_reports(self, until: datetime, most: int) -> bool:
        return await self._reports.forget(until, most)

    async def _purge_scan_codes(self, scanned: Mapping[str, str], now: datetime) -> None:
        """Take scan codes away from links, told by their codes, that are purged next."""
        await self._change(
            "links_scan_purge",
            [ReplaceOne({"_id": one, "scan_of": code}, PURGED) for one, code in scanned.items()],
        )
        if scanned:
            await self._feed.announce(list(scanned), now)

    async def removed_before(self, moment: datetime, most: int) -> list[str]:
        query = {"removed_at": {"$lte": micros_of(moment)}}
        first_removed_first = [("removed_at", ASCENDING), ("_id", ASCENDING)]
        return await self._codes("links_removed_before", query, first_removed_first, most)

    async def codes_after(self, code: str, most: int) -> list[str]:
        query = {"_id": {"$gt": code}, **_OWNED}
        return await self._codes("links_codes", query, [("_id", ASCENDING)], most)

    async def hosts_after(self, host: str, most: int) -> list[str]:
        now, later = await asyncio.gather(
            self._hosts("host", host, most), self._hosts("ended_host", host, most)
        )
        # A page that is full says nothing of what comes after its last host.
        ends = [page[-1] for page in (now, later) if len(page) == most]
        found = sorted({*now, *later})
        return [one for one in found if one <= min(ends)] if ends else found

    async def _hosts(self, field: str, host: str, most: int) -> list[str]:
        found = await self._database.read(
            "links_hosts",
            lambda db: db.links.find(
                {field: {"$gt": host}}, {"_id": 0, field: 1}, sort=[(field, ASCENDING)], limit=most
            ).to_list(None),
        )
        return [one[field] for one in found]

    async def at_host(self, host: str, code: str, most: int) -> list[Link]:
        behind: Document = {"_id": {"$gt": code}}
        query = {"$or": [{"host": host, **behind}, {"ended_host": host, **behind}]}
        return await self._by_code("links_at_host", query, most)

    async def at_or_below(
        self, host: str, after: HostPlace | None, most: int
    ) -> tuple[list[Link], HostPlace | None]:
        first, end = keys_below(host)
        if after is None or not after.key:
            links = await self._at_unnoted(host, after.code if after else "", most)
            if links:
                return links, HostPlace("", links[-1].code)
            after = HostPlace(first, "")
        now, later = await asyncio.gather(
            self._places("host_key", after, end, most),
            self._places("ended_host_key", after, end, most),
        )
        # A page that is full says nothing of what comes after its last place.
        ends = [page[-1] for page in (now, later) if len(page) == most]
        places = sorted({*now, *later})[:most]
        if ends:
            places = [one for one in places if one <= min(ends)]
        codes = list(dict.fromkeys(code for _, code in places))
        found = await self._named("links_at_or_below", codes, LINK) if codes else []
        links = [link for one in found if (link := link_of(one))]
        return links, HostPlace(*places[-1]) if ends or len(places) == most else None

    async def _places(
        self, field: str, after: HostPlace, end: str, most: int
    ) -> list[tuple[str, str]]:
        """Where the next links stand of those whose keys are below an end."""
        query = {
            "$or": [
                {field: {"$gt": after.key, "$lt": end}},
                {field: after.key, "_id": {"$gt": after.code}},
            ]
        }
        found = await self._database.read(
            "links_host_keys",
            lambda db: db.links.find(
                query,
                {field: 1},
                sort=[(field, ASCENDING), ("_id", ASCENDING)],
                limit=most,
                batch_size=most,
            ).to_list(None),
        )
        return [(one[field], one["_id"]) for one in found]

    async def _at_unnoted(self, host: str, code: str, most: int) -> list[Link]:
        """Links of the version before that lead to the very host, or to `www.` before it.

        It noted no keys, and a sweep has to note them first to find them below a host.
        """
        at = {"$in": [host, f"www.{host}"]}
        behind: Document = {"_id": {"$gt": code}}
        query = {
            "$or": [
                {"host": at, "host_key": None, **behind},
                {"ended_host": at, "ended_host_key": None, **behind},
            ]
        }
        return await self._by_code("links_at_unnoted", query, most)

    async def listed_after(self, code: str, most: int) -> list[Link]:
        query = {"_id": {"$gt": code}, "listed": {"$exists": True}}
        return await self._by_code("links_listed", query, most)

    async def note_hosts(self, code: str, most: int) -> str | None:
        query = {"_id": {"$gt": code}}
        hosts_noted = ("host", "ended_host", "host_key", "ended_host_key")
        fields = dict.fromkeys(("url", "ended_url", *hosts_noted), 1)
        found = await self._database.read(
            "links_to_note",
            lambda db: db.links.find(
                query, fields, sort=[("_id", ASCENDING)], limit=most, batch_size=most
            ).to_list(None),
        )
        # On the condition that it is as it was read: else whoever changed it has noted its hosts.
        await self._change(
            "links_note_hosts",
            [
                UpdateOne({name: one.get(name) for name in ("_id", *fields)}, {"$set": hosts})
                for one in found
                if "url" in one and (hosts := hosts_of(one)).keys() - one.keys()
            ],
        )
        return found[-1]["_id"] if len(found) == most else None

    async def sweep(self) -> Sweep | None:
        found: Document | None = await self._database.read(
            "links_sweep", lambda db: db.marks.find_one(_SWEEP, {"_id": 0})
        )
        return Sweep(**{**found, "stage": Stage(found["stage"])}) if found else None

    async def note_sweep(self, sweep: Sweep) -> None:
        noted = {"$set": {**asdict(sweep), "stage": sweep.stage.value}}
        await self._upsert("links_note_sweep", "marks", _SWEEP, noted)

    async def take_lease(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        if not duration:
            held = {"_id": job, "holder": holder}
            await self._database.write("links_lease_end", lambda db: db.leases.delete_one(held))
            return False
        over = {"ends_at": {"$lte": micros_of(now)}}
        free = {"_id": job, "$or": [{"holder": holder}, over]}
        lease = {"$set": {"holder": holder, "ends_at": micros_of(now + duration)}}
        return await self._upsert("links_lease", "leases", free, lease)

    async def announcements(self, mark: int | None) -> Told:
        return await self._feed.since(mark)

    async def _decide_reports(self, begun: str, decision: Decision) -> int:
        """The reports of a link wait no more; returns how many the decision was on.

        Their number is kept first: whoever goes on after a kill finds none that waits.
        """
        waiting = await self._reports.count_waiting_of(decision.code)
        await self._decisions.tell_reports(begun, waiting)
        decided = await self._reports.decide(decision.code, decision.at)
        if decided != waiting:
            await self._decisions.tell_reports(begun, decided)
        return await self._decisions.reports_of(begun)

    async def _named(
        self, name: str, codes: Sequence[str], fields: Mapping[str, object]
    ) -> list[Document]:
        """The fields of the documents of some codes, in no order."""
        return await self._database.read(name, _among(codes, fields))

    async def _codes(
        self, name: str, query: Document, order: list[tuple[str, int]], most: int
    ) -> list[str]:
        """The codes that a query finds, in an order; 0 asks for all of them."""
        found = await self._database.read(name, _in_order(query, order, most))
        return [one["_id"] for one in found]

    async def _forget_rankings(self, creators: set[OwnerValue]) -> None:
        """Drop the rankings of those of the owners who have no links any more."""
        if creators:
            theirs = {"creator": {"$in": list(creators)}}
            having = await self._database.read(
                "links_creators", lambda db: db.links.distinct("creator", theirs)
            )
            await self._rankings.forget(list(creators.difference(having)))

    async def _by_age(
        self, name: str, query: Document, order: LinkOrder, after: Position | None, size: int
    ) -> list[Link]:
        """One page of the links that a query finds."""
        oldest = order is LinkOrder.OLDEST
        if after is not None:
            query = {**query, **behind(after, oldest=oldest)}
        found = await self._database.read(
            name,
            lambda db: db.links.find(
                query,
                LINK,
                sort=_OLDEST_FIRST if oldest else _NEWEST_FIRST,
                limit=size,
                batch_size=size,
            ).to_list(None),
        )
        return [link for one in found if (link := link_of(one))]

    async def _by_code(self, name: str, query: Document, most: int) -> list[Link]:
        """The first links that a query finds, by code."""
        found = await self._database.read(
            name,
            lambda db: db.links.find(
                query, LINK, sort=[("_id", ASCENDING)], limit=most, batch_size=most
            ).to_list(None),
        )
        return [link for one in found if (link := link_of(one))]

    async def _change(self, name: str, changes: Sequence[_Change]) -> bool:
        """Make changes of one document each; whether each of them found its document."""
        found = 0
        for chunk in _chunks(changes):
            found += await self._write(name, chunk)
        return found == len(changes)

    async def _write(self, name: str, changes: list[_Change]) -> int:
        written = await self._database.write(
            name, lambda db: db.links.bulk_write(changes, ordered=False)
        )
        return written.matched_count

    async def _move(self, query: Document, change: Document) -> int:
        """Change all documents of a query; returns how many these were."""
        moved = await self._database.write(
            "links_claim", lambda db: db.links.update_many(query, change)
        )
        return moved.modified_count

    async def _upsert(self, name: str, collection: str, query: Document, change: Document) -> bool:
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


def _of_code(code: str, fields: Mapping[str, object] = LINK) -> Operation[Document | None]:
    """The operation that reads fields of the document under a code."""
    return lambda db: db.links.find_one({"_id": code}, fields)


def _among(codes: Sequence[str], fields: Mapping[str, object]) -> Operation[list[Document]]:
    """The operation that reads the documents of some codes, in no order."""
    query = {"_id": {"$in": list(codes)}}
    return lambda db: db.links.find(query, fields, batch_size=max(1, len(codes))).to_list(None)


def _in_order(
    query: Document, order: list[tuple[str, int]], most: int
) -> Operation[list[Document]]:
    """The operation that reads the codes of a query in an order; 0 asks for all of them."""
    return lambda db: db.links.find(query, {"_id": 1}, sort=order, limit=most).to_list(None)


def _chunks(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    for start in range(0, len(changes), _CHUNK):
        yield list(changes[start : start + _CHUNK])


async def _pause(turn: int) -> None:
    """Let others be first, once they were faster some times."""
    if turn >= _PATIENT_TURNS:
        await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311
