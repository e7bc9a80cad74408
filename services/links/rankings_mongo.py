"""Rankings of links that are kept in a MongoDB database, so that they can be paged through.

    rankings      _id (the owner, as in `links.creator`), kept (the owner's last rankings, the
                  newest last: {key, id, count, kept_at}), tidied_at
    ranked_codes  _id ("id:part"), codes (with a blank between them), tidied_at

The codes of a ranking are in parts, since a document has 16 MB. They are written first: a ranking
is kept from the one write on that names it.

`tidied_at` is when the server may clear a document away, and a date for that reason.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from pymongo.errors import DuplicateKeyError

from services.links.domain import Account, Guest
from services.links.listing import KEPT_RANKINGS, RANKING_KEPT_FOR
from services.links.stored import OwnerValue, value_of
from services.runtime.errors import Unavailable
from services.runtime.moments import micros_of
from services.runtime.mongo import Database, Document

_PART = 10_000
"""Codes of a part: 330 kB of the longest."""
_TURNS = 200
"""How often other replicas may be faster before a ranking is given up."""
_TIDIED_AFTER = timedelta(hours=1)
"""A ranking that is kept no more stays for so long, whatever the server's clock says."""


class Rankings:
    """The rankings of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(
        self, owner: Account | Guest, key: str, codes: Sequence[str], now: datetime
    ) -> None:
        """Keep a ranking in the place of one of the same key, and drop those that are too many."""
        tidied_at = now + RANKING_KEPT_FOR + _TIDIED_AFTER
        ranking = secrets.token_hex(12)
        parts = [
            {"_id": _part(ranking, number), "codes": " ".join(some), "tidied_at": tidied_at}
            for number, some in enumerate(
                codes[start : start + _PART] for start in range(0, len(codes), _PART)
            )
        ]
        if parts:
            await self._database.write(
                "links_ranking_codes", lambda db: db.ranked_codes.insert_many(parts)
            )
        new = {"key": key, "id": ranking, "count": len(codes), "kept_at": micros_of(now)}
        for _ in range(_TURNS):
            held = await self._of(owner)
            before = held["kept"] if held else []
            others = [one for one in before if one["key"] != key]
            after = [*others[1 - KEPT_RANKINGS :], new]
            if await self._replace(owner, held, {"kept": after, "tidied_at": tidied_at}):
                await self._drop([one for one in before if one not in after])
                return
        raise Unavailable("Too many rankings are kept at once.", "STORE_OVERLOADED")

    async def kept(
        self, owner: Account | Guest, key: str, start: int, most: int, now: datetime
    ) -> list[str] | None:
        """Up to `most` codes of a ranking; None where it is not kept any more."""
        held = await self._of(owner)
        of_key = [one for one in held["kept"] if one["key"] == key] if held else []
        if not of_key or of_key[0]["kept_at"] <= micros_of(now - RANKING_KEPT_FOR):
            return None
        (ranking,) = of_key
        end = min(start + most, ranking["count"])
        if start >= end:
            return []
        first = start // _PART
        wanted = [_part(ranking["id"], number) for number in _parts(end)[first:]]
        parts = await self._database.read(
            "links_ranking_kept",
            lambda db: db.ranked_codes.find({"_id": {"$in": wanted}}, {"codes": 1}).to_list(None),
        )
        codes_of = {one["_id"]: one["codes"].split() for one in parts}
        if len(codes_of) < len(wanted):
            return None
        codes = [code for part in wanted for code in codes_of[part]]
        return codes[start - first * _PART : end - first * _PART]

    async def forget(self, owners: Sequence[OwnerValue]) -> None:
        """Drop all rankings of owners."""
        named = {"_id": {"$in": list(owners)}}
        found = await self._database.read(
            "links_rankings", lambda db: db.rankings.find(named).to_list(None)
        )
        if found:
            await self._drop([one for each in found for one in each["kept"]])
            await self._database.write(
                "links_rankings_drop", lambda db: db.rankings.delete_many(named)
            )

    async def _of(self, owner: Account | Guest) -> Document | None:
        """The document of an owner."""
        return await self._database.read(
            "links_rankings", lambda db: db.rankings.find_one({"_id": value_of(owner)})
        )

    async def _replace(self, owner: Account | Guest, held: Document | None, new: Document) -> bool:
        """Write an owner's document; False where another replica was faster."""
        own = {"_id": value_of(owner)}
        if held is None:
            try:
                await self._database.write(
                    "links_ranking", lambda db: db.rankings.insert_one({**own, **new})
                )
            except DuplicateKeyError:
                return False
            return True
        as_read = {**own, "kept": held["kept"]}
        replaced = await self._database.write(
            "links_ranking", lambda db: db.rankings.update_one(as_read, {"$set": new})
        )
        return replaced.matched_count == 1

    async def _drop(self, rankings: Sequence[Document]) -> None:
        """Delete the codes of rankings. What breaks off here is cleared away by the server."""
        parts = [_part(one["id"], number) for one in rankings for number in _parts(one["count"])]
        if parts:
            named = {"_id": {"$in": parts}}
            await self._database.write(
                "links_ranking_drop", lambda db: db.ranked_codes.delete_many(named)
            )


def _part(ranking: str, number: int) -> str:
    """The `_id` of a part."""
    return f"{ranking}:{number}"


def _parts(count: int) -> range:
    """The numbers of the parts of so many codes."""
    return range(-(-count // _PART))
