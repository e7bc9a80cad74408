"""Whose call it is: told by the payload's `token` and `guest`, for all functions alike."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator

from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.ports import Auth
from gateway.functions.outcomes import NoOwner
from gateway.functions.protocol import Payload, Text


def _guest(value: Any) -> Guest | None:
    """The guest of a key. An empty one is as none; raises ValueError for what is no key."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError("a key of a guest is a string")
    return Guest.of(value)


Token = Annotated[Text | None, Field(repr=False)]
"""A session token; an empty one is as none."""


class Owned(Payload):
    """What a call that acts for an owner says of it. One of both is enough, and the token wins."""

    token: Token = None
    guest: Annotated[Guest | None, PlainValidator(_guest)] = None


class OneOwned(Owned):
    """`code` may be any text. Under one that is no code, nobody has a link."""

    code: Text


async def account_of(auth: Auth, token: str | None) -> Account:
    """The account of a token. Raises NoOwner where there is none, AppError (INVALID_TOKEN)."""
    if not token:
        raise NoOwner("This call needs a session.")
    return Account(await auth.account_of(token))


async def owner_of(auth: Auth, payload: Owned) -> Owner:
    """Whose call it is. Raises NoOwner where it is nobody's, AppError (INVALID_TOKEN)."""
    if payload.token or payload.guest is None:
        return await account_of(auth, payload.token)
    return payload.guest
