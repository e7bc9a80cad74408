"""Device tokens: signed tokens that let an account recognize a browser at its next log-in.

A device token says that somebody logged in to an account from this browser. Failed log-ins from a
known browser count separately, so strangers who reach the account's limits do not lock out its
owner. A device token is not a credential: a thief of one gets the log-in attempts of that
browser, and nothing else. It is valid for a year after the last log-in to an account. It contains
keyed hashes of account ids, which differ between browsers and reveal nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from services.shared.signing import Claims, InvalidSignedToken, TokenSigner, derive_key
from services.shared.timestamps import CLOCK_LEEWAY

LIFETIME = timedelta(days=365)
MAX_LENGTH = 1000
"""In characters. A device token has about 500 at most."""

_MAX_ACCOUNTS = 5
"""Maximum accounts that a device token knows: those that logged in last."""
_TAG_LENGTH = 22
"""Length of an account's hash, in hexadecimal digits: 88 bits."""


class DeviceTokens:
    """Issues and reads the device tokens of one signing secret."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        key = derive_key(secret, "atajo device")
        self._signer = TokenSigner(key, "atajo device", MAX_LENGTH, LIFETIME, now)
        self._tag_key = derive_key(secret, "atajo device accounts")
        self._now = now

    def find_browser(self, device_token: str, account_id: str) -> str | None:
        """Return the random id of the token's browser if it logged in to the account before.

        Return None if it did not, or if the token is not valid.
        """
        browser, expiries = self._read(device_token)
        is_known = browser is not None and self._tag(browser, account_id) in expiries
        return browser if is_known else None

    def issue(self, account_id: str, previous: str) -> str:
        """Return a new token for a browser that logged in to an account and sent `previous`.

        Accounts that `previous` knows stay known until their own year is over.
        """
        browser, expiries = self._read(previous)
        if browser is None:
            browser = secrets.token_hex(12)
        tag = self._tag(browser, account_id)
        others = sorted((expiry, other) for other, expiry in expiries.items() if other != tag)
        known = {other: expiry for expiry, other in others[-(_MAX_ACCOUNTS - 1) :]}
        known[tag] = int((self._now() + LIFETIME).timestamp())
        device_token, _ = self._signer.sign({"jti": browser, "known": known})
        return device_token

    def _read(self, device_token: str) -> tuple[str | None, dict[str, int]]:
        """Return the browser's id, and when it ceases to know each account, by the account's tag.

        Times are seconds since the Unix epoch.
        """
        try:
            claims: Claims = self._signer.read(device_token, ["jti", "known"])
        except InvalidSignedToken:
            return None, {}
        now = self._now()
        earliest, latest = now.timestamp(), (now + LIFETIME + CLOCK_LEEWAY).timestamp()
        known = claims["known"].items()
        return claims["jti"], {tag: expiry for tag, expiry in known if earliest < expiry <= latest}

    def _tag(self, browser: str, account_id: str) -> str:
        subject = f"{browser} {account_id}".encode()
        return hmac.new(self._tag_key, subject, hashlib.sha256).hexdigest()[:_TAG_LENGTH]
