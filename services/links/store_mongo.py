"""Links and their changes in a MongoDB database.

    links                  see `documents_mongo`, and of reports `reports_mongo`
    rankings, ranked_codes see `rankings_mongo`
    counts                 see `counts_mongo`
    decisions, blocked_addresses
                           see `decisions_mongo`
    edits                  see `edits_mongo`
    leases                 _id (the job), holder, ends_at
    marks                  _id "rank", mark; _id "sweep", see `hosts_mongo`
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
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateOne
from pymongo.errors import DuplicateKeyError

from services.links.blocks import BlockReason
from services.links.codes import codes_of
from services.links.collection_mongo import (
    NEWEST_FIRST,
    TURNS,
    Collection,
    among,
    in_order,
    of_code,
    pause,
)
from services.links.counts_mongo import Counts
from services.links.decisions import BlockedAddress, Decision, DecisionKind
from services.links.decisions_mongo import Decisions
from services.links.documents_mongo import (
    EDITED,
    LINK,
    PURGED,
    RESOLVED,
    SCAN_OF,
    change_of,
    document_of,
    history_of,
    link_of,
    removed_and_shown,
    searches_of,
    wanted_of,
)
from services.links.domain import (
    FEED,
    WITHDRAWN_BEFORE,
    Account,
    FormerUrl,
    Guest,
    Link,
    Resolution,
)
from services.links.edits import Edit
from services.links.edits_mongo import Edits
from services.links.hosts import HostPlace
from services.links.hosts_mongo import Hosts
from services.links.leases import latest_end
from services.links.listing import LinkOrder, Position, Wanted
from services.links.rankings_mongo import Rankings
from services.links.reports import Report, ReportPlace, Statement
from services.links.reports_mongo import Reports
from services.links.scan_codes_mongo import ScanCodes
from services.links.schema_mongo import (
    BY_AGE,
    BY_VIEWS,
    LISTED,
    OWNED,
    OWNED_CODES,
    SEARCHED,
    UNFOLDED,
    UNKEYED,
    UNKEYED_ENDED,
)
from services.links.stages import Sweep
from services.links.stored import OwnerValue, value_of
from services.runtime.errors import Unavailable
from services.runtime.feed import Told
from services.runtime.feed_mongo import MongoFeed
from services.runtime.moments import micros_of
from services.runtime.mongo import Database, Document

_MOST_VIEWED_FIRST = [("people", DESCENDING), *NEWEST_FIRST]
_RANK = {"_id": "rank"}


class MongoLinkStore:
    """The `LinkStore` of a MongoDB database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._links = links = Collection(database)
        self._feed = MongoFeed(database, FEED, "links")
        self._hosts = Hosts(database, links, (UNKEYED, UNKEYED_ENDED))
        self._scan_codes = ScanCodes(database, links, self._feed)
        self._rankings = Rankings(database)
        self._counts = Counts(database, BY_AGE)
        self._reports = Reports(database)
        self._decisions = Decisions(database)
        self._edits = Edits(database)

    async def add(self, link: Link) -> Link | None:
        new = document_of(link)
        try:
            await self._database.write("links_add", lambda db: db.links.insert_one(new))
        except DuplicateKeyError:
            return link_of(await self._database.read_held("links_held", of_code(link.code)))
        return link

    async def find(self, code: str) -> Link | None:
        found = await self._database.read("links_find", of_code(code, LINK | SCAN_OF))
        if found and "scan_of" in found:
            found = await self._database.read("links_find_scanned", of_code(found["scan_of"]))
            return link if found and (link := link_of(found)) and link.scan_code == code else None
        return link_of(found) if found else None

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        found = await self._links.named("links_resolve", codes, RESOLVED | SCAN_OF)
        resolutions = [link.resolution() for one in found if (link := link_of(one))]
        if scanned := {one["_id"]: one["scan_of"] for one in found if "scan_of" in one}:
            of_links = await self._links.named("links_scanned", list(scanned.values()), RESOLVED)
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
        return await self._scan_codes.give(owner, code, drawn, now)

    async def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        # Keyset pages: each goes on below the last link seen, whatever came on top meanwhile.
        query: Document = {"creator": value_of(owner)}
        after: Position | None = None
        while True:
            found = await self._links.by_age(
                "links_by_owner", query, LinkOrder.NEWEST, after, page_size
            )
            if found:
                yield found
            if len(found) < page_size:
                return
            after = Position(found[-1].created_at, found[-1].code)

    async def owned_codes(self, owner: Account | Guest, most: int) -> list[str]:
        query: Document = {"creator": value_of(owner), "bin": None}
        return await self._links.codes("links_owned_codes", query, NEWEST_FIRST, most, BY_AGE)

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
        for turn in range(TURNS):
            await pause(turn)
            read = await self._database.read_majority("links_to_edit", among(named, EDITED))
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
                    await self._tell_edited(owner, [*named, *scanned], now)
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
            if await self._links.change("links_edit", changes):
                break
            was_written = True
        else:
            raise Unavailable("The links are changed by too many at once.", "STORE_OVERLOADED")
        if edit.is_announced:
            await self._tell_edited(owner, codes_of(edited.values()), now)
        if begun:
            await self._edits.end(begun)
        return [edited[code] for code in codes]

    async def announce_left(self, until: datetime) -> None:
        for begun, codes in await self._edits.left(until):
            held = await self._links.named("links_left", codes, {"scan_code": 1})
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
        for turn in range(TURNS):
            await pause(turn)
            found = await self._database.read_majority(
                "links_to_claim", in_order(of_guest, NEWEST_FIRST, most - moved)
            )
            named = {"_id": {"$in": sorted(one["_id"] for one in found)}, **of_guest}
            taken = await self._move(named, to_account) if found else 0
            moved += taken
            # All that there was, but for what is made meanwhile. Else somebody took some of them.
            is_all = taken == len(found)
            if is_all and moved < most:
                await self._rankings.forget([value_of(guest)])
            if is_all or moved >= most:
                await self._counts.forget([value_of(guest), value_of(account)])
                return moved
        raise Unavailable("The links are claimed by too many at once.", "STORE_OVERLOADED")

    async def withdraw(self, account: Account, most: int, now: datetime) -> int:
        of_account = {"creator": value_of(account)}
        # Each of the two is a range of the index by age.
        shown = {"$or": [{**of_account, "bin": None}, {**of_account, **removed_and_shown(now)}]}
        found = await self._database.read_majority(
            "links_to_withdraw",
            lambda db: db.links.find(shown, {"_id": 1}, limit=most, batch_size=most).to_list(None),
        )
        codes = [one["_id"] for one in found]
        if codes:
            named = {"_id": {"$in": codes}, **of_account}
            # With `rev`: an edit that read one of them before is not to restore it.
            withdrawn = {
                "$set": {"removed_at": micros_of(now - WITHDRAWN_BEFORE), "bin": True},
                "$inc": {"rev": 1},
            }
            await self._database.write(
                "links_withdraw", lambda db: db.links.update_many(named, withdrawn)
            )
            held = await self._links.named("links_withdrawn", codes, {"scan_code": 1})
            scan_codes = [one["scan_code"] for one in held if "scan_code" in one]
            await self._feed.announce([*codes, *scan_codes], now)
        return len(codes)

    async def page(
        self,
        owner: Account | Guest,
        wanted: Wanted,
        order: LinkOrder,
        after: Position | None,
        limit: int,
        now: datetime,
    ) -> list[Link]:
        if not wanted.text:
            query = wanted_of(owner, wanted, now)
            return await self._links.by_age("links_page", query, order, after, limit, BY_AGE)
        pages = [
            await self._links.by_age("links_search", query, order, after, limit, index)
            for query, index in _searches(owner, wanted, now)
        ]
        found = [link for page in pages for link in page]
        found.sort(
            key=lambda link: (link.created_at, link.code), reverse=order is not LinkOrder.OLDEST
        )
        return found[:limit]

    async def count(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> int:
        if wanted == Wanted():
            return await self._counts.of(value_of(owner), now)
        if not wanted.text:
            return await self._counts.count(wanted_of(owner, wanted, now), BY_AGE)
        searches = _searches(owner, wanted, now)
        return sum([await self._counts.count(query, index) for query, index in searches])

    async def ranking(self, owner: Account | Guest, wanted: Wanted, now: datetime) -> list[str]:
        query = wanted_of(owner, wanted, now)
        return await self._links.codes("links_ranked", query, _MOST_VIEWED_FIRST, 0, BY_VIEWS)

    async def mark_expired(self, now: datetime, limit: int) -> bool:
        """Nothing is marked: the index of links by age has their expiry times."""
        return False

    async def keep_ranking(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        await self._rankings.keep(owner, key, codes, now)

    async def kept_ranking(
        self, owner: Account | Guest, key: str, start: int, most: int, now: datetime
    ) -> list[str] | None:
        return await self._rankings.kept(owner, key, start, most, now)

    async def find_all(self, owner: Account | Guest, codes: Sequence[str]) -> list[Link]:
        found = await self._links.named("links_find_all", codes, LINK)
        links = {link.code: link for one in found if (link := link_of(one))}
        return [links[code] for code in codes if code in links and links[code].owner == owner]

    async def rank(self, people: Mapping[str, int], mark: int | None) -> None:
        # No 0: links that nobody visited have no number, and are alike in this.
        await self._links.change(
            "links_rank",
            [
                UpdateOne({"_id": code, **OWNED}, {"$max": {"people": count}})
                for code, count in sorted(people.items())
                if count > 0
            ],
        )
        if mark is not None:
            noted = {"$set": {"mark": mark}}
            await self._links.upsert("links_rank_mark", "marks", _RANK, noted)

    async def rank_mark(self) -> int | None:
        found: Document | None = await self._database.read(
            "links_rank_marked", lambda db: db.marks.find_one(_RANK)
        )
        return found["mark"] if found else None

    async def purge(self, codes: Sequence[str], now: datetime) -> list[str]:
        creators: set[OwnerValue] = set()
        for turn in range(TURNS):
            await pause(turn)
            fields = {"creator": 1, "scan_code": 1, "scan_of": 1}
            held = await self._links.named("links_to_purge", sorted(set(codes)), fields)
            creators.update(one["creator"] for one in held if "creator" in one)
            await self._scan_codes.purge(
                {one["scan_code"]: one["_id"] for one in held if "scan_code" in one}, now
            )
            # Whatever documents have in them goes: nothing is named here that could be forgotten.
            bare = [
                ReplaceOne({"_id": one["_id"], "scan_code": one.get("scan_code")}, PURGED)
                for one in held
                if "scan_of" not in one
            ]
            if await self._links.change("links_purge", bare):
                break
        else:
            raise Unavailable("The links are changed by too many at once.", "STORE_OVERLOADED")
        await self._counts.forget(creators)
        await self._forget_rankings(creators)
        found = await self._links.named("links_purged", codes, PURGED)
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

    async def removed_before(self, moment: datetime, most: int) -> list[str]:
        query = {"removed_at": {"$lte": micros_of(moment)}}
        first_removed_first = [("removed_at", ASCENDING), ("_id", ASCENDING)]
        return await self._links.codes("links_removed_before", query, first_removed_first, most)

    async def codes_after(self, code: str, most: int) -> list[str]:
        # Not by `$exists`, for which the server reads each document.
        query = {"_id": {"$gt": code}, "creator": {"$ne": None}}
        first_code_first = [("_id", ASCENDING)]
        return await self._links.codes("links_codes", query, first_code_first, most, OWNED_CODES)

    async def hosts_after(self, host: str, most: int) -> list[str]:
        return await self._hosts.after(host, most)

    async def at_host(self, host: str, code: str, most: int) -> list[Link]:
        return await self._hosts.links_at(host, code, most)

    async def at_or_below(
        self, host: str, after: HostPlace | None, most: int
    ) -> tuple[list[Link], HostPlace | None]:
        return await self._hosts.links_at_or_below(host, after, most)

    async def listed_after(self, code: str, most: int) -> list[Link]:
        query = {"_id": {"$gt": code}, "listed": {"$exists": True}}
        return await self._links.by_code("links_listed", query, most, LISTED)

    async def note_hosts(self, code: str, most: int) -> str | None:
        return await self._hosts.note(code, most)

    async def sweep(self) -> Sweep | None:
        return await self._hosts.sweep()

    async def note_sweep(self, sweep: Sweep) -> None:
        await self._hosts.note_sweep(sweep)

    async def take_lease(self, job: str, holder: str, duration: timedelta, now: datetime) -> bool:
        if not duration:
            held = {"_id": job, "holder": holder}
            await self._database.write("links_lease_end", lambda db: db.leases.delete_one(held))
            return False
        over = {"ends_at": {"$lte": micros_of(now)}}
        impossible = {"ends_at": {"$gt": micros_of(latest_end(now))}}
        free = {"_id": job, "$or": [{"holder": holder}, over, impossible]}
        lease = {"$set": {"holder": holder, "ends_at": micros_of(now + duration)}}
        return await self._links.upsert("links_lease", "leases", free, lease)

    async def announcements(self, mark: int | None) -> Told:
        return await self._feed.since(mark)

    async def _tell_edited(
        self, owner: Account | Guest | None, codes: Sequence[str], now: datetime
    ) -> None:
        """Announce an edit, by which an owner may have removed links or restored some."""
        if owner is not None:
            await self._counts.forget([value_of(owner)])
        await self._feed.announce(codes, now)

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

    async def _forget_rankings(self, creators: set[OwnerValue]) -> None:
        """Drop the rankings of those of the owners who have no links any more."""
        if creators:
            theirs = {"creator": {"$in": list(creators)}}
            having = await self._database.read(
                "links_creators", lambda db: db.links.distinct("creator", theirs)
            )
            await self._rankings.forget(list(creators.difference(having)))

    async def _move(self, query: Document, change: Document) -> int:
        """Change all documents of a query; returns how many these were."""
        moved = await self._database.write(
            "links_claim", lambda db: db.links.update_many(query, change)
        )
        return moved.modified_count


def _searches(
    owner: Account | Guest, wanted: Wanted, now: datetime
) -> Iterator[tuple[Document, str]]:
    """The queries that look for a text, each with the index that answers it."""
    return zip(searches_of(owner, wanted, now), (SEARCHED, UNFOLDED), strict=True)
