"""On whose behalf a call is made: the `token` and `guest` of payloads."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator

from gateway.backends.owners import Account, Guest, Owner
from gateway.functions.protocol import Payload, Text
from gateway.use_cases.services import Services
from services.shared.errors import InvalidArgument, Unauthenticated


class NoOwner(Unauthenticated):
    """A call on behalf of an owner names none."""

    default_reason = "NO_OWNER"

    def __init__(self) -> None:
        super().__init__("This call needs a session.")


def _guest(value: Any) -> Guest | None:
    """Return the guest of a key, None if it is empty. Raises ValueError for an invalid key."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError("a guest key is a string")
    return Guest.of(value)


Password = Annotated[Text, Field(repr=False)]


class SessionPayload(Payload):
    """The payload of a call within a session. An empty token counts as none."""

    token: Annotated[Text | None, Field(repr=False)] = None

    def session_token(self) -> str:
        """Return the token. Raises NoOwner if there is none."""
        if not self.token:
            raise NoOwner
        return self.token


class PasswordPayload(SessionPayload):
    """The payload of a call within a session that needs the password, too.

    It is null for an account that has none: then the session must be confirmed.
    """

    password: Annotated[Text | None, Field(repr=False)]

    def session_token(self) -> str:
        """Return the token. Raises NoOwner, and InvalidArgument for an empty password."""
        if self.password == "":
            raise InvalidArgument("The password is needed.")
        return super().session_token()

    @property
    def sent_password(self) -> str:
        """The password, empty if there is none. No account has an empty one."""
        return self.password or ""


class OwnerPayload(SessionPayload):
    """The payload of a call on behalf of an owner. The token takes precedence over the guest."""

    guest: Annotated[Guest | None, PlainValidator(_guest)] = None


class OwnedLinkPayload(OwnerPayload):
    """`code` may be any text. An invalid code has no link."""

    code: Text


async def find_account(services: Services, payload: SessionPayload) -> Account:
    """Return the account of a token. Raises NoOwner without one, and AppError (INVALID_TOKEN)."""
    return Account(await services.auth.account_of(payload.session_token()))


async def find_caller(services: Services, payload: OwnerPayload) -> Owner | None:
    """Return the owner, None for an anonymous call. Raises AppError (INVALID_TOKEN)."""
    return await find_account(services, payload) if payload.token else payload.guest


async def find_owner(services: Services, payload: OwnerPayload) -> Owner:
    """Return the owner. Raises NoOwner if there is none, and AppError (INVALID_TOKEN)."""
    caller = await find_caller(services, payload)
    if caller is None:
        raise NoOwner
    return caller
