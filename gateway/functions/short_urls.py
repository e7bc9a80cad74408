"""createShortLink, accessLink and reportLink: functions of any short URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.functions.outcomes import Reply
from gateway.functions.owner import OwnerPayload, owner_of
from gateway.functions.protocol import Payload, Text
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from gateway.redirects.resolver import Resolver
from gateway.support.client_ip import ClientIpFinder
from gateway.support.rate_limits import networks_of
from gateway.use_cases.creation_limits import CreationLimits
from gateway.use_cases.links import LinkEditor
from gateway.visits.pipeline import VisitPipeline
from services.shared import link_codes


class CreateShortLink(OwnerPayload):
    """Without `token` and `guest`, the link has no owner."""

    code: Text
    url: Text


class AccessLink(Payload):
    """`code` may be any text. An invalid code has no link."""

    code: str


OptionalText = Annotated[Text | None, Field(repr=False)]
"""Text of a reporter. Null counts as empty."""


class ReportLink(OwnerPayload):
    """`code` may be any text. An invalid code has no link.

    Reports are anonymous: `token` and `guest` are ignored.
    """

    code: Text
    reason: BlockReason | None = None
    details: OptionalText = None
    contact: OptionalText = None


@dataclass(frozen=True)
class ShortUrls:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient
    links: LinksClient
    editor: LinkEditor
    resolver: Resolver
    visits: VisitPipeline
    clients: ClientIpFinder
    limits: CreationLimits

    async def create_short_link(self, payload: CreateShortLink, request: Request) -> Reply:
        with self.limits.count_code(networks_of(self.clients.of(request)), payload.code):
            is_owned = payload.token or payload.guest
            owner = await owner_of(self.auth, payload) if is_owned else None
            await self.editor.create(payload.code, payload.url, owner)
        return {"success": True, "code": payload.code, "short_link": payload.code}

    async def access_link(self, payload: AccessLink, request: Request) -> Reply:
        code = payload.code
        resolution = await self.resolver.lookup(code) if link_codes.is_code(code) else None
        if resolution is not None and resolution.state is LinkState.ACTIVE:
            # The Referer is the calling page of this product: the real referrer is unknown.
            headers = [header for header in request.headers.raw if header[0] != b"referer"]
            host = request.client.host if request.client else ""
            self.visits.record_request(code, headers, host, resolution.link_code)
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
    """Return the `data` of accessLink: the target, and the state of a link that is not active."""
    if resolution is None:
        return {"success": True, "longUrl": []}
    target = resolution.target
    reply: Reply = {"success": True, "longUrl": [{"long_link": target}] if target else []}
    if resolution.state is not LinkState.ACTIVE:
        reply["state"] = resolution.state.value
    if resolution.reason is not None:
        reply["reason"] = resolution.reason.value
    return reply
