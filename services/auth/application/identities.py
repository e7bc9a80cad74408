"""What auth asks of an OpenID Connect provider, which `provider` does over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


class InvalidAnswer(Exception):
    """A browser or the provider presented something that proves no identity."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who logged in to the provider, by a verified ID token."""

    issuer: str
    subject: str
    authenticated_at: datetime | None
    """When the subject logged in there, if the provider says so."""
    claims: dict[str, Any] = field(repr=False)
    """Of the ID token."""
    access_token: str = field(repr=False)
    """For the provider's userinfo endpoint, empty if there is none."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What the provider knows about an identity."""

    email: str | None
    """None unless the provider says that it is verified."""
    names: Sequence[str]
    """Names for a username, the most suitable first."""


class Provider(Protocol):
    """An OpenID Connect provider. Calls raise ProviderUnavailable."""

    async def authorization_url(
        self, state: str, nonce: str, verifier: str, must_log_in: bool
    ) -> str:
        """Return the URL at which a browser begins to log in.

        `must_log_in` asks for the credentials even of somebody who is logged in there.
        """

    async def identify(self, code: str, issuer: str, nonce: str, verifier: str) -> Identity:
        """Redeem an authorization code. `issuer` is that of the response, empty if it has none.

        Raises InvalidAnswer.
        """

    async def read_profile(self, identity: Identity) -> Profile:
        """Return what the provider knows about an identity. Raises InvalidAnswer."""

    async def close(self) -> None:
        """End the running calls."""
