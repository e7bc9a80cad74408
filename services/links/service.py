"""What can be done with links."""

from __future__ import annotations

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
    Sized,
)
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe

from services.links.blocks import BlockReason
from services.links.codes import CodeTaken, check_code, drawn_scan_codes
from services.links.domain import (
    MAX_CODES,
    MAX_CREATIONS,
    MAX_NAMED,
    MAX_OWNED_CODES,
    PURGED_AFTER,
    Account,
    Changes,
    FormerUrl,
    Guest,
    InvalidOwner,
    Link,
    LinkState,
    Nobody,
    NoLink,
    Owner,
    Resolution,
    TooManyCodes,
    TooManyLinks,
    TooManyQueries,
)
from services.links.edits import Edit, LinkChanges, removal, restoration
from services.links.leases import check_lease
from services.links.listing import (
    MAX_LIMIT,
    MAX_LIMIT_WITHOUT_TOTAL,
    InvalidCursor,
    LinkOrder,
    Listing,
    Place,
    Position,
    Wanted,
    check_limit,
    text_of,
)
from services.links.metrics import REFUSED, REPORTS, REPORTS_WAITING
from services.links.reports import (
    KEPT_AFTER_DECISION,
    MAX_REPORTS,
    Report,
    ReportPlace,
    statement_of,
)
from services.links.store import LinkStore
from services.links.urls import UrlPolicy, UrlRefused
from services.runtime import logs
from services.runtime.codes import is_code
from services.runtime.concurrency_limiter import ConcurrencyLimiter

MAX_SEARCHES = 1
"""How many reads that look through all links of an owner run at once."""
MAX_SEARCHES_WAITING = 64
"""How many may wait. Each takes up to a fifth of a second for 100,000 links."""
MAX_SEARCHES_WAITING_PER_OWNER = 8
_RETRY_AFTER = 1.0
_REPORT_ID_BYTES = 12
"""Random bytes of a report's id: nobody guesses one, or learns from it how many there are."""
_BROKEN_OFF_AFTER = timedelta(seconds=5)
"""How long after its beginning an edit that is not announced is taken for broken off. One that was
slow is announced twice."""
_FORGOTTEN = 100
"""Most reports that are deleted at a time."""
_MARKED = 1000
"""How many links are marked as expired at a time."""
_REFUSALS_TOLD = 10
"""Most lines in the log for URLs that a class of lists refused, in a minute."""


@dataclass(frozen=True, slots=True)
class Page:
    """Links of a list. `total` is how many there are on all pages, `cursor` empty at the end."""

    links: list[Link]
    total: int
    cursor: str


