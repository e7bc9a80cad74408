"""Session tokens."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.auth.application.session_tokens import SessionTokens
from services.auth.domain.errors import InvalidToken

SECRET = "a signing secret of the tests, more than 32 bytes"
START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
SESSION = "0123456789abcdef01234567"


def tokens_at(moment: datetime, secret: str = SECRET) -> SessionTokens:
    return SessionTokens(secret, lambda: moment)


def read(tokens: SessionTokens, token: str) -> tuple[str, int]:
    """Return the account id and the session number of a token."""
    claims = tokens.read(token)
    return claims.account_id, claims.generation


def now() -> datetime:
    return datetime.now(UTC)


def test_a_token_identifies_its_account_for_four_hours() -> None:
    issued_at = now()
    token, expires_at = tokens_at(issued_at).issue("ana", 7, SESSION)
    claims = jwt.decode(token, options={"verify_signature": False})

    assert read(tokens_at(issued_at), token) == ("ana", 7)
    assert expires_at == issued_at.replace(microsecond=0) + timedelta(hours=4)
    assert claims == {
        "iss": "atajo",
        "jti": SESSION,
        "stored": True,
        "sub": "ana",
        "session": 7,
        "iat": int(issued_at.timestamp()),
        "exp": int(expires_at.timestamp()),
    }
    assert jwt.get_unverified_header(token)["alg"] == "HS256"


@pytest.mark.parametrize("years", [-20, 20])
def test_a_token_expires_by_the_clock_of_the_service(years: int) -> None:
    issued_at = now() + timedelta(days=365 * years)
    token, expires_at = tokens_at(issued_at).issue("ana", 0, SESSION)

    assert read(tokens_at(expires_at - timedelta(microseconds=1)), token) == ("ana", 0)
    with pytest.raises(InvalidToken):
        tokens_at(expires_at).read(token)


def test_a_replica_whose_clock_is_a_minute_behind_accepts_a_token() -> None:
    token, _ = tokens_at(START + timedelta(minutes=1)).issue("ana", 0, SESSION)
    assert read(tokens_at(START), token) == ("ana", 0)


@pytest.mark.parametrize("ahead", [timedelta(seconds=61), timedelta(days=1), timedelta(days=3650)])
def test_a_token_signed_by_a_clock_ahead_is_not_valid(ahead: timedelta) -> None:
    later = START + ahead
    token, _ = tokens_at(later).issue("ana", 0, SESSION)

    with pytest.raises(InvalidToken):
        tokens_at(START).read(token)
    assert read(tokens_at(later), token) == ("ana", 0)


def sign_token(secret: str = SECRET, algorithm: str = "HS256", **changes: object) -> str:
    claims: dict[str, object] = {
        "iss": "atajo",
        "sub": "ana",
        "session": 3,
        "jti": "a session",
        "iat": int(now().timestamp()),
        "exp": int(now().timestamp()) + 60,
    }
    claims |= changes
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, secret, algorithm)


def test_the_unchanged_sample_is_valid() -> None:
    assert read(tokens_at(now()), sign_token()) == ("ana", 3)


def _segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "token",
    [
        *("", ".", "..", "...", "garbage", "a.b.c", "\0", "é.é.é", "\ud800", "null"),
        "x" * 1_000_000,
        "." * 1_000_000,
        base64.urlsafe_b64encode(b"[" * 300).decode() + ".e30.x",
        base64.urlsafe_b64encode(b"[" * 700_000).decode() + ".e30.x",
        f"{_segment({'alg': 'none'})}.{_segment({'iss': 'atajo', 'sub': 'ana'})}.",
        f"{_segment({'alg': ['HS256']})}.{_segment({})}.eA",
        f"{_segment({'alg': 'HS256', 'kid': 1})}.{_segment({})}.eA",
        f"{_segment({'alg': 'HS256', 'b64': False, 'crit': ['b64']})}..eA",
        f"{_segment([])}.{_segment([])}.eA",
        sign_token()[:-2],
        sign_token() + "A",
        " " + sign_token(),
        sign_token(secret="another secret, which is as long as it has to be"),
        sign_token(algorithm="HS512", secret=SECRET * 2),
        sign_token(exp=int(now().timestamp()) - 1),
        sign_token(exp=None),
        sign_token(sub=None),
        sign_token(sub=7),
        sign_token(iat=None),
        sign_token(iat=int(now().timestamp()) + 600),
        sign_token(exp=int(now().timestamp()) + 5 * 3600),
        sign_token(session=None),
        sign_token(jti=None),
        sign_token(iss=None),
        sign_token(iss="other"),
        tokens_at(now() - timedelta(hours=4, seconds=1)).issue("ana", 0, SESSION)[0],
    ],
    ids=lambda token: token[:20].encode("unicode_escape").decode(),
)
def test_invalid_tokens_are_rejected(token: str) -> None:
    with pytest.raises(InvalidToken) as rejected:
        tokens_at(now()).read(token)
    assert rejected.value.reason == "INVALID_TOKEN"


@given(st.text() | st.text(alphabet='ey.{}[]"aAbB-_=019').map(lambda text: f"{text}.{text}.x"))
def test_no_random_text_is_a_token(text: str) -> None:
    with pytest.raises(InvalidToken):
        tokens_at(now()).read(text)
