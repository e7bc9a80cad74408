"""createKey, listKeys and revokeKey: functions of an account's API keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import FailFast
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.ports import ApiKey, Scope
from gateway.functions.accounts import Password, token_with_password
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Token, session_token
from gateway.functions.protocol import Expiry, Payload, Text
from gateway.functions.sessions import creator_json
from gateway.support.client_ip import ClientIpFinder
from gateway.support.timestamps import text_of


class CreateKey(Payload):
    token: Token = None
    password: Password
    name: Text
    scopes: Annotated[list[Scope], FailFast()]
    expires_at: Expiry = None


class ListKeys(Payload):
    token: Token = None


class RevokeKey(Payload):
    """`id` may be any text. An invalid id has no key."""

    token: Token = None
    id: Text


@dataclass(frozen=True)
class Keys:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient
    clients: ClientIpFinder

    async def create_key(self, payload: CreateKey, request: Request) -> Reply:
        key_id, key = await self.auth.create_key(
            token_with_password(payload),
            payload.password,
            payload.name,
            payload.scopes,
            payload.expires_at,
            self.clients.text_of(request),
        )
        return {"success": True, "id": key_id, "key": key}

    async def list_keys(self, payload: ListKeys, request: Request) -> Reply:
        keys = await self.auth.keys(session_token(payload.token))
        return {"success": True, "keys": [_key_json(key) for key in keys]}

    async def revoke_key(self, payload: RevokeKey, request: Request) -> Reply:
        await self.auth.revoke_key(session_token(payload.token), payload.id)
        return {"success": True}


def _key_json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": [scope.value for scope in key.scopes],
        "created_at": text_of(key.created_at),
        "expires_at": text_of(key.expires_at) if key.expires_at else None,
        "last_used_at": text_of(key.last_used_at) if key.last_used_at else None,
        "created_by": creator_json(key.created_by),
    }
