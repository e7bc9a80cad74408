"""Every outcome of the functions, through an unmodified Firebase Functions client."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from tests.integration.test_admin import addresses, admin
from tests.product import FirebaseClient, Product, new_code, registration
from tests.waiting import SETTLED, await_that


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
    assert set(reply) == {"success", "token", "expirationTimestamp", "username"}
    assert reply["success"]
    assert reply["username"] == "walker"
    asks = {"email": email, "password": "Camino-42", "device": None}
    assert set(data(client, "verifyUser", asks)) == {*reply, "device"}
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


# Links of an owner.

LINK_KEYS = {
    *("code", "short_link", "long_link", "title", "tags", "state", "reason", "created_at"),
    *("changed_at", "expires_at", "ended_url", "public_statistics", "views", "bots"),
}
NO_EXIST = {"success": False, "error": "no exist"}
INVALID = "functions/invalid-argument"
Owner = dict[str, str | None]


@pytest.fixture(params=["account", "guest"])
def owner(request: pytest.FixtureRequest, product: Product) -> Owner:
    """Somebody without links, as payloads name them."""
    if request.param == "guest":
        return {"token": None, "guest": secrets.token_urlsafe(32)}
    return {"token": product.log_in(product.register()), "guest": None}


def made(client: FirebaseClient, owner: Owner, url: str = "https://example.com/a") -> str:
    code = new_code()
    link = {**owner, "code": code, "url": url}
    expected = {"success": True, "code": code, "short_link": code}
    assert data(client, "createShortLink", link) == expected
    assert data(client, "createShortLink", link) == expected, "a repetition is a success"
    return code


def codes_of(client: FirebaseClient, owner: Owner, **query: object) -> list[str]:
    reply = data(client, "showLinks", {**owner, **query})
    assert reply["success"], reply
    assert reply["total"] == len(reply["links"])
    return [link["code"] for link in reply["links"]]


def test_a_link_and_all_of_its_changes(client: FirebaseClient, owner: Owner) -> None:
    code = made(client, owner)
    shown = data(client, "showLink", {**owner, "code": code})
    assert set(shown) == {"success", "link", "history"}
    assert set(shown["link"]) == LINK_KEYS
    assert shown["history"] == []
    before = {key: value for key, value in shown["link"].items() if key != "changed_at"}
    changes = {
        "url": "https://example.com/b",
        "title": " A title ",
        "tags": ["b", "a", "b"],
        "expires_at": "2086-07-01T09:30:00.999+02:00",
        "ended_url": "ended.example",
        "public_statistics": True,
    }
    for _ in range(2):
        reply = data(client, "changeLink", {**owner, "code": code, "changes": changes})
        assert set(reply) == {"success", "link"}
        link = reply["link"]
        changed_at = link.pop("changed_at")
        assert link == {
            **before,
            "long_link": "https://example.com/b",
            "title": "A title",
            "tags": ["b", "a"],
            "expires_at": "2086-07-01T07:30:00.000Z",
            "ended_url": "http://ended.example",
            "public_statistics": True,
        }
        assert changed_at.endswith("Z")
    told = data(client, "showLink", {**owner, "code": code})
    assert told["link"] == {**link, "changed_at": changed_at}
    assert [former["long_link"] for former in told["history"]] == ["https://example.com/a"]
    taken: dict[str, object] = {"title": "", "tags": [], "expires_at": None, "ended_url": None}
    link = data(client, "changeLink", {**owner, "code": code, "changes": taken})["link"]
    assert {key: link[key] for key in taken} == taken


def test_an_end_in_the_past_ends_a_link_at_once(client: FirebaseClient, owner: Owner) -> None:
    code = made(client, owner)
    change = {**owner, "code": code, "changes": {"expires_at": "2020-01-01T00:00:00Z"}}
    assert data(client, "changeLink", change)["link"]["state"] == "expired"
    expired = {"success": True, "longUrl": [], "state": "expired"}
    assert data(client, "accessLink", {"code": code}) == expired
    change["changes"] = {"ended_url": "https://example.com/ended"}
    assert data(client, "changeLink", change)["success"]
    target = [{"long_link": "https://example.com/ended"}]
    assert data(client, "accessLink", {"code": code}) == {**expired, "longUrl": target}
    assert codes_of(client, owner, state="expired") == codes_of(client, owner) == [code]
    assert codes_of(client, owner, state="active") == []


def test_a_removal_and_its_undo(client: FirebaseClient, owner: Owner) -> None:
    kept, code = made(client, owner), made(client, owner)
    named = {**owner, "codes": [code, code]}
    for _ in range(2):
        assert data(client, "removeLinks", named) == {"success": True, "removed": [code]}
        removed = {"success": True, "longUrl": [], "state": "removed"}
        assert data(client, "accessLink", {"code": code}) == removed
        assert codes_of(client, owner) == [kept]
        assert codes_of(client, owner, state="removed") == [code]
    for _ in range(2):
        assert data(client, "restoreLinks", named) == {"success": True, "restored": [code]}
        assert data(client, "accessLink", {"code": code})["longUrl"]
        assert codes_of(client, owner) == [code, kept]


def test_what_is_not_the_owners_does_not_exist(
    product: Product, client: FirebaseClient, owner: Owner
) -> None:
    mine = made(client, owner)
    for code in (product.shorten("https://example.com/"), new_code(), "no code"):
        for function, payload in (
            ("showLink", {"code": code}),
            ("changeLink", {"code": code, "changes": {"title": "a"}}),
            ("removeLinks", {"codes": [mine, code]}),
            ("restoreLinks", {"codes": [mine, code]}),
        ):
            assert data(client, function, {**owner, **payload}) == NO_EXIST
    assert codes_of(client, owner) == [mine]


def test_lists_in_pages_by_text_and_order(client: FirebaseClient, owner: Owner) -> None:
    codes = [made(client, owner, f"https://example.com/{n}") for n in range(5)]
    for order, expected in (
        *(("newest", codes[::-1]), ("oldest", codes), ("most viewed", codes[::-1])),
        (None, codes[::-1]),
    ):
        found: list[str] = []
        cursor = None
        for _ in range(3):
            asked = {**owner, "order": order, "limit": 2, "cursor": cursor}
            page = data(client, "showLinks", asked)
            assert set(page) == {"success", "links", "total", "cursor"}
            assert page["total"] == 5
            found += [link["code"] for link in page["links"]]
            cursor = page["cursor"]
        assert cursor is None
        assert found == expected
    assert codes_of(client, owner, query="EXAMPLE.COM/3") == [codes[3]]
    assert codes_of(client, owner, query="nowhere") == []
    page = data(client, "showLinks", {**owner, "limit": 2})
    other = {**owner, "limit": 2, "cursor": page["cursor"], "order": "oldest"}
    assert error(client, "showLinks", other) == (INVALID, "INVALID_CURSOR")


def test_a_claim(product: Product, client: FirebaseClient) -> None:
    guest = secrets.token_urlsafe(32)
    codes = [made(client, {"guest": guest}) for _ in range(3)]
    data(client, "removeLinks", {"guest": guest, "codes": codes[:1]})
    token = product.log_in(product.register())
    both = {"token": token, "guest": guest}
    assert data(client, "claimLinks", both) == {"success": True, "claimed": 3}
    assert data(client, "claimLinks", both) == {"success": True, "claimed": 0}
    assert codes_of(client, {"token": token}) == codes[:0:-1]
    assert codes_of(client, {"token": token}, state="removed") == codes[:1]
    assert codes_of(client, {"guest": guest}) == []
    for one in ({"token": token}, {"guest": guest}, {"token": "", "guest": guest}):
        assert error(client, "claimLinks", one) == (INVALID, "INVALID_ARGUMENT")


def test_a_scan_code(client: FirebaseClient) -> None:
    owner: dict[str, str | None] = {"guest": secrets.token_urlsafe(32)}
    code = made(client, owner)
    reply = data(client, "createScanCode", {**owner, "code": code})
    scan_code = reply["scan_code"]
    assert reply == {"success": True, "scan_code": scan_code}
    assert data(client, "createScanCode", {**owner, "code": code}) == reply
    assert data(client, "showLink", {**owner, "code": code})["link"]["scan_code"] == scan_code
    followed = data(client, "accessLink", {"code": scan_code})
    assert followed == data(client, "accessLink", {"code": code})
    not_there = {"success": False, "error": "no exist"}
    other = {"guest": secrets.token_urlsafe(32), "code": code}
    assert data(client, "createScanCode", other) == not_there
    assert data(client, "createScanCode", {**owner, "code": scan_code}) == not_there
    not_logged = {"success": False, "error": "no logged"}
    assert data(client, "createScanCode", {"code": code}) == not_logged
    taken = {**owner, "code": scan_code, "url": "https://example.com"}
    assert error(client, "createShortLink", taken) == ("functions/aborted", "CODE_TAKEN")


BREAKDOWNS = {"referrer", "device", "browser", "system", "language", "country", "source"}


def test_statistics_of_a_link_and_of_all_links(
    product: Product, client: FirebaseClient, owner: Owner
) -> None:
    code, other = made(client, owner), made(client, owner)
    for _ in range(3):
        product.visit(code)
    product.visit(code, {"user-agent": "curl/8"})
    product.visit(other)

    def people(asked: str | None) -> int:
        shown = data(client, "showStatistics", {**owner, "code": asked})
        count: int = shown["totals"]["people"]
        return count

    await_that(lambda: (people(code), people(None)) == (3, 4), SETTLED)
    shown = data(client, "showStatistics", {**owner, "code": code})
    assert set(shown) == {"success", "range", "totals", "previous", "series", "breakdowns"}
    assert set(shown["range"]) == {"from", "to", "step", "timezone"}
    assert (shown["range"]["step"], shown["range"]["timezone"]) == ("day", "UTC")
    assert set(shown["totals"]) == set(shown["previous"]) == {"people", "bots", "visitors"}
    assert shown["totals"]["bots"] == 1
    assert len(shown["series"]) == 30
    assert set(shown["series"][0]) == {"start", "people", "bots", "visitors"}
    assert sum(step["people"] for step in shown["series"]) == 3
    assert set(shown["breakdowns"]) == BREAKDOWNS
    for names in shown["breakdowns"].values():
        assert sum(one["people"] for one in names) == 3
    own = {"from": "2026-01-01", "to": "2026-12-31"}
    asked = {**owner, "code": None, "range": own, "timezone": "America/Santiago"}
    both = data(client, "showStatistics", asked)
    assert both["range"] == {**own, "step": "week", "timezone": "America/Santiago"}
    everything = data(client, "showStatistics", {**owner, "code": None, "range": "all"})
    assert everything["previous"] is None
    assert everything["top"] == [{"code": code, "people": 3}, {"code": other, "people": 1}]

    for stranger, said in (({}, "no logged"), ({"guest": "a" * 43}, "no exist")):
        refused = {"success": False, "error": said}
        assert data(client, "showStatistics", {**stranger, "code": code}) == refused
    change = {**owner, "code": code, "changes": {"public_statistics": True}}
    assert data(client, "changeLink", change)["success"]
    for stranger in ({}, {"guest": "a" * 43}):
        assert data(client, "showStatistics", {**stranger, "code": code}) == shown


OWNED: dict[str, dict[str, object]] = {
    "showLink": {"code": "abcdefgh"},
    "showLinks": {},
    "showStatistics": {"code": None},
    "changeLink": {"code": "abcdefgh", "changes": {"title": "a"}},
    "removeLinks": {"codes": ["abcdefgh"]},
    "restoreLinks": {"codes": ["abcdefgh"]},
}


@pytest.mark.parametrize("function", OWNED)
def test_on_whose_behalf(client: FirebaseClient, function: str) -> None:
    payload = OWNED[function]
    for nobody in ({}, {"token": "", "guest": None}):
        reply = data(client, function, {**payload, **nobody})
        assert reply == {"success": False, "error": "no logged"}
    bad = {**payload, "token": "a.b.c", "guest": "a" * 43}
    assert data(client, function, bad) == {"success": False, "error": "invalid token"}
    malformed = {**payload, "token": "a.b.c", "guest": "a" * 42}
    assert error(client, function, malformed) == (INVALID, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("function", "wrong", "reason"),
    [
        ("showLinks", {"limit": 0}, "INVALID_LIMIT"),
        ("showLinks", {"limit": 101}, "INVALID_LIMIT"),
        ("showLinks", {"query": "a" * 1000}, "INVALID_QUERY"),
        ("showLinks", {"cursor": "nonsense"}, "INVALID_CURSOR"),
        ("showLinks", {"order": "best"}, "INVALID_ARGUMENT"),
        ("showStatistics", {"range": "2 days"}, "INVALID_RANGE"),
        ("showStatistics", {"range": {"from": "2026-02-30", "to": "2026-03-01"}}, "INVALID_RANGE"),
        ("showStatistics", {"range": {"from": "2016-01-01", "to": "2026-01-01"}}, "INVALID_RANGE"),
        ("showStatistics", {"timezone": "Nowhere"}, "INVALID_TIMEZONE"),
        ("showStatistics", {"steps": 7}, "INVALID_ARGUMENT"),
        ("removeLinks", {"codes": []}, "INVALID_ARGUMENT"),
        ("removeLinks", {"codes": ["abcdefgh"] * 101}, "TOO_MANY_CODES"),
        ("restoreLinks", {"codes": ["abcdefgh"] * 101}, "TOO_MANY_CODES"),
        ("changeLink", {"changes": {}}, "NO_CHANGES"),
        ("changeLink", {"changes": {"code": "a"}}, "INVALID_ARGUMENT"),
        ("changeLink", {"changes": {"title": None}}, "INVALID_ARGUMENT"),
        ("changeLink", {"changes": {"title": "a" * 101}}, "INVALID_TITLE"),
        ("changeLink", {"changes": {"tags": [""]}}, "INVALID_TAGS"),
        ("changeLink", {"changes": {"url": "javascript:x"}}, "INVALID_URL"),
        ("changeLink", {"changes": {"ended_url": ""}}, "INVALID_ENDED_URL"),
        ("changeLink", {"changes": {"ended_url": "data:x"}}, "INVALID_ENDED_URL"),
        ("changeLink", {"changes": {"expires_at": "2086-01-01"}}, "INVALID_EXPIRY"),
    ],
)
def test_bad_input_has_a_reason_and_changes_nothing(
    client: FirebaseClient, owner: Owner, function: str, wrong: dict[str, object], reason: str
) -> None:
    code = made(client, owner)
    before = data(client, "showLink", {**owner, "code": code})
    payload = {**owner, **OWNED[function], **({"code": code} if "code" in OWNED[function] else {})}
    assert error(client, function, {**payload, **wrong}) == (INVALID, reason)
    assert data(client, "showLink", {**owner, "code": code}) == before


# One's own account.


def test_another_password(product: Product, client: FirebaseClient) -> None:
    email = product.register()
    token, elsewhere = product.log_in(email), product.log_in(email)
    made_new = registration(email, "Camino-43")
    new = {"new_password": made_new["password"], "new_salt": made_new["salt"]}
    wrong = {"token": token, "password": "Camino-44", **new}
    assert data(client, "changePassword", wrong) == {"success": False, "error": "incorrect"}
    cheap = {**wrong, "password": "Camino-42", "new_password": "Camino-43"}
    assert error(client, "changePassword", cheap) == (INVALID, "INVALID_PASSWORD_HASH")
    reply = data(client, "changePassword", {**wrong, "password": "Camino-42"})
    assert set(reply) == {"success", "token", "expirationTimestamp"}
    assert abs(reply["expirationTimestamp"] / 1000 - time.time() - 4 * 3600) < 10
    assert data(client, "showLinks", {"token": reply["token"]})["success"]
    for before in (token, elsewhere):
        refused = data(client, "showLinks", {"token": before})
        assert refused == {"success": False, "error": "invalid token"}
    product.log_in(email, "Camino-43")


def test_an_account_is_removed_by_its_owner(product: Product, client: FirebaseClient) -> None:
    email = product.register()
    token = product.log_in(email)
    own = {"token": token, "password": "Camino-42"}
    for wrong, said in (
        ({"password": "Camino-43"}, "incorrect"),
        ({"token": None}, "no logged"),
        ({"token": "a.b.c"}, "invalid token"),
    ):
        assert data(client, "removeAccount", {**own, **wrong}) == {"success": False, "error": said}
    assert data(client, "removeAccount", own) == {"success": True}
    assert data(client, "removeAccount", own) == {"success": False, "error": "invalid token"}
    assert data(client, "verifyUser", {"email": email, "password": "Camino-42"}) == NO_EXIST


@pytest.mark.parametrize("function", ["changePassword", "removeAccount"])
def test_wrong_passwords_are_limited_by_session(
    product: Product, client: FirebaseClient, function: str
) -> None:
    email = product.register()
    payload = {"token": product.log_in(email), "password": "wrong"}
    if function == "changePassword":
        new = registration(email, "Camino-43")
        payload |= {"new_password": new["password"], "new_salt": new["salt"]}
    for _ in range(10):
        assert data(client, function, payload) == {"success": False, "error": "incorrect"}
    limited = ("functions/resource-exhausted", "TOO_MANY_ATTEMPTS")
    assert error(client, function, {**payload, "password": "Camino-42"}) == limited
    # The log-in, and sessions that begin with it, have attempts of their own.
    again = {**payload, "token": product.log_in(email)}
    assert data(client, function, again) == {"success": False, "error": "incorrect"}


def test_an_unknown_function(client: FirebaseClient) -> None:
    assert error(client, "noSuchFunction", {})[0] == "functions/not-found"


def test_a_preview_tells_everybody_what_a_link_is(client: FirebaseClient, owner: Owner) -> None:
    url = "https://user@xn--80ak6aa92e.com:8443/a?b=%20c#d"
    code = made(client, owner, url)
    reply = data(client, "previewLink", {"code": code})
    preview = reply["preview"]
    created_at = preview["created_at"]
    assert reply == {
        "success": True,
        "preview": {
            "code": code,
            "long_link": url,
            "host": "xn--80ak6aa92e.com",
            "state": "active",
            "reason": None,
            "created_at": created_at,
            "changed_at": None,
            "title": "",
            "warnings": [
                "look-alike host",
                "punycode host",
                "user info in address",
                "unusual port",
            ],
        },
    }
    made_at = data(client, "showLink", {**owner, "code": code})["link"]["created_at"]
    assert created_at == made_at
    for anybody in (
        {"token": None, "guest": None},
        {"token": "no token", "guest": ""},
        {"guest": secrets.token_urlsafe(32)},
        owner,
    ):
        assert data(client, "previewLink", {"code": code, **anybody}) == reply

    changes = {"url": "https://example.org/b", "title": "Mine"}
    changed = data(client, "changeLink", {**owner, "code": code, "changes": changes})["link"]
    preview = data(client, "previewLink", {"code": code})["preview"]
    assert preview["long_link"] == "https://example.org/b"
    assert preview["host"] == "example.org"
    assert preview["title"] == "Mine"
    assert preview["created_at"] == made_at
    assert preview["changed_at"] == changed["changed_at"] is not None
    assert preview["warnings"] == []
    counted = data(client, "showLink", {**owner, "code": code})["link"]
    assert (counted["views"], counted["bots"]) == (0, 0), "a preview is no visit"


def test_a_preview_of_a_link_that_is_over_or_never_was(
    client: FirebaseClient, owner: Owner
) -> None:
    code = made(client, owner)
    scan_code = data(client, "createScanCode", {**owner, "code": code})["scan_code"]
    ended = {"expires_at": "2020-01-01T00:00:00Z"}
    data(client, "changeLink", {**owner, "code": code, "changes": ended})
    preview = data(client, "previewLink", {"code": code})["preview"]
    assert (preview["state"], preview["long_link"]) == ("expired", "https://example.com/a")
    assert data(client, "previewLink", {"code": scan_code})["preview"] == preview
    data(client, "removeLinks", {**owner, "codes": [code]})
    preview = data(client, "previewLink", {"code": code})["preview"]
    assert (preview["state"], preview["long_link"]) == ("removed", "https://example.com/a")
    for unknown in (new_code(), "no code at all", ""):
        nothing = {"success": True, "preview": None}
        assert data(client, "previewLink", {"code": unknown}) == nothing
    for wrong in ({"code": None}, {"guest": "no key"}, {"unknown": None}):
        refused = error(client, "previewLink", {"code": code, **wrong})
        assert refused == (INVALID, "INVALID_ARGUMENT"), wrong


def test_a_blocked_link_has_its_host_alone_in_its_preview(
    product: Product, client: FirebaseClient, owner: Owner
) -> None:
    code = made(client, owner, "https://example.com/session?id=7")
    assert admin(addresses(product), "block", code, "phishing")[0] == 0
    preview = data(client, "previewLink", {"code": code})["preview"]
    assert "long_link" not in preview
    assert (preview["host"], preview["state"]) == ("example.com", "blocked")
    assert preview["reason"] == "phishing"


def test_a_report_of_a_link_has_one_id_for_each_reason(
    client: FirebaseClient, owner: Owner
) -> None:
    code = made(client, owner)
    first = data(client, "reportLink", {"code": code})
    assert first.keys() == {"success", "report"}
    assert first["success"] is True
    same = [
        {"code": code, "reason": "other"},
        {"code": code, "reason": None, "details": None, "contact": None},
        {"code": code, "details": "ñ" * 1000, "contact": "ana@b.example", **owner},
        {"code": code, "token": "no token", "guest": "", "contact": "", "details": ""},
    ]
    for payload in same:
        assert data(client, "reportLink", payload) == first
    others = [
        data(client, "reportLink", {"code": code, "reason": reason})["report"]
        for reason in ("phishing", "malware", "spam", "illegal")
    ]
    assert len({first["report"], *others}) == 5
    assert data(client, "accessLink", {"code": code})["longUrl"], "reports alone block nothing"


def test_a_report_that_is_none(client: FirebaseClient, owner: Owner) -> None:
    code = made(client, owner)
    for unknown in (new_code(), "no code at all", ""):
        assert data(client, "reportLink", {"code": unknown}) == {
            "success": False,
            "error": "no exist",
        }
    for wrong, reason in (
        ({"reason": "ugly"}, "INVALID_ARGUMENT"),
        ({"reason": ""}, "INVALID_ARGUMENT"),
        ({"details": "a" * 1001}, "INVALID_DETAILS"),
        ({"details": 5}, "INVALID_ARGUMENT"),
        ({"contact": "nobody"}, "INVALID_CONTACT"),
        ({"guest": "no key"}, "INVALID_ARGUMENT"),
        ({"unknown": None}, "INVALID_ARGUMENT"),
        ({"code": None}, "INVALID_ARGUMENT"),
    ):
        assert error(client, "reportLink", {"code": code, **wrong}) == (INVALID, reason), wrong
