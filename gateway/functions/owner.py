"""On whose behalf a call is made: the `token` and `guest` of payloads."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator

from gateway.backends.auth import AuthClient
from gateway.backends.owners import Account, Guest, Owner
from gateway.functions.outcomes import NoOwner
from gateway.functions.protocol import Payload, Text


def _guest(value: Any) -> Guest | None:
    """Return the guest of a key, None if it is empty. Raises ValueError for an invalid key."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError("a guest key is a string")
    return Guest.of(value)


Token = Annotated[Text | None, Field(repr=False)]
"""A session token. An empty one counts as none."""


class OwnerPayload(Payload):
    """The payload of a call on behalf of an owner. The token takes precedence over the guest."""

    token: Token = None
    guest: Annotated[Guest | None, PlainValidator(_guest)] = None


class OwnedLinkPayload(OwnerPayload):
    """`code` may be any text. An invalid code has no link."""

    code: Text


def session_token(token: str | None) -> str:
    """Return the token of a call. Raises NoOwner if there is none."""
    if not token:
        raise NoOwner("This call needs a session.")
    return token


async def account_of(auth: AuthClient, token: str | None) -> Account:
    """Return the account of a token. Raises NoOwner without one, and AppError (INVALID_TOKEN)."""
    return Account(await auth.account_of(session_token(token)))


async def owner_of(auth: AuthClient, payload: OwnerPayload) -> Owner:
    """Return the owner. Raises NoOwner if there is none, and AppError (INVALID_TOKEN)."""
    if payload.token or payload.guest is None:
        return await account_of(auth, payload.token)
    return payload.guest
