"""showLink, showLinks, changeLink and others: functions of an owner's links."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, PlainValidator
from starlette.requests import Request

from gateway.backends.owners import Owner
from gateway.backends.ports import Auth, Link, LinkChanges, LinkOrder, LinkQuery, Links
from gateway.backends.view_counts import NO_VIEWS, RECENT_DAYS, ViewCounts
from gateway.functions.link_json import link_json
from gateway.functions.outcomes import Reply
from gateway.functions.owner import OwnedLinkPayload, OwnerPayload, account_of, owner_of
from gateway.functions.protocol import Payload, Text
from gateway.redirects.resolution import LinkState
from gateway.redirects.resolver import Resolver
from gateway.support.timestamps import datetime_of, text_of
from services.shared.errors import DeadlineExceeded, InvalidArgument

DEFAULT_LIMIT = 50
"""Default number of links on a page."""
CLAIM_SECONDS = 60.0
"""Timeout of all steps of a claim: as long as the longest other call."""

Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
"""An int32 of protobuf. links validates the range."""


def _expiry(value: Any) -> datetime | None:
    """Parse `expires_at`. Raises ValueError if it is not a string, and InvalidArgument."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("a timestamp is a string")
    try:
        return datetime_of(value)
    except ValueError as error:
        raise InvalidArgument(f"expires_at: {error}.", "INVALID_EXPIRY") from None


class ShowLinks(OwnerPayload):
    """Null counts as absent."""

    query: Text | None = None
    state: LinkState | None = None
    order: LinkOrder | None = None
    limit: Int32 | None = None
    cursor: Text | None = None
    recent: bool | None = None
    """Whether to return the daily views of the last 30 UTC days, too."""


class ChangesPayload(Payload):
    """Absent fields stay as they are. Null removes an optional value."""

    url: Text = ""
    title: Text = ""
    tags: Annotated[list[Text], Field(default_factory=list)]
    expires_at: Annotated[datetime | None, PlainValidator(_expiry)] = None
    ended_url: Text | None = None
    public_statistics: bool = False

    def as_port_value(self) -> LinkChanges:
        """Return the changes for links. Raises InvalidArgument."""
        if self.ended_url == "":  # links takes an empty URL for none.
            raise InvalidArgument(
                "The URL after the expiry must not be empty.", "INVALID_ENDED_URL"
            )
        present: Any = self.model_dump(exclude_unset=True)
        changes: LinkChanges = present
        return changes


class ChangeLink(OwnedLinkPayload):
    changes: ChangesPayload


class OwnedLinksPayload(OwnerPayload):
    """Repeated codes count once."""

    codes: Annotated[list[Text], Field(min_length=1)]


@dataclass(frozen=True)
class OwnedLinks:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: Auth
    links: Links
    views: ViewCounts
    resolver: Resolver

    async def show_link(self, payload: OwnedLinkPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        link, history = await self.links.get(owner, payload.code)
        return {
            **await self._one_link(link),
            "history": [
                {"long_link": former.url, "until": text_of(former.until)} for former in history
            ],
        }

    async def show_links(self, payload: ShowLinks, request: Request) -> Reply:
        if payload.cursor == "":  # links takes an empty cursor for the first page.
            raise InvalidArgument("This cursor was not made here.", "INVALID_CURSOR")
        owner = await owner_of(self.auth, payload)
        query = LinkQuery(
            payload.query or "",
            payload.state,
            payload.order or LinkOrder.NEWEST,
            DEFAULT_LIMIT if payload.limit is None else payload.limit,
            payload.cursor or "",
        )
        page = await self.links.query(owner, query)
        links = await (
            self._with_recent(owner, page.links) if payload.recent else self._with_views(page.links)
        )
        return {
            "success": True,
            "links": links,
            "total": page.total,
            "cursor": page.cursor or None,
        }

    async def change_link(self, payload: ChangeLink, request: Request) -> Reply:
        changes = payload.changes.as_port_value()
        owner = await owner_of(self.auth, payload)
        link, resolutions = await self.links.change(owner, payload.code, changes)
        self.resolver.put_edited(resolutions)
        return await self._one_link(link)

    async def remove_links(self, payload: OwnedLinksPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        resolutions = await self.links.remove(owner, payload.codes)
        self.resolver.put_edited(resolutions)
        return {"success": True, "removed": list(dict.fromkeys(payload.codes))}

    async def restore_links(self, payload: OwnedLinksPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        resolutions = await self.links.restore(owner, payload.codes)
        self.resolver.put_edited(resolutions)
        return {"success": True, "restored": list(dict.fromkeys(payload.codes))}

    async def create_scan_code(self, payload: OwnedLinkPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        scan_code, resolutions = await self.links.create_scan_code(owner, payload.code)
        self.resolver.put_edited(resolutions)
        return {"success": True, "scan_code": scan_code}

    async def claim_links(self, payload: OwnerPayload, request: Request) -> Reply:
        """Move all links of the guest. After an error, the next call continues with the rest."""
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

    async def _one_link(self, link: Link) -> Reply:
        [shown] = await self._with_views([link])
        return {"success": True, "link": shown}

    async def _with_recent(self, owner: Owner, links: list[Link]) -> list[dict[str, Any]]:
        """Return links as JSON, each with its daily views of the last 30 UTC days.

        `recent` is null while analytics is unavailable.
        """
        if not links:
            return []
        shown: list[dict[str, Any]]
        shown, recent = await asyncio.gather(
            self._with_views(links), self.views.recent_people([link.code for link in links], owner)
        )
        for link in shown:
            link["recent"] = None if recent is None else recent.get(link["code"], [0] * RECENT_DAYS)
        return shown

    async def _with_views(self, links: list[Link]) -> list[dict[str, Any]]:
        """Return links as JSON, with their views."""
        totals = await self.views.totals([link.code for link in links]) if links else {}
        return [
            link_json(link, None if totals is None else totals.get(link.code, NO_VIEWS))
            for link in links
        ]
