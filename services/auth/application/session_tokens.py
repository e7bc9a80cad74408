"""Session tokens: JWTs that only this service signs and verifies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from services.auth.domain.errors import InvalidToken
from services.auth.domain.session import LIFETIME
from services.shared.signing import InvalidSignedToken, TokenSigner

_MAX_LENGTH = 512
"""In characters. A session token has about 200."""


@dataclass(frozen=True, slots=True)
class SessionClaims:
    """The claims of a valid session token."""

    account_id: str
    generation: int
    """The account's session number, which increases with each password change."""
    session_id: str
    """Identifies the session among those of the account."""
    is_stored: bool
    """Whether the session is in the store. Tokens of version 1.0.0 are valid without that."""


class SessionTokens:
    """Issues and reads the session tokens of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        self._signer = TokenSigner(secret, "atajo", _MAX_LENGTH, LIFETIME, now)

    def issue(self, account_id: str, generation: int, session_id: str) -> tuple[str, datetime]:
        """Return a token for a new session of an account, and its expiry in whole seconds."""
        claims = {"sub": account_id, "session": generation, "jti": session_id, "stored": True}
        token, expires_at = self._signer.sign(claims)
        return token, datetime.fromtimestamp(expires_at, UTC)

    def read(self, token: str) -> SessionClaims:
        """Return the claims of a valid token. Raises InvalidToken."""
        try:
            claims = self._signer.read(token, ["sub", "session", "jti"])
        except InvalidSignedToken:
            raise InvalidToken("The session token is not valid.") from None
        return SessionClaims(
            claims["sub"], claims["session"], claims["jti"], claims.get("stored") is True
        )
