"""Marks of browsers: what a browser is given at a log-in, and shows at its next ones.

A mark says that from this browser somebody logged in to an account, so that strangers who use up
the account's attempts do not use up those of its owner. It opens nothing: with a stolen one a
stranger has the attempts of that browser. It holds for a year after the last log-in to an account,
and says nothing to its reader: accounts are in it by keyed hashes of their ids, differently in
every browser.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from services.auth.signing import Claims, NotSigned, Signer
from services.runtime.moments import CLOCK_LEEWAY

LIFETIME = timedelta(days=365)
LONGEST = 1000
"""In characters; a mark of ours has at most about 500."""

_ACCOUNTS = 5
"""Most accounts of one browser that its mark knows: those that logged in last."""
_TAG_CHARACTERS = 22
"""Of a hash in hexadecimal: 88 bits."""


class Marks:
    """Makes and reads the marks of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        # Keys of their own: a mark is never taken for the token of a session, nor the reverse.
        self._signer = Signer(_key(secret, b"atajo mark"), "atajo mark", LONGEST, LIFETIME, now)
        self._tags = _key(secret, b"atajo mark accounts")
        self._now = now

    def browser_of(self, mark: str, account_id: str) -> str | None:
        """The random id of the browser that shows a mark, if it logged in to the account before.

        None for the mark of a browser that knows other accounts only, and for what is no mark.
        """
        browser, accounts = self._read(mark)
        known = browser is not None and self._tag(browser, account_id) in accounts
        return browser if known else None

    def give(self, account_id: str, before: str) -> str:
        """A new mark for the browser that logged in to an account and showed the mark `before`.

        The other accounts of `before` are in the new mark too, each until its own year is over.
        """
        browser, accounts = self._read(before)
        if browser is None:
            browser = secrets.token_hex(12)
        tag = self._tag(browser, account_id)
        others = sorted((ends, each) for each, ends in accounts.items() if each != tag)
        ends = int((self._now() + LIFETIME).timestamp())
        kept = {each: until for until, each in others[-(_ACCOUNTS - 1) :]}
        mark, _ = self._signer.sign({"jti": browser, "known": {**kept, tag: ends}})
        return mark

    def _read(self, mark: str) -> tuple[str | None, dict[str, int]]:
        """The browser of a mark, and until when it knows which accounts, by tag."""
        try:
            claims: Claims = self._signer.read(mark, ["jti", "known"])
        except NotSigned:
            return None, {}
        now = self._now()
        first, last = now.timestamp(), (now + LIFETIME + CLOCK_LEEWAY).timestamp()
        known = claims["known"].items()
        return claims["jti"], {tag: ends for tag, ends in known if first < ends <= last}

    def _tag(self, browser: str, account_id: str) -> str:
        subject = f"{browser} {account_id}".encode()
        return hmac.new(self._tags, subject, hashlib.sha256).hexdigest()[:_TAG_CHARACTERS]


def _key(secret: str, purpose: bytes) -> bytes:
    return hmac.digest(secret.encode(), purpose, hashlib.sha256)
