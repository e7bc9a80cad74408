"""The domain rules of links."""

from __future__ import annotations

import json
import re
import secrets
import string
from base64 import urlsafe_b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.links.application.records.leases import InvalidLease, check_lease
from services.links.domain.block import BlockReason
from services.links.domain.code import (
    MAX_SCAN_CODE_DRAWS,
    CodeTaken,
    InvalidCode,
    check_code,
    may_be_scan_code,
    random_scan_codes,
)
from services.links.domain.edit import LinkChanges, NoChanges, block, removal, restoration
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS, Account, Guest, InvalidOwner, Owner
from services.links.domain.pattern import InvalidPattern, normalize_pattern
from services.links.domain.query import (
    AgeCursor,
    InvalidCursor,
    InvalidQuery,
    LinkFilter,
    LinkOrder,
    LinkQuery,
    RankCursor,
    parse_search_text,
)
from services.links.domain.report import InvalidContact, InvalidDetails, Statement, to_statement
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.text import InvalidTags, InvalidTitle, fold_case, parse_tags, parse_title
from services.links.domain.url import InvalidEndedUrl, InvalidUrl, UrlPolicy
from services.links.domain.url_cleaning import clean_url
from services.shared.characters import WHITESPACE
from tests.support.processes import ROOT

CASES = json.loads((ROOT / "tests/links/link_cases.json").read_text(encoding="utf-8"))
FILE = json.loads((ROOT / "tests/links/url_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [pytest.param(given, id=given["name"]) for given in FILE["cases"]])
def test_urls_are_normalized_as_in_the_shared_cases(case: dict[str, Any]) -> None:
    public_url = case.get("public_url", FILE["public_url"])
    policy = UrlPolicy(public_url, further=case.get("further", ()))
    try:
        stored = policy.normalize(case["input"])
    except InvalidUrl:
        stored = None

    assert stored == case["stored"]


@pytest.mark.parametrize(("public_host", "hosts"), CASES["own_hosts"].items())
def test_a_short_url_is_recognized_however_its_ip_address_is_spelled(
    public_host: str, hosts: list[str]
) -> None:
    policy = UrlPolicy(f"http://{public_host}:8080")
    for host in hosts:
        with pytest.raises(InvalidUrl):
            policy.normalize(f"http://{host}:8080/abcdefgh")
        assert policy.normalize(f"http://{host}:8081/abcdefgh")
    for host in ("203.0.113.6", "[2001:db8::cb00:7105]", "[64:ff9b:2::203.0.113.5]", "[::2]"):
        assert policy.normalize(f"http://{host}:8080/abcdefgh")


@given(st.text(max_size=1100))
def test_normalizing_is_idempotent(text: str) -> None:
    policy = UrlPolicy(FILE["public_url"])
    try:
        stored = policy.normalize(text)
    except InvalidUrl:
        return

    assert stored.lower().startswith(("http://", "https://"))
    if len(stored) <= 999:  # A scheme and punycode may make it longer.
        assert policy.normalize(stored) == stored


AROUND = st.text(
    "\u201c\u201d\"'`\u00ab\u00bb()[]{}<>\u2022*-+ \t\n\u200b\u00ad\u202a\u2069\u00a0\u2014",
    max_size=8,
)
PASTED = st.builds(
    "".join, st.tuples(AROUND, st.text("abc:/.?#()[]\"'*-", max_size=30) | st.text(), AROUND)
)


@given(PASTED)
def test_cleaning_only_trims_and_is_idempotent(text: str) -> None:
    cleaned = clean_url(text)

    assert cleaned in text
    assert clean_url(cleaned) == cleaned
    assert cleaned.strip(f"{WHITESPACE}\u200b\u00ad\u202a\u2069\u2022") == cleaned


@given(AROUND, AROUND)
def test_cleaning_finds_a_url_in_surrounding_characters(before: str, after: str) -> None:
    url = "https://ex.example/a(b)?c='d'#e"
    cleaned = clean_url(f"{before}{url}{after}")

    assert url in cleaned
    if before.strip(WHITESPACE) == after.strip(WHITESPACE) == "":
        assert cleaned == url


@given(PASTED)
def test_a_normalized_url_leads_where_the_cleaned_text_leads(text: str) -> None:
    try:
        stored = UrlPolicy(FILE["public_url"]).normalize(text)
    except InvalidUrl:
        return

    cleaned = clean_url(text)
    has_scheme = cleaned.lower().startswith(("http://", "https://"))
    full = cleaned if has_scheme else f"http://{cleaned}"
    assert ada_url.URL(stored).href == ada_url.URL(full).href
    assert (
        re.fullmatch(r"https?[^a-z0-9]*", ada_url.URL(stored).hostname) is None or ":" in full[8:]
    )


@pytest.mark.parametrize("sign", ["(", ")", "[", '"', "*", "\u2022", "\u200b", "([", "[:"])
def test_cleaning_takes_linear_time(sign: str) -> None:
    """Quadratic time would take minutes."""
    text = sign * 30_000
    assert clean_url(text) in text


@pytest.mark.parametrize("code", ["", "abcdefg\n", "abcdefgñ", "abcd/fgh", "abc", "a" * 33])
@pytest.mark.parametrize("owner", [Account("one"), Guest(bytes(32)), ANONYMOUS])
def test_malformed_codes_are_refused(code: str, owner: Owner) -> None:
    with pytest.raises(InvalidCode) as refused:
        check_code(code, owner)
    assert refused.value.reason == "INVALID_CODE"


@pytest.mark.parametrize("code", ["abcd", "abcdefg", "abcdefghi", "a" * 32])
def test_only_accounts_may_choose_the_length_of_a_code(code: str) -> None:
    check_code(code, Account("one"))
    for other in (Guest(bytes(32)), ANONYMOUS):
        with pytest.raises(InvalidCode):
            check_code(code, other)
        check_code("abcdefgh", other)


@pytest.mark.parametrize("name", ["register", "Register", "accounts", "ACCOUNTS", "api", "www"])
@pytest.mark.parametrize("owner", [Account("one"), Guest(bytes(32)), ANONYMOUS])
def test_reserved_names_of_any_length_are_taken(name: str, owner: Owner) -> None:
    with pytest.raises(CodeTaken) as refused:
        check_code(name, owner)
    assert refused.value.reason == "CODE_TAKEN"


def test_scan_codes_use_the_alphanumeric_mode_of_qr(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [code for _ in range(20) for code in random_scan_codes()]
    assert len(drawn) == len(set(drawn)) == 20 * MAX_SCAN_CODE_DRAWS
    assert all(re.fullmatch("[0-9A-Z][0-9A-Z-]{6}[0-9A-Z]", code) for code in drawn)
    assert set("".join(drawn)) == {*string.digits, *string.ascii_uppercase, "-"}
    assert all(may_be_scan_code(code) for code in drawn)
    # Every second draw is a reserved name, in capitals.
    letters = iter("REGISTERABCDEFGH" * MAX_SCAN_CODE_DRAWS)
    monkeypatch.setattr(secrets, "choice", lambda _: next(letters))
    assert [*random_scan_codes()] == ["ABCDEFGH"] * (MAX_SCAN_CODE_DRAWS // 2)


def test_a_repeated_creation_is_recognized_at_any_time() -> None:
    then, now = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    link = Link("abcdefgh", "http://a.example", Account("one"), then)

    assert link.repeats(Link("abcdefgh", "http://a.example", Account("one"), now))
    assert not link.repeats(Link("abcdefgh", "http://a.example", Account("two"), then))
    assert not link.repeats(Link("abcdefgh", "http://a.example", ANONYMOUS, then))
    guest = Guest(b"o" * 32)
    assert not link.repeats(Link("abcdefgh", "http://a.example", guest, then))
    assert not link.repeats(Link("abcdefgh", "http://b.example", Account("one"), then))
    changed = replace(link, url="http://b.example", created_url="http://a.example")
    assert link.repeats(changed)
    assert not replace(link, url="http://b.example").repeats(changed)
    assert not link.repeats(replace(link, removed_at=now))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_guest_hash_of_another_size_is_refused(size: int) -> None:
    assert Guest(bytes(32)) == Guest(bytes(32)) != Guest(b"1" * 32)
    with pytest.raises(InvalidOwner):
        Guest(bytes(size))


def test_an_empty_account_id_is_refused() -> None:
    with pytest.raises(InvalidOwner):
        Account("")


NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
LINK = Link("abcdefgh", "http://a.example", Account("one"), NOW)
URLS = UrlPolicy("https://atajo.example")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", ""),
        ("Año nuevo 😀", "Año nuevo 😀"),
        ("\t\u00a0 a  b\u3000\n", "a  b"),
        ("😀" * 100, "😀" * 100),
        (f" {'x' * 100} ", "x" * 100),
        (" ", ""),
    ],
)
def test_titles_are_trimmed(given: str, kept: str) -> None:
    assert parse_title(given) == kept


@pytest.mark.parametrize("given", ["x" * 101, "a\nb", "a\x00b", "a\x7f", "a\x85b", "\ud800"])
def test_invalid_titles_are_refused(given: str) -> None:
    with pytest.raises(InvalidTitle) as refused:
        parse_title(given)
    assert refused.value.reason == "INVALID_TITLE"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], ()),
        (["b", "a", "B"], ("b", "a", "B")),
        (["a", "b", "a"], ("a", "b")),
        ([" a ", "a", "a\u00a0b"], ("a", "a\u00a0b")),
        (["😀" * 30], ("😀" * 30,)),
        ([str(n) for n in range(10)], tuple(str(n) for n in range(10))),
    ],
)
def test_tags_keep_their_order_without_duplicates(given: list[str], kept: tuple[str, ...]) -> None:
    assert parse_tags(given) == kept


