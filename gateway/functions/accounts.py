"""verifyUser, registerUser, changePassword and removeAccount: accounts and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from starlette.requests import Request

from gateway.backends.ports import Auth
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Token, session_token
from gateway.functions.protocol import Payload, Text
from gateway.support.client_ip import ClientIpFinder
from gateway.visits.enrichment.classification import MAX_HEADER_BYTES
from gateway.visits.enrichment.user_agents import agent_of
from services.shared.errors import InvalidArgument

_MAX_DEVICE_CHARACTERS = 1000

Password = Annotated[Text, Field(repr=False)]


class VerifyUser(Payload):
    """`device` is the browser's device token. An invalid token counts as none.

    Only responses to calls with a `device`, initially null, have one: older clients expect four
    keys.
    """

    email: Text
    password: Password
    device: Annotated[str | None, Field(repr=False)] = None


class RegisterUser(Payload):
    """`password` is the bcrypt hash that the page computed."""

    email: Text
    password: Password
    salt: Password
    username: Text


class ChangePassword(Payload):
    """`password` is the current one, `new_password` the bcrypt hash that the page computed."""

    token: Token = None
    password: Password
    new_password: Password
    new_salt: Password


class RemoveAccount(Payload):
    token: Token = None
    password: Password


@dataclass(frozen=True)
class Accounts:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: Auth
    clients: ClientIpFinder

    async def verify_user(self, payload: VerifyUser, request: Request) -> Reply:
        if not payload.email or not payload.password:
            raise InvalidArgument("Email and password are needed.")
        device = payload.device or ""
        if len(device) > _MAX_DEVICE_CHARACTERS:
            raise InvalidArgument(f"A device has at most {_MAX_DEVICE_CHARACTERS} characters.")
        session = await self.auth.login(
            payload.email,
            payload.password,
            self.clients.text_of(request),
            device,
            *_browser_of(request),
        )
        reply = {
            "success": True,
            "token": session.token,
            "expirationTimestamp": _unix_milliseconds(session.expires_at),
            "username": session.username,
        }
        if "device" in payload.model_fields_set:
            reply["device"] = session.device
        return reply

    async def register_user(self, payload: RegisterUser, request: Request) -> Reply:
        await self.auth.register(payload.email, payload.password, payload.salt, payload.username)
        return {"success": True}

    async def change_password(self, payload: ChangePassword, request: Request) -> Reply:
        token = _session_token(payload)
        new_token, expires_at = await self.auth.change_password(
            token,
            payload.password,
            payload.new_password,
            payload.new_salt,
            self.clients.text_of(request),
            *_browser_of(request),
        )
        return {
            "success": True,
            "token": new_token,
            "expirationTimestamp": _unix_milliseconds(expires_at),
        }

    async def remove_account(self, payload: RemoveAccount, request: Request) -> Reply:
        token = _session_token(payload)
        await self.auth.close_account(token, payload.password, self.clients.text_of(request))
        return {"success": True}


def _browser_of(request: Request) -> tuple[str, str]:
    """Return the names of the browser and the operating system, empty if they are unknown."""
    user_agent = request.headers.get("user-agent", "").encode("latin-1")
    agent = agent_of(user_agent[:MAX_HEADER_BYTES])
    return agent.browser, agent.system


def _session_token(payload: ChangePassword | RemoveAccount) -> str:
    """Return the token of a call with a password. Raises NoOwner and InvalidArgument."""
    if not payload.password:
        raise InvalidArgument("The password is needed.")
    return session_token(payload.token)


def _unix_milliseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1000)
