"""Passwords and bcrypt hashes."""

from __future__ import annotations

import bcrypt
import pytest

from services.auth.domain.errors import InvalidPasswordHash
from services.auth.domain.passwords import encode_password, validate_password_hash

SALT = "$2b$10$SyUprZHiLhjegFiZXUd9Du"
HASH = SALT + "gETUgNx365Jd08EgrysGg4m0CYn2Dwi"


def test_bcrypt_verifies_the_sample() -> None:
    assert bcrypt.checkpw(b"x", HASH.encode())


@pytest.mark.parametrize("version", ["2a", "2b", "2y"])
@pytest.mark.parametrize("cost", [10, 11, 14])
def test_all_versions_of_bcrypt_are_accepted_at_cost_10_to_14(version: str, cost: int) -> None:
    salt = f"${version}${cost}{SALT[6:]}"
    assert validate_password_hash(salt + HASH[29:], salt) == salt + HASH[29:]


@pytest.mark.parametrize(
    ("password_hash", "salt"),
    [
        ("", ""),
        ("secret", "secret"),
        (HASH[:-1], SALT),
        (HASH + "i", SALT),
        (HASH + "\n", SALT),
        (HASH, ""),
        (HASH, SALT + " "),
        (HASH, SALT[:-1] + "e"),
        (HASH.replace("$2b", "$2x"), SALT.replace("$2b", "$2x")),
        (HASH.replace("$10$", "$09$"), SALT.replace("$10$", "$09$")),
        (HASH.replace("$10$", "$15$"), SALT.replace("$10$", "$15$")),
        (HASH.replace("$10$", "$31$"), SALT.replace("$10$", "$31$")),
        (HASH[:40] + "\0" + HASH[41:], SALT),
        (HASH[:40] + "é" + HASH[41:], SALT),
        # Bits that bcrypt never sets: such a hash can never verify.
        (HASH[:28] + "9" + HASH[29:], SALT[:28] + "9"),
        (HASH[:-1] + "9", SALT),
    ],
)
def test_invalid_hashes_and_salts_are_rejected(password_hash: str, salt: str) -> None:
    with pytest.raises(InvalidPasswordHash) as rejected:
        validate_password_hash(password_hash, salt)
    assert rejected.value.reason == "INVALID_PASSWORD_HASH"


def test_hashes_of_bcrypt_are_accepted() -> None:
    for number in range(64):
        salt = bcrypt.gensalt(4)
        made = bcrypt.hashpw(str(number).encode(), salt)
        # Cost 4 is quick. The format does not depend on the cost.
        password_hash, its_salt = (each.decode().replace("$04$", "$10$") for each in (made, salt))
        assert validate_password_hash(password_hash, its_salt) == password_hash


@pytest.mark.parametrize("password", ["", "x", "a\0b", "a" * 72, "ñ" * 36, "\U0001f600" * 18])
def test_bcrypt_accepts_passwords_of_up_to_72_bytes(password: str) -> None:
    encoded = encode_password(password)
    assert encoded == password.encode()
    bcrypt.checkpw(encoded, HASH.replace("$10$", "$04$").encode())


@pytest.mark.parametrize("password", ["a" * 73, "ñ" * 36 + "a", "a" * 1_000_000, "\ud800"])
def test_passwords_that_no_account_can_have_are_not_encoded(password: str) -> None:
    assert encode_password(password) is None
