"""Commands of owners: create, change, remove, restore and claim links."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from services.links.application.link_creator import LinkCreator
from services.links.application.ports import MAX_BATCH, UnitOfWork
from services.links.domain.code import CodeTaken, NoFreeCode, check_code, random_scan_codes
from services.links.domain.edit import Edit, LinkChanges, removal, restoration
from services.links.domain.link import (
    MAX_CREATIONS,
    MAX_EDITED_CODES,
    Link,
    check_count,
    check_room,
    no_link,
)
from services.links.domain.owner import Account, Guest, Owner, require_owner
from services.links.domain.url import InvalidDomain, UrlRefused


class LinkCommands(LinkCreator):
    """What owners do with their links."""

    async def create(self, code: str, url: str, owner: Owner, domain: str = "") -> Link:
        """Store a link and return it. Repeating the creation changes nothing and returns the link.

        Two creations are the same if code, original URL and owner are equal. An empty domain is
        that of the public URL; only accounts choose another.

        Raises InvalidCode, InvalidUrl, InvalidDomain, UrlRefused, CodeTaken, AccountFull,
        Unavailable.
        """
        return await self._add(self._draft(code, url, owner, domain))

    async def create_all(
        self, creations: Sequence[tuple[str, str, Owner, str]]
    ) -> list[Link | BaseException]:
        """Store up to `MAX_CREATIONS` links, each as `create` does.

        Returns the outcomes in order: the link, or what `create` raised. Raises TooManyCodes.
        """
        check_count(creations, MAX_CREATIONS)
        drafts = await self._slices.map(self._draft_or_error, creations)
        return await asyncio.gather(*map(self._add, drafts), return_exceptions=True)

    async def change(self, owner: Owner, code: str, changes: LinkChanges) -> Link:
        """Change a link of an owner; return it as it is now.

        Raises InvalidOwner for an anonymous owner, NoChanges, InvalidUrl, InvalidTitle,
        InvalidTags, InvalidEndedUrl, InvalidDomain, UrlRefused, NoLink, TooManyUrls, Unavailable.
        """
        known, now = require_owner(owner), self._now()
        if "domain" in changes:
            _check_chooses_domain(known)
        with self._count_refusals():
            edit = changes.edit(self._urls, now)
        (link,) = await self._edit(known, [code], edit, now)
        return link

    async def remove(self, owner: Owner, codes: Sequence[str]) -> list[Link]:
        """Remove links of an owner, so that they can be restored; return them as they are now.

        Raises InvalidOwner for an anonymous owner, TooManyCodes, NoLink, Unavailable.
        """
        check_count(codes, MAX_EDITED_CODES)
        now = self._now()
        return await self._edit(require_owner(owner), codes, removal(now), now)

    async def restore(self, owner: Owner, codes: Sequence[str]) -> list[Link]:
        """Restore removed links of an owner; return them as they are now.

        Raises InvalidOwner for an anonymous owner, TooManyCodes, NoLink, Unavailable.
        """
        check_count(codes, MAX_EDITED_CODES)
        return await self._edit(require_owner(owner), codes, restoration(), self._now())

    async def create_scan_code(self, owner: Owner, code: str) -> Link:
        """Give an owner's link a scan code unless it has one; return the link.

        Raises InvalidOwner for an anonymous owner, NoLink, NoFreeCode, Unavailable.
        """
        known, now = require_owner(owner), self._now()

        def work(unit: UnitOfWork) -> Link:
            link = unit.links.get([code]).get(code)
            if link is None or link.owner != known or link.is_gone_at(now):
                raise no_link()
            if link.scan_code:
                return link
            drawn = random_scan_codes()
            scan_code = next((code for code in drawn if not unit.links.holders([code]).taken), None)
            if scan_code is None:
                raise NoFreeCode("No free code was found.")
            scanned = replace(link, scan_code=scan_code)
            unit.links.save([(link, scanned)], now)
            return scanned

        return await self._store.transactions.run("links_scan_code", work)

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        """Give up to `MAX_BATCH` of a guest's links to an account.

        Returns how many moved, and whether to ask again.

        Raises AccountFull, Unavailable.
        """
        async with self._accounts.reserve(account, MAX_BATCH) as reservation:
            limit = reservation.links
            if not limit:
                check_room(0, len(await self._store.links.owned_codes(guest, 1)))
                return 0, False
            claimed = reservation.stored = await self._store.transactions.run(
                "links_claim", lambda unit: unit.links.reassign(guest, account, limit)
            )
        return claimed, claimed == limit

    def _draft(self, code: str, url: str, owner: Owner, domain: str) -> Link:
        check_code(code, owner)
        if domain:
            _check_chooses_domain(owner)
            domain = self._urls.parse_domain(domain)
        with self._count_refusals():
            return Link(code, self._urls.normalize(url), owner, self._now(), domain=domain)

    def _draft_or_error(self, creation: tuple[str, str, Owner, str]) -> Link | Exception:
        try:
            return self._draft(*creation)
        except Exception as error:
            return error

    async def _add(self, draft: Link | Exception) -> Link:
        if isinstance(draft, Exception):
            raise draft
        if not isinstance(draft.owner, Account):
            return await self._store_new(draft)
        async with self._accounts.reserve(draft.owner, 1) as reservation:
            if not reservation.links:
                found = await self._store.links.find(draft.code)
                check_room(0, 0 if found is not None and draft.repeats(found) else 1)
            stored = await self._store_new(draft)
            reservation.stored = 1 if stored is draft else 0
            return stored

    async def _store_new(self, draft: Link) -> Link:
        """Store a link; return `draft` itself, or the earlier link that it repeats."""
        stored = await self._store.links.add(draft)
        if stored is None or not draft.repeats(stored):
            raise CodeTaken("This code is taken.")
        return stored

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
            return unit.edit(links, codes, edit, now)

        return await self._store.transactions.run("links_edit", work)

    @contextmanager
    def _count_refusals(self) -> Iterator[None]:
        """Count and log URLs that the body refuses."""
        try:
            yield
        except UrlRefused as error:
            self._record_refusal(error.match)
            raise


def _check_chooses_domain(owner: Owner) -> None:
    """Raise InvalidDomain unless the owner is an account."""
    if not isinstance(owner, Account):
        raise InvalidDomain("Only accounts choose a domain.")
