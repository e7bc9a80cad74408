"""previewLink: what anybody may know of a link before following it."""

from __future__ import annotations

from starlette.requests import Request

from gateway.backends.ports import LinkPreview
from gateway.functions.owner import OwnedLinkPayload
from gateway.functions.protocol import Reply
from gateway.redirects.resolution import LinkState
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services
from gateway.use_cases.url_warnings import find_warnings, parse_host
from services.shared.errors import NotFound

_WITH_HOST = frozenset({LinkState.ACTIVE, LinkState.BLOCKED})
"""States in which strangers see the host."""


async def preview_link(services: Services, payload: OwnedLinkPayload, request: Request) -> Reply:
    """Return the same preview to every caller: `token` and `guest` are ignored."""
    try:
        link = await services.links.preview(payload.code)
    except NotFound:
        return {"preview": None}
    return {"preview": preview_json(link)}


def preview_json(link: LinkPreview) -> Reply:
    """Return a link as strangers see it.

    Only an active link has `long_link` and `title`. A blocked one has its host, with the warnings
    about it. An expired or removed link has nothing of its destination: its owner took it back.
    """
    shown: Reply = {
        "code": link.code,
        "state": to_json(link.state),
        "reason": to_json(link.reason),
        "created_at": to_json(link.created_at),
        "changed_at": to_json(link.changed_at),
        "warnings": [],
    }
    if link.state in _WITH_HOST:
        shown["host"] = parse_host(link.url)
        shown["warnings"] = to_json(find_warnings(link.url))
    if link.state is LinkState.ACTIVE:
        shown["long_link"] = link.url
        shown["title"] = link.title
    return shown
