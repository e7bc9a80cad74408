"""Classification of requests by headers that clients choose."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import ada_url
import crawleruseragents
import pytest

from gateway.visits.enrichment.bot_patterns import CONTACT_URL, EXCEPTED, SELF_IDENTIFIED
from gateway.visits.enrichment.classification import is_prefetch, kind_of, referrers_except

FOLDER = Path(__file__).with_name("user_agents")
PEOPLE = gzip.decompress((FOLDER / "browsers.txt.gz").read_bytes()).decode().splitlines()
LIST: list[dict[str, Any]] = crawleruseragents.CRAWLER_USER_AGENTS_DATA
BOTS = {
    *(FOLDER / "bots.txt").read_text(encoding="utf-8").splitlines(),
    *(text for entry in LIST if entry["pattern"] not in EXCEPTED for text in entry["instances"]),
}
LOOKED_AT = 512
"""Bytes of a header that are read."""

referrer_of = referrers_except([])
BROWSERS = list(json.loads((FOLDER / "agents.json").read_text(encoding="utf-8")))
OF_PEOPLE_ALONE = {r"AP3A\.240617\.008", "Fluid", "MetaIAB Facebook"}
"""Excepted patterns for which the list itself has a person's browser as an example."""
FIELD = json.loads((FOLDER / "field.json").read_text(encoding="utf-8"))
PUBLIC = json.loads(gzip.decompress((FOLDER / "public_lists.json.gz").read_bytes()))
"""Lists of bots and of people by their source."""
MAX_MISTAKEN = {
    "arp242/isbot": 3,
    "ua-parser-js": 84,
    "ua-parser-js inapp": 5,
    "bowser": 43,
    "fnando/browser": 7,
    "omrilotan/isbot": 76,
}
"""Lines of a list of people that count as bots. They are bots, headless browsers, Dalvik and other
libraries, apps that only fetch, Office, and browsers of the terminal."""


def hostile() -> list[str]:
    """Prefixes of patterns, which almost match, and headers around the maximum length."""
    choose = random.Random(13)
    patterns = [entry["pattern"].replace("\\", "") for entry in LIST]
    made = []
    for _ in range(500):
        text = choose.choice(["Mozilla/5.0 ", "Opera/9 ", ""])
        while len(text) < choose.choice([300, 700]):
            pattern = choose.choice(patterns)
            text += pattern[: choose.randint(1, max(1, len(pattern) - 1))]
        made.append(text)
    for part in ("Current", "Spider", "ContextualBot", "AdsBot-Google-", "SSL Labs", "\xff", "\0"):
        made += ["Mozilla/5.0 " + part * times for times in (1, 70, 4000)]
    made += [
        "Mozilla/5.0 Current\n\x85RSS Reader",
        "Mozilla/5.0 AdsBot-Google",
        "Mozilla/5.0 " + "x" * 486 + "AdsBot-Google-Mobile",
        "Mozilla/5.0 " + "x" * (LOOKED_AT - 19) + "Googlebot",
        "Mozilla/5.0 " + "x" * (LOOKED_AT - 21) + "Googlebot",
        "Mozilla/5.0 SSL Labs" + " " * 600,
        "Mozilla/5.0 sentry/1",
        "Mozilla/5.0 unsentry/1",
        "Mozilla/5.0 BlogTraffic/1.22 Feed-Fetcher",
        "Mozilla/5.0 BlogTraffic/1. Feed-Fetcher",
    ]
    return made


def test_people_are_not_counted_as_bots() -> None:
    """A pattern that matches people belongs in `EXCEPTED`. The message names it."""
    mistaken = [text for text in PEOPLE if kind_of(text.encode()) == "bot"]
    patterns = [entry["pattern"] for entry in LIST if entry["pattern"] not in EXCEPTED]
    patterns += [f"(?i:{expression})" for expression in (CONTACT_URL, *SELF_IDENTIFIED)]
    guilty = {text: [p for p in patterns if re.search(p, text)] for text in mistaken}
    assert len(PEOPLE) > 36_000
    assert len(mistaken) <= len(PEOPLE) / 10_000, guilty


def test_bots_are_not_counted_as_people() -> None:
    missed = [text for text in BOTS if kind_of(text.encode()) == "person"]
    assert len(BOTS) > 2_900
    assert len(missed) <= 0.03 * len(BOTS), missed


@pytest.mark.parametrize("source", PUBLIC["bots"])
def test_nearly_all_bots_of_each_public_list_are_found(source: str) -> None:
    listed = PUBLIC["bots"][source]
    missed = [text for text in listed if kind_of(text.encode()) == "person"]
    assert len(missed) <= 0.03 * len(listed), missed


@pytest.mark.parametrize("source", PUBLIC["people"])
def test_people_of_each_public_list_are_not_counted_as_bots(source: str) -> None:
    mistaken = [text for text in PUBLIC["people"][source] if kind_of(text.encode()) == "bot"]
    assert len(mistaken) <= MAX_MISTAKEN[source], mistaken


def test_every_bot_of_the_list_is_one_except_what_people_use() -> None:
    for entry in LIST:
        if entry["pattern"] not in EXCEPTED:
            for text in entry["instances"]:
                assert kind_of(text.encode("latin-1", "replace")) == "bot", text
    assert EXCEPTED.keys() <= {entry["pattern"] for entry in LIST}, (
        "a pattern no longer exists: remove it"
    )