@pytest.mark.parametrize(
    "given",
    [[""], ["a", " "], ["x" * 31], ["a\nb"], ["\x9f"], ["a"] * 11, [str(n) for n in range(11)]],
)
def test_invalid_tags_are_refused(given: list[str]) -> None:
    with pytest.raises(InvalidTags) as refused:
        parse_tags(given)
    assert refused.value.reason == "INVALID_TAGS"


@pytest.mark.parametrize(("one", "other"), CASES["one_when_folded"])
def test_case_folding_ignores_case(one: str, other: str) -> None:
    assert fold_case(one) == fold_case(other)


@given(st.text())
def test_case_folding_is_idempotent(text: str) -> None:
    assert fold_case(fold_case(text)) == fold_case(text)


def test_search_texts_are_limited() -> None:
    assert parse_search_text("É" * 999) == "é" * 999
    for text in ("x" * 1000, "a\nb", "\x00"):
        with pytest.raises(InvalidQuery):
            parse_search_text(text)


def changed(changes: LinkChanges, link: Link = LINK, now: datetime = NOW) -> Link:
    return changes.edit(URLS, now)(link)


def test_unnamed_fields_stay_unchanged() -> None:
    whole = replace(
        LINK, title="t", tags=("a",), changed_at=NOW, created_url="http://z.example",
        expires_at=NOW, ended_url="http://e.example", public_statistics=True,
    )  # fmt: skip
    each: list[tuple[LinkChanges, dict[str, Any]]] = [
        (LinkChanges(title=" x "), {"title": "x"}),
        (LinkChanges(title=""), {"title": ""}),
        (LinkChanges(tags=[]), {"tags": ()}),
        (LinkChanges(tags=["b", "b"]), {"tags": ("b",)}),
        (LinkChanges(expires_at=None), {"expires_at": None}),
        (LinkChanges(ended_url=""), {"ended_url": ""}),
        (LinkChanges(ended_url="f.example"), {"ended_url": "http://f.example"}),
        (LinkChanges(public_statistics=False), {"public_statistics": False}),
        (LinkChanges(url=" a.example "), {}),
    ]
    for changes, expected in each:
        assert changed(changes, whole) == replace(whole, **expected)
    with pytest.raises(NoChanges):
        changed(LinkChanges())


