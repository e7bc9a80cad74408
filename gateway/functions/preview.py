"""What a link is, told to whoever wants to know it before following it."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from gateway.backends.ports import Link, Links
from gateway.functions.outcomes import Reply
from gateway.functions.owner import OneOwned
from gateway.functions.url_warnings import host_of, warnings_of
from gateway.redirects.resolution import LinkState
from gateway.support import timestamps
from services.shared.errors import NotFound


@dataclass(frozen=True)
class Previews:
    """The function of previews. It returns its call's `data`, counts no visit, follows nothing."""

    links: Links

    async def preview_link(self, payload: OneOwned, request: Request) -> Reply:
        """Everybody is told the same: `token` and `guest` change nothing."""
        try:
            link = await self.links.preview(payload.code)
        except NotFound:
            return {"success": True, "preview": None}
        return {"success": True, "preview": _preview(link)}


def _preview(link: Link) -> Reply:
    """A link as strangers see it. Where a blocked one led, only its host says."""
    leads_to = {} if link.state is LinkState.BLOCKED else {"long_link": link.url}
    return {
        "code": link.code,
        **leads_to,
        "host": host_of(link.url),
        "state": link.state.value,
        "reason": link.reason.value if link.reason else None,
        "created_at": timestamps.text_of(link.created_at),
        "changed_at": timestamps.text_of(link.changed_at) if link.changed_at else None,
        "title": link.title,
        "warnings": [warning.value for warning in warnings_of(link.url)],
    }
