"""Reads links: by code, as lists of an owner, and what changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from services.links.application.ports import LinkStore
from services.links.domain.link import (
    MAX_CODES,
    MAX_OWNED_CODES,
    Changes,
    FormerUrl,
    Link,
    LinkState,
    Owner,
    Resolution,
    TooManyLinks,
    TooManyQueries,
    check_count,
    no_link,
    somebody,
)
from services.links.domain.query import (
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
from services.shared.codes import is_code
from services.shared.concurrency_limiter import ConcurrencyLimiter

MAX_SEARCHES = 1
"""Maximum concurrent reads that look through all links of an owner."""
MAX_SEARCHES_WAITING = 64
"""Each takes up to 0.2 s for 100,000 links."""
MAX_SEARCHES_WAITING_PER_OWNER = 8
_RETRY_AFTER = 1.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list. `total` counts the links on all pages; `cursor` is empty at the end."""

    links: list[Link]
    total: int
    cursor: str


class LinkQueries:
    """Questions about links."""

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._searches = ConcurrencyLimiter(
            "searches",
            MAX_SEARCHES,
            MAX_SEARCHES_WAITING,
            MAX_SEARCHES_WAITING_PER_OWNER,
            _too_many_searches,
        )

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """Return what short addresses answer, unordered.

        Leaves out codes that are unknown, malformed or purged. Raises TooManyCodes, Unavailable.
        """
        check_count(codes, MAX_CODES)
        well_formed = [code for code in codes if is_code(code)]
        return await self._store.links.resolve(well_formed) if well_formed else []

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
        """Return one page of those of an owner's links that match. The first has no cursor.

        `without_total` leaves the total of a list by age 0, so that nothing is counted.

        Raises InvalidOwner for nobody, InvalidQuery, InvalidLimit, InvalidCursor, TooManyQueries,
        Unavailable.
        """
        listing = Listing(somebody(owner), Wanted(text_of(text), state), order)
        check_limit(limit, MAX_LIMIT_WITHOUT_TOTAL if without_total else MAX_LIMIT)
        end = listing.end(cursor) if cursor else None
        if order is LinkOrder.MOST_VIEWED:
            return await self._by_rank(listing, end if isinstance(end, Place) else None, limit)
        position = end if isinstance(end, Position) else None
        return await self._by_age(listing, position, limit, without_total)

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        """Return one of an owner's links and its previous URLs, the most recent first.

        Raises InvalidOwner for nobody, NoLink, Unavailable.
        """
        known = somebody(owner)
        link = await self._under(code)
        if link.owner != known or link.is_gone_at(self._now()):
            raise no_link()
        return link, await self._store.links.history(code)

    async def preview(self, code: str) -> Link:
        """Return any link, regardless of owner. Raises NoLink, also for a gone one, Unavailable."""
        link = await self._store.links.find(code) if is_code(code) else None
        if link is None or link.is_gone_at(self._now()):
            raise no_link()
        return link

    async def owned_codes(self, owner: Owner) -> list[str]:
        """Return the codes of an owner's links that are not removed, unordered.

        Raises InvalidOwner for nobody, TooManyLinks, TooManyQueries, Unavailable.
        """
        reading = self._store.links.owned_codes(somebody(owner), MAX_OWNED_CODES + 1)
        codes = await self._searches.run(owner, reading)
        if len(codes) > MAX_OWNED_CODES:
            raise TooManyLinks(f"These are more than {MAX_OWNED_CODES} links.")
        return codes

    async def check_statistics_access(self, caller: Owner, code: str) -> None:
        """Refuse a caller who may not see a link's statistics. Raises NoLink, Unavailable."""
        link = await self._under(code)
        if not link.shows_statistics_to(caller, self._now()):
            raise no_link()

    async def changes(self, cursor: str | None) -> Changes:
        """Return what changed after a cursor; None asks for the cursor of now.

        Raises Unavailable.
        """
        page = await self._store.changes.read_since(cursor)
        found = await self._store.links.resolve(page.keys) if page.keys else []
        gone = sorted(set(page.keys) - {one.code for one in found})
        return Changes(page.cursor, found, gone, page.more, page.truncated)

    async def _under(self, code: str) -> Link:
        """Return the link under its own code, regardless of owner. Raises NoLink."""
        link = await self._store.links.find(code)
        if link is None or link.code != code:
            raise no_link()
        return link

    async def _by_age(
        self, listing: Listing, after: Position | None, limit: int, without_total: bool
    ) -> Page:
        owner, wanted, now = listing.owner, listing.wanted, self._now()

        async def read() -> tuple[list[Link], int]:
            page = await self._store.lists.page(owner, wanted, listing.order, after, limit + 1, now)
            if after is None and len(page) <= limit:  # These are all: a search looks once.
                return page, len(page)
            if without_total:
                return page, 0
            return page, await self._store.lists.count(owner, wanted, now)

        found, total = await (self._searches.run(owner, read()) if wanted.text else read())
        links = found[:limit]
        if len(found) <= limit:
            return Page(links, total, "")
        return Page(links, total, listing.cursor(Position(links[-1].created_at, links[-1].code)))

    async def _by_rank(self, listing: Listing, place: Place | None, limit: int) -> Page:
        owner, wanted, now = listing.owner, listing.wanted, self._now()
        if place is None:
            ranking = await self._searches.run(owner, self._store.lists.ranking(owner, wanted, now))
            key = sha256(" ".join(ranking).encode()).hexdigest()[:32]

            async def ranked(start: int, limit: int) -> list[str]:
                return ranking[start : start + limit]

            links, start = await self._ranked(listing, ranked, 0, limit, now)
            if start is None:
                return Page(links, len(ranking), "")
            await self._store.transactions.run(
                "links_keep_ranking", lambda unit: unit.rankings.keep(owner, key, ranking, now)
            )
            return Page(links, len(ranking), listing.cursor(Place(key, start)))

        async def kept(start: int, limit: int) -> list[str]:
            codes = await self._store.lists.kept_ranking(owner, place.key, start, limit, now)
            if codes is None:
                raise InvalidCursor("This cursor was made too long ago.")
            return codes

        links, start = await self._ranked(listing, kept, place.start, limit, now)
        count = self._store.lists.count(owner, wanted, now)
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
        """Return a ranking's links from a place on, and the place of the next one, if any.

        Skips links that are no longer the owner's or no longer match.
        """
        links: list[Link] = []
        size = limit + 1
        while codes := await codes_from(start, size):
            found = await self._store.links.find_all(listing.owner, codes)
            by_code = {link.code: link for link in found}
            for place, code in enumerate(codes, start):
                link = by_code.get(code)
                if link is not None and listing.wanted.includes(link, now):
                    if len(links) == limit:
                        return links, place
                    links.append(link)
            start += len(codes)
            size = min(2 * size, MAX_CODES)
        return links, None


def _too_many_searches() -> TooManyQueries:
    return TooManyQueries("Too many searches at once.", retry_after=_RETRY_AFTER)