class LinksService:
    """The use cases of links over a store, with the clock and the URL rules handed in."""

    def __init__(self, store: LinkStore, urls: UrlPolicy, now: Callable[[], datetime]) -> None:
        self._store = store
        self._urls = urls
        self._now = now
        self._searches = ConcurrencyLimiter(
            "searches",
            MAX_SEARCHES,
            MAX_SEARCHES_WAITING,
            MAX_SEARCHES_WAITING_PER_OWNER,
            _too_many_searches,
        )
        self._refusals = _Refusals()

    def now(self) -> datetime:
        """The moment, by the service's clock."""
        return self._now()

    async def create(self, code: str, url: str, owner: Owner) -> Link:
        """Store a link; repeating the same one succeeds and changes nothing.

        The same one has the code, the URL that the link was made with, and the owner. What is
        returned is the link as it is now.

        Raises InvalidCode, InvalidUrl, UrlRefused, CodeTaken, Unavailable.
        """
        check_code(code, owner)
        with self._refusals.told():
            wanted = Link(code, self._urls.normalize(url), owner, self._now())
        stored = await self._store.add(wanted)
        if stored is None or not wanted.repeats(stored):
            raise CodeTaken("This code is taken.")
        return stored

    async def create_all(
        self, wanted: Sequence[tuple[str, str, Owner]]
    ) -> list[Link | BaseException]:
        """Store up to `MAX_CREATIONS` links, each as `create` does.

        Returns them in their order; where one raised, what it raised. Raises TooManyCodes.
        """
        _check_count(wanted, MAX_CREATIONS)
        made = (self.create(code, url, owner) for code, url, owner in wanted)
        return await asyncio.gather(*made, return_exceptions=True)

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """What short addresses answer, in no order.

        Codes that are unknown, malformed or gone for good are left out.

        Raises TooManyCodes, Unavailable.
        """
        wellformed = _wellformed(codes)
        return await self._store.resolve(wellformed) if wellformed else []

    async def query(
        self,
        owner: Owner,
        text: str,
        state: LinkState | None,
        order: LinkOrder,
        limit: int,
        cursor: str,
        *,
        without_total: bool = False,
    ) -> Page:
        """One page of those of an owner's links that are asked for. The first has no cursor.

        `without_total` leaves the total of a list by age 0, so that nothing is counted.

        Raises InvalidOwner for nobody, InvalidQuery, InvalidLimit, InvalidCursor, TooManyQueries,
        Unavailable.
        """
        listing = Listing(_somebody(owner), Wanted(text_of(text), state), order)
        check_limit(limit, MAX_LIMIT_WITHOUT_TOTAL if without_total else MAX_LIMIT)
        end = listing.end(cursor) if cursor else None
        if order is LinkOrder.MOST_VIEWED:
            return await self._by_rank(listing, end if isinstance(end, Place) else None, limit)
        position = end if isinstance(end, Position) else None
        return await self._by_age(listing, position, limit, without_total)

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        """One of an owner's links, and where it led before, the last one first.

        Raises InvalidOwner for nobody, NoLink, Unavailable.
        """
        somebody = _somebody(owner)
        link = await self._under(code)
        if link.owner != somebody or link.is_gone_at(self._now()):
            raise _no_link()
        return link, await self._store.history(code)

    async def preview(self, code: str) -> Link:
        """Whoever's link, for somebody who wants to know it before following it.

        Raises NoLink, for one that is gone as well, and Unavailable.
        """
        link = await self._store.find(code) if is_code(code) else None
        if link is None or link.is_gone_at(self._now()):
            raise _no_link()
        return link

    async def owned_codes(self, owner: Owner) -> list[str]:
        """The codes of an owner's links in every state but removed, in no order.

        Raises InvalidOwner for nobody, TooManyLinks, TooManyQueries, Unavailable.
        """
        # Like a search, this reads all links of the owner.
        reading = self._store.owned_codes(_somebody(owner), MAX_OWNED_CODES + 1)
        codes = await self._searches.run(owner, reading)
        if len(codes) > MAX_OWNED_CODES:
            raise TooManyLinks(f"These are more than {MAX_OWNED_CODES} links.")
        return codes

    async def check_statistics_access(self, caller: Owner, code: str) -> None:
        """Refuse whoever may not see the statistics of a link. Raises NoLink, Unavailable."""
        link = await self._under(code)
        if not link.shows_statistics_to(caller, self._now()):
            raise _no_link()

    async def change(self, owner: Owner, code: str, changes: LinkChanges) -> Link:
        """Change some of what belongs to a link; returns it as it is now.

        Raises InvalidOwner for nobody, NoChanges, InvalidUrl, InvalidTitle, InvalidTags,
        InvalidEndedUrl, UrlRefused, NoLink, TooManyUrls, Unavailable.
        """
        somebody = _somebody(owner)
        now = self._now()
        with self._refusals.told():
            edit = changes.edit(self._urls, now)
        (link,) = await self._edit(somebody, [code], edit, now)
        return link

    async def remove(self, owner: Owner, codes: Sequence[str]) -> list[Link]:
        """Remove links of an owner, so that they can be restored; returns them as they are now.

        Raises InvalidOwner for nobody, TooManyCodes, NoLink, Unavailable.
        """
        now = self._now()
        return await self._edit(_somebody(owner), _named(codes), removal(now), now)

    async def restore(self, owner: Owner, codes: Sequence[str]) -> list[Link]:
        """Restore removed links of an owner; returns them as they are now.

        Raises InvalidOwner for nobody, TooManyCodes, NoLink, Unavailable.
        """
        return await self._edit(_somebody(owner), _named(codes), restoration(), self._now())

    async def create_scan_code(self, owner: Owner, code: str) -> str:
        """The scan code of an owner's link, which is made once.

        Raises InvalidOwner for nobody, NoLink, Unavailable.
        """
        somebody = _somebody(owner)
        made = await self._store.give_scan_code(somebody, code, drawn_scan_codes(), self._now())
        if made is None:
            raise _no_link()
        return made

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        """Give some of a guest's links to an account; how many moved, and whether to ask again.

        Raises Unavailable.
        """
        claimed = await self._store.claim(guest, account, MAX_CODES)
        return claimed, claimed >= MAX_CODES

    async def purge(self, codes: Sequence[str]) -> list[str]:
        """Purge links, each by its code or scan code; returns the codes of those that are purged.

        Of a link that was purged before, that is the code it was given by.

        Raises TooManyCodes, Unavailable.
        """
        wellformed = _wellformed(codes)
        if not wellformed:
            return []
        found = await self._store.resolve(wellformed)
        links = {one.code: one.link_code for one in found if one.link_code}
        named = dict.fromkeys(links.get(code, code) for code in wellformed)
        return await self._store.purge([*named], self._now())

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        """Keep a report of whoever's link, in whatever state; returns the report's id.

        Raises InvalidDetails, InvalidContact, NoLink, for a link that is gone as well, Unavailable.
        """
        now = self._now()
        said = statement_of(details, contact, now)
        link = await self._store.find(code) if is_code(code) else None
        if link is None or link.is_gone_at(now):
            raise _no_link()
        new_id = token_urlsafe(_REPORT_ID_BYTES)
        report_id = await self._store.report(link.code, reason, said, new_id)
        if report_id is None:  # It was purged meanwhile.
            raise _no_link()
        REPORTS.labels(reason.value).inc()
        return report_id

    async def reports(self, after: str) -> tuple[list[tuple[Link, Report]], str, int]:
        """Some of the reports that wait, with their links.

        The most often reported links come first. `after` is empty for the first of them, or what
        came with those before: behind the reports stands how to ask for the next ones, empty at
        the end, and how many wait altogether. Raises InvalidCursor, Unavailable.
        """
        place = ReportPlace.of(after) if after else None
        found, following = await self._store.reports(place, MAX_REPORTS)
        return found, following.text if following else "", await self._store.waiting_reports()

    async def count_reports(self) -> None:
        """Let the metrics say how many reports wait. Raises Unavailable."""
        REPORTS_WAITING.set(await self._store.waiting_reports())

    async def announce_left(self) -> None:
        """Announce changes whose process ended ahead of their announcement. Raises Unavailable."""
        await self._store.announce_left(self._now() - _BROKEN_OFF_AFTER)

    async def mark_expired(self) -> bool:
        """Mark some of the links that have expired; returns whether there may be others.

        Raises Unavailable.
        """
        return await self._store.mark_expired(self._now(), _MARKED)

    async def forget_reports(self) -> bool:
        """Delete some of the reports that were decided on long ago; whether there may be others.

        Raises Unavailable.
        """
        return await self._store.forget_reports(self._now() - KEPT_AFTER_DECISION, _FORGOTTEN)

    async def remove_account_links(self, account: Account) -> tuple[int, bool]:
        """Withdraw some of an account's links; how many, and whether to ask again.

        Links that their owner removed before are withdrawn, too. Raises Unavailable.
        """
        withdrawn = await self._store.withdraw(account, MAX_CODES, self._now())
        return withdrawn, withdrawn == MAX_CODES

    async def account_codes(self, account: Account) -> list[str]:
        """Codes of an account's newest links, in every state, at most `MAX_CODES`.

        Raises InvalidOwner, Unavailable.
        """
        async for page in self._store.by_owner(_somebody(account), MAX_CODES):
            return [link.code for link in page]
        return []

    async def purgeable(self) -> list[str]:
        """Codes of some links whose removal cannot be undone any more. Raises Unavailable."""
        return await self._store.removed_before(self._now() - PURGED_AFTER, MAX_CODES)

    async def codes(self, after: str) -> list[str]:
        """The next codes that hold a link of somebody; none at the end. Raises Unavailable."""
        return await self._store.codes_after(after, MAX_CODES)

    async def rank(self, people: Mapping[str, int], mark: int | None) -> None:
        """Note how often links were visited by people, and then the mark, where one is given.

        Raises TooManyCodes, Unavailable.
        """
        _check_count(people, MAX_CODES)
        await self._store.rank(people, mark)

    async def rank_mark(self) -> int | None:
        """The mark that was noted last. Raises Unavailable."""
        return await self._store.rank_mark()

    async def take_lease(self, job: str, holder: str, duration: timedelta) -> bool:
        """Take, renew or, with no duration, give back a lease; whether the holder has it now.

        Raises InvalidLease, Unavailable.
        """
        check_lease(job, holder, duration)
        return await self._store.take_lease(job, holder, duration, self._now())

    async def changes(self, mark: int | None) -> Changes:
        """Which short addresses answer otherwise than before a mark; None asks for that of now.

        Raises Unavailable.
        """
        told = await self._store.announcements(mark)
        found = await self._store.resolve(told.keys) if told.keys else []
        gone = sorted(set(told.keys) - {one.code for one in found})
        return Changes(told.mark, found, gone, told.more, told.lost)

    async def _under(self, code: str) -> Link:
        """The link under its own code, whoever owns it. Raises NoLink."""
        link = await self._store.find(code)
        if link is None or link.code != code:
            raise _no_link()
        return link

    async def _edit(
        self, owner: Account | Guest | None, codes: Sequence[str], edit: Edit, now: datetime
    ) -> list[Link]:
        edited = await self._store.edit(owner, codes, edit, now)
        if edited is None:
            raise _no_link()
        return edited

    async def _by_age(
        self, listing: Listing, after: Position | None, limit: int, without_total: bool
    ) -> Page:
        owner, wanted, now = listing.owner, listing.wanted, self._now()

        async def read() -> tuple[list[Link], int]:
            page = await self._store.page(owner, wanted, listing.order, after, limit + 1, now)
            if after is None and len(page) <= limit:  # These are all: a search looks once.
                return page, len(page)
            if without_total:
                return page, 0
            return page, await self._store.count(owner, wanted, now)

        found, total = await (self._searches.run(owner, read()) if wanted.text else read())
        links = found[:limit]
        if len(found) <= limit:
            return Page(links, total, "")
        return Page(links, total, listing.cursor(Position(links[-1].created_at, links[-1].code)))

    async def _by_rank(self, listing: Listing, place: Place | None, limit: int) -> Page:
        owner, wanted, now = listing.owner, listing.wanted, self._now()
        if place is None:
            codes = await self._searches.run(owner, self._store.ranking(owner, wanted, now))
            key = sha256(" ".join(codes).encode()).hexdigest()[:32]

            async def ranked(start: int, most: int) -> list[str]:
                return codes[start : start + most]

            links, start = await self._ranked(listing, ranked, 0, limit, now)
            if start is None:
                return Page(links, len(codes), "")
            await self._store.keep_ranking(owner, key, codes, now)
            return Page(links, len(codes), listing.cursor(Place(key, start)))

        async def kept(start: int, most: int) -> list[str]:
            codes = await self._store.kept_ranking(owner, place.key, start, most, now)
            if codes is None:
                raise InvalidCursor("This cursor was made too long ago.")
            return codes

        links, start = await self._ranked(listing, kept, place.start, limit, now)
        count = self._store.count(owner, wanted, now)
        total = await (self._searches.run(owner, count) if wanted.text else count)
        return Page(links, total, "" if start is None else listing.cursor(Place(place.key, start)))

    async def _ranked(
        self,
        listing: Listing,
        codes_from: Callable[[int, int], Awaitable[list[str]]],
        start: int,
        limit: int,
        now: datetime,
    ) -> tuple[list[Link], int | None]:
        """The links of a ranking from a place on, and the place of the next one, if any.

        Those that are not the owner's any more, or not wanted, are passed over.
        """
        links: list[Link] = []
        most = limit + 1
        while codes := await codes_from(start, most):
            found = {one.code: one for one in await self._store.find_all(listing.owner, codes)}
            for place, code in enumerate(codes, start):
                link = found.get(code)
                if link is not None and listing.wanted.includes(link, now):
                    if len(links) == limit:
                        return links, place
                    links.append(link)
            start += len(codes)
            most = min(2 * most, MAX_CODES)
        return links, None


