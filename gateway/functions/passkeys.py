"""Functions of passkeys.

listPasskeys, beginPasskey, finishPasskey, removePasskey, beginLogin and finishLogin.

Options and credentials are JSON as browsers have it, see WebAuthn Level 3.
"""

from __future__ import annotations

import json

from starlette.requests import Request

from gateway.functions.accounts import Credential, Device, login_reply, parse_browser
from gateway.functions.owner import PasswordPayload, SessionPayload
from gateway.functions.protocol import Payload, Reply, Text
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services


class FinishPasskey(SessionPayload):
    name: Text
    credential: Credential


class RemovePasskey(PasswordPayload):
    """`id` may be any text. An invalid id has no passkey."""

    id: Text


class FinishLogin(Payload):
    credential: Credential
    device: Device = None


async def list_passkeys(services: Services, payload: SessionPayload, request: Request) -> Reply:
    return {"passkeys": to_json(await services.auth.passkeys(payload.session_token()))}


async def begin_passkey(services: Services, payload: PasswordPayload, request: Request) -> Reply:
    options = await services.auth.begin_passkey(
        payload.session_token(), payload.sent_password, services.clients.text_of(request)
    )
    return {"options": json.loads(options)}


async def finish_passkey(services: Services, payload: FinishPasskey, request: Request) -> Reply:
    passkey_id = await services.auth.finish_passkey(
        payload.session_token(), payload.name, json.dumps(payload.credential)
    )
    return {"id": passkey_id}


async def remove_passkey(services: Services, payload: RemovePasskey, request: Request) -> None:
    await services.auth.remove_passkey(
        payload.session_token(),
        payload.id,
        payload.sent_password,
        services.clients.text_of(request),
    )


async def begin_login(services: Services, payload: Payload, request: Request) -> Reply:
    return {"options": json.loads(await services.auth.begin_login())}


async def finish_login(services: Services, payload: FinishLogin, request: Request) -> Reply:
    login = await services.auth.finish_login(
        json.dumps(payload.credential), payload.device or "", *parse_browser(request)
    )
    return login_reply(login, payload)
