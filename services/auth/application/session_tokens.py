"""Session tokens: JWTs that this service alone signs and verifies."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.auth.application.signing import NotSigned, Signer
from services.auth.domain.account import InvalidToken

SESSION_LIFETIME = timedelta(hours=4)

_LONGEST = 512
"""In characters; a token of ours has about 200."""


@dataclass(frozen=True, slots=True)
class SessionClaims:
    """What a valid token says."""

    account_id: str
    generation: int
    """The account's session number. It goes up with each change of the password."""
    session_id: str
    """Identifies the session that the token was issued for, among those of the account."""


class Tokens:
    """Issues and reads the tokens of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        self._signer = Signer(secret, "atajo", _LONGEST, SESSION_LIFETIME, now)

    def issue(self, account_id: str, session: int) -> tuple[str, datetime]:
        """A token for a session of an account, and the whole second it expires at."""
        claims = {"sub": account_id, "session": session, "jti": secrets.token_hex(12)}
        token, expires_at = self._signer.sign(claims)
        return token, datetime.fromtimestamp(expires_at, UTC)

    def read(self, token: str) -> SessionClaims:
        """Return the claims of a valid token. Raises InvalidToken."""
        try:
            claims = self._signer.read(token, ["sub", "session", "jti"])
        except NotSigned:
            raise InvalidToken("The session token is not valid.") from None
        return SessionClaims(claims["sub"], claims["session"], claims["jti"])
