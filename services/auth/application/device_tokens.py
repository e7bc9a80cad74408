"""Device tokens: what a browser is given at a log-in and sends with its next ones.

A device token says that from this browser somebody logged in to an account, so that strangers who
use up the account's attempts do not use up those of its owner. It opens nothing: with a stolen one
a stranger has the attempts of that browser. It holds for a year after the last log-in to an
account, and reveals nothing: it contains keyed hashes of account ids, different in every browser.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from services.auth.application.signing import Claims, NotSigned, Signer
from services.shared.timestamps import CLOCK_LEEWAY

LIFETIME = timedelta(days=365)
MAX_LENGTH = 1000
"""In characters; a device token of ours has at most about 500."""

_MAX_ACCOUNTS = 5
"""Maximum accounts of one browser that its token knows: those that logged in last."""
_TAG_CHARACTERS = 22
"""Of a hash in hexadecimal: 88 bits."""


class DeviceTokens:
    """Issues and reads the device tokens of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        # Keys of their own: a device token is never taken for a session token, nor the reverse.
        key = _key(secret, b"atajo device")
        self._signer = Signer(key, "atajo device", MAX_LENGTH, LIFETIME, now)
        self._tags = _key(secret, b"atajo device accounts")
        self._now = now

    def browser_of(self, device_token: str, account_id: str) -> str | None:
        """Return the random id of a token's browser, if it logged in to the account before.

        None for the token of a browser that knows other accounts only, and for any other text.
        """
        browser, accounts = self._read(device_token)
        known = browser is not None and self._tag(browser, account_id) in accounts
        return browser if known else None

    def issue(self, account_id: str, previous: str) -> str:
        """Return a new token for a browser that logged in to an account and sent `previous`.

        The other accounts of `previous` are in the new token too, each until its own year is over.
        """
        browser, accounts = self._read(previous)
        if browser is None:
            browser = secrets.token_hex(12)
        tag = self._tag(browser, account_id)
        others = sorted((ends, each) for each, ends in accounts.items() if each != tag)
        ends = int((self._now() + LIFETIME).timestamp())
        kept = {each: until for until, each in others[-(_MAX_ACCOUNTS - 1) :]}
        device_token, _ = self._signer.sign({"jti": browser, "known": {**kept, tag: ends}})
        return device_token

    def _read(self, device_token: str) -> tuple[str | None, dict[str, int]]:
        """The browser of a token, and until when it knows which accounts, by tag."""
        try:
            claims: Claims = self._signer.read(device_token, ["jti", "known"])
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
