"""Functions of passkeys.

listPasskeys, beginPasskey, finishPasskey, removePasskey, beginLogin and finishLogin.

Options and credentials are JSON as browsers have it, see WebAuthn Level 3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.functions.accounts import (
    Device,
    Password,
    browser_of,
    login_reply,
    token_with_password,
)
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Token, session_token
from gateway.functions.protocol import Payload, Text
from gateway.functions.sessions import creator_json
from gateway.support.client_ip import ClientIpFinder
from gateway.support.timestamps import text_of

Credential = Annotated[dict[str, Any], Field(repr=False)]


class ListPasskeys(Payload):
    token: Token = None


class BeginPasskey(Payload):
    token: Token = None
    password: Password


class FinishPasskey(Payload):
    token: Token = None
    name: Text
    credential: Credential


class RemovePasskey(Payload):
    """`id` may be any text. An invalid id has no passkey."""

    token: Token = None
    id: Text
    password: Password


class BeginLogin(Payload):
    pass


class FinishLogin(Payload):
    credential: Credential
    device: Device = None


@dataclass(frozen=True)
class Passkeys:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient
    clients: ClientIpFinder

    async def list_passkeys(self, payload: ListPasskeys, request: Request) -> Reply:
        passkeys = await self.auth.passkeys(session_token(payload.token))
        return {
            "success": True,
            "passkeys": [
                {
                    "id": passkey.id,
                    "name": passkey.name,
                    "created_at": text_of(passkey.created_at),
                    "last_used_at": text_of(passkey.last_used_at) if passkey.last_used_at else None,
                    "created_by": creator_json(passkey.created_by),
                }
                for passkey in passkeys
            ],
        }

    async def begin_passkey(self, payload: BeginPasskey, request: Request) -> Reply:
        options = await self.auth.begin_passkey(
            token_with_password(payload), payload.password, self.clients.text_of(request)
        )
        return {"success": True, "options": json.loads(options)}

    async def finish_passkey(self, payload: FinishPasskey, request: Request) -> Reply:
        passkey_id = await self.auth.finish_passkey(
            session_token(payload.token), payload.name, json.dumps(payload.credential)
        )
        return {"success": True, "id": passkey_id}

    async def remove_passkey(self, payload: RemovePasskey, request: Request) -> Reply:
        token = token_with_password(payload)
        await self.auth.remove_passkey(
            token, payload.id, payload.password, self.clients.text_of(request)
        )
        return {"success": True}

    async def begin_login(self, payload: BeginLogin, request: Request) -> Reply:
        return {"success": True, "options": json.loads(await self.auth.begin_login())}

    async def finish_login(self, payload: FinishLogin, request: Request) -> Reply:
        login = await self.auth.finish_login(
            json.dumps(payload.credential), payload.device or "", *browser_of(request)
        )
        return login_reply(login, payload)
