"""Which days of a link are in MongoDB, and what is done with many of them at once.

**Which days a link has.** `visited` of its totals says so: of 100,000 links over ten years only
days that are there are asked for. A batch is in the days ahead of totals, so what totals count is
there to be found, and a day comes into sight with the totals that count it. Where the version
before wrote a link's totals, its days are looked for by their ids, which lie side by side, and
noted if nobody counted meanwhile.

**Blocks.** To read and add up ten years of days takes long, so once a block of days is over, what
they have is one document, where there are days enough. It is made of days that were read after the
link's totals, and `summed` of the totals says that it is to be believed, if nobody counted
meanwhile. Whoever counts a visit of such a day later lowers `summed` with the same write that
counts it in the totals. So a block has whatever the totals count, at every moment and wherever
somebody breaks off. Two replicas that make one block cannot put the older in the place of the newer
(`of`); and one of which days are deleted meanwhile has other bits than the totals, and is passed
over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from pymongo import ASCENDING, DeleteMany, InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from services.analytics.documents_mongo import (
    BLOCK_DAYS,
    DAY,
    UNNAMED_DAY,
    VISITED,
    block_of,
    day_of,
    days_from,
    days_of,
    days_of_block,
    first_of,
    id_of,
    is_noted,
    of_link,
    parts_of,
    runs_of,
    with_days,
)
from services.analytics.domain import Day
from services.runtime.mongo import Database, Document

_LINKS = 5000
"""Most links whose totals one command reads, 7 MB if they have a day's bits for ten years."""
_DAYS = 1000
"""About how many days one command reads or deletes."""
_PAGE = 500
"""Most links whose totals are read at once, of those of all links."""
_REMOVED_LINKS = 10
"""Maximum links whose days one command deletes: 36,500 documents after ten years."""
_UNNOTED = 50
"""Most links whose days are looked for at once."""
WORTH_SUMMING = 8
"""Fewest days of a block that are summed up: a few are read as soon as their block."""

_T = TypeVar("_T")


