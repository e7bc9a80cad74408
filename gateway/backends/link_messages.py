"""Translates between the messages of the links service and the values of its port."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from atajo.links.v1 import links_pb2
from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.ports import (
    ImportResult,
    ImportRow,
    ImportVerdict,
    Link,
    LinkChanges,
    LinkOrder,
    LinkPreview,
    LinkQuery,
    NewLink,
)
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from services.shared.rpc.fields import datetime_of, from_message, to_message

# The enums of the protocol have the names of the gateway's.
_STATE_NUMBERS = {one: links_pb2.LinkState.Value(f"LINK_STATE_{one.name}") for one in LinkState}
_STATES = {number: state for state, number in _STATE_NUMBERS.items()}
_REASON_NUMBERS = {
    one: links_pb2.BlockReason.Value(f"BLOCK_REASON_{one.name}") for one in BlockReason
}
_REASONS = {number: reason for reason, number in _REASON_NUMBERS.items()}
_ORDER_NUMBERS = {one: links_pb2.LinkOrder.Value(f"LINK_ORDER_{one.name}") for one in LinkOrder}
_VERDICTS = {
    links_pb2.ImportVerdict.Value(f"IMPORT_VERDICT_{one.name}"): one for one in ImportVerdict
}


def owner_message(owner: Owner) -> links_pb2.Owner:
    """Return the message of an owner."""
    match owner:
        case Account(account_id):
            return links_pb2.Owner(account_id=account_id)
        case Guest(key_hash):
            return links_pb2.Owner(guest_key_hash=key_hash)


def creation(code: str, url: str, owner: Owner | None) -> links_pb2.CreateLinkRequest:
    """Return the request to create a link."""
    request = links_pb2.CreateLinkRequest(code=code, url=url)
    match owner:
        case Account(account_id):
            request.account_id = account_id
        case Guest(key_hash):
            request.guest_key_hash = key_hash
    return request


def query_message(owner: Owner, query: LinkQuery) -> links_pb2.QueryLinksRequest:
    """Return the request for a page of an owner's links."""
    return links_pb2.QueryLinksRequest(
        owner=owner_message(owner),
        text=query.text,
        state=_STATE_NUMBERS[query.state] if query.state else links_pb2.LINK_STATE_UNSPECIFIED,
        order=_ORDER_NUMBERS[query.order],
        limit=query.limit,
        cursor=query.cursor,
        without_total=not query.with_total,
    )


def report_message(
    code: str, reason: BlockReason, details: str, contact: str
) -> links_pb2.ReportLinkRequest:
    """Return the request to report a link."""
    return links_pb2.ReportLinkRequest(
        code=code, reason=_REASON_NUMBERS[reason], details=details, contact=contact
    )


def preview_of(message: links_pb2.Link) -> LinkPreview:
    """Return what anybody may know of a link. Other fields of the message are dropped."""
    return from_message(LinkPreview, message, **_converted(message))


def link_of(message: links_pb2.Link) -> Link:
    """Return a link as its owner sees it."""
    return from_message(Link, message, **_converted(message))


def _converted(message: links_pb2.Link) -> dict[str, Any]:
    return {
        "state": _state_of(message.state),
        "reason": _REASONS.get(message.reason),
        "tags": tuple(message.tags),
    }


def changes_message(changes: LinkChanges) -> links_pb2.LinkChanges:
    """Return the message of changes: unchanged fields are absent, removed values are empty."""
    plain: dict[str, Any] = {
        name: "" if value is None else value
        for name, value in changes.items()
        if name not in ("tags", "expires_at")
    }
    message = links_pb2.LinkChanges(**plain)
    if "tags" in changes:
        message.tags.CopyFrom(links_pb2.Tags(tags=changes["tags"]))
    if "expires_at" in changes:
        message.expiry.SetInParent()
        if expires_at := changes["expires_at"]:
            message.expiry.expires_at.FromDatetime(expires_at)
    return message


def new_link_message(link: NewLink) -> links_pb2.NewLink:
    """Return the message of a link to create."""
    return to_message(links_pb2.NewLink, link)


def import_row_message(row: ImportRow) -> links_pb2.ImportRow:
    """Return the message of a row of an import."""
    return to_message(links_pb2.ImportRow, row)


def import_result_of(message: links_pb2.ImportResult) -> ImportResult:
    """Return the result of a row of an import."""
    return from_message(ImportResult, message, verdict=_VERDICTS[message.verdict])


def resolutions_of(messages: Iterable[links_pb2.Resolution]) -> dict[str, Resolution]:
    """Return resolutions by code."""
    return {message.code: resolution_of(message) for message in messages}


def resolution_of(message: links_pb2.Resolution) -> Resolution:
    """Return the resolution of a message."""
    if message.state == links_pb2.LINK_STATE_ACTIVE and not message.HasField("expires_at"):  # Most.
        return Resolution(LinkState.ACTIVE, message.url, link_code=message.link_code)
    return Resolution(
        _state_of(message.state),
        message.url,
        datetime_of(message.expires_at) if message.HasField("expires_at") else None,
        message.ended_url,
        _REASONS.get(message.reason),
        message.link_code,
    )


def _state_of(number: links_pb2.LinkState.ValueType) -> LinkState:
    """Return the state of a link. One that only a later version knows counts as expired."""
    return _STATES.get(number, LinkState.EXPIRED)
