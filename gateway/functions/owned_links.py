"""The links of an owner: shown, changed, removed, restored, and taken along to an account."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import Field, PlainValidator
from starlette.requests import Request

from gateway.backends.owners import Owner
from gateway.backends.ports import Auth, Link, LinkChanges, LinkOrder, Links, Query
from gateway.backends.view_counts import NONE, RECENT_DAYS, Views
from gateway.functions.outcomes import Reply
from gateway.functions.owner import OneOwned, Owned, account_of, owner_of
from gateway.functions.protocol import Payload, Text
from gateway.redirects.resolution import LinkState
from gateway.redirects.resolver import Resolver
from gateway.support import timestamps
from services.shared.errors import DeadlineExceeded, InvalidArgument

DEFAULT_LIMIT = 50
"""Links on a page where nothing is said."""
CLAIM_SECONDS = 60.0
"""How long the steps of a claim may take together: as long as the longest other call."""

Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
"""A whole number that fits the wire; links knows which of them it takes."""


def _expiry(value: Any) -> datetime | None:
    """The moment of an `expires_at`. Raises ValueError for what is no text, InvalidArgument."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("a moment is a string")
    try:
        return timestamps.moment_of(value)
    except ValueError as error:
        raise InvalidArgument(f"expires_at: {error}.", "INVALID_EXPIRY") from None


class ShowLinks(Owned):
    """What is null is as where it is left out."""

    query: Text | None = None
    state: LinkState | None = None
    order: LinkOrder | None = None
    limit: Int32 | None = None
    cursor: Text | None = None
    recent: bool | None = None
    """Whether each link also has the people of its last 30 UTC days."""


class Changes(Payload):
    """What is left out stays as it is. Null takes away what a link can be without."""

    url: Text = ""
    title: Text = ""
    tags: Annotated[list[Text], Field(default_factory=list)]
    expires_at: Annotated[datetime | None, PlainValidator(_expiry)] = None
    ended_url: Text | None = None
    public_statistics: bool = False

    def given(self) -> LinkChanges:
        """Those that the call names. Raises InvalidArgument."""
        if self.ended_url == "":  # To links that would be none.
            raise InvalidArgument("A URL that follows the end is not empty.", "INVALID_ENDED_URL")
        given: Any = self.model_dump(exclude_unset=True)
        changes: LinkChanges = given
        return changes


class ChangeLink(OneOwned):
    changes: Changes


class ManyOwned(Owned):
    """A code that is named twice is as if it were named once."""

    codes: Annotated[list[Text], Field(min_length=1)]


@dataclass(frozen=True)
class OwnedLinks:
    """The functions of an owner's links. Each returns its call's `data`."""

    auth: Auth
    links: Links
    views: Views
    resolver: Resolver

    async def show_link(self, payload: OneOwned, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        link, history = await self.links.get(owner, payload.code)
        return {
            **await self._of_one(link),
            "history": [
                {"long_link": former.url, "until": timestamps.text_of(former.until)}
                for former in history
            ],
        }

    async def show_links(self, payload: ShowLinks, request: Request) -> Reply:
        if payload.cursor == "":  # To links that would be the first page.
            raise InvalidArgument("This cursor was not made here.", "INVALID_CURSOR")
        owner = await owner_of(self.auth, payload)
        query = Query(
            payload.query or "",
            payload.state,
            payload.order or LinkOrder.NEWEST,
            DEFAULT_LIMIT if payload.limit is None else payload.limit,
            payload.cursor or "",
        )
        page = await self.links.query(owner, query)
        shown = partial(self._recent, owner) if payload.recent else self._shown
        return {
            "success": True,
            "links": await shown(page.links),
            "total": page.total,
            "cursor": page.cursor or None,
        }

    async def change_link(self, payload: ChangeLink, request: Request) -> Reply:
        changes = payload.changes.given()
        owner = await owner_of(self.auth, payload)
        link, resolutions = await self.links.change(owner, payload.code, changes)
        self.resolver.edited(resolutions)
        return await self._of_one(link)

    async def remove_links(self, payload: ManyOwned, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        resolutions = await self.links.remove(owner, payload.codes)
        self.resolver.edited(resolutions)
        return {"success": True, "removed": list(dict.fromkeys(payload.codes))}

    async def restore_links(self, payload: ManyOwned, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        resolutions = await self.links.restore(owner, payload.codes)
        self.resolver.edited(resolutions)
        return {"success": True, "restored": list(dict.fromkeys(payload.codes))}

    async def create_scan_code(self, payload: OneOwned, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        scan_code, resolutions = await self.links.create_scan_code(owner, payload.code)
        self.resolver.edited(resolutions)
        return {"success": True, "scan_code": scan_code}

    async def claim_links(self, payload: Owned, request: Request) -> Reply:
        """What moved before an error stays moved, and the next call goes on with the rest."""
        if not payload.token or payload.guest is None:
            raise InvalidArgument("A claim needs both the account and the guest.")
        account = await account_of(self.auth, payload.token)
        claimed, more = 0, True
        try:
            async with asyncio.timeout(CLAIM_SECONDS):
                while more:
                    moved, more = await self.links.claim(payload.guest, account)
                    claimed += moved
        except TimeoutError:
            raise DeadlineExceeded("There are more links than could be moved in time.") from None
        return {"success": True, "claimed": claimed}

    async def _of_one(self, link: Link) -> Reply:
        [shown] = await self._shown([link])
        return {"success": True, "link": shown}

    async def _recent(self, owner: Owner, links: list[Link]) -> list[dict[str, Any]]:
        """Return links as callers see them, each with its daily people of the last 30 UTC days.

        `recent` is null while analytics cannot answer.
        """
        if not links:
            return []
        shown: list[dict[str, Any]]
        shown, recent = await asyncio.gather(
            self._shown(links), self.views.recent_of([link.code for link in links], owner)
        )
        for link in shown:
            link["recent"] = None if recent is None else recent.get(link["code"], [0] * RECENT_DAYS)
        return shown

    async def _shown(self, links: list[Link]) -> list[dict[str, Any]]:
        """Links as callers see them, with how often they were visited where that is known."""
        totals = await self.views.of([link.code for link in links]) if links else {}
        shown = []
        for link in links:
            of_link = None if totals is None else totals.get(link.code, NONE)
            shown.append(
                {
                    "code": link.code,
                    "short_link": link.code,
                    "long_link": link.url,
                    "title": link.title,
                    "tags": link.tags,
                    "state": link.state.value,
                    "reason": link.reason.value if link.reason else None,
                    "created_at": timestamps.text_of(link.created_at),
                    "changed_at": timestamps.text_of(link.changed_at) if link.changed_at else None,
                    "expires_at": timestamps.text_of(link.expires_at) if link.expires_at else None,
                    "ended_url": link.ended_url or None,
                    "public_statistics": link.public_statistics,
                    "views": of_link.people if of_link else None,
                    "bots": of_link.bots if of_link else None,
                }
                | ({"scan_code": link.scan_code} if link.scan_code else {})
            )
        return shown
