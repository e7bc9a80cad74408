"""Creates links of accounts, by calls that can be repeated with their idempotency key."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from services.links.application.link_creator import LinkCreator
from services.links.application.ports import UnitOfWork
from services.links.domain.code import NoFreeCode, random_codes
from services.links.domain.creations import (
    MAX_CREATED_LINKS,
    Creation,
    CreationInProgress,
    IdempotencyMismatch,
    NewLink,
    Outcome,
    check_fingerprint,
    check_idempotency_key,
    created_links,
    settle,
)
from services.links.domain.link import Link, check_count, check_room
from services.links.domain.owner import Account
from services.links.domain.url import UrlRefused
from services.shared.errors import InvalidArgument, Unavailable

_MAX_DRAWS = 10
"""Maximum rounds of drawing random codes. Of 10^9 links, one code in 280,000 drawn is taken."""


@dataclass(frozen=True, slots=True)
class Created:
    """The outcome of a call."""

    record: Creation
    """That of this call, or of the call that it repeats."""
    is_new: bool
    """Whether this call stored the record and the links."""

    @property
    def links(self) -> list[Link]:
        """Return the links that this call stored."""
        return created_links(self.record) if self.is_new else []


class Creations(LinkCreator):
    """What accounts create. A call is identified by its account and idempotency key."""

    async def run(
        self,
        account: Account,
        key: bytes,
        fingerprint: bytes,
        links: Sequence[NewLink | InvalidArgument],
    ) -> Created:
        """Store links and the record of this call, all or nothing.

        A link that could not be read is given as its error, which is then its outcome. If there is
        a record of the key that is not over, changes nothing and returns that record.

        Raises InvalidIdempotencyKey, TooManyCodes, IdempotencyMismatch, CreationInProgress,
        NoFreeCode, AccountFull, Unavailable.
        """
        check_idempotency_key(key)
        check_fingerprint(fingerprint)
        check_count(links, MAX_CREATED_LINKS)
        lock = self._locks.setdefault((account, key), asyncio.Lock())
        if lock.locked():  # Calls of other processes wait for each other in the store.
            raise CreationInProgress("Another request with this idempotency key is in progress.")
        async with lock:
            return await self._run(account, key, fingerprint, links)

    async def _run(
        self,
        account: Account,
        key: bytes,
        fingerprint: bytes,
        new_links: Sequence[NewLink | InvalidArgument],
    ) -> Created:
        now = self._now()
        drafts: list[Outcome] = []
        failure: Unavailable | None = None
        try:
            drafts = await self._slices.map(
                lambda new_link: self._draft(account, new_link, now), new_links
            )
        except Unavailable as error:  # A repetition does not need the blocklists.
            failure = error

        def work(unit: UnitOfWork) -> Created:
            known = unit.creations.find(account, key)
            if known is not None and not known.is_over_at(now):
                if known.fingerprint != fingerprint:
                    raise IdempotencyMismatch("The idempotency key belongs to another request.")
                return Created(known, is_new=False)
            if failure is not None:
                raise failure
            record = Creation(account, key, fingerprint, now, _settle_in(unit, drafts))
            links = created_links(record)
            check_room(reservation.links, len(links))
            unit.creations.save(record)
            if links:
                unit.links.add_all(links, now)
            return Created(record, is_new=True)

        new = sum(isinstance(draft, Link) for draft in drafts)
        async with self._accounts.reserve(account, new) as reservation:
            created = await self._store.transactions.run("links_create", work)
            reservation.stored = len(created.links)
        if created.is_new:
            for draft in drafts:
                if isinstance(draft, UrlRefused):
                    self._record_refusal(draft.match)
        return created

    def _draft(self, account: Account, link: NewLink | InvalidArgument, now: datetime) -> Outcome:
        """Return a link to store, or its fault. Raises Unavailable."""
        if isinstance(link, InvalidArgument):
            return link
        try:
            return link.draft(account, self._urls, now)
        except InvalidArgument as error:
            return error


def _settle_in(unit: UnitOfWork, drafts: Sequence[Outcome]) -> list[Outcome]:
    """Decide on drafts by which codes are taken in the transaction. Raises NoFreeCode."""
    codes = [draft.code for draft in drafts if isinstance(draft, Link)]
    chosen = {code for code in codes if code}
    free = _draw_free_codes(unit, codes.count(""), chosen)
    return settle(drafts, _find_taken(unit, chosen), free)


def _draw_free_codes(unit: UnitOfWork, count: int, exclude: AbstractSet[str]) -> list[str]:
    """Return random free codes, none of which is in `exclude`. Raises NoFreeCode."""
    free: set[str] = set()
    for _ in range(_MAX_DRAWS):
        drawn = set(islice(random_codes(), count - len(free))) - exclude - free
        free |= drawn - _find_taken(unit, drawn)
        if len(free) == count:
            return list(free)
    raise NoFreeCode("No free code was found.")


def _find_taken(unit: UnitOfWork, codes: AbstractSet[str]) -> AbstractSet[str]:
    """Return which of the codes are taken."""
    return unit.links.holders(list(codes)).taken if codes else frozenset()