class Days:
    """The days of all links."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._forgetting = _Pass()
        self._summing = _Pass()

    async def read(
        self,
        codes: Iterable[str],
        first: int,
        last: int,
        take: Callable[[str, Day], None],
        named: bool,
        blocks: bool,
    ) -> None:
        """Hand the days of some links to `take`, as `AnalyticsStore.days` has it.

        With `blocks`, the names of a block may come with one of its days.
        """
        for links in chunks(dict.fromkeys(codes), _LINKS):
            visited = await self._visited(links)
            pieces = (piece for one in visited for piece in _pieces(one, first, last, blocks))
            for some in _about(_DAYS, pieces):
                found = await self._read(some, DAY if named else UNNAMED_DAY)
                await asyncio.to_thread(_hand_over, *found, take, named)

    async def visited(
        self, codes: Iterable[str], first: int, last: int, take: Callable[[str, range], None]
    ) -> None:
        """Hand the days of some links to `take`, as `AnalyticsStore.visited` has it."""
        for links in chunks(dict.fromkeys(codes), _LINKS):
            await asyncio.to_thread(_tell_runs, await self._visited(links), first, last, take)

    async def changes(self, days: Sequence[int]) -> dict[int, int]:
        """How often visits of these days were counted since that was asked for first.

        Of a day that nobody asked about there is no document, and `count_change` leaves it so:
        those of today cost nothing.
        """
        if not days:
            return {}
        query = {"_id": {"$gte": min(days), "$lte": max(days)}}
        found = await self._database.read(
            "analytics_changes", lambda db: db.day_changes.find(query).to_list(None)
        )
        numbers: dict[int, int] = {one["_id"]: one["changes"] for one in found}
        for some in chunks((day for day in days if day not in numbers), _DAYS):
            await self._begin_changes([InsertOne({"_id": day, "changes": 0}) for day in some])
        return numbers

    async def _begin_changes(self, new: list[InsertOne[Document]]) -> None:
        with suppress(BulkWriteError):  # Others asked about some of them first.
            await self._database.write(
                "analytics_changes", lambda db: db.day_changes.bulk_write(new, ordered=False)
            )

    async def count_change(self, days: Iterable[int]) -> None:
        """Note that visits of these days were counted; after that, and before it is told."""
        query = {"_id": {"$in": list(days)}}
        more = {"$inc": {"changes": 1}}
        await self._database.write(
            "analytics_count_change", lambda db: db.day_changes.update_many(query, more)
        )

    async def first(self, codes: Iterable[str]) -> int | None:
        """The first day with a visit of any of these links."""
        days: list[int] = []
        for links in chunks(codes, _LINKS):
            visited = await self._visited(links)
            days += (first_of(one["visited"]) for one in visited if one["visited"])
        return min(days, default=None)

    async def forget(self, before: int) -> int:
        """Delete some of the days before `before`; how many, and 0 when there are none."""
        while links := await self._next_links(self._forgetting, before):
            done: list[Document] = []
            keys: list[str] = []
            for one in links:
                done.append(one)
                keys += (id_of(one["_id"], day) for day in days_of(one["visited"], 0, before - 1))
                if len(keys) >= _DAYS:
                    break
            forgotten = await self._forget(done, keys, before) if keys else 0
            self._forgetting.after = done[-1]["_id"]
            if forgotten:
                return forgotten
        return 0

    async def sum_up(self, before: int) -> bool:
        """Sum up some of the blocks that ended before `before`; False when none is left.

        It looks at a page of links, also where they have none: all pages of a million links took
        two minutes, in which whoever asked for statistics waited half a second.
        """
        end = before // BLOCK_DAYS
        links = await self._next_links(self._summing, before)
        if not links:
            return False
        done: list[Document] = []
        pieces: list[_Piece] = []
        for one in links:
            first = one.get("summed", 0) * BLOCK_DAYS
            over = _pieces(one, first, end * BLOCK_DAYS - 1, least=WORTH_SUMMING)
            if worth := [piece for piece in over if piece.worth]:
                done.append(one)
                pieces += worth
            last = one["_id"]
            if len(pieces) * BLOCK_DAYS >= _DAYS:
                break
        if pieces:
            await self._sum_up(done, pieces, end)
        self._summing.after = last
        return True

    async def remove(self, codes: Iterable[str]) -> None:
        """Delete all days of links."""
        for links in chunks(codes, _REMOVED_LINKS):
            deletes = [DeleteMany({"_id": of_link(code)}) for code in links]
            for collection in ("blocks", "days"):
                await self._remove(collection, deletes)

    async def _remove(self, collection: str, deletes: list[DeleteMany]) -> None:
        await self._database.write(
            "analytics_remove", lambda db: db[collection].bulk_write(deletes, ordered=False)
        )

    async def _read(
        self, pieces: list[_Piece], fields: Mapping[str, int]
    ) -> tuple[list[Document], list[Document]]:
        """The blocks that have these days, and the days that none has."""
        summed = {piece.key: piece for piece in pieces if piece.summed}
        blocks = [
            block
            for block in await self._find("blocks", list(summed), None)
            if block["visited"] == summed[block["_id"]].bits
        ]
        for block in blocks:
            del summed[block["_id"]]
        alone = [
            key for piece in pieces if not piece.summed or piece.key in summed for key in piece.days
        ]
        return blocks, await self._find("days", alone, fields)

    async def _sum_up(self, links: list[Document], pieces: list[_Piece], end: int) -> None:
        """Write blocks, and then that they are right, unless somebody counted meanwhile."""
        totals = {one["_id"]: one for one in links}
        for some in _about(_DAYS, pieces):
            days = await self._find("days", [key for piece in some for key in piece.days], DAY)
            for block in await asyncio.to_thread(_summed, totals, some, days):
                await self._write_block(block)
        await self._change_totals("analytics_sum_up", links, [{"summed": end}] * len(links))

    async def _write_block(self, block: Document) -> None:
        """Write a block unless there is one of later totals."""
        older = {"_id": block["_id"], "of": {"$lt": block["of"]}}
        with suppress(DuplicateKeyError):  # One that is not older.
            await self._database.write(
                "analytics_sum_up", lambda db: db.blocks.replace_one(older, block, upsert=True)
            )

    async def _forget(self, links: list[Document], keys: list[str], before: int) -> int:
        """Delete days, the blocks that have them, and their bits unless somebody counted since."""
        deleted = 0
        for some in chunks(keys, _DAYS):
            await self._delete("blocks", list({_block_key(key) for key in some}))
            deleted += await self._delete("days", some)
        had = [
            one for one in links if next(days_of(one["visited"], 0, before - 1), None) is not None
        ]
        left = [{"visited": days_from(one["visited"], before)} for one in had]
        await self._change_totals("analytics_forget_days", had, left)
        return deleted

    async def _delete(self, collection: str, keys: list[str]) -> int:
        deleted = await self._database.write(
            "analytics_forget_days",
            lambda db: db[collection].delete_many({"_id": {"$in": keys}}),
        )
        return deleted.deleted_count

    async def _visited(self, codes: list[str]) -> list[Document]:
        """The totals of the links that were visited, with a bit for every day."""
        totals = await self._find("totals", codes, VISITED)
        await self._note(totals)
        return totals

    async def _next_links(self, over: _Pass, before: int) -> list[Document]:
        """The totals of the next links that were visited, with a bit for every day.

        None where the pass is over. The next one begins with another `before`: the next day.
        """
        if over.done == before:
            return []
        query = {"_id": {"$gt": over.after}}
        order = [("_id", ASCENDING)]
        totals = await self._database.read(
            "analytics_links",
            lambda db: db.totals.find(
                query, VISITED, sort=order, limit=_PAGE, batch_size=_PAGE
            ).to_list(None),
        )
        if not totals:
            over.after, over.done = "", before
        await self._note(totals)
        return totals

    async def _note(self, totals: list[Document]) -> None:
        """Give the days that the version before wrote their bits, here and in the store."""
        for some in chunks((one for one in totals if not is_noted(one)), _UNNOTED):
            days: dict[str, list[int]] = {}
            for one in await self._unnoted([one["_id"] for one in some]):
                code, day = parts_of(one["_id"])
                days.setdefault(code, []).append(day)
            changes = []
            for one in some:
                visited = with_days(one.get("visited", {}), days.get(one["_id"], ()))
                # To which days it added, nobody knows.
                changes.append(
                    {"visited": visited, "noted": one["people"] + one["bots"], "summed": 0}
                )
            await self._change_totals("analytics_note", some, changes)
            for one, change in zip(some, changes, strict=True):
                one.update(change)

    async def _unnoted(self, codes: list[str]) -> list[Document]:
        """The ids of all days of some links."""
        query = {"$or": [{"_id": of_link(code)} for code in codes]}
        return await self._database.read(
            "analytics_unnoted", lambda db: db.days.find(query, {"_id": 1}).to_list(None)
        )

    async def _change_totals(
        self, name: str, links: list[Document], changes: Sequence[Document]
    ) -> None:
        """Set fields of each link's totals, unless a visit was counted since they were read."""
        updates = [
            UpdateOne({field: one[field] for field in _COUNTED}, {"$set": change})
            for one, change in zip(links, changes, strict=True)
        ]
        await self._database.write(name, lambda db: db.totals.bulk_write(updates, ordered=False))

    async def _find(
        self, collection: str, keys: list[str], fields: Mapping[str, int] | None
    ) -> list[Document]:
        if not keys:
            return []
        query = {"_id": {"$in": keys}}
        # One more than there can be: a batch that is full is followed by a question for the next.
        return await self._database.read(
            f"analytics_{collection}",
            lambda db: db[collection].find(query, fields, batch_size=len(keys) + 1).to_list(None),
        )