@pytest.mark.parametrize("pattern", EXCEPTED)
def test_an_excepted_pattern_matches_people_and_its_bot_is_still_matched(pattern: str) -> None:
    matched = [text for text in [*PEOPLE, *FIELD["people"]] if re.search(pattern, text)]
    assert matched, "it matches no person: remove it"
    assert all(kind_of(text.encode()) == "person" for text in matched)
    (quoted,) = (entry["instances"] for entry in LIST if entry["pattern"] == pattern)
    kind = "person" if pattern in OF_PEOPLE_ALONE else "bot"
    assert {kind_of(text.encode()) for text in quoted} == {kind}


@pytest.mark.parametrize("text", FIELD["people"])
def test_browsers_from_the_field_are_people(text: str) -> None:
    assert kind_of(text.encode()) == "person"


@pytest.mark.parametrize("text", FIELD["bots"])
def test_programs_from_the_field_are_bots(text: str) -> None:
    assert kind_of(text.encode()) == "bot"


def test_only_the_beginning_of_a_header_is_read() -> None:
    for text in [*BROWSERS, *hostile()]:
        header = text.encode("latin-1", "replace")
        assert kind_of(header) == kind_of(header[:LOOKED_AT])
        if crawleruseragents.is_crawler(header[:LOOKED_AT].decode("latin-1")):
            excepted = any(re.search(pattern, text[:LOOKED_AT]) for pattern in EXCEPTED)
            assert excepted or kind_of(header) == "bot", text
    assert all(kind_of(text.encode()) == "person" for text in BROWSERS)


@pytest.mark.parametrize("name", ["PowerShell/7.4", "PostmanRuntime/7.42"])
def test_programs_that_the_list_lacks_are_bots(name: str) -> None:
    assert kind_of(f"Mozilla/5.0 (Windows NT) {name}".encode()) == "bot"


@pytest.mark.parametrize("length", [0, 400, 511, 512, 513, 28_000])
@pytest.mark.parametrize(
    "start",
    [
        "https://example.com/",
        "HTTP://EXAMPLE.com:8080?",
        "https://user:secret@example.com#",
        "https:example.com/",
        "https:\\\\example.com\\",
        "https://[2001:db8::1]/",
    ],
)
def test_the_host_of_a_long_url_is_that_of_the_whole(start: str, length: int) -> None:
    referrer = start + "p/?q=%C3%A9&" * (length // 12)
    assert referrer_of(referrer.encode()) == ada_url.URL(referrer).hostname != ""


@pytest.mark.parametrize(
    "referrer",
    [
        b"",
        b"nothing",
        b"ftp://example.com/",
        b"https://",
        b"https://m\xfcnchen.example/",
        b"https://./",
        b"android-app://",
        b"android-app://gmail/",
        b"android-app://com.google android.gm/",
        b"android-app://com.\xc3\xb1and\xc3\xba/",
        b"android-app://com." + b"a" * 90 + b"/",
        b"ios-app://544007664/",
        b"https://" + b"a." * 200 + b"example/",
        # No host rather than a truncated one.
        b"https://" + b"u" * 487 + b"@example.com.evil.example/",
        b"https://" + b"a." * 14_000 + b"example/",
        b"https://" + b"u" * 28_000 + b"@example.com/",
    ],
)
def test_a_referrer_without_a_host_has_no_name(referrer: bytes) -> None:
    assert referrer_of(referrer) == ""


@pytest.mark.parametrize(
    ("referrer", "name"),
    [
        ("https://blog.example/größe".encode(), "blog.example"),
        ("https://blog.example/größe?q=ñ#ü".encode("latin-1"), "blog.example"),
        (b"https://blog.example/\xff\xfe", "blog.example"),
        ("https://münchen.example/".encode(), "xn--mnchen-3ya.example"),
        ("https://MÜNCHEN.example./".encode(), "xn--mnchen-3ya.example"),
        (b"https://xn--mnchen-3ya.example/", "xn--mnchen-3ya.example"),
        (b"https://T.Example./path", "t.example"),
        (b"https://t.example:8443", "t.example"),
        (b"android-app://com.google.android.gm/", "android-app://com.google.android.gm"),
        (b"Android-App://com.Slack", "android-app://com.Slack"),
        (
            b"android-app://org.telegram.messenger/https/t.me/x",
            "android-app://org.telegram.messenger",
        ),
    ],
)
def test_a_referrer_has_one_name(referrer: bytes, name: str) -> None:
    assert referrer_of(referrer) == name


@pytest.mark.parametrize(
    ("own", "referrers"),
    [
        ("https://atajo.example", ["https://atajo.example/x", "http://ATAJO.example.:80/"]),
        ("http://localhost:8080", ["http://localhost:8080/my-links", "http://localhost/"]),
        (
            "https://xn--mnchen-3ya.example",
            ["https://münchen.example/", "https://XN--mnchen-3ya.example"],
        ),
    ],
)
def test_own_pages_are_no_referrer(own: str, referrers: list[str]) -> None:
    told = referrers_except(["https://go.example", own])
    assert told(b"https://go.example/") == ""
    assert [told(referrer.encode()) for referrer in referrers] == [""] * len(referrers)
    assert told(b"https://www.atajo.example/") == "www.atajo.example"
    assert told(b"https://t.example/") == "t.example"


@pytest.mark.parametrize("name", [b"sec-purpose", b"purpose", b"x-purpose", b"x-moz"])
@pytest.mark.parametrize("value", [b"prefetch", b"Prefetch", b"PREVIEW", b"prefetch;Prerender"])
def test_prefetch_headers_are_case_insensitive(name: bytes, value: bytes) -> None:
    assert is_prefetch({name: value})
    assert not is_prefetch({name: b"navigate"})
