"""Administrator's passes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from services.shared.administrators import (
    CONFIRMATION_LIFETIME,
    PASS_LIFETIME,
    Administrator,
    ConfirmationNeeded,
    NotAdministrator,
    issue_pass,
    read_pass,
)

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
SECRET = "k3pt-n0where-and-f0r-tests-al0ne-0123456789"
MICROSECOND = timedelta(microseconds=1)
ADA = Administrator("5f0c9a2b1d3e4f5061728394", "Ada@Example.com", NOW - timedelta(minutes=3))


def test_a_pass_says_who_has_it_until_it_expires() -> None:
    given = issue_pass(SECRET, ADA, NOW)
    assert read_pass(SECRET, given, NOW) == ADA
    assert read_pass(SECRET, given, NOW + PASS_LIFETIME - MICROSECOND) == ADA
    with pytest.raises(NotAdministrator) as expired:
        read_pass(SECRET, given, NOW + PASS_LIFETIME)
    assert expired.value.reason == "NOT_ADMINISTRATOR"


def test_a_pass_has_any_e_mail_address() -> None:
    longest = replace(ADA, email="\U0001f600" * 250 + "@b.c")
    assert read_pass(SECRET, issue_pass(SECRET, longest, NOW), NOW) == longest


def test_a_confirmation_is_valid_for_15_minutes() -> None:
    confirmed = replace(ADA, confirmed_at=NOW - CONFIRMATION_LIFETIME)
    given = issue_pass(SECRET, confirmed, NOW)
    assert read_pass(SECRET, given, NOW) == confirmed
    for call in (
        lambda: read_pass(SECRET, given, NOW + MICROSECOND),
        lambda: issue_pass(SECRET, confirmed, NOW + MICROSECOND),
    ):
        with pytest.raises(ConfirmationNeeded) as needed:
            call()
        assert needed.value.reason == "CONFIRMATION_NEEDED"


def claims(**changes: object) -> dict[str, object]:
    at = int(NOW.timestamp())
    return {
        "iss": "atajo administration",
        "aud": "atajo administration",
        "iat": at,
        "exp": at + 60,
        "sub": ADA.account_id,
        "email": ADA.email,
        "confirmed_at": at * 1_000_000,
        **changes,
    }


def test_the_claims_of_a_pass_are_as_in_the_tests_below() -> None:
    given = jwt.encode(claims(), SECRET, "HS256")
    assert read_pass(SECRET, given, NOW) == replace(ADA, confirmed_at=NOW)


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "a.b.c",
        "x" * 5000,
        issue_pass("another secret of at least 32 bytes, too", ADA, NOW),
        issue_pass(SECRET, ADA, NOW)[:-2],
        jwt.encode(claims(), "", "none"),
        jwt.encode(claims(aud="atajo"), SECRET, "HS256"),
        jwt.encode(claims(iss="atajo"), SECRET, "HS256"),
        jwt.encode(claims(exp=int(NOW.timestamp()) + 3600), SECRET, "HS256"),
        jwt.encode(claims(iat=int(NOW.timestamp()) + 3600), SECRET, "HS256"),
        jwt.encode({k: v for k, v in claims().items() if k != "email"}, SECRET, "HS256"),
    ],
)
def test_a_forged_pass_is_refused(forged: str) -> None:
    with pytest.raises(NotAdministrator):
        read_pass(SECRET, forged, NOW)


def test_without_a_secret_nobody_is_an_administrator() -> None:
    for given in ("", issue_pass(SECRET, ADA, NOW), jwt.encode(claims(), "", "none")):
        with pytest.raises(NotAdministrator):
            read_pass("", given, NOW)
