"""Queries of links: by code, as lists of an owner, and from the change feed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from services.links.application.ports import LinkStore
from services.links.domain.link import (
    MAX_CODES,
    MAX_OWNED_CODES,
    FormerUrl,
    Link,
    TooManyLinks,
    TooManyQueries,
    check_count,
    no_link,
)
from services.links.domain.owner import Owner, require_owner
from services.links.domain.query import (
    MAX_LIMIT,
    MAX_LIMIT_WITHOUT_TOTAL,
    AgeCursor,
    InvalidCursor,
    LinkFilter,
    LinkOrder,
    LinkQuery,
    RankCursor,
    check_limit,
    parse_search_text,
)
from services.links.domain.resolution import (
    LinkState,
    Resolution,
    ResolutionChanges,
    UnreadableLinks,
)
from services.shared.concurrency_limiter import ConcurrencyLimiter
from services.shared.link_codes import is_code

MAX_SEARCHES = 1
"""Maximum concurrent reads that scan all links of an owner."""
MAX_SEARCHES_WAITING = 64
"""Maximum queue of searches, each of which takes up to 0.2 s for 100,000 links."""
MAX_SEARCHES_WAITING_PER_OWNER = 8
_RETRY_AFTER = 1.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list."""

    links: list[Link]
    total: int
    """Number of links on all pages."""
    cursor: str
    """Where the next page starts; empty at the end."""


class LinkQueries:
    """Read-only use cases."""

    def __init__(self, store: LinkStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._searches = ConcurrencyLimiter(
            "searches",
            MAX_SEARCHES,
            MAX_SEARCHES_WAITING,
            MAX_SEARCHES_WAITING_PER_OWNER,
            lambda: TooManyQueries("Too many concurrent searches.", retry_after=_RETRY_AFTER),
        )

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """Return what short URLs answer, unordered.

        Leaves out codes that are unknown, malformed or purged. Raises TooManyCodes, Unavailable,
        and UnreadableLinks with the others if some cannot be read.
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
        """Return one page of an owner's matching links. `cursor` is empty for the first page.

        `without_total` saves the count in lists by age: the total of the page is 0.

        Raises InvalidOwner for an anonymous owner, InvalidQuery, InvalidLimit, InvalidCursor,
        TooManyQueries, Unavailable.
        """
        link_filter = LinkFilter(parse_search_text(text), state)
        query = LinkQuery(require_owner(owner), link_filter, order)
        check_limit(limit, MAX_LIMIT_WITHOUT_TOTAL if without_total else MAX_LIMIT)
        after = query.decode(cursor) if cursor else None
        if order is LinkOrder.MOST_VIEWED:
            start = after if isinstance(after, RankCursor) else None
            return await self._by_rank(query, start, limit)
        previous = after if isinstance(after, AgeCursor) else None
        return await self._by_age(query, previous, limit, without_total)

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        """Return one of an owner's links and its previous URLs, the most recent first.

        Raises InvalidOwner for an anonymous owner, NoLink, Unavailable.
        """
        known = require_owner(owner)
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

        Raises InvalidOwner for an anonymous owner, TooManyLinks, TooManyQueries, Unavailable.
        """
        reading = self._store.links.owned_codes(require_owner(owner), MAX_OWNED_CODES + 1)
        codes = await self._searches.run(owner, reading)
        if len(codes) > MAX_OWNED_CODES:
            raise TooManyLinks(f"The owner has more than {MAX_OWNED_CODES} links.")
        return codes

    async def check_statistics_access(self, caller: Owner, code: str) -> None:
        """Raise NoLink if a caller may not see a link's statistics. Raises Unavailable."""
        link = await self._under(code)
        if not link.shows_statistics_to(caller, self._now()):
            raise no_link()

    async def changes(self, cursor: str | None) -> ResolutionChanges:
        """Return a page of the change feed after a cursor; None returns the cursor of now.

        Raises Unavailable.
        """
        page = await self._store.change_feed.read_since(cursor)
        try:
            found = await self._store.links.resolve(page.keys) if page.keys else []
        except UnreadableLinks as error:  # Gateways look their codes up, and are told so.
            found = error.found
        gone = sorted(set(page.keys) - {resolution.code for resolution in found})
        return ResolutionChanges(page.cursor, found, gone, page.more, page.truncated)

    async def _under(self, code: str) -> Link:
        """Return the link under its own code, regardless of owner. Raises NoLink."""
        link = await self._store.links.find(code)
        if link is None or link.code != code:
            raise no_link()
        return link

    async def _by_age(
        self, query: LinkQuery, after: AgeCursor | None, limit: int, without_total: bool
    ) -> Page:
        owner, link_filter, now = query.owner, query.link_filter, self._now()

        async def read() -> tuple[list[Link], int]:
            page = await self._store.lists.page(
                owner, link_filter, query.order, after, limit + 1, now
            )
            if after is None and len(page) <= limit:  # All links are on this page.
                return page, len(page)
            if without_total:
                return page, 0
            return page, await self._store.lists.count(owner, link_filter, now)

        found, total = await (self._searches.run(owner, read()) if link_filter.text else read())
        links = found[:limit]
        if len(found) <= limit:
            return Page(links, total, "")
        return Page(links, total, query.encode(AgeCursor(links[-1].created_at, links[-1].code)))

    async def _by_rank(self, query: LinkQuery, cursor: RankCursor | None, limit: int) -> Page:
        owner, link_filter, now = query.owner, query.link_filter, self._now()
        if cursor is None:
            ranking = await self._searches.run(
                owner, self._store.lists.ranking(owner, link_filter, now)
            )
            key = sha256(" ".join(ranking).encode()).hexdigest()[:32]

            async def ranked(start: int, limit: int) -> list[str]:
                return ranking[start : start + limit]

            links, start = await self._ranked(query, ranked, 0, limit, now)
            if start is None:
                return Page(links, len(ranking), "")
            await self._store.transactions.run(
                "links_keep_ranking", lambda unit: unit.links.save_ranking(owner, key, ranking, now)
            )
            return Page(links, len(ranking), query.encode(RankCursor(key, start)))

        async def stored(start: int, limit: int) -> list[str]:
            codes = await self._store.lists.stored_ranking(owner, cursor.key, start, limit, now)
            if codes is None:
                raise InvalidCursor("This cursor has expired.")
            return codes

        links, start = await self._ranked(query, stored, cursor.start, limit, now)
        count = self._store.lists.count(owner, link_filter, now)
        total = await (self._searches.run(owner, count) if link_filter.text else count)
        following = "" if start is None else query.encode(RankCursor(cursor.key, start))
        return Page(links, total, following)

    async def _ranked(
        self,
        query: LinkQuery,
        codes_from: Callable[[int, int], Awaitable[list[str]]],
        start: int,
        limit: int,
        now: datetime,
    ) -> tuple[list[Link], int | None]:
        """Return up to `limit` links of a ranking from an index on, and the index of the next one.

        Skips links that no longer belong to the owner or no longer match. The second value is None
        at the end.
        """
        links: list[Link] = []
        size = limit + 1
        while codes := await codes_from(start, size):
            found = await self._store.links.find_all(query.owner, codes)
            by_code = {link.code: link for link in found}
            for index, code in enumerate(codes, start):
                link = by_code.get(code)
                if link is not None and query.link_filter.matches(link, now):
                    if len(links) == limit:
                        return links, index
                    links.append(link)
            start += len(codes)
            size = min(2 * size, MAX_CODES)
        return links, None
