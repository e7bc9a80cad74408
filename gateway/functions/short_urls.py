"""createShortLink, accessLink and reportLink: functions of any short URL."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.requests import Request

from gateway.functions.owner import OwnerPayload, find_caller
from gateway.functions.protocol import Payload, Reply, Text
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from gateway.support.headers import combined
from gateway.support.rate_limits import to_networks
from gateway.use_cases.services import Services
from services.shared import link_codes


class CreateShortLink(OwnerPayload):
    """Without `token` and `guest`, the link has no owner. Accounts may choose a domain."""

    code: Text
    url: Text
    domain: Annotated[Text | None, Field(min_length=1)] = None


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


async def create_short_link(
    services: Services, payload: CreateShortLink, request: Request
) -> Reply:
    with services.limits.count_code(to_networks(services.clients.of(request)), payload.code):
        owner = await find_caller(services, payload)
        services.policy.check_creation(owner)
        await services.editor.create(payload.code, payload.url, owner, payload.domain or "")
    return {"code": payload.code, "short_link": payload.code}


async def access_link(services: Services, payload: AccessLink, request: Request) -> Reply:
    code = payload.code
    resolution = await services.resolver.lookup(code) if link_codes.is_code(code) else None
    if resolution is not None and resolution.state is LinkState.ACTIVE:
        # The Referer is the calling page of this product: the real referrer is unknown.
        headers = combined([header for header in request.headers.raw if header[0] != b"referer"])
        host = request.client.host if request.client else ""
        services.visits.record_request(code, headers, host, resolution.link_code)
    return _access_reply(resolution)


async def report_link(services: Services, payload: ReportLink, request: Request) -> Reply:
    report = await services.links.report(
        payload.code,
        payload.reason or BlockReason.OTHER,
        payload.details or "",
        payload.contact or "",
    )
    return {"report": report}


def _access_reply(resolution: Resolution | None) -> Reply:
    """Return the `data` of accessLink: the target, and the state of a link that is not active."""
    if resolution is None:
        return {"longUrl": []}
    target = resolution.target
    reply: Reply = {"longUrl": [{"long_link": target}] if target else []}
    if resolution.state is not LinkState.ACTIVE:
        reply["state"] = resolution.state.value
    if resolution.reason is not None:
        reply["reason"] = resolution.reason.value
    return reply
