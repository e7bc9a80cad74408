"""Guest keys: their format, and that only their hash is used."""

from __future__ import annotations

import hashlib

import pytest

from gateway.backends.owners import Account, Guest
from gateway.functions.owner import OwnerPayload

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"


def test_a_guest_is_identified_by_the_hash_of_the_key() -> None:
    assert Guest.of(KEY).key_hash == hashlib.sha256(KEY.encode("ascii")).digest()
    assert Guest.of(KEY) != Guest.of(KEY[::-1])
    assert Guest.of("-_" * 21 + "0")


@pytest.mark.parametrize("text", ["", KEY[1:], f"{KEY}A", f"{KEY[1:]}=", f"{KEY[1:]}ñ", f"{KEY}\n"])
def test_an_invalid_key_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="invalid guest key") as refused:
        Guest.of(text)
    assert not text or text not in str(refused.value)


def test_repr_shows_no_key_hash_or_token() -> None:
    payload = OwnerPayload.model_validate_json(f'{{"token": "a.session.token", "guest": "{KEY}"}}')
    assert payload.guest == Guest.of(KEY)
    printed = f"{payload!r} {payload} {payload.guest!r} {Account('one')!r}"
    hashed = Guest.of(KEY).key_hash
    for secret in (KEY, "session", hashed.hex(), repr(hashed), repr(hashed)[2:12]):
        assert secret not in printed
    assert "one" in printed