@dataclass(slots=True)
class _Pass:
    """How far this process has come with something that is done to all links."""

    after: str = ""
    """The code of the last link that was looked at."""
    done: int | None = None
    """The day for which all of them were."""


_COUNTED = ("_id", "people", "bots")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Days of a link, all of one block."""

    key: str
    """Of the block."""
    bits: int
    """Of all days that the link has in the block."""
    days: list[str]
    """The `_id` of each that is wanted."""
    worth: bool
    """Whether all days of the block are wanted, and the link has enough of them for a block."""
    summed: bool
    """Whether it may be read from the block."""


def chunks(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """The items in their order, at most so many at a time."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _pieces(
    totals: Document, first: int, last: int, summed_up: bool = True, least: int = 1
) -> Iterator[_Piece]:
    """The days of a link from `first` to `last`, both included, block by block.

    Only with `summed_up` they may be read from blocks. Blocks with fewer days than `least` are left
    out.
    """
    code: str = totals["_id"]
    summed: int = totals.get("summed", 0) if summed_up else 0
    visited: dict[str, int] = totals["visited"]
    for block, bits in visited.items():
        number = int(block)
        begin = number * BLOCK_DAYS
        if begin > last or begin + BLOCK_DAYS <= first or bits.bit_count() < least:
            continue
        days = [id_of(code, day) for day in days_of({block: bits}, first, last)]
        if days:
            whole = first <= begin and begin + BLOCK_DAYS - 1 <= last
            worth = whole and len(days) >= WORTH_SUMMING
            yield _Piece(id_of(code, number), bits, days, worth, worth and number < summed)


def _about(days: int, pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces, so many at a time that they have about so many days."""
    some: list[_Piece] = []
    count = 0
    for piece in pieces:
        some.append(piece)
        count += len(piece.days)
        if count >= days:
            yield some
            some, count = [], 0
    if some:
        yield some


def _block_key(key: str) -> str:
    """The `_id` of the block that a day is in."""
    code, day = parts_of(key)
    return id_of(code, day // BLOCK_DAYS)


def _summed(
    totals: Mapping[str, Document], pieces: Iterable[_Piece], documents: Iterable[Document]
) -> list[Document]:
    """The blocks of these pieces, of links with these totals."""
    days: dict[str, list[Day]] = {}
    for one in documents:
        days.setdefault(_block_key(one["_id"]), []).append(day_of(one))
    return [
        block_of(piece.key, totals[parts_of(piece.key)[0]], days.get(piece.key, ()))
        for piece in pieces
    ]


def _tell_runs(
    totals: Iterable[Document], first: int, last: int, take: Callable[[str, range], None]
) -> None:
    for one in totals:
        for run in runs_of(one["visited"], first, last):
            take(one["_id"], run)


def _hand_over(
    blocks: Iterable[Document],
    days: Iterable[Document],
    take: Callable[[str, Day], None],
    named: bool,
) -> None:
    for block in blocks:
        code = parts_of(block["_id"])[0]
        for day in days_of_block(block, named):
            take(code, day)
    for one in days:
        take(parts_of(one["_id"])[0], day_of(one))
