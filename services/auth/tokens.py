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

    def issue(self, account_id: str, session: int) -> tuple[str, datetime]:
        """A token for a session of an account, and the whole second it expires at."""
        claims = {"sub": account_id, "session": session}
        token, expires_at = self._signer.sign(claims, SESSION_LIFETIME)
        return token, datetime.fromtimestamp(expires_at, UTC)

    def read(self, token: str) -> tuple[str, int]:
        """The id of the account a token was issued for, and the number of its session.

        Tokens of an earlier version say none: theirs is 0. Raises InvalidToken.
        """
        try:
            claims = self._signer.read(token, ["sub"])
        except NotSigned:
            raise _not_valid() from None
        account_id: str = claims["sub"]
        session = claims.get("session", 0)
        if type(session) is not int:  # True is one, too.
            raise _not_valid()
        return account_id, session


def _not_valid() -> InvalidToken:
    return InvalidToken("The session token is not valid.")
