"""Every outcome of the five functions, through an unmodified Firebase Functions client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from tests.product import FirebaseClient, Product, new_code, registration


@pytest.fixture(scope="module")
def client(product: Product) -> Iterator[FirebaseClient]:
    with FirebaseClient(product.url) as driven:
        yield driven


def data(client: FirebaseClient, name: str, payload: object) -> Any:
    reply = client.call(name, payload)
    assert reply["ok"], reply
    return reply["data"]


def error(client: FirebaseClient, name: str, payload: object) -> tuple[str, str]:
    """The client's own code and our reason."""
    reply = client.call(name, payload)
    assert not reply["ok"], reply
    assert reply["message"]
    return reply["code"], reply["details"]["reason"]


def test_create_and_access(client: FirebaseClient) -> None:
    code = new_code()
    link = {"code": code, "url": "https://example.com/a?b=%20c#d", "token": None}
    made = {"success": True, "code": code, "short_link": code}
    assert data(client, "createShortLink", link) == made
    assert data(client, "createShortLink", link) == made, "a repetition is a success"
    assert data(client, "accessLink", {"code": code}) == {
        "success": True,
        "longUrl": [{"long_link": "https://example.com/a?b=%20c#d"}],
    }


def test_a_code_is_taken_by_another_url_or_creator_or_a_route(
    product: Product, client: FirebaseClient
) -> None:
    code = product.shorten("https://example.com/first")
    taken = ("functions/aborted", "CODE_TAKEN")
    other = {"code": code, "url": "https://example.com/second", "token": None}
    assert error(client, "createShortLink", other) == taken
    token = product.log_in(product.register())
    mine = {"code": code, "url": "https://example.com/first", "token": token}
    assert error(client, "createShortLink", mine) == taken
    route = {"code": "register", "url": "https://example.com", "token": None}
    assert error(client, "createShortLink", route) == taken
    for reserved in ("Register", "dashboard", "www"):
        assert error(client, "createShortLink", {**route, "code": reserved}) == taken
    other_letters = {"code": code.swapcase(), "url": "https://example.com", "token": None}
    assert data(client, "createShortLink", other_letters)["success"], "case counts"


def test_an_account_may_have_a_code_of_4_to_32_characters(
    client: FirebaseClient, product: Product
) -> None:
    """Everybody else has codes of eight."""
    token = product.log_in(product.register())
    for code in (new_code()[:4], new_code() * 4):
        payload = {"code": code, "url": "https://example.com", "token": token}
        assert data(client, "createShortLink", payload)["short_link"] == code
        refused = error(client, "createShortLink", {**payload, "token": None})
        assert refused == ("functions/invalid-argument", "INVALID_CODE")
    for code in (new_code()[:3], new_code() * 4 + "a"):
        refused = error(client, "createShortLink", {**payload, "code": code})
        assert refused == ("functions/invalid-argument", "INVALID_CODE")


@pytest.mark.parametrize("code", ["", "abcde", "ninechars", "with spa", "ümlauted", "abc/efgh"])
def test_a_malformed_code(client: FirebaseClient, code: str) -> None:
    payload = {"code": code, "url": "https://example.com", "token": None}
    assert error(client, "createShortLink", payload) == (
        "functions/invalid-argument",
        "INVALID_CODE",
    )
    assert data(client, "accessLink", {"code": code}) == {"success": True, "longUrl": []}


@pytest.mark.parametrize(
    "url", ["", "ab", "javascript:alert(1)", "data:text/html,x", "http://", "mailto:x@y.z", "a b"]
)
def test_a_url_that_cannot_be_stored(client: FirebaseClient, url: str) -> None:
    payload = {"code": new_code(), "url": url, "token": None}
    assert error(client, "createShortLink", payload) == (
        "functions/invalid-argument",
        "INVALID_URL",
    )


def test_url_lengths_at_the_border(client: FirebaseClient) -> None:
    longest = "http://example.com/" + "ñ" * (999 - len("http://example.com/"))
    code = new_code()
    assert data(client, "createShortLink", {"code": code, "url": longest, "token": None})["success"]
    assert data(client, "accessLink", {"code": code})["longUrl"] == [{"long_link": longest}]
    longer = {"code": new_code(), "url": longest + "x", "token": None}
    assert error(client, "createShortLink", longer)[1] == "INVALID_URL"


def test_own_short_addresses_are_no_targets(product: Product, client: FirebaseClient) -> None:
    for url in (product.url, product.url.replace("http:", "https:"), "x@" + product.url[7:]):
        payload = {"code": new_code(), "url": f"{url}/{new_code()}", "token": None}
        assert error(client, "createShortLink", payload)[1] == "INVALID_URL"


def test_nothing_stored_is_an_empty_list(client: FirebaseClient) -> None:
    assert data(client, "accessLink", {"code": new_code()}) == {"success": True, "longUrl": []}


