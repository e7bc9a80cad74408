"""Signed texts that say until when they hold: JWTs of one purpose, made and read here alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import jwt

from services.shared.timestamps import CLOCK_LEEWAY

_ALGORITHM = "HS256"
_REQUIRED = ("iss", "iat", "exp")

Claims = dict[str, Any]


class NotSigned(Exception):
    """A text that was not signed here, was changed since, has expired, or is from the future."""


class Signer:
    """Signs and reads the texts of one purpose, which has a key and an issuer of its own.

    `longest` is in characters: what is longer is not worth parsing. A text is valid for `lifetime`.
    """

    def __init__(
        self,
        key: str | bytes,
        issuer: str,
        longest: int,
        lifetime: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._key = key
        self._issuer = issuer
        self._longest = longest
        self._seconds = int(lifetime.total_seconds())
        self._now = now

    def sign(self, claims: Claims) -> tuple[str, int]:
        """A text with these claims, and when it expires, in whole seconds since the Unix epoch."""
        issued_at = int(self._now().timestamp())
        expires_at = issued_at + self._seconds
        own = {"iss": self._issuer, "iat": issued_at, "exp": expires_at}
        return jwt.encode({**own, **claims}, self._key, algorithm=_ALGORITHM), expires_at

    def read(self, text: str, required: Sequence[str]) -> Claims:
        """The claims of a valid text, with all that are `required`. Raises NotSigned."""
        try:
            if len(text) > self._longest:
                raise NotSigned
            claims: Claims = jwt.decode(
                text,
                self._key,
                algorithms=[_ALGORITHM],
                issuer=self._issuer,
                options={
                    "require": [*_REQUIRED, *required],
                    # The library knows the machine's clock alone: ours is asked below.
                    "verify_iat": False,
                    "verify_exp": False,
                },
            )
        except (jwt.InvalidTokenError, ValueError):
            raise NotSigned from None
        now = self._now().timestamp()
        # A clock that ran ahead signed it: without this check it would be valid until then.
        latest = now + CLOCK_LEEWAY.total_seconds()
        if claims["exp"] <= now or claims["iat"] > latest:
            raise NotSigned
        if claims["exp"] > latest + self._seconds:
            raise NotSigned
        return claims
