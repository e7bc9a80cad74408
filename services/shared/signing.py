"""Signs and verifies expiring JWTs for one purpose."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import jwt

from services.shared.timestamps import CLOCK_LEEWAY

_ALGORITHM = "HS256"
_REQUIRED_CLAIMS = ("iss", "iat", "exp")

Claims = dict[str, Any]


def derive_key(secret: str, purpose: str) -> bytes:
    """Return a key for one purpose, so that nothing signed for it is valid for another."""
    return hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256)


class InvalidSignedToken(Exception):
    """The token was not signed here, was changed, has expired, or is from the future."""


class TokenSigner:
    """Signs and reads the tokens of one purpose, which has its own key and issuer.

    A token is valid for `lifetime`. Tokens longer than `max_length` characters are not parsed.
    """

    def __init__(
        self,
        key: str | bytes,
        issuer: str,
        max_length: int,
        lifetime: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._key = key
        self._issuer = issuer
        self._max_length = max_length
        self._lifetime_seconds = int(lifetime.total_seconds())
        self._now = now

    def sign(self, claims: Claims) -> tuple[str, int]:
        """Return a token with these claims, and its expiry in seconds since the Unix epoch."""
        issued_at = int(self._now().timestamp())
        expires_at = issued_at + self._lifetime_seconds
        registered = {"iss": self._issuer, "iat": issued_at, "exp": expires_at}
        return jwt.encode({**registered, **claims}, self._key, algorithm=_ALGORITHM), expires_at

    def read(self, token: str, required: Sequence[str], audience: str | None = None) -> Claims:
        """Return the claims of a valid token for an audience, including all of `required`.

        Raises InvalidSignedToken.
        """
        try:
            if len(token) > self._max_length:
                raise InvalidSignedToken
            claims: Claims = jwt.decode(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                issuer=self._issuer,
                audience=audience,
                options={
                    "require": [*_REQUIRED_CLAIMS, *required],
                    # PyJWT uses the system clock. The checks below use `now`.
                    "verify_iat": False,
                    "verify_exp": False,
                },
            )
        except (jwt.InvalidTokenError, ValueError):
            raise InvalidSignedToken from None
        now = self._now().timestamp()
        # A replica whose clock was ahead may have signed it. Without the check of `iat` and the
        # upper bound of `exp`, such a token would stay valid for too long.
        latest = now + CLOCK_LEEWAY.total_seconds()
        if claims["exp"] <= now or claims["iat"] > latest:
            raise InvalidSignedToken
        if claims["exp"] > latest + self._lifetime_seconds:
            raise InvalidSignedToken
        return claims
