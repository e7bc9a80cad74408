"""Session tokens: JWTs that this service alone signs and verifies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import jwt

from services.auth.domain import InvalidToken

SESSION_LIFETIME = timedelta(hours=4)

_ISSUER = "atajo"
_ALGORITHM = "HS256"
_REQUIRED = ("iss", "sub", "iat", "exp")
_LONGEST = 512
"""In characters; a token of ours has about 200. What is longer is not worth parsing."""


class Tokens:
    """Issues and reads the tokens of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        self._secret = secret
        self._now = now

    def issue(self, account_id: str) -> tuple[str, datetime]:
        """A token for an account, and the whole second it expires at."""
        issued_at = int(self._now().timestamp())
        expires_at = issued_at + int(SESSION_LIFETIME.total_seconds())
        claims = {"iss": _ISSUER, "sub": account_id, "iat": issued_at, "exp": expires_at}
        token = jwt.encode(claims, self._secret, algorithm=_ALGORITHM)
        return token, datetime.fromtimestamp(expires_at, UTC)

    def account_of(self, token: str) -> str:
        """The id of the account a token was issued for. Raises InvalidToken."""
        try:
            if len(token) > _LONGEST:
                raise jwt.InvalidTokenError
            claims = jwt.decode(
                token,
                self._secret,
                algorithms=[_ALGORITHM],
                issuer=_ISSUER,
                # `iat` must be there but not be past: the clocks of replicas differ.
                options={"require": list(_REQUIRED), "verify_iat": False},
            )
        except (jwt.InvalidTokenError, ValueError):
            raise InvalidToken("The session token is not valid.") from None
        account_id: str = claims["sub"]
        return account_id