def test_register(client: FirebaseClient) -> None:
    email = f"{new_code()}@Example.com"
    fields = registration(email)
    assert data(client, "registerUser", fields) == {"success": True}
    assert data(client, "registerUser", fields) == {"success": True}, "a repetition is a success"
    exists = {"success": False, "error": "exist"}
    assert data(client, "registerUser", registration(email)) == exists
    assert data(client, "registerUser", registration(f" {email.upper()} ")) == exists


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("email", "no-at-sign", "INVALID_EMAIL"),
        ("email", "", "INVALID_EMAIL"),
        ("email", "a" * 250 + "@b.c", None),
        ("email", "a" * 251 + "@b.c", "INVALID_EMAIL"),
        ("username", "", "INVALID_USERNAME"),
        ("username", "ñ" * 30, None),
        ("username", "ñ" * 31, "INVALID_USERNAME"),
        ("password", "Camino-42", "INVALID_PASSWORD_HASH"),
        ("salt", "", "INVALID_PASSWORD_HASH"),
        ("salt", "$2b$10$" + "." * 22, "INVALID_PASSWORD_HASH"),
    ],
)
def test_fields_of_a_registration(
    client: FirebaseClient, field: str, value: str, reason: str | None
) -> None:
    if field == "email" and reason is None:
        value = new_code() + value[8:]
    payload = {**registration(f"{new_code()}@example.com"), field: value}
    if reason is None:
        assert data(client, "registerUser", payload) == {"success": True}
    else:
        assert error(client, "registerUser", payload) == ("functions/invalid-argument", reason)


def test_hash_costs(client: FirebaseClient) -> None:
    cheap = registration(f"{new_code()}@example.com", cost=9)
    assert error(client, "registerUser", cheap)[1] == "INVALID_PASSWORD_HASH"
    dear = registration(f"{new_code()}@example.com", cost=11)
    assert data(client, "registerUser", dear) == {"success": True}


def test_log_in(product: Product, client: FirebaseClient) -> None:
    email = product.register(f"{new_code()}@Example.com")
    before = time.time()
    reply = data(client, "verifyUser", {"email": f" {email.swapcase()} ", "password": "Camino-42"})
    assert set(reply) == {"success", "token", "expirationTimestamp", "username", "device"}
    assert reply["success"]
    assert reply["username"] == "walker"
    assert abs(reply["expirationTimestamp"] / 1000 - before - 4 * 3600) < 10
    wrong = data(client, "verifyUser", {"email": email, "password": "camino-42"})
    assert wrong == {"success": False, "error": "incorrect"}
    long = data(client, "verifyUser", {"email": email, "password": "Camino-42" * 9})
    assert long == {"success": False, "error": "incorrect"}
    nobody = data(client, "verifyUser", {"email": "nobody@example.com", "password": "x"})
    assert nobody == {"success": False, "error": "no exist"}
    for empty in ({"email": "", "password": "x"}, {"email": email, "password": ""}):
        assert error(client, "verifyUser", empty)[0] == "functions/invalid-argument"


def test_too_many_failed_log_ins(product: Product, client: FirebaseClient) -> None:
    email = product.register()
    for _ in range(10):
        reply = data(client, "verifyUser", {"email": email, "password": "wrong"})
        assert reply == {"success": False, "error": "incorrect"}
    assert error(client, "verifyUser", {"email": email, "password": "Camino-42"}) == (
        "functions/resource-exhausted",
        "TOO_MANY_ATTEMPTS",
    )
    response = product.call("verifyUser", {"email": email, "password": "Camino-42"})
    assert response.status_code == 429
    assert 1 <= int(response.headers["retry-after"]) <= 15 * 60


def test_profile(product: Product, client: FirebaseClient) -> None:
    token = product.log_in(product.register())
    assert data(client, "showProfile", {"token": token}) == {"success": True, "data": []}
    before = datetime.now(UTC)
    codes = [product.shorten(f"example.com/{n}", token) for n in range(3)]
    product.shorten("example.com/anonymous")
    links = data(client, "showProfile", {"token": token})["data"]
    assert [link["short_link"] for link in links] == codes[::-1], "newest first"
    assert [link["long_link"] for link in links] == [f"http://example.com/{n}" for n in (2, 1, 0)]
    for link in links:
        assert set(link) == {"short_link", "long_link", "views", "created_at"}
        assert link["views"] == 0
        assert link["created_at"].endswith("Z")
        age = datetime.fromisoformat(link["created_at"]) - before
        assert timedelta(seconds=-1) < age < timedelta(seconds=30)


@pytest.mark.parametrize("token", [None, ""])
def test_profile_of_nobody(client: FirebaseClient, token: str | None) -> None:
    assert data(client, "showProfile", {"token": token}) == {"success": False, "error": "no logged"}


def test_tokens_that_do_not_verify(product: Product, client: FirebaseClient) -> None:
    token = product.log_in(product.register())
    claims = jwt.decode(token, options={"verify_signature": False})
    header, payload, signature = token.split(".")
    forged = [
        "nonsense",
        "a" * 5000,
        f"{header}.{payload}.",
        f"{header}.{payload}.{signature[::-1]}",
        jwt.encode(claims, "another key that is long enough to sign", algorithm="HS256"),
        jwt.encode(claims, None, algorithm="none"),
    ]
    for bad in forged:
        refused = {"success": False, "error": "invalid token"}
        assert data(client, "showProfile", {"token": bad}) == refused
        link = {"code": new_code(), "url": "example.com", "token": bad}
        assert data(client, "createShortLink", link) == refused
        assert data(client, "accessLink", {"code": link["code"]})["longUrl"] == []


def test_an_empty_token_is_an_anonymous_visitor(client: FirebaseClient) -> None:
    link = {"code": new_code(), "url": "example.com", "token": ""}
    assert data(client, "createShortLink", link)["success"]
    again = {**link, "token": None}
    assert data(client, "createShortLink", again)["success"], "the same creator: nobody"


def test_an_unknown_function(client: FirebaseClient) -> None:
    assert error(client, "noSuchFunction", {})[0] == "functions/not-found"
