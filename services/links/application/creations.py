"""Creates links of accounts, by calls that can be repeated with their idempotency key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from services.links.application.account_sizes import AccountSizes
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.refusals import RefusalLog
from services.links.application.time_slices import TimeSlices
from services.links.domain.code import NoFreeCode, random_codes
from services.links.domain.creations import (
    MAX_CREATED_LINKS,
    Creation,
    CreationInProgress,
    IdempotencyMismatch,
    NewLink,
    Outcome,
    check_idempotency_key,
    chosen_codes,
    count_without_code,
    created_links,
    settle,
)
from services.links.domain.link import Link, check_count, check_room
from services.links.domain.owner import Account
from services.links.domain.url import UrlPolicy, UrlRefused
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


class Creations:
    """What accounts create. A call is identified by its account and idempotency key."""

    def __init__(
        self,
        store: LinkStore,
        urls: UrlPolicy,
        now: Callable[[], datetime],
        accounts: AccountSizes | None = None,
        slices: TimeSlices | None = None,
    ) -> None:
        self._store = store
        self._accounts = accounts or AccountSizes(store, now)
        self._urls = urls
        self._now = now
        self._refusals = RefusalLog()
        self._slices = slices or TimeSlices()
        self._running: set[tuple[Account, bytes]] = set()

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
        check_idempotency_key(key, fingerprint)
        check_count(links, MAX_CREATED_LINKS)
        with self._exclusive(account, key):
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
            drafts = await self._drafts(account, new_links, now)
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
                    self._refusals.record(draft.match)
        return created

    async def _drafts(
        self, account: Account, links: Sequence[NewLink | InvalidArgument], now: datetime
    ) -> list[Outcome]:
        """Return each link to store, or its fault. Raises Unavailable."""
        return await self._slices.map(lambda link: self._draft(account, link, now), links)

    def _draft(self, account: Account, link: NewLink | InvalidArgument, now: datetime) -> Outcome:
        if isinstance(link, InvalidArgument):
            return link
        try:
            return link.draft(account, self._urls, now)
        except InvalidArgument as error:
            return error

    @contextmanager
    def _exclusive(self, account: Account, key: bytes) -> Iterator[None]:
        """Refuse other calls with the same key while the body runs.

        Those of other processes wait for each other in the store.
        """
        call = (account, key)
        if call in self._running:
            raise CreationInProgress("Another request with this idempotency key is in progress.")
        self._running.add(call)
        try:
            yield
        finally:
            self._running.remove(call)


def _settle_in(unit: UnitOfWork, drafts: Sequence[Outcome]) -> list[Outcome]:
    """Decide on drafts by which codes are taken in the transaction. Raises NoFreeCode."""
    chosen = chosen_codes(drafts)
    free = _draw_free_codes(unit, count_without_code(drafts), set(chosen))
    return settle(drafts, _taken(unit, chosen), free)


def _draw_free_codes(unit: UnitOfWork, count: int, exclude: AbstractSet[str]) -> list[str]:
    """Return random free codes, none of which is in `exclude`. Raises NoFreeCode."""
    free: set[str] = set()
    for _ in range(_MAX_DRAWS):
        drawn = set(islice(random_codes(), count - len(free))) - exclude - free
        free |= drawn - _taken(unit, drawn)
        if len(free) == count:
            return list(free)
    raise NoFreeCode("No free code was found.")


def _taken(unit: UnitOfWork, codes: Collection[str]) -> set[str]:
    """Return those of the codes that are taken."""
    if not codes:
        return set()
    holders = unit.links.holders(list(codes))
    return {*holders.links, *holders.others}
