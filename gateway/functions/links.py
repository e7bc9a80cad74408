"""Short addresses: made, followed where nobody stands at the edge, and reported by anybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from starlette.requests import Request

from gateway.backends.ports import Auth, Links
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Owned, owner_of
from gateway.functions.protocol import Payload, Text
from gateway.metrics import LINKS_CREATED
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from gateway.redirects.resolver import Resolver
from gateway.visits.pipeline import VisitPipeline
from services.shared import codes


class CreateShortLink(Owned):
    """Without `token` and `guest` the link belongs to nobody."""

    code: Text
    url: Text


class AccessLink(Payload):
    """`code` may be any text. One that is no code leads nowhere."""

    code: str


Written = Annotated[Text | None, Field(repr=False)]
"""What a reporter wrote; null is as empty."""


class ReportLink(Owned):
    """`code` may be any text: one that is no code has no link.

    Who reports is not asked for: what `token` and `guest` name is neither looked up nor passed on.
    """

    code: Text
    reason: BlockReason | None = None
    details: Written = None
    contact: Written = None


@dataclass(frozen=True)
class ShortAddresses:
    """The functions of short addresses. Each returns its call's `data`."""

    auth: Auth
    links: Links
    resolver: Resolver
    visits: VisitPipeline

    async def create_short_link(self, payload: CreateShortLink, request: Request) -> Reply:
        is_owned = payload.token or payload.guest
        owner = await owner_of(self.auth, payload) if is_owned else None
        since = self.resolver.changes
        resolution = await self.links.create(payload.code, payload.url, owner)
        self.resolver.put(payload.code, resolution, since)
        LINKS_CREATED.inc()
        return {"success": True, "code": payload.code, "short_link": payload.code}

    async def access_link(self, payload: AccessLink, request: Request) -> Reply:
        code = payload.code
        resolution = await self.resolver.lookup(code) if codes.is_code(code) else None
        if resolution is not None and resolution.state is LinkState.ACTIVE:
            # The page that called is our own; where its visitor came from is not told.
            told = [header for header in request.headers.raw if header[0] != b"referer"]
            host = request.client.host if request.client else ""
            self.visits.take(code, told, host, resolution.link_code)
        return _access_reply(resolution)

    async def report_link(self, payload: ReportLink, request: Request) -> Reply:
        report = await self.links.report(
            payload.code,
            payload.reason or BlockReason.OTHER,
            payload.details or "",
            payload.contact or "",
        )
        return {"success": True, "report": report}


def _access_reply(resolution: Resolution | None) -> Reply:
    """What `accessLink` returns: where a code leads, and the state of a link that is not active."""
    if resolution is None:
        return {"success": True, "longUrl": []}
    target = resolution.target
    reply: Reply = {"success": True, "longUrl": [{"long_link": target}] if target else []}
    if resolution.state is not LinkState.ACTIVE:
        reply["state"] = resolution.state.value
    if resolution.reason is not None:
        reply["reason"] = resolution.reason.value
    return reply
