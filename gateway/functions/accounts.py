"""Functions of accounts and their passwords.

verifyUser, registerUser, changePassword, removeAccount, createRecoveryCodes, countRecoveryCodes and
resetPassword.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Protocol

from pydantic import AfterValidator, Field
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Login
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Token, session_token
from gateway.functions.protocol import Payload, Text
from gateway.support.client_ip import ClientIpFinder
from gateway.support.timestamps import text_of
from gateway.support.user_agents import parse_user_agent
from services.shared.errors import InvalidArgument

_MAX_DEVICE_CHARACTERS = 1000

Password = Annotated[Text, Field(repr=False)]


def _device(value: str | None) -> str | None:
    if value is not None and len(value) > _MAX_DEVICE_CHARACTERS:
        raise InvalidArgument(f"A device has at most {_MAX_DEVICE_CHARACTERS} characters.")
    return value


Device = Annotated[str | None, AfterValidator(_device), Field(repr=False)]
"""A browser's device token. An invalid one counts as none."""


class VerifyUser(Payload):
    """Only responses to calls with a `device`, initially null, have one: older clients expect four
    keys.
    """

    email: Text
    password: Password
    device: Device = None


class RegisterUser(Payload):
    """`password` is the bcrypt hash that the page computed."""

    email: Text
    password: Password
    salt: Password
    username: Text


class ChangePassword(Payload):
    """`password` is the current one, `new_password` the bcrypt hash that the page computed.

    `revoke` is whether to revoke API keys and passkeys.
    """

    token: Token = None
    password: Password
    new_password: Password
    new_salt: Password
    revoke: bool | None = None


class RemoveAccount(Payload):
    token: Token = None
    password: Password


class CreateRecoveryCodes(Payload):
    token: Token = None
    password: Password


class CountRecoveryCodes(Payload):
    token: Token = None


class ResetPassword(Payload):
    """`new_password` is the bcrypt hash that the page computed, `revoke` as in `ChangePassword`."""

    email: Text
    recovery_code: Password
    new_password: Password
    new_salt: Password
    device: Device = None
    revoke: bool | None = None


@dataclass(frozen=True)
class Accounts:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient
    clients: ClientIpFinder

    async def verify_user(self, payload: VerifyUser, request: Request) -> Reply:
        if not payload.email or not payload.password:
            raise InvalidArgument("Email and password are needed.")
        login = await self.auth.login(
            payload.email,
            payload.password,
            self.clients.text_of(request),
            payload.device or "",
            *browser_of(request),
        )
        return login_reply(login, payload)

    async def register_user(self, payload: RegisterUser, request: Request) -> Reply:
        await self.auth.register(payload.email, payload.password, payload.salt, payload.username)
        return {"success": True}

    async def change_password(self, payload: ChangePassword, request: Request) -> Reply:
        token = token_with_password(payload)
        new_token, expires_at = await self.auth.change_password(
            token,
            payload.password,
            payload.new_password,
            payload.new_salt,
            self.clients.text_of(request),
            *browser_of(request),
            revoke=payload.revoke or False,
        )
        return {
            "success": True,
            "token": new_token,
            "expirationTimestamp": _unix_milliseconds(expires_at),
        }

    async def remove_account(self, payload: RemoveAccount, request: Request) -> Reply:
        token = token_with_password(payload)
        await self.auth.close_account(token, payload.password, self.clients.text_of(request))
        return {"success": True}

    async def create_recovery_codes(self, payload: CreateRecoveryCodes, request: Request) -> Reply:
        codes = await self.auth.create_recovery_codes(
            token_with_password(payload), payload.password, self.clients.text_of(request)
        )
        return {"success": True, "codes": codes}

    async def count_recovery_codes(self, payload: CountRecoveryCodes, request: Request) -> Reply:
        left, created_at = await self.auth.count_recovery_codes(session_token(payload.token))
        return {
            "success": True,
            "left": left,
            "created_at": text_of(created_at) if created_at else None,
        }

    async def reset_password(self, payload: ResetPassword, request: Request) -> Reply:
        if not payload.email or not payload.recovery_code:
            raise InvalidArgument("Email and recovery code are needed.")
        await self.auth.reset_password(
            payload.email,
            payload.recovery_code,
            payload.new_password,
            payload.new_salt,
            self.clients.text_of(request),
            payload.device or "",
            payload.revoke or False,
        )
        return {"success": True}


def browser_of(request: Request) -> tuple[str, str]:
    """Return the names of the browser and the operating system, empty if they are unknown."""
    user_agent = request.headers.get("user-agent", "").encode("latin-1")
    agent = parse_user_agent(user_agent)
    return agent.browser, agent.system


class _WithPassword(Protocol):
    @property
    def token(self) -> str | None: ...

    @property
    def password(self) -> str: ...


def token_with_password(payload: _WithPassword) -> str:
    """Return the token of a call with a password. Raises NoOwner and InvalidArgument."""
    if not payload.password:
        raise InvalidArgument("The password is needed.")
    return session_token(payload.token)


def login_reply(login: Login, payload: Payload) -> Reply:
    """Return the data of a log-in, with a `device` if the payload has one."""
    reply = {
        "success": True,
        "token": login.token,
        "expirationTimestamp": _unix_milliseconds(login.expires_at),
        "username": login.username,
    }
    if "device" in payload.model_fields_set:
        reply["device"] = login.device
    return reply


def _unix_milliseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1000)
