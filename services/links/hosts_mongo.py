"""The hosts of links in a MongoDB database, and how far a sweep has come.

They are fields of a link's document (`documents_mongo`). Of a sweep, `marks` has one document: _id
"sweep" and the fields of a `Sweep`.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from pymongo import ASCENDING, UpdateOne

from services.links.collection_mongo import Collection
from services.links.documents_mongo import LINK, hosts_of, link_of
from services.links.domain import Link
from services.links.hosts import HostPlace, keys_below
from services.links.stages import Stage, Sweep
from services.runtime.mongo import Database, Document

_SWEEP = {"_id": "sweep"}
_WRITERS = 4
"""How many commands note hosts at once: the server does each with one core, and then waits for its
disk."""


class Hosts:
    """The hosts of a database's links.

    `unkeyed` names two indexes: of links whose host has no key, and of those whose ended host has
    none.
    """

    def __init__(self, database: Database, links: Collection, unkeyed: tuple[str, str]) -> None:
        self._database = database
        self._links = links
        self._unkeyed = unkeyed

    async def after(self, host: str, most: int) -> list[str]:
        """The hosts behind a host, of up to `most` links now and as many once they are expired."""
        now, later = await asyncio.gather(
            self._hosts("host", host, most), self._hosts("ended_host", host, most)
        )
        # A page that is full says nothing of what comes after its last host.
        ends = [page[-1] for page in (now, later) if len(page) == most]
        found = sorted({*now, *later})
        return [one for one in found if one <= min(ends)] if ends else found

    async def links_at(self, host: str, code: str, most: int) -> list[Link]:
        """Up to `most` links at a host behind a code, in the order of their codes."""
        behind: Document = {"_id": {"$gt": code}}
        query = {"$or": [{"host": host, **behind}, {"ended_host": host, **behind}]}
        return await self._links.by_code("links_at_host", query, most)

    async def links_at_or_below(
        self, host: str, after: HostPlace | None, most: int
    ) -> tuple[list[Link], HostPlace | None]:
        """Links of up to `most` places at a host or below it, and the place to go on behind."""
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
        found = await self._links.named("links_at_or_below", codes, LINK) if codes else []
        links = [link for one in found if (link := link_of(one))]
        return links, HostPlace(*places[-1]) if ends or len(places) == most else None

    async def note(self, code: str, most: int) -> str | None:
        """Keep the hosts of those of the next `most` links that another version made.

        Returns the code up to which it is done, None where all are.
        """
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
        changes = [
            UpdateOne({name: one.get(name) for name in ("_id", *fields)}, {"$set": hosts})
            for one in found
            if "url" in one and (hosts := hosts_of(one)).keys() - one.keys()
        ]
        shares = (changes[n::_WRITERS] for n in range(_WRITERS))
        await asyncio.gather(*(self._links.change("links_note_hosts", share) for share in shares))
        return found[-1]["_id"] if len(found) == most else None

    async def sweep(self) -> Sweep | None:
        """How far the last sweep has come."""
        found: Document | None = await self._database.read(
            "links_sweep", lambda db: db.marks.find_one(_SWEEP, {"_id": 0})
        )
        return Sweep(**{**found, "stage": Stage(found["stage"])}) if found else None

    async def note_sweep(self, sweep: Sweep) -> None:
        """Keep how far a sweep has come."""
        noted = {"$set": {**asdict(sweep), "stage": sweep.stage.value}}
        await self._links.upsert("links_note_sweep", "marks", _SWEEP, noted)

    async def _hosts(self, field: str, host: str, most: int) -> list[str]:
        found = await self._database.read(
            "links_hosts",
            lambda db: db.links.find(
                {field: {"$gt": host}},
                {"_id": 0, field: 1},
                sort=[(field, ASCENDING)],
                limit=most,
                batch_size=most,
            ).to_list(None),
        )
        return [one[field] for one in found]

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
        found: dict[str, Link] = {}
        # Left alone, the server would look through all links.
        for which, index in zip(("", "ended_"), self._unkeyed, strict=True):
            query = {f"{which}host": at, f"{which}host_key": None, "_id": {"$gt": code}}
            links = await self._links.by_code("links_at_unnoted", query, most, index)
            found.update((link.code, link) for link in links)
        return [found[code] for code in sorted(found)][:most]
