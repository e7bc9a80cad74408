"""The rules of a link, as far as they need no store."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.links.domain import (
    NOBODY,
    Account,
    CodeTaken,
    Guest,
    InvalidCode,
    InvalidOwner,
    InvalidUrl,
    Link,
    Owner,
    UrlPolicy,
    check_code,
)
from tests.processes import ROOT

FILE = json.loads((ROOT / "tests/contract/url_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [pytest.param(given, id=given["name"]) for given in FILE["cases"]])
def test_a_url_is_stored_as_the_shared_cases_say(case: dict[str, Any]) -> None:
    policy = UrlPolicy(case.get("public_url", FILE["public_url"]))
    try:
        stored = policy.normalize(case["input"])
    except InvalidUrl:
        stored = None

    assert stored == case["stored"]


@given(st.text(max_size=1100))
def test_any_text_is_stored_or_refused_and_what_is_stored_stays_as_it_is(text: str) -> None:
    policy = UrlPolicy(FILE["public_url"])
    try:
        stored = policy.normalize(text)
    except InvalidUrl:
        return

    assert stored.lower().startswith(("http://", "https://"))
    if len(stored) <= 999:  # A scheme and punycode may make it longer.
        assert policy.normalize(stored) == stored


@pytest.mark.parametrize("code", ["", "abcdefg\n", "abcdefgñ", "abcd/fgh", "abc", "a" * 33])
@pytest.mark.parametrize("owner", [Account("one"), Guest(bytes(32)), NOBODY])
def test_other_shapes_of_a_code_are_refused(code: str, owner: Owner) -> None:
    with pytest.raises(InvalidCode) as refused:
        check_code(code, owner)
    assert refused.value.reason == "INVALID_CODE"


@pytest.mark.parametrize("code", ["abcd", "abcdefg", "abcdefghi", "a" * 32])
def test_an_account_alone_has_codes_of_other_lengths_than_eight(code: str) -> None:
    check_code(code, Account("one"))
    for other in (Guest(bytes(32)), NOBODY):
        with pytest.raises(InvalidCode):
            check_code(code, other)
        check_code("abcdefgh", other)


@pytest.mark.parametrize("name", ["register", "Register", "accounts", "ACCOUNTS", "api", "www"])
@pytest.mark.parametrize("owner", [Account("one"), Guest(bytes(32)), NOBODY])
def test_a_reserved_name_is_refused_like_a_taken_one_however_long(name: str, owner: Owner) -> None:
    with pytest.raises(CodeTaken) as refused:
        check_code(name, owner)
    assert refused.value.reason == "CODE_TAKEN"


def test_a_creation_is_repeated_whenever_it_was_made() -> None:
    then, now = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    link = Link("abcdefgh", "http://a.example", Account("one"), then)

    assert link.repeats(Link("abcdefgh", "http://a.example", Account("one"), now))
    assert not link.repeats(Link("abcdefgh", "http://a.example", Account("two"), then))
    assert not link.repeats(Link("abcdefgh", "http://a.example", NOBODY, then))
    guest = Guest(b"o" * 32)
    assert not link.repeats(Link("abcdefgh", "http://a.example", guest, then))
    assert not link.repeats(Link("abcdefgh", "http://b.example", Account("one"), then))
    changed = replace(link, url="http://b.example", created_url="http://a.example")
    assert link.repeats(changed)
    assert not replace(link, url="http://b.example").repeats(changed)
    assert not link.repeats(replace(link, removed_at=now))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_guest_is_the_hash_of_a_key_and_nothing_else(size: int) -> None:
    assert Guest(bytes(32)) == Guest(bytes(32)) != Guest(b"1" * 32)
    with pytest.raises(InvalidOwner):
        Guest(bytes(size))


def test_an_account_without_an_id_is_none() -> None:
    with pytest.raises(InvalidOwner):
        Account("")
