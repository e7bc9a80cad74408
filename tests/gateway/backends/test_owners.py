"""Guests: what is a key, and what is kept of it."""

from __future__ import annotations

import hashlib

import pytest

from gateway.backends.owners import Account, Guest
from gateway.functions.owner import Owned

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"


def test_a_guest_is_known_by_the_hash_of_the_keys_text() -> None:
    assert Guest.of(KEY).key_hash == hashlib.sha256(KEY.encode("ascii")).digest()
    assert Guest.of(KEY) != Guest.of(KEY[::-1])
    assert Guest.of("-_" * 21 + "0")


@pytest.mark.parametrize("text", ["", KEY[1:], f"{KEY}A", f"{KEY[1:]}=", f"{KEY[1:]}ñ", f"{KEY}\n"])
def test_a_text_that_is_no_key_is_nobodys(text: str) -> None:
    with pytest.raises(ValueError, match="no key") as refused:
        Guest.of(text)
    assert not text or text not in str(refused.value)


def test_neither_key_nor_hash_nor_token_shows_in_what_is_printed() -> None:
    payload = Owned.model_validate_json(f'{{"token": "a.session.token", "guest": "{KEY}"}}')
    assert payload.guest == Guest.of(KEY)
    printed = f"{payload!r} {payload} {payload.guest!r} {Account('one')!r}"
    hashed = Guest.of(KEY).key_hash
    for secret in (KEY, "session", hashed.hex(), repr(hashed), repr(hashed)[2:12]):
        assert secret not in printed
    assert "one" in printed
