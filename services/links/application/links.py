"""Creates and changes links."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from secrets import token_urlsafe

from services.links.application.ports import MAX_BATCH, LinkStore, UnitOfWork
from services.links.domain.block import BlockReason
from services.links.domain.code import CodeTaken, NoFreeCode, check_code, drawn_scan_codes
from services.links.domain.edit import Edit, LinkChanges, removal, restoration
from services.links.domain.link import (
    MAX_CREATIONS,
    MAX_NAMED,
    Account,
    Guest,
    Link,
    Owner,
    check_count,
    no_link,
    somebody,
)
from services.links.domain.report import statement_of
from services.links.domain.url import UrlPolicy, UrlRefused
from services.links.metrics import REFUSED, REPORTS
from services.shared.codes import is_code
from services.shared.observability import logs

_REPORT_ID_BYTES = 12
"""Random bytes of a report id, so that nobody guesses one or derives how many there are."""
_REFUSALS_LOGGED = 10
"""Maximum log lines a minute about refused URLs: strangers can cause them."""


class LinkCommands:
    """What owners and visitors do with links."""

    def __init__(self, store: LinkStore, urls: UrlPolicy, now: Callable[[], datetime]) -> None:
        self._store = store
        self._urls = urls
        self._now = now
        self._log = logs.Throttled(__name__, most=_REFUSALS_LOGGED)

    async def create(self, code: str, url: str, owner: Owner) -> Link:
        """Store a link; repeating the same creation succeeds and changes nothing.

        Creations are the same if they have the code, the URL that the link was made with, and the
        owner. Returns the link as it is now.

        Raises InvalidCode, InvalidUrl, UrlRefused, CodeTaken, Unavailable.
        """
        check_code(code, owner)
        with self._refusals_reported():
            link = Link(code, self._urls.normalize(url), owner, self._now())
        stored = await self._store.links.add(link)
        if stored is None or not link.repeats(stored):
            raise CodeTaken("This code is taken.")
        return stored

    async def create_all(
        self, creations: Sequence[tuple[str, str, Owner]]
    ) -> list[Link | BaseException]:
        """Store up to `MAX_CREATIONS` links, each as `create` does.

        Returns the outcomes in order: the link, or what `create` raised. Raises TooManyCodes.
        """
        check_count(creations, MAX_CREATIONS)
        outcomes = (self.create(code, url, owner) for code, url, owner in creations)
        return await asyncio.gather(*outcomes, return_exceptions=True)

    async def change(self, owner: Owner, code: str, changes: LinkChanges) -> Link:
        """Change a link of an owner; return it as it is now.

        Raises InvalidOwner for nobody, NoChanges, InvalidUrl, InvalidTitle, InvalidTags,
        InvalidEndedUrl, UrlRefused, NoLink, TooManyUrls, Unavailable.
        """
        known, now = somebody(owner), self._now()
        with self._refusals_reported():
            edit = changes.edit(self._urls, now)
        (link,) = await self._edit(known, [code], edit, now)
        return link

    async def remove(self, owner: Owner, codes: Sequence[str]) -> list[Link]:
        """Remove links of an owner, so that they can be restored; return them as they are now.

        Raises InvalidOwner for nobody, TooManyCodes, NoLink, Unavailable.
        """
        check_count(codes, MAX_NAMED)
        now = self._now()
        return await self._edit(somebody(owner), codes, removal(now), now)

    async def restore(self, owner: Owner, codes: Sequence[str]) -> list[Link]:
        """Restore removed links of an owner; return them as they are now.

        Raises InvalidOwner for nobody, TooManyCodes, NoLink, Unavailable.
        """
        check_count(codes, MAX_NAMED)
        return await self._edit(somebody(owner), codes, restoration(), self._now())

    async def create_scan_code(self, owner: Owner, code: str) -> Link:
        """Give an owner's link a scan code unless it has one; return the link.

        Raises InvalidOwner for nobody, NoLink, NoFreeCode, Unavailable.
        """
        known, now = somebody(owner), self._now()

        def work(unit: UnitOfWork) -> Link:
            link = unit.links.get([code]).get(code)
            if link is None or link.owner != known or link.is_gone_at(now):
                raise no_link()
            if link.scan_code:
                return link
            free = (drawn for drawn in drawn_scan_codes() if not unit.links.is_taken(drawn))
            scan_code = next(free, None)
            if scan_code is None:
                raise NoFreeCode("No free code was found.")
            scanned = replace(link, scan_code=scan_code)
            unit.links.save([(link, scanned)], now)
            return scanned

        return await self._store.transactions.run("links_scan_code", work)

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        """Give up to `MAX_BATCH` of a guest's links to an account.

        Returns how many moved, and whether to ask again.

        Raises Unavailable.
        """
        claimed = await self._store.transactions.run(
            "links_claim", lambda unit: unit.links.reassign(guest, account, MAX_BATCH)
        )
        return claimed, claimed == MAX_BATCH

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        """Store a report of any link in any state; return the report's id.

        Raises InvalidDetails, InvalidContact, NoLink, for a link that is gone as well, Unavailable.
        """
        now = self._now()
        said = statement_of(details, contact, now)
        link = await self._store.links.find(code) if is_code(code) else None
        if link is None:
            raise no_link()
        link_code, new_id = link.code, token_urlsafe(_REPORT_ID_BYTES)

        def work(unit: UnitOfWork) -> str:
            link = unit.links.get([link_code]).get(link_code)
            if link is None or link.is_gone_at(now):
                raise no_link()
            return unit.reports.add(link_code, reason, said, new_id)

        report_id = await self._store.transactions.run("links_report", work)
        REPORTS.labels(reason.value).inc()
        return report_id

    async def _edit(
        self, owner: Account | Guest, codes: Sequence[str], edit: Edit, now: datetime
    ) -> list[Link]:
        """Edit an owner's links, all or none; return them in the order of `codes`."""

        def work(unit: UnitOfWork) -> list[Link]:
            links = unit.links.get(codes)
            if any(
                code not in links or links[code].owner != owner or links[code].is_gone_at(now)
                for code in codes
            ):
                raise no_link()
            return edit_links(unit, links, codes, edit, now)

        return await self._store.transactions.run("links_edit", work)

    @contextmanager
    def _refusals_reported(self) -> Iterator[None]:
        """Count and log a URL that the body refuses, without the URL itself."""
        try:
            yield
        except UrlRefused as error:
            refusal = error.refusal
            REFUSED.labels(refusal.reason.value).inc()
            self._log.info(
                "url_refused", reason=refusal.reason.value, list=refusal.list, line=refusal.line
            )
            raise


def edit_links(
    unit: UnitOfWork, links: dict[str, Link], codes: Sequence[str], edit: Edit, now: datetime
) -> list[Link]:
    """Apply an edit to links of a unit of work; return them in the order of `codes`."""
    edited = {code: edit.of(links[code]) for code in codes}
    changes = [(links[code], link) for code, link in edited.items() if link != links[code]]
    if changes:
        unit.links.save(changes, now)
    return [edited[code] for code in codes]
