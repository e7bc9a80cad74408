"""showLink, showLinks, showProfile, changeLink and others: functions of an owner's links."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Annotated, Any

from pydantic import FailFast, Field
from starlette.requests import Request

from gateway.backends.ports import LinkChanges, LinkOrder, LinkQuery
from gateway.functions.owner import (
    OwnedLinkPayload,
    OwnerPayload,
    SessionPayload,
    find_account,
    find_owner,
)
from gateway.functions.protocol import Expiry, Payload, Reply, Text, with_fields_of
from gateway.redirects.resolution import LinkState
from gateway.support.rate_limits import to_networks
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services
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


async def show_link(services: Services, payload: OwnedLinkPayload, request: Request) -> Reply:
    owner = await find_owner(services, payload)
    link, history = await services.links.get(owner, payload.code)
    return {
        "link": await services.presenter.one(link),
        "history": [
            {"long_link": former.url, "until": to_json(former.until)} for former in history
        ],
    }


async def show_links(services: Services, payload: ShowLinks, request: Request) -> Reply:
    if payload.cursor == "":  # links takes an empty cursor for the first page.
        raise InvalidArgument("This cursor was not made here.", "INVALID_CURSOR")
    owner = await find_owner(services, payload)
    query = LinkQuery(
        payload.query or "",
        payload.state,
        payload.order or LinkOrder.NEWEST,
        DEFAULT_LIMIT if payload.limit is None else payload.limit,
        payload.cursor or "",
    )
    page = await services.links.query(owner, query)
    links = await (
        services.presenter.all_with_recent(owner, page.links)
        if payload.recent
        else services.presenter.all(page.links)
    )
    return {"links": links, "total": page.total, "cursor": page.cursor or None}


async def change_link(services: Services, payload: ChangeLink, request: Request) -> Reply:
    changes = payload.changes.as_port_value()
    owner = await find_owner(services, payload)
    link = await services.editor.change(owner, payload.code, changes)
    return {"link": await services.presenter.one(link)}


async def remove_links(services: Services, payload: OwnedLinksPayload, request: Request) -> Reply:
    owner = await find_owner(services, payload)
    await services.editor.remove(owner, payload.codes)
    return {"removed": list(dict.fromkeys(payload.codes))}


async def restore_links(services: Services, payload: OwnedLinksPayload, request: Request) -> Reply:
    owner = await find_owner(services, payload)
    await services.editor.restore(owner, payload.codes)
    return {"restored": list(dict.fromkeys(payload.codes))}


async def create_scan_code(
    services: Services, payload: OwnedLinkPayload, request: Request
) -> Reply:
    owner = await find_owner(services, payload)
    scan_code = await services.editor.create_scan_code(owner, payload.code)
    return {"scan_code": scan_code}


async def claim_links(services: Services, payload: OwnerPayload, request: Request) -> Reply:
    """Move all links of the guest. After an error, the next call continues with the rest."""
    if not payload.token or payload.guest is None:
        raise InvalidArgument("A claim needs both the account and the guest.")
    account = await find_account(services, payload)
    return {"claimed": await services.editor.claim(payload.guest, account)}


async def show_profile(
    services: Services, payload: SessionPayload, request: Request
) -> AsyncGenerator[bytes, None]:
    account = await find_account(services, payload)
    return services.profiles.stream(account, to_networks(services.clients.of(request)))
