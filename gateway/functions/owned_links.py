"""showLink, showLinks, changeLink and others: functions of an owner's links."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import FailFast, Field
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.backends.ports import LinkChanges, LinkOrder, LinkQuery
from gateway.functions.outcomes import Reply
from gateway.functions.owner import OwnedLinkPayload, OwnerPayload, account_of, owner_of
from gateway.functions.port_fields import with_fields_of
from gateway.functions.protocol import Expiry, Payload, Text
from gateway.redirects.resolution import LinkState
from gateway.support.timestamps import text_of
from gateway.use_cases.links import LinkEditor, LinkPresenter
from services.shared.errors import InvalidArgument

DEFAULT_LIMIT = 50
"""Default number of links on a page."""

Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
"""An int32 of protobuf. links validates the range."""


class ShowLinks(OwnerPayload):
    """Null counts as absent."""

    query: Text | None = None
    state: LinkState | None = None
    order: LinkOrder | None = None
    limit: Int32 | None = None
    cursor: Text | None = None
    recent: bool | None = None
    """Whether to return the daily views of the last 30 UTC days, too."""


_CHANGE_TYPES = {
    str: Text,
    str | None: Text | None,
    list[str]: Annotated[list[Text], FailFast()],
    datetime | None: Expiry,
    bool: bool,
}


@with_fields_of(LinkChanges, _CHANGE_TYPES)
class ChangesPayload(Payload):
    """Absent fields stay as they are. Null removes an optional value."""

    def as_port_value(self) -> LinkChanges:
        """Return the changes for links. Raises InvalidArgument."""
        present: Any = self.model_dump(exclude_unset=True)
        changes: LinkChanges = present
        if changes.get("ended_url") == "":  # links takes an empty URL for none.
            raise InvalidArgument(
                "The URL after the expiry must not be empty.", "INVALID_ENDED_URL"
            )
        return changes


class ChangeLink(OwnedLinkPayload):
    changes: ChangesPayload


class OwnedLinksPayload(OwnerPayload):
    """Repeated codes count once."""

    codes: Annotated[list[Text], FailFast(), Field(min_length=1)]


@dataclass(frozen=True)
class OwnedLinks:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient
    links: LinksClient
    editor: LinkEditor
    presenter: LinkPresenter

    async def show_link(self, payload: OwnedLinkPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        link, history = await self.links.get(owner, payload.code)
        return {
            "success": True,
            "link": await self.presenter.one(link),
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
            self.presenter.all_with_recent(owner, page.links)
            if payload.recent
            else self.presenter.all(page.links)
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
        link = await self.editor.change(owner, payload.code, changes)
        return {"success": True, "link": await self.presenter.one(link)}

    async def remove_links(self, payload: OwnedLinksPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        await self.editor.remove(owner, payload.codes)
        return {"success": True, "removed": list(dict.fromkeys(payload.codes))}

    async def restore_links(self, payload: OwnedLinksPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        await self.editor.restore(owner, payload.codes)
        return {"success": True, "restored": list(dict.fromkeys(payload.codes))}

    async def create_scan_code(self, payload: OwnedLinkPayload, request: Request) -> Reply:
        owner = await owner_of(self.auth, payload)
        scan_code = await self.editor.create_scan_code(owner, payload.code)
        return {"success": True, "scan_code": scan_code}

    async def claim_links(self, payload: OwnerPayload, request: Request) -> Reply:
        """Move all links of the guest. After an error, the next call continues with the rest."""
        if not payload.token or payload.guest is None:
            raise InvalidArgument("A claim needs both the account and the guest.")
        account = await account_of(self.auth, payload.token)
        return {"success": True, "claimed": await self.editor.claim(payload.guest, account)}
