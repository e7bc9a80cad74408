"""Accounts and the rules for their fields."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.auth.domain.account import Account, create_account, normalize_email, parse_email
from services.auth.domain.errors import InvalidEmail, InvalidUsername
from services.shared.errors import InvalidArgument

SALT = "$2b$10$SyUprZHiLhjegFiZXUd9Du"
HASH = SALT + "gETUgNx365Jd08EgrysGg4m0CYn2Dwi"
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def create(
    email: str = "ana@example.com",
    password_hash: str = HASH,
    salt: str = SALT,
    username: str = "Ana",
) -> Account:
    return create_account(email, password_hash, salt, username, NOW)


def test_an_account_has_the_typed_email_address_and_a_normalized_key() -> None:
    account = create(email=" \u00a0Ana.Straße@Example.COM\ufeff\t", username="\u3000Ana Ñ \n")

    assert account.email == "Ana.Straße@Example.COM"
    assert account.email_key == "ana.strasse@example.com"
    assert account.username == "Ana Ñ"
    assert (account.password_hash, account.salt, account.created_at) == (HASH, SALT, NOW)


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
def test_unicode_compositions_of_a_letter_have_the_same_key(one: str, other: str) -> None:
    assert normalize_email(one) == normalize_email(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("jose@b", "jos\u00e9@b"),
        ("\ufb01x@b", "f\u0131x@b"),
        ("\uff41@b", "a@b"),
        ("2@b", "\u00b2@b"),
    ],
)
def test_similar_letters_have_different_keys(one: str, other: str) -> None:
    assert normalize_email(one) != normalize_email(other)


@given(st.text(max_size=50))
def test_canonically_equivalent_texts_have_the_same_key(text: str) -> None:
    spellings = {text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))}
    assert len({normalize_email(each) for each in spellings}) == 1


@pytest.mark.parametrize(
    "email",
    ["a@b", "@a@b", "a@b@c", "ñ@ñ", "a" * 252 + "@b", "  " + "a" * 252 + "@b  ", "a b@c"],
)
def test_email_addresses_with_text_around_the_at_sign_are_accepted(email: str) -> None:
    assert create(email=email).email == email.strip()


@pytest.mark.parametrize(
    "email",
    [
        *("", " ", "ana", "@", " @ ", "a@", "@b", "a@ \t", "a" * 253 + "@b"),
        *("a\0@b", "a@b\x85c", "a\n@b", "a@b\x7f", "a@\ud800"),
    ],
)
def test_invalid_email_addresses_are_rejected(email: str) -> None:
    with pytest.raises(InvalidEmail) as rejected:
        create(email=email)
    assert rejected.value.reason == "INVALID_EMAIL"


@pytest.mark.parametrize("username", ["A", "a" * 30, " " + "\U0001f600" * 30 + " ", "名 前"])
def test_usernames_of_1_to_30_code_points_are_accepted(username: str) -> None:
    assert create(username=username).username == username.strip()


@pytest.mark.parametrize(
    "username", ["", "   ", "\u00a0\ufeff", "a" * 31, "\U0001f600" * 31, "a\0b", "a\nb", "\udc00"]
)
def test_other_usernames_are_rejected(username: str) -> None:
    with pytest.raises(InvalidUsername) as rejected:
        create(username=username)
    assert rejected.value.reason == "INVALID_USERNAME"


@given(st.text(), st.text(), st.text(), st.text())
def test_random_fields_are_rejected(email: str, hash_: str, salt: str, username: str) -> None:
    with pytest.raises(InvalidArgument):
        create_account(email, hash_, salt, username, NOW)


@given(st.text(max_size=300), st.text(max_size=40))
def test_a_created_account_can_be_encoded(email: str, username: str) -> None:
    try:
        account = create(email=email, username=username)
    except InvalidArgument:
        return
    account.email.encode()
    account.username.encode()
    assert account.email_key == normalize_email(parse_email(account.email))


def test_the_same_fields_repeat_a_registration() -> None:
    first = create(email="Ana@example.com", username="Ana")
    salt = SALT.replace("$2b", "$2a")

    assert first.has_same_fields(create(email=" ANA@EXAMPLE.com ", username=" Ana "))
    assert not first.has_same_fields(create(username="ana"))
    assert not first.has_same_fields(create(email="bea@example.com"))
    assert not first.has_same_fields(create(password_hash=HASH.replace("$2b", "$2a"), salt=salt))
    assert not first.has_same_fields(create(password_hash=HASH[:-1] + "2"))
