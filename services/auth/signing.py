"""Signed texts that say until when they hold: JWTs of one purpose, made and read here alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import jwt

_ALGORITHM = "HS256"
_REQUIRED = ("iss", "iat", "exp")

Claims = dict[str, Any]


class NotSigned(Exception):
    """A text that was not signed here, was changed since, or has expired."""


class Signer:
    """Signs and reads the texts of one purpose, which has a key and an issuer of its own.

    `longest` is in characters: what is longer is not worth parsing.
    """

    def __init__(
        self, key: str | bytes, issuer: str, longest: int, now: Callable[[], datetime]
    ) -> None:
        self._key = key
        self._issuer = issuer
        self._longest = longest
        self._now = now

    def sign(self, claims: Claims, lifetime: timedelta) -> tuple[str, int]:
        """A text with these claims, and when it expires, in whole seconds since the Unix epoch."""
        issued_at = int(self._now().timestamp())
        expires_at = issued_at + int(lifetime.total_seconds())
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
                    # `iat` must be there but not be past: the clocks of replicas differ.
                    "verify_iat": False,
                    # The library knows the machine's clock alone: ours is asked below.
                    "verify_exp": False,
                    "verify_nbf": False,
                },
            )
        except (jwt.InvalidTokenError, ValueError):
            raise NotSigned from None
        now = self._now().timestamp()
        if not _is_number(claims["exp"]) or claims["exp"] <= now:
            raise NotSigned
        begins = claims.get("nbf", 0)
        if not _is_number(begins) or begins > now:
            raise NotSigned
        return claims


def _is_number(claim: object) -> bool:
    return isinstance(claim, int) and not isinstance(claim, bool)