def test_a_changed_url_is_dated_and_the_original_kept() -> None:
    later, last = NOW + timedelta(days=1), NOW + timedelta(days=2)
    one = changed(LinkChanges(url="b.example"), now=later)
    assert (one.url, one.created_url, one.changed_at) == (
        "http://b.example", "http://a.example", later,
    )  # fmt: skip
    assert changed(LinkChanges(url="http://b.example"), one, last) == one
    back = changed(LinkChanges(url="a.example"), one, last)
    assert (back.url, back.created_url, back.changed_at) == (LINK.url, LINK.url, last)
    assert LINK.repeats(back)


def test_expiry_is_truncated_to_seconds() -> None:
    offset = timezone(timedelta(hours=5, minutes=30))
    for end in (NOW, datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), NOW.astimezone(offset)):
        ends = changed(LinkChanges(expires_at=end)).expires_at
        assert ends == end.replace(microsecond=0)
    assert changed(LinkChanges(expires_at=NOW)).state_at(NOW) is LinkState.EXPIRED


@pytest.mark.parametrize("given", [" ", "x", "javascript:a", "https://atajo.example/abcdefgh"])
def test_ended_urls_follow_the_rules_of_urls(given: str) -> None:
    with pytest.raises(InvalidEndedUrl) as refused:
        changed(LinkChanges(ended_url=given))
    assert refused.value.reason == "INVALID_ENDED_URL"
    with pytest.raises(InvalidUrl):
        changed(LinkChanges(url=given))


