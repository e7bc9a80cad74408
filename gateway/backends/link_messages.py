"""Translates between the messages of the links service and the values of its port."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from atajo.links.v1 import links_pb2 as pb
from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.ports import Link, LinkChanges, LinkPreview, LinkQuery
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from services.shared.rpc.fields import enum_members, from_message, to_datetime, to_message

_STATES = enum_members(LinkState, pb.LinkState)
_REASONS = enum_members(BlockReason, pb.BlockReason)


def to_owner(owner: Owner) -> pb.Owner:
    """Return the message of an owner."""
    match owner:
        case Account(account_id):
            return pb.Owner(account_id=account_id)
        case Guest(key_hash):
            return pb.Owner(guest_key_hash=key_hash)


def to_creation(code: str, url: str, owner: Owner | None) -> pb.CreateLinkRequest:
    """Return the request to create a link."""
    request = pb.CreateLinkRequest(code=code, url=url)
    match owner:
        case Account(account_id):
            request.account_id = account_id
        case Guest(key_hash):
            request.guest_key_hash = key_hash
    return request


def to_query(owner: Owner, query: LinkQuery) -> pb.QueryLinksRequest:
    """Return the request for a page of an owner's links."""
    return to_message(
        pb.QueryLinksRequest, query, owner=to_owner(owner), without_total=not query.with_total
    )


def parse_link(message: pb.Link) -> Link:
    """Return a link as its owner sees it."""
    return from_message(Link, message, state=_parse_state(message.state))


def parse_preview(message: pb.Link) -> LinkPreview:
    """Return what anybody may know of a link. Other fields of the message are dropped."""
    return from_message(LinkPreview, message, state=_parse_state(message.state))


def to_changes(changes: LinkChanges) -> pb.LinkChanges:
    """Return the message of changes: unchanged fields are absent, removed values are empty."""
    plain: dict[str, Any] = {
        name: "" if value is None else value
        for name, value in changes.items()
        if name not in ("tags", "expires_at")
    }
    message = pb.LinkChanges(**plain)
    if "tags" in changes:
        message.tags.CopyFrom(pb.Tags(tags=changes["tags"]))
    if "expires_at" in changes:
        message.expiry.SetInParent()
        if expires_at := changes["expires_at"]:
            message.expiry.expires_at.FromDatetime(expires_at)
    return message


def parse_resolutions(messages: Iterable[pb.Resolution]) -> dict[str, Resolution]:
    """Return resolutions by code."""
    return {message.code: parse_resolution(message) for message in messages}


def parse_resolution(message: pb.Resolution) -> Resolution:
    """Return the resolution of a message."""
    if message.state == pb.LINK_STATE_ACTIVE and not message.HasField("expires_at"):  # Most.
        return Resolution(LinkState.ACTIVE, message.url, link_code=message.link_code)
    return Resolution(
        _parse_state(message.state),
        message.url,
        to_datetime(message.expires_at) if message.HasField("expires_at") else None,
        message.ended_url,
        _REASONS.get(message.reason),
        message.link_code,
    )


def _parse_state(number: pb.LinkState.ValueType) -> LinkState:
    """Return the state of a link. One that only a later version knows counts as expired."""
    return _STATES.get(number, LinkState.EXPIRED)
