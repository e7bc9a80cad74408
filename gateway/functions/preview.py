"""previewLink: what anybody may know of a link before following it."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from gateway.backends.links import LinksClient
from gateway.backends.ports import LinkPreview
from gateway.functions.outcomes import Reply
from gateway.functions.owner import OwnedLinkPayload
from gateway.redirects.resolution import LinkState
from gateway.support.timestamps import text_of
from gateway.use_cases.url_warnings import host_of, warnings_of
from services.shared.errors import NotFound

_WITH_HOST = frozenset({LinkState.ACTIVE, LinkState.BLOCKED})
"""States in which strangers see the host."""


@dataclass(frozen=True)
class Previews:
    """Returns the `data` of previewLink. Records no visit, and does not request the URL."""

    links: LinksClient

    async def preview_link(self, payload: OwnedLinkPayload, request: Request) -> Reply:
        """Return the same preview to every caller: `token` and `guest` are ignored."""
        try:
            link = await self.links.preview(payload.code)
        except NotFound:
            return {"success": True, "preview": None}
        return {"success": True, "preview": preview_json(link)}


def preview_json(link: LinkPreview) -> Reply:
    """Return a link as strangers see it.

    Only an active link has `long_link` and `title`. A blocked one has its host, with the warnings
    about it. An expired or removed link has nothing of its destination: its owner took it back.
    """
    shown: Reply = {
        "code": link.code,
        "state": link.state.value,
        "reason": link.reason.value if link.reason else None,
        "created_at": text_of(link.created_at),
        "changed_at": text_of(link.changed_at) if link.changed_at else None,
        "warnings": [],
    }
    if link.state in _WITH_HOST:
        shown["host"] = host_of(link.url)
        shown["warnings"] = [warning.value for warning in warnings_of(link.url)]
    if link.state is LinkState.ACTIVE:
        shown["long_link"] = link.url
        shown["title"] = link.title
    return shown