def test_states_have_a_precedence() -> None:
    expired = replace(LINK, expires_at=NOW, ended_url="http://e.example")
    removed = removal(NOW)(expired)
    blocked = block(BlockReason.MALWARE)(removed)
    states = [one.state_at(NOW) for one in (blocked, removed, expired, LINK)]
    assert states == [LinkState.BLOCKED, LinkState.REMOVED, LinkState.EXPIRED, LinkState.ACTIVE]
    assert expired.state_at(NOW - timedelta(microseconds=1)) is LinkState.ACTIVE
    assert blocked.resolution() == Resolution(
        "abcdefgh", LinkState.BLOCKED, reason=BlockReason.MALWARE
    )
    assert block(None)(restoration()(blocked)) == replace(expired, exempt=True)


def test_a_removal_can_be_undone_for_thirty_days() -> None:
    removed = removal(NOW)(LINK)
    end = NOW + timedelta(days=30)
    assert not removed.is_gone_at(end - timedelta(microseconds=1))
    assert removed.is_gone_at(end)
    assert not LINK.is_gone_at(end)


QUERIES = [
    LinkQuery(owner, LinkFilter(text, state), order)
    for owner in (Account("one"), Account("two"), Guest(bytes(32)), Account(bytes(32).hex()))
    for text in ("", "a", 'a", "b')
    for state in (None, LinkState.ACTIVE, LinkState.REMOVED)
    for order in LinkOrder
]


def test_a_cursor_is_valid_only_for_its_query() -> None:
    for query in QUERIES:
        is_ranked = query.order is LinkOrder.MOST_VIEWED
        end: AgeCursor | RankCursor = (
            RankCursor("key", 7) if is_ranked else AgeCursor(NOW, "abcdefgh")
        )
        cursor = query.encode(end)
        assert query.decode(cursor) == end
        for other in QUERIES:
            if other != query:
                with pytest.raises(InvalidCursor):
                    other.decode(cursor)


@pytest.mark.parametrize("order", LinkOrder)
@given(st.text() | st.binary().map(lambda b: b.hex()))
def test_arbitrary_text_is_not_a_cursor(order: LinkOrder, text: str) -> None:
    with pytest.raises(InvalidCursor):
        LinkQuery(Account("one"), LinkFilter(), order).decode(text)


@given(st.integers() | st.integers(-3, 3), st.text(max_size=20))
def test_a_forged_cursor_is_decoded_or_refused(number: int, name: str) -> None:
    """The digest is not a secret: anyone can compute it."""
    for order in LinkOrder:
        query = LinkQuery(Account("one"), LinkFilter(), order)
        payload = f"{number} {name}".encode()
        made_up = urlsafe_b64encode(query._digest(payload) + payload).decode().rstrip("=")
        try:
            end = query.decode(made_up)
        except InvalidCursor:
            continue
        if isinstance(end, RankCursor):
            assert 0 < end.start < 2**31
        assert query.encode(end) == made_up


@pytest.mark.parametrize(
    ("job", "holder", "seconds"),
    [
        ("", "a", 1),
        ("a" * 65, "a", 1),
        ("Purge", "a", 1),
        ("purge\n", "a", 1),
        ("purge", "", 1),
        ("purge", "a" * 65, 1),
        ("purge", "a b", 1),
        ("purge", "a", -1),
        ("purge", "a", 3601),
    ],
)
def test_invalid_leases_are_refused(job: str, holder: str, seconds: int) -> None:
    check_lease("purge-links", "A-z_09", timedelta(hours=1))
    check_lease("purge", "a", timedelta(0))
    with pytest.raises(InvalidLease):
        check_lease(job, holder, timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("details", "contact"),
    [
        ("", ""),
        ("Ñ" * 1000, "ana@b.example"),
        (" \n" + "a" * 1000 + "\t ", " ana@b.example "),
        ("Two\r\nlines\tof it", " "),
    ],
)
def test_statements_are_trimmed(details: str, contact: str) -> None:
    assert to_statement(details, contact, NOW) == Statement(details.strip(), contact.strip(), NOW)


@pytest.mark.parametrize("details", ["a" * 1001, "a\x1b[2Jb"])
def test_invalid_details_are_refused(details: str) -> None:
    with pytest.raises(InvalidDetails):
        to_statement(details, "", NOW)


@pytest.mark.parametrize("contact", ["nobody", "@b.example", "a" * 250 + "@b.example"])
def test_invalid_contacts_are_refused(contact: str) -> None:
    with pytest.raises(InvalidContact):
        to_statement("", contact, NOW)


@pytest.mark.parametrize("given", [*CASES["no_addresses"], "a." * 500 + "example"])
def test_invalid_patterns_are_refused(given: str) -> None:
    with pytest.raises(InvalidPattern):
        normalize_pattern(given)


@pytest.mark.parametrize(("given", "address"), CASES["addresses"].items())
def test_patterns_have_a_canonical_form(given: str, address: str) -> None:
    assert normalize_pattern(given) == normalize_pattern(address) == address
