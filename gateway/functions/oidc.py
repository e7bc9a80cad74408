"""Functions of log-ins with OpenID Connect, and of connections.

beginOidc, finishOidc, linkOidc, listConnections and removeConnection.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field
from starlette.requests import Request

from gateway.backends.ports import Login
from gateway.functions.accounts import Device, login_reply, parse_browser
from gateway.functions.owner import Password, PasswordPayload, SessionPayload
from gateway.functions.protocol import Payload, Reply, Text
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services

_SECRET = re.compile(r"[\w-]{43}", re.ASCII)


def _secret(value: str) -> str:
    if _SECRET.fullmatch(value) is None:
        raise ValueError("a secret has 43 characters of base64url")
    return value


Secret = Annotated[str, AfterValidator(_secret), Field(repr=False)]
"""32 random bytes in base64url. The page keeps them until it is back from the provider."""
Hidden = Annotated[Text, Field(repr=False)]


class BeginOidc(Payload):
    """With a `token`, the provider confirms its session."""

    secret: Secret
    token: Annotated[Text | None, Field(repr=False)] = None


class FinishOidc(Payload):
    """`code`, `state` and `iss` are those of the provider's response, the others as before."""

    code: Hidden
    state: Hidden
    iss: Text | None = None
    secret: Secret
    token: Annotated[Text | None, Field(repr=False)] = None
    invitation: Annotated[Text | None, Field(repr=False)] = None
    device: Device = None


class LinkOidc(Payload):
    """`link` is that of finishOidc."""

    link: Hidden
    secret: Secret
    password: Password
    device: Device = None


class RemoveConnection(PasswordPayload):
    """`id` may be any text. An invalid id has no connection."""

    id: Text


async def begin_oidc(services: Services, payload: BeginOidc, request: Request) -> Reply:
    return {"url": await services.auth.begin_oidc(payload.secret, payload.token or "")}


async def finish_oidc(services: Services, payload: FinishOidc, request: Request) -> Reply:
    browser, system = parse_browser(request)
    result = await services.auth.finish_oidc(
        payload.code,
        payload.state,
        payload.iss or "",
        payload.secret,
        payload.token or "",
        payload.invitation or "",
        payload.device or "",
        browser,
        system,
    )
    if isinstance(result, Login):
        return login_reply(result, payload)
    return {} if result is None else to_json(result)


async def link_oidc(services: Services, payload: LinkOidc, request: Request) -> Reply:
    login = await services.auth.link_oidc(
        payload.link,
        payload.secret,
        payload.password,
        services.clients.text_of(request),
        payload.device or "",
        *parse_browser(request),
    )
    return login_reply(login, payload)


async def list_connections(services: Services, payload: SessionPayload, request: Request) -> Reply:
    has_password, connections = await services.auth.connections(payload.session_token())
    return {"has_password": has_password, "connections": to_json(connections)}


async def remove_connection(
    services: Services, payload: RemoveConnection, request: Request
) -> None:
    await services.auth.remove_connection(
        payload.session_token(),
        payload.id,
        payload.sent_password,
        services.clients.text_of(request),
    )
