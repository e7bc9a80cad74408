"""What an account may be made of."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import bcrypt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.auth.domain import account
from services.shared.errors import InvalidArgument

SALT = "$2b$10$SyUprZHiLhjegFiZXUd9Du"
HASH = SALT + "gETUgNx365Jd08EgrysGg4m0CYn2Dwi"
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def an_account(
    email: str = "ana@example.com",
    password_hash: str = HASH,
    salt: str = SALT,
    username: str = "Ana",
) -> account.Account:
    return account.new_account(email, password_hash, salt, username, NOW)


def test_the_sample_is_what_bcrypt_makes() -> None:
    assert bcrypt.checkpw(b"x", HASH.encode())


def test_an_account_keeps_what_was_typed_and_compares_by_the_folded_address() -> None:
    made = an_account(email=" \u00a0Ana.Straße@Example.COM\ufeff\t", username="\u3000Ana Ñ \n")

    assert made.email == "Ana.Straße@Example.COM"
    assert made.email_key == "ana.strasse@example.com"
    assert made.username == "Ana Ñ"
    assert (made.password_hash, made.salt, made.created_at) == (HASH, SALT, NOW)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jos\u00c9@b", "jose\u0301@b"),
        ("\u212bngstr\u00f6m@b", "a\u030angstro\u0308m@b"),
        ("J\u030ca@b", "\u01f0a@b"),
        ("q\u0323\u0307@b", "q\u0307\u0323@b"),
        ("\uac00@b", "\u1100\u1161@b"),
    ],
)
def test_two_spellings_of_one_letter_are_one_address(one: str, other: str) -> None:
    assert account.key_of(one) == account.key_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("jose@b", "jos\u00e9@b"),
        ("\ufb01x@b", "f\u0131x@b"),
        ("\uff41@b", "a@b"),
        ("2@b", "\u00b2@b"),
    ],
)
def test_letters_that_are_only_alike_are_two_addresses(one: str, other: str) -> None:
    assert account.key_of(one) != account.key_of(other)


@given(st.text(max_size=50))
def test_what_is_canonically_the_same_has_one_key(text: str) -> None:
    spellings = {text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))}
    assert len({account.key_of(each) for each in spellings}) == 1


@pytest.mark.parametrize(
    "email",
    ["a@b", "@a@b", "a@b@c", "ñ@ñ", "a" * 252 + "@b", "  " + "a" * 252 + "@b  ", "a b@c"],
)
def test_an_address_with_something_around_its_at_sign_is_taken(email: str) -> None:
    assert an_account(email=email).email == email.strip()


@pytest.mark.parametrize(
    "email",
    [
        *("", " ", "ana", "@", " @ ", "a@", "@b", "a@ \t", "a" * 253 + "@b"),
        *("a\0@b", "a@b\x85c", "a\n@b", "a@b\x7f", "a@\ud800"),
    ],
)
def test_what_is_no_address_is_refused(email: str) -> None:
    with pytest.raises(account.InvalidEmail) as refused:
        an_account(email=email)
    assert refused.value.reason == "INVALID_EMAIL"


@pytest.mark.parametrize("username", ["A", "a" * 30, " " + "\U0001f600" * 30 + " ", "名 前"])
def test_a_username_of_1_to_30_code_points_is_taken(username: str) -> None:
    assert an_account(username=username).username == username.strip()


@pytest.mark.parametrize(
    "username", ["", "   ", "\u00a0\ufeff", "a" * 31, "\U0001f600" * 31, "a\0b", "a\nb", "\udc00"]
)
def test_other_usernames_are_refused(username: str) -> None:
    with pytest.raises(account.InvalidUsername) as refused:
        an_account(username=username)
    assert refused.value.reason == "INVALID_USERNAME"


@pytest.mark.parametrize("version", ["2a", "2b", "2y"])
@pytest.mark.parametrize("cost", [10, 11, 14])
def test_every_version_of_bcrypt_is_taken_at_cost_10_to_14(version: str, cost: int) -> None:
    salt = f"${version}${cost}{SALT[6:]}"
    assert an_account(password_hash=salt + HASH[29:], salt=salt).password_hash == salt + HASH[29:]


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
        # Bits that no bcrypt sets: such a hash can never verify.
        (HASH[:28] + "9" + HASH[29:], SALT[:28] + "9"),
        (HASH[:-1] + "9", SALT),
    ],
)
def test_what_is_no_hash_of_the_salt_is_refused(password_hash: str, salt: str) -> None:
    with pytest.raises(account.InvalidPasswordHash) as refused:
        an_account(password_hash=password_hash, salt=salt)
    assert refused.value.reason == "INVALID_PASSWORD_HASH"


def test_every_hash_bcrypt_makes_is_taken() -> None:
    for number in range(64):
        salt = bcrypt.gensalt(4)
        made = bcrypt.hashpw(str(number).encode(), salt)
        # Made at a cost that is quick; the shape does not depend on it.
        dear = [text.decode().replace("$04$", "$10$") for text in (made, salt)]
        assert an_account(password_hash=dear[0], salt=dear[1]).password_hash == dear[0]


@given(st.text(), st.text(), st.text(), st.text())
def test_nothing_else_ever_comes_out(email: str, hash_: str, salt: str, username: str) -> None:
    with pytest.raises(InvalidArgument):
        account.new_account(email, hash_, salt, username, NOW)


@given(st.text(max_size=300), st.text(max_size=40))
def test_an_account_that_is_made_can_be_stored(email: str, username: str) -> None:
    try:
        made = an_account(email=email, username=username)
    except InvalidArgument:
        return
    made.email.encode()
    made.username.encode()
    assert made.email_key == account.key_of(account.checked_email(made.email))


def test_the_same_four_fields_repeat_an_an_account() -> None:
    first = an_account(email="Ana@example.com", username="Ana")
    salt = SALT.replace("$2b", "$2a")

    assert first.same_as(an_account(email=" ANA@EXAMPLE.com ", username=" Ana "))
    assert not first.same_as(an_account(username="ana"))
    assert not first.same_as(an_account(email="bea@example.com"))
    assert not first.same_as(an_account(password_hash=HASH.replace("$2b", "$2a"), salt=salt))
    assert not first.same_as(an_account(password_hash=HASH[:-1] + "2"))


@pytest.mark.parametrize("password", ["", "x", "a\0b", "a" * 72, "ñ" * 36, "\U0001f600" * 18])
def test_a_password_of_72_bytes_reaches_bcrypt(password: str) -> None:
    given_bytes = account.password_bytes(password)
    assert given_bytes == password.encode()
    bcrypt.checkpw(given_bytes, HASH.replace("$10$", "$04$").encode())


@pytest.mark.parametrize("password", ["a" * 73, "ñ" * 36 + "a", "a" * 1_000_000, "\ud800"])
def test_a_password_no_account_can_have_does_not(password: str) -> None:
    assert account.password_bytes(password) is None