class _Refusals:
    """Counts URLs that were refused, and says in the log what named them."""

    def __init__(self) -> None:
        # Strangers can bring them about: some lines a minute tell what the figures do not.
        self._log = logs.Throttled(__name__, most=_REFUSALS_TOLD)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Tell of the URL that the body refuses. Of the URL itself nothing is told."""
        try:
            yield
        except UrlRefused as error:
            refusal = error.refusal
            REFUSED.labels(refusal.reason.value).inc()
            self._log.info(
                "url_refused", reason=refusal.reason.value, list=refusal.list, line=refusal.line
            )
            raise


def _somebody(owner: Owner) -> Account | Guest:
    """Raises InvalidOwner for nobody."""
    if isinstance(owner, Nobody):
        raise InvalidOwner("Links are of an account or of a guest.")
    return owner


def _too_many_searches() -> TooManyQueries:
    return TooManyQueries("Too many searches at once.", retry_after=_RETRY_AFTER)


def _no_link() -> NoLink:
    return NoLink("There is no such link.")


def _named(codes: Sequence[str]) -> Sequence[str]:
    """Raises TooManyCodes."""
    _check_count(codes, MAX_NAMED)
    return codes


def _wellformed(codes: Sequence[str]) -> list[str]:
    """Those that have the shape of a code. Raises TooManyCodes."""
    _check_count(codes, MAX_CODES)
    return [code for code in codes if is_code(code)]


def _check_count(codes: Sized, most: int) -> None:
    if len(codes) > most:
        raise TooManyCodes(f"At most {most} codes can be named at once.")
