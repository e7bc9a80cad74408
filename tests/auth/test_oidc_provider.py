"""The client of a provider, against one that answers as none should."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.auth.application.identities import Identity, InvalidAnswer, Profile
from services.auth.domain.errors import ProviderUnavailable
from services.auth.domain.provider_urls import check_provider_url
from services.auth.provider import http
from services.auth.provider.cached import LIFETIME_SECONDS, MIN_SECONDS_BETWEEN, CachedDocument
from services.auth.provider.client import Client, OidcProvider
from services.auth.provider.id_tokens import parse_keys
from tests.support.oidc_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    DISCOVERY,
    KEYS,
    TOKEN,
    USERINFO,
    Answer,
    FakeProvider,
    Json,
    create_key,
    public_key,
    running_provider,
)

REDIRECT = "https://atajo.example/oidc/callback"
NONCE, VERIFIER = "nonce-of-the-log-in", "verifier" * 6
OTHER_KEY = create_key()


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with running_provider() as fake:
        yield fake


@pytest.fixture
async def provider(fake: FakeProvider) -> AsyncIterator[OidcProvider]:
    client = Client(fake.issuer, CLIENT_ID, CLIENT_SECRET, REDIRECT)
    provider = OidcProvider(client, lambda: datetime.now(UTC))
    yield provider
    await provider.close()


async def log_in(fake: FakeProvider, provider: OidcProvider, **changes: str) -> Identity:
    url = await provider.authorization_url("state", NONCE, VERIFIER, must_log_in=False)
    response = fake.authorize(url, **changes)
    return await provider.identify(response["code"], response["iss"], NONCE, VERIFIER)


def segment(value: Json) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


async def test_a_code_is_redeemed_for_a_subject_and_its_profile(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    identity = await log_in(fake, provider)
    assert (identity.issuer, identity.subject) == (fake.issuer, fake.subject)
    assert await provider.read_profile(identity) == Profile("ana@example.com", ["Ana"])
    fake.is_profile_in_token = True
    identity = await log_in(fake, provider)
    assert await provider.read_profile(identity) == Profile("ana@example.com", ["Ana"])
    assert fake.requests == {DISCOVERY: 1, KEYS: 1, TOKEN: 2, USERINFO: 1}
    assert "access" not in repr(identity)
    assert "ana@example.com" not in repr(identity)


async def test_no_cookie_of_the_provider_comes_with_the_log_in_of_another(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    for _ in range(2):
        await provider.read_profile(await log_in(fake, provider))
    assert fake.cookies == []


async def test_the_browser_is_sent_with_everything_that_binds_the_answer(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    fake.metadata = {"authorization_endpoint": f"{fake.issuer}/authorize?tenant=a"}
    url = await provider.authorization_url("the state", NONCE, VERIFIER, must_log_in=True)
    query = parse_qs(urlsplit(url).query, strict_parsing=True)
    assert {name: text for name, [text] in query.items()} == {
        "tenant": "a",
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT,
        "scope": "openid email profile",
        "state": "the state",
        "nonce": NONCE,
        "code_challenge": query["code_challenge"][0],
        "code_challenge_method": "S256",
        "prompt": "login",
        "max_age": "0",
    }
    assert VERIFIER not in url


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"},
        {"iss": None},
        {"aud": "another client"},
        {"aud": None},
        {"aud": []},
        {"aud": [CLIENT_ID, "another"]},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"aud": CLIENT_ID, "azp": "another"},
        {"nonce": "nonce of another log-in"},
        {"nonce": None},
        {"nonce": 1},
        {"nonce": "\ud800"},
        {"exp": lambda: int(time.time()) - 61},
        {"exp": None},
        {"exp": True},
        {"exp": "2100-01-01"},
        {"exp": math.nan},
        {"exp": math.inf},
        {"iat": lambda: int(time.time()) + 600},
        {"iat": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": "aña"},
        {"sub": "a\nb"},
        {"sub": 5},
    ],
)
async def test_an_id_token_with_other_claims_is_refused(
    fake: FakeProvider, provider: OidcProvider, claims: Json
) -> None:
    fake.claims = {name: value() if callable(value) else value for name, value in claims.items()}
    fake.sign = lambda claims: sign_raw(fake, claims)
    with pytest.raises(InvalidAnswer):
        await log_in(fake, provider)


def sign_raw(fake: FakeProvider, claims: Json) -> str:
    """Sign claims that PyJWT would not."""
    payload = json.dumps(claims).encode("utf-8", "surrogatepass")
    return jwt.PyJWS().encode(payload, fake.keys["first"], "RS256", {"kid": "first"})


async def test_an_audience_of_several_with_this_client_as_the_authorized_one_is_accepted(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    fake.claims = {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID}
    assert (await log_in(fake, provider)).subject == fake.subject


SIGNATURES: dict[str, Callable[[FakeProvider, Json], str]] = {
    "none": lambda fake, claims: f"{segment({'alg': 'none'})}.{segment(claims)}.",
    "none with kid": lambda fake, claims: (
        f"{segment({'alg': 'none', 'kid': 'first'})}.{segment(claims)}."
    ),
    "secret of the client": lambda fake, claims: jwt.encode(
        claims, CLIENT_SECRET.ljust(32), "HS256", {"kid": "first"}
    ),
    "public key as the secret": lambda fake, claims: jwt.encode(
        claims, public_key("first", fake.keys["first"])["n"], "HS256", {"kid": "first"}
    ),
    "key of somebody else": lambda fake, claims: jwt.encode(
        claims, OTHER_KEY, "RS256", {"kid": "first"}
    ),
    "unknown key": lambda fake, claims: jwt.encode(claims, OTHER_KEY, "RS256", {"kid": "x"}),
    "key in the header": lambda fake, claims: jwt.encode(
        claims, OTHER_KEY, "RS256", {"jwk": public_key("x", OTHER_KEY), "kid": "x"}
    ),
    "critical header": lambda fake, claims: jwt.encode(
        claims, fake.keys["first"], "RS256", {"kid": "first", "crit": ["x"], "x": 1}
    ),
    "encrypted": lambda fake, claims: "a.b.c.d.e",
    "no token": lambda fake, claims: "",
    "changed claims": lambda fake, claims: ".".join(
        [
            (parts := fake.sign_with_key(claims).split("."))[0],
            segment({**claims, "sub": "someone else"}),
            parts[2],
        ]
    ),
    "array": lambda fake, claims: jwt.PyJWS().encode(
        b"[]", fake.keys["first"], "RS256", {"kid": "first"}
    ),
}


@pytest.mark.parametrize("kind", SIGNATURES)
async def test_a_token_that_the_provider_did_not_sign_is_refused(
    fake: FakeProvider, provider: OidcProvider, kind: str
) -> None:
    fake.sign = lambda claims: SIGNATURES[kind](fake, claims)
    with pytest.raises(InvalidAnswer):
        await log_in(fake, provider)


async def test_a_new_key_is_loaded_once_it_is_used_and_unknown_ones_at_a_bounded_rate(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    await log_in(fake, provider)
    now = time.monotonic()
    provider._keys._clock = lambda: now + MIN_SECONDS_BETWEEN
    fake.keys = {"second": OTHER_KEY}
    fake.signing_kid = "second"
    await log_in(fake, provider)
    assert fake.requests[KEYS] == 2

    fake.sign = lambda claims: SIGNATURES["unknown key"](fake, claims)
    for _ in range(5):
        with pytest.raises(InvalidAnswer):
            await log_in(fake, provider)
    assert fake.requests[KEYS] == 2
    provider._keys._clock = lambda: now + 2 * MIN_SECONDS_BETWEEN + 1
    for _ in range(5):
        with pytest.raises(InvalidAnswer):
            await log_in(fake, provider)
    assert fake.requests[KEYS] == 3


ANSWERS = {
    "500": Answer({"error": "server_error"}, 500),
    "no JSON": Answer(b"<html>Maintenance</html>"),
    "no object": Answer(b"[]"),
    "no UTF-8": Answer(b'{"a": "\xff"}'),
    "deeply nested": Answer(b'{"a":' * 100_000),
    "huge": Answer(b" " * (http.MAX_BYTES + 1)),
    "huge number": Answer(b'{"a": ' + b"1" * 10_000 + b"}"),
    "compressed": Answer(b"{}", headers={"content-encoding": "gzip"}),
    "redirect": Answer({}, 302, {"location": "http://169.254.169.254/"}),
    "empty": Answer(b""),
    "no HTTP": Answer(b"", headers={"transfer-encoding": "chunked"}),
    "never": Answer({}, seconds=math.inf),
}


@pytest.mark.parametrize("path", [DISCOVERY, KEYS, TOKEN, USERINFO])
@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_provider_that_does_not_answer_as_it_should_is_unavailable(
    fake: FakeProvider,
    provider: OidcProvider,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    kind: str,
) -> None:
    if kind == "never":
        monkeypatch.setattr(http, "CALL_SECONDS", 0.2)
    fake.answers[path] = ANSWERS[kind]
    with pytest.raises(ProviderUnavailable):
        await provider.read_profile(await log_in(fake, provider))
    assert fake.requests.keys() <= {DISCOVERY, KEYS, TOKEN, USERINFO}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer({"error": "invalid_grant"}, 400), InvalidAnswer),
        (Answer({"error": "invalid_client"}, 401), ProviderUnavailable),
        (Answer({"error": ["a"]}, 400), ProviderUnavailable),
        (Answer({}, 200), InvalidAnswer),
        (Answer({"id_token": 5}, 200), InvalidAnswer),
    ],
)
async def test_answers_of_the_token_endpoint(
    fake: FakeProvider, provider: OidcProvider, answer: Answer, error: type[Exception]
) -> None:
    fake.answers[TOKEN] = answer
    with pytest.raises(error):
        await log_in(fake, provider)


@pytest.mark.parametrize(
    ("changes", "metadata", "is_accepted"),
    [
        ({}, {}, True),
        ({"iss": "https://other.example"}, {}, False),
        ({"iss": ""}, {}, False),
        ({"iss": ""}, {"authorization_response_iss_parameter_supported": False}, True),
        (
            {"iss": "https://other.example"},
            {"authorization_response_iss_parameter_supported": False},
            False,
        ),
    ],
)
async def test_a_response_of_another_issuer_is_refused_before_the_code_is_sent(
    fake: FakeProvider,
    provider: OidcProvider,
    changes: dict[str, str],
    metadata: Json,
    is_accepted: bool,
) -> None:
    fake.metadata = metadata
    if is_accepted:
        await log_in(fake, provider, **changes)
        return
    with pytest.raises(InvalidAnswer):
        await log_in(fake, provider, **changes)
    assert fake.requests[TOKEN] == 0


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://other.example"},
        {"token_endpoint": "http://other.example/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": 5},
        {"userinfo_endpoint": "http://169.254.169.254/latest"},
        {"token_endpoint": "https://user@other.example/"},
        {"token_endpoint": "https://[::1"},
    ],
    ids=repr,
)
async def test_a_configuration_with_other_addresses_is_refused(
    fake: FakeProvider, provider: OidcProvider, metadata: Json
) -> None:
    fake.metadata = metadata
    with pytest.raises(ProviderUnavailable):
        await log_in(fake, provider)
    assert fake.requests[TOKEN] == 0


@pytest.mark.parametrize(
    ("profile", "email"),
    [
        ({"email": "a@b.example", "email_verified": True}, "a@b.example"),
        ({"email": "a@b.example", "email_verified": "true"}, "a@b.example"),
        ({"email": "a@b.example", "email_verified": False}, None),
        ({"email": "a@b.example", "email_verified": "false"}, None),
        ({"email": "a@b.example", "email_verified": 1}, None),
        ({"email": "a@b.example"}, None),
        ({"email": ["a@b.example"], "email_verified": True}, None),
        ({}, None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("is_in_token", [False, True])
async def test_only_a_verified_address_counts(
    fake: FakeProvider, provider: OidcProvider, profile: Json, email: str | None, is_in_token: bool
) -> None:
    fake.profile, fake.is_profile_in_token = profile, is_in_token
    assert await provider.read_profile(await log_in(fake, provider)) == Profile(email, [])


async def test_a_profile_of_another_subject_is_refused(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    fake.profile["sub"] = "bea"
    with pytest.raises(InvalidAnswer):
        await provider.read_profile(await log_in(fake, provider))


async def test_many_log_ins_at_once_ask_a_silent_provider_once(
    fake: FakeProvider, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "CALL_SECONDS", 0.2)
    fake.answers[DISCOVERY] = ANSWERS["never"]
    calls = [
        provider.authorization_url("state", NONCE, VERIFIER, must_log_in=False) for _ in range(200)
    ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(result) for result in results} == {ProviderUnavailable}
    with pytest.raises(ProviderUnavailable):
        await provider.authorization_url("state", NONCE, VERIFIER, must_log_in=False)
    assert fake.requests[DISCOVERY] == 1


async def test_a_cached_document_is_loaded_again_after_its_lifetime_and_after_a_failure() -> None:
    now, loads = 0.0, 0

    async def load() -> int:
        nonlocal loads
        loads += 1
        if loads == 2:
            raise ProviderUnavailable("It is away.")
        return loads

    document = CachedDocument(load, lambda: now)
    assert [await document.get(), await document.refresh(), loads] == [1, 1, 1]
    now = LIFETIME_SECONDS
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            await document.get()
    now += MIN_SECONDS_BETWEEN
    assert [await document.get(), loads] == [3, 3]


@settings(max_examples=50, deadline=None)
@given(st.recursive(st.none() | st.text() | st.integers(), st.lists) | st.lists(
    st.dictionaries(
        st.sampled_from(["kty", "kid", "use", "alg", "n", "e", "x", "y", "crv", "key_ops", "k"]),
        st.sampled_from(["RSA", "EC", "OKP", "oct", "AQAB", "P-256", "Ed25519", "sig", ""])
        | st.none() | st.integers() | st.lists(st.text()),
    )
))  # fmt: skip
def test_any_set_of_keys_is_read(keys: Any) -> None:
    parse_keys(keys)


def test_keys_for_other_purposes_are_ignored() -> None:
    good = public_key("good", OTHER_KEY)
    others = [{**good, "kid": "enc", "use": "enc"}, {"kty": "oct", "k": "AAAA", "kid": "oct"}]
    assert [key.kid for key in parse_keys([*others, good])] == ["good"]


@pytest.mark.parametrize(
    ("url", "is_accepted"),
    [
        ("https://id.example/realm", True),
        ("http://localhost:8081", True),
        ("http://127.8.0.1:8081", True),
        ("http://[::1]:8081", True),
        ("http://id.example", False),
        ("http://localhost.example", False),
        ("ftp://localhost", False),
        ("https://", False),
        ("https://user@id.example", False),
        ("https://id.example/#a", False),
        ("https://id.example/ a", False),
        ("https://id.example/\n", False),
        ("https://ídé.example", False),
        ("https://id.example/" + "a" * 2000, False),
        (None, False),
    ],
)
def test_provider_urls(url: object, is_accepted: bool) -> None:
    if is_accepted:
        assert check_provider_url(url) == url
        return
    with pytest.raises(ValueError, match=r"URL|https"):
        check_provider_url(url)


async def test_an_expired_token_within_the_clocks_leeway_is_accepted(
    fake: FakeProvider, provider: OidcProvider
) -> None:
    fake.claims = {"exp": int((datetime.now(UTC) - timedelta(seconds=30)).timestamp())}
    assert (await log_in(fake, provider)).subject == fake.subject
