"""Challenges of WebAuthn: signed, so that any replica can check them, and valid once."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from services.auth.application.ports import AttemptStore
from services.shared.signing import InvalidSignedToken, TokenSigner, derive_key
from services.shared.timestamps import CLOCK_LEEWAY

LIFETIME = timedelta(minutes=5)
_MAX_LENGTH = 512
"""In bytes. A challenge has about 230."""


class InvalidChallenge(Exception):
    """The challenge was not issued here or for this purpose, has expired, or was used before."""


class Challenges:
    """Issues and checks challenges. `now` returns the time in UTC.

    Issuing one stores nothing. Using one counts it like a log-in attempt with a limit of one, for
    as long as any replica's clock accepts it.
    """

    def __init__(self, secret: str, uses: AttemptStore, now: Callable[[], datetime]) -> None:
        key = derive_key(secret, "atajo challenge")
        self._signer = TokenSigner(key, "atajo challenge", _MAX_LENGTH, LIFETIME, now)
        self._uses = uses
        self._now = now

    def issue(self, purpose: str) -> bytes:
        """Return a new challenge for one purpose."""
        token, _ = self._signer.sign({"sub": purpose, "jti": secrets.token_hex(12)})
        return token.encode()

    def check(self, challenge: bytes, purpose: str) -> str:
        """Return the id of a challenge that was issued for this purpose. Raises InvalidChallenge.

        Does not tell whether it was used before.
        """
        try:
            claims = self._signer.read(challenge.decode(), ["sub", "jti"])
        except (InvalidSignedToken, UnicodeDecodeError):
            raise InvalidChallenge from None
        if claims["sub"] != purpose:
            raise InvalidChallenge
        challenge_id: str = claims["jti"]
        return challenge_id

    async def use(self, challenge_id: str) -> None:
        """Use a challenge. Raises InvalidChallenge if it was used before, and Unavailable."""
        window = LIFETIME + 2 * CLOCK_LEEWAY
        result = await self._uses.acquire(f"challenge {challenge_id}", 1, window, self._now())
        if not result.granted:
            raise InvalidChallenge
