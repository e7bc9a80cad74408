"""Session tokens: JWTs that this service alone signs and verifies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from services.auth.domain import InvalidToken
from services.auth.signing import NotSigned, Signer

SESSION_LIFETIME = timedelta(hours=4)

_LONGEST = 512
"""In characters; a token of ours has about 200."""


class Tokens:
    """Issues and reads the tokens of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        self._signer = Signer(secret, "atajo", _LONGEST, now)

    def issue(self, account_id: str) -> tuple[str, datetime]:
        """A token for an account, and the whole second it expires at."""
        token, expires_at = self._signer.sign({"sub": account_id}, SESSION_LIFETIME)
        return token, datetime.fromtimestamp(expires_at, UTC)

    def account_of(self, token: str) -> str:
        """The id of the account a token was issued for. Raises InvalidToken."""
        try:
            claims = self._signer.read(token, ["sub"])
        except NotSigned:
            raise InvalidToken("The session token is not valid.") from None
        account_id: str = claims["sub"]
        return account_id
