"""The five functions: their payloads, and which services they call. Services make the decisions.

An outcome that callers branch on is data, `{"success": false, "error": ...}`. Every other failure
is raised, and becomes a callable error (gateway/callable.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from gateway.callable import Payload, Pieces, Text
from gateway.limits import ClientAddresses, Limit, NoLimit
from gateway.metrics import LINKS_CREATED
from gateway.ports import Auth, Links
from gateway.profiles import Profiles
from gateway.resolution import LinkState, Resolution
from gateway.resolver import Resolver
from gateway.visits.classify import looks_ahead
from gateway.visits.pipeline import VisitPipeline
from services.runtime import codes
from services.runtime.errors import AppError, InvalidArgument

Reply = dict[str, Any]

_DEVICE_CHARACTERS = 1000

# The reason of a service's error, and the name that callers of functions know it by.
_LOGIN_ERRORS = {"NO_ACCOUNT": "no exist", "WRONG_PASSWORD": "incorrect"}
_REGISTER_ERRORS = {"EMAIL_TAKEN": "exist"}
_TOKEN_ERRORS = {"INVALID_TOKEN": "invalid token"}


class CreateShortLink(Payload):
    """`token` is null for an anonymous visitor."""

    code: Text
    url: Text
    token: Text | None = None


class AccessLink(Payload):
    """`code` may be any text. One that is no code leads nowhere."""

    code: str


class VerifyUser(Payload):
    """`device` is the mark that the browser was last given. One that is not ours counts as none."""

    email: Text
    password: Text
    device: str | None = None


class RegisterUser(Payload):
    """`password` is the bcrypt hash made on the page."""

    email: Text
    password: Text
    salt: Text
    username: Text


class ShowProfile(Payload):
    token: Text | None = None


@dataclass(frozen=True)
class Functions:
    """The functions over services and the gateway's own parts. Each returns its call's `data`."""

    auth: Auth
    links: Links
    profiles: Profiles
    resolver: Resolver
    visits: VisitPipeline
    addresses: ClientAddresses
    creations: Limit | NoLimit
    registrations: Limit | NoLimit
    logins: Limit | NoLimit

    async def create_short_link(self, payload: CreateShortLink, request: Request) -> Reply:
        self.creations.hit(self.addresses.networks_of(request))
        creator: str | None = None
        if payload.token:
            try:
                creator = await self.auth.account_of(payload.token)
            except AppError as error:
                return _outcome(error, _TOKEN_ERRORS)
        since = self.resolver.changes
        url = await self.links.create(payload.code, payload.url, creator)
        self.resolver.put(payload.code, Resolution.active(url), since)
        LINKS_CREATED.inc()
        return {"success": True, "code": payload.code, "short_link": payload.code}

    async def access_link(self, payload: AccessLink, request: Request) -> Reply:
        code = payload.code
        resolution = await self.resolver.lookup(code) if codes.is_code(code) else None
        is_active = resolution is not None and resolution.state is LinkState.ACTIVE
        if is_active and not any(looks_ahead(*header) for header in request.headers.raw):
            self.visits.record(
                code,
                request.headers.get("user-agent", "").encode("latin-1"),
                b"",  # The page that called is our own; where its visitor came from is not told.
            )
        return _access_reply(resolution)

    async def verify_user(self, payload: VerifyUser, request: Request) -> Reply:
        self.logins.hit(self.addresses.networks_of(request))
        if not payload.email or not payload.password:
            raise InvalidArgument("Email and password are needed.")
        device = payload.device or ""
        if len(device) > _DEVICE_CHARACTERS:
            raise InvalidArgument(f"A device has at most {_DEVICE_CHARACTERS} characters.")
        try:
            session = await self.auth.login(
                payload.email, payload.password, self.addresses.of(request), device
            )
        except AppError as error:
            return _outcome(error, _LOGIN_ERRORS)
        return {
            "success": True,
            "token": session.token,
            "expirationTimestamp": int(session.expires_at.timestamp() * 1000),
            "username": session.username,
            "device": session.device,
        }

    async def register_user(self, payload: RegisterUser, request: Request) -> Reply:
        self.registrations.hit(self.addresses.networks_of(request))
        try:
            await self.auth.register(
                payload.email, payload.password, payload.salt, payload.username
            )
        except AppError as error:
            return _outcome(error, _REGISTER_ERRORS)
        return {"success": True}

    async def show_profile(self, payload: ShowProfile, request: Request) -> Reply | Pieces:
        if not payload.token:
            return {"success": False, "error": "no logged"}
        try:
            account = await self.auth.account_of(payload.token)
        except AppError as error:
            return _outcome(error, _TOKEN_ERRORS)
        return self.profiles.of(account, self.addresses.networks_of(request))


def _access_reply(resolution: Resolution | None) -> Reply:
    """What `accessLink` returns: where a code leads, and the state of a link that is not active."""
    if resolution is None:
        return {"success": True, "longUrl": []}
    target = resolution.target
    reply: Reply = {"success": True, "longUrl": [{"long_link": target}] if target else []}
    if resolution.state is not LinkState.ACTIVE:
        reply["state"] = resolution.state.value
    if resolution.reason is not None:
        reply["reason"] = resolution.reason.value
    return reply


def _outcome(error: AppError, names: dict[str, str]) -> Reply:
    """The data for an error that callers branch on. Raises any other error again."""
    if error.reason not in names:
        raise error
    return {"success": False, "error": names[error.reason]}
