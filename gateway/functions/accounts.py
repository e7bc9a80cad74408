"""Functions of accounts and their passwords.

verifyUser, registerUser, confirmSession, changePassword, removeAccount, createRecoveryCodes,
countRecoveryCodes and resetPassword.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from starlette.requests import Request

from gateway.backends.ports import Login, Role
from gateway.functions.owner import Password, PasswordPayload, SessionPayload
from gateway.functions.protocol import Payload, Reply, Text
from gateway.support.user_agents import parse_user_agent
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services
from services.shared.errors import InvalidArgument

_MAX_DEVICE_CHARACTERS = 1000


def _device(value: str | None) -> str | None:
    if value is not None and len(value) > _MAX_DEVICE_CHARACTERS:
        raise InvalidArgument(f"A device has at most {_MAX_DEVICE_CHARACTERS} characters.")
    return value


Device = Annotated[str | None, AfterValidator(_device), Field(repr=False)]
"""A browser's device token. An invalid one counts as none."""
Credential = Annotated[dict[str, Any], Field(repr=False)]
"""A browser's answer as WebAuthn Level 3 has it in JSON."""


class VerifyUser(Payload):
    """Only responses to calls with a `device`, initially null, have one, and `administrator: true`
    for an administrator: older clients expect four keys.
    """

    email: Text
    password: Password
    device: Device = None


class RegisterUser(Payload):
    """`password` is the bcrypt hash that the page computed. `invitation` is the token of one."""

    email: Text
    password: Password
    salt: Password
    username: Text
    invitation: Annotated[Text | None, Field(repr=False)] = None


class ConfirmSession(SessionPayload):
    """`credential` is a browser's answer to the options of beginLogin. Either it or `password` is
    sent.
    """

    password: Annotated[Text | None, Field(repr=False)] = None
    credential: Annotated[dict[str, Any] | None, Field(repr=False)] = None


class ChangePassword(PasswordPayload):
    """`password` is the current one, `new_password` the bcrypt hash that the page computed.

    `revoke` is whether to revoke API keys and passkeys, and to remove connections.
    """

    new_password: Password
    new_salt: Password
    revoke: bool | None = None


class ResetPassword(Payload):
    """`new_password` is the bcrypt hash that the page computed, `revoke` as in `ChangePassword`."""

    email: Text
    recovery_code: Password
    new_password: Password
    new_salt: Password
    device: Device = None
    revoke: bool | None = None


async def verify_user(services: Services, payload: VerifyUser, request: Request) -> Reply:
    if not payload.email or not payload.password:
        raise InvalidArgument("Email and password are needed.")
    login = await services.auth.login(
        payload.email,
        payload.password,
        services.clients.text_of(request),
        payload.device or "",
        *parse_browser(request),
    )
    return login_reply(login, payload)


async def register_user(services: Services, payload: RegisterUser, request: Request) -> None:
    await services.auth.register(
        payload.email,
        payload.password,
        payload.salt,
        payload.username,
        payload.invitation or "",
    )


async def confirm_session(services: Services, payload: ConfirmSession, request: Request) -> None:
    token, client_ip = payload.session_token(), services.clients.text_of(request)
    match payload.password, payload.credential:
        case str(password), None if password:
            await services.auth.confirm_by_password(token, password, client_ip)
        case None, dict(credential):
            await services.auth.confirm_by_passkey(token, json.dumps(credential), client_ip)
        case _:
            raise InvalidArgument("Either the password or a credential is needed.")


async def change_password(services: Services, payload: ChangePassword, request: Request) -> Reply:
    token, expires_at = await services.auth.change_password(
        payload.session_token(),
        payload.sent_password,
        payload.new_password,
        payload.new_salt,
        services.clients.text_of(request),
        *parse_browser(request),
        revoke=payload.revoke or False,
    )
    return {"token": token, "expirationTimestamp": _to_unix_milliseconds(expires_at)}


async def remove_account(services: Services, payload: PasswordPayload, request: Request) -> None:
    await services.auth.close_account(
        payload.session_token(), payload.sent_password, services.clients.text_of(request)
    )


async def create_recovery_codes(
    services: Services, payload: PasswordPayload, request: Request
) -> Reply:
    codes = await services.auth.create_recovery_codes(
        payload.session_token(), payload.sent_password, services.clients.text_of(request)
    )
    return {"codes": codes}


async def count_recovery_codes(
    services: Services, payload: SessionPayload, request: Request
) -> Reply:
    left, created_at = await services.auth.count_recovery_codes(payload.session_token())
    return {"left": left, "created_at": to_json(created_at)}


async def reset_password(services: Services, payload: ResetPassword, request: Request) -> None:
    if not payload.email or not payload.recovery_code:
        raise InvalidArgument("Email and recovery code are needed.")
    await services.auth.reset_password(
        payload.email,
        payload.recovery_code,
        payload.new_password,
        payload.new_salt,
        services.clients.text_of(request),
        payload.device or "",
        payload.revoke or False,
    )


def parse_browser(request: Request) -> tuple[str, str]:
    """Return the names of the browser and the operating system, empty if they are unknown."""
    user_agent = request.headers.get("user-agent", "").encode("latin-1")
    agent = parse_user_agent(user_agent)
    return agent.browser, agent.system


def login_reply(login: Login, payload: Payload) -> Reply:
    """Return the data of a log-in; with a `device`, and the role, if the payload has a `device`."""
    reply: Reply = {
        "token": login.token,
        "expirationTimestamp": _to_unix_milliseconds(login.expires_at),
        "username": login.username,
    }
    if "device" in payload.model_fields_set:
        reply["device"] = login.device
        if login.role is Role.ADMINISTRATOR:
            reply["administrator"] = True
    return reply


def _to_unix_milliseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1000)
