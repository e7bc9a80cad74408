"""createKey, listKeys and revokeKey: functions of an account's API keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import FailFast
from starlette.requests import Request

from gateway.backends.ports import Scope
from gateway.functions.owner import PasswordPayload, SessionPayload
from gateway.functions.protocol import Expiry, Reply, Text
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services


class CreateKey(PasswordPayload):
    name: Text
    scopes: Annotated[list[Scope], FailFast()]
    expires_at: Expiry = None


class RevokeKey(SessionPayload):
    """`id` may be any text. An invalid id has no key."""

    id: Text


async def create_key(services: Services, payload: CreateKey, request: Request) -> Reply:
    key_id, key = await services.auth.create_key(
        payload.session_token(),
        payload.sent_password,
        payload.name,
        payload.scopes,
        payload.expires_at,
        services.clients.text_of(request),
    )
    return {"id": key_id, "key": key}


async def list_keys(services: Services, payload: SessionPayload, request: Request) -> Reply:
    return {"keys": to_json(await services.auth.keys(payload.session_token()))}


async def revoke_key(services: Services, payload: RevokeKey, request: Request) -> None:
    await services.auth.revoke_key(payload.session_token(), payload.id)
