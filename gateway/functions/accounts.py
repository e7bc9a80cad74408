"""Accounts: made, logged in to, given another password, and closed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from starlette.requests import Request

from gateway.backends.ports import Auth
from gateway.functions.outcomes import NoOwner, Reply
from gateway.functions.owner import Token
from gateway.functions.protocol import Payload, Text
from gateway.functions.rate_limits import ClientAddresses
from services.shared.errors import InvalidArgument

_DEVICE_CHARACTERS = 1000

Password = Annotated[Text, Field(repr=False)]


class VerifyUser(Payload):
    """`device` is the device token last given to the browser. One that is not ours counts as none.

    Only who says `device`, as `null` at first, is given one: others expect four keys.
    """

    email: Text
    password: Password
    device: Annotated[str | None, Field(repr=False)] = None


class RegisterUser(Payload):
    """`password` is the bcrypt hash made on the page."""

    email: Text
    password: Password
    salt: Password
    username: Text


class ChangePassword(Payload):
    """`password` is the one of before; `new_password` is the bcrypt hash made on the page."""

    token: Token = None
    password: Password
    new_password: Password
    new_salt: Password


class RemoveAccount(Payload):
    token: Token = None
    password: Password


@dataclass(frozen=True)
class Accounts:
    """The functions of accounts. Each returns its call's `data`."""

    auth: Auth
    clients: ClientAddresses

    async def verify_user(self, payload: VerifyUser, request: Request) -> Reply:
        if not payload.email or not payload.password:
            raise InvalidArgument("Email and password are needed.")
        device = payload.device or ""
        if len(device) > _DEVICE_CHARACTERS:
            raise InvalidArgument(f"A device has at most {_DEVICE_CHARACTERS} characters.")
        session = await self.auth.login(
            payload.email, payload.password, self.clients.of(request), device
        )
        reply = {
            "success": True,
            "token": session.token,
            "expirationTimestamp": _milliseconds(session.expires_at),
            "username": session.username,
        }
        if "device" in payload.model_fields_set:
            reply["device"] = session.device
        return reply

    async def register_user(self, payload: RegisterUser, request: Request) -> Reply:
        await self.auth.register(payload.email, payload.password, payload.salt, payload.username)
        return {"success": True}

    async def change_password(self, payload: ChangePassword, request: Request) -> Reply:
        token = _checked(payload)
        new_token, expires_at = await self.auth.change_password(
            token,
            payload.password,
            payload.new_password,
            payload.new_salt,
            self.clients.of(request),
        )
        return {
            "success": True,
            "token": new_token,
            "expirationTimestamp": _milliseconds(expires_at),
        }

    async def remove_account(self, payload: RemoveAccount, request: Request) -> Reply:
        token = _checked(payload)
        await self.auth.close_account(token, payload.password, self.clients.of(request))
        return {"success": True}


def _checked(payload: ChangePassword | RemoveAccount) -> str:
    """The token of a call that names its account's password. Raises NoOwner, InvalidArgument."""
    if not payload.password:
        raise InvalidArgument("The password is needed.")
    if not payload.token:
        raise NoOwner("This call needs a session.")
    return payload.token


def _milliseconds(moment: datetime) -> int:
    """A moment as JavaScript has it: milliseconds since 1970."""
    return int(moment.timestamp() * 1000)
