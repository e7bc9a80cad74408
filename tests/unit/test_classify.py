"""Who visits, by headers that strangers write."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path
from typing import Any

import ada_url
import crawleruseragents
import pytest

from gateway.visits.bot_patterns import EXCEPTED, SELF_IDENTIFIED
from gateway.visits.classify import kind_of, looks_ahead, referrers_except

FOLDER = Path(__file__).with_name("user_agents")
PEOPLE = gzip.decompress((FOLDER / "browsers.txt.gz").read_bytes()).decode().splitlines()
LIST: list[dict[str, Any]] = crawleruseragents.CRAWLER_USER_AGENTS_DATA
BOTS = {
    *(FOLDER / "bots.txt").read_text(encoding="utf-8").splitlines(),
    *(text for entry in LIST if entry["pattern"] not in EXCEPTED for text in entry["instances"]),
}
LOOKED_AT = 512
"""Bytes of a header that decide."""

referrer_of = referrers_except("")
BROWSERS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/130.0.0.0 Safari/537.36 Edg/130.0.2849.80",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.1 Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (Android 15; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
    "SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Version/4.0 Chrome/130.0.6723.107 Mobile Safari/537.36 Instagram 356.0.0.41.101 Android",
    "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/191.340; U; en) Presto/2.12.423 Version/12.16",
]

ANDROID = "Mozilla/5.0 (Linux; Android 15; {}; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
OF_PEOPLE_ALONE = {r"AP3A\.240617\.008", "Fluid", "MetaIAB Facebook"}
"""Excepted patterns for which the list itself quotes a person's browser."""
FIELD_PEOPLE = [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Mobile/15E148 Safari/604.1 MetaIAB Facebook",
    ANDROID.format("Pixel 9 Build/BP1A.250305.019")
    + "Version/4.0 Chrome/146.0.7680.174 Mobile Safari/537.36 MetaIAB Facebook",
    ANDROID.format("CPH2557 Build/AP3A.240617.008")
    + "Version/4.0 Chrome/142.0.7444.142 Mobile Safari/537.36 Instagram 406.0.0.58.159 Android",
    ANDROID.format("SM-F966N")
    + "Version/4.0 Chrome/145.0.7632.120 Mobile Safari/537.36 Viber/27.4",
    ANDROID.format("V2520") + "Chrome/68.0 Mobile Safari/537.36 SogouMSE,SogouMobileBrowser/6.5.11",
    ANDROID.format("PHN110") + "Version/4.0 Mobile Safari/534.30 baiduboxapp/0_0 Build/A95B2008/1",
    ANDROID.format("CUBOT ECHO") + "Chrome/120.0.0.0 Mobile Safari/537.36",
    ANDROID.format("M bot 60 Build/LMY47I") + "Chrome/43.0.2357.65 Mobile Safari/537.36",
    ANDROID.format("Spider 8") + "Chrome/124.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, like Gecko) coc_coc_browser/47.0 "
    "Chrome/41.0.2272.119coccoc Safari/537.36",
    "Mozilla/5.0 (Macintosh; U; Intel Mac OS X 10_5_6; en-us) AppleWebKit/528.16 (KHTML, like "
    "Gecko) Fluid/0.9.6 Safari/528.16",
    "Mozilla/5.0 (iPad; U; CPU iPhone OS 7_0 like Mac OS X; de-DE) WIRED/3.2.3.11.87970",
    "[FBAN/FB4A;FBAV/567.1.0.52.74;FBDM/{density=3.0,width=1080};FBPN/com.facebook.katana;FBSV/16]",
    "UCWEB/2.0 (Java; U; MIDP-2.0; en-US; nokia5250) U2/1.0.0 UCBrowser/8.9.0.277 U2/1.0.0 Mobile",
    "Nokia6280/2.0 (03.60) Profile/MIDP-2.0 Configuration/CLDC-1.1",
    "BlackBerry8520/5.0.0.681 Profile/MIDP-2.1 Configuration/CLDC-1.1 VendorID/600",
    "mozilla/5.0 (linux; android 9; bq-6042l) applewebkit/537.36 (khtml, like gecko) "
    "chrome/83.0.4103.101 mobile safari/537.36",
]
"""From reports of people who were taken for bots, and others of their kind."""
FIELD_BOTS = [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Bluesky Cardyb/1.1; "
    "+mailto:support@bsky.app) Chrome/W.X.Y.Z Safari/537.36",
    "Mozilla/5.0 (compatible; TikTok-Bot/1.0)",
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/55.0.2883.87 "
    "Safari/537.36 (via secureurl.fwdcdn.com - mail.ukr.net proxy)",
    "Mozilla/5.0 (compatible; FacebookCatalog/1.0)",
    "Mozilla/5.0 (compatible; Google-Youtube-Links)",
    "Mozilla/5.0 (compatible; Cloudflare-AMP/1.0; +https://amp.cloudflare.com/doc/fetcher.html)",
    "Mozilla/5.0 (compatible; DeepseekBot/1.0; +https://www.deepseek.com/bot)",
    "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
    "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; .NET4.0C; .NET4.0E; "
    "Microsoft Outlook 16.0.17328; ms-office; MSOffice 16)",
    # Named by nobody: the general rules alone tell them.
    "Mozilla/5.0 (compatible; Nobodybot/0.1)",
    "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0.0.0 Safari/537.36 (nobody crawler 1.0)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15 NobodyLinkPreview/1.0",
    "Mozilla/5.0 (Windows NT 10.0) Chrome/120.0.0.0 +https://nobody.example/about",
    "Mozilla/5.0 (compatible; Nobody/1.0; +mailto:nobody@nobody.example)",
    "Mozilla/5.0 Nobody/2.0",
    # Libraries and apps without a web view.
    "Dalvik/2.1.0 (Linux; U; Android 9; SM-G965U Build/PPR1.180610.011)",
    "Viber/12.8.0.1 CFNetwork/1121.2.2 Darwin/19.3.0",
    "Outlook-iOS/709.2189947.prod.iphone (3.24.0)",
    "curl/8.5.0",
    "iPhone15",
]
"""Programs that were taken for people, and others of their kind."""


def hostile() -> list[str]:
    """Beginnings of patterns, so that much is almost found, and edges of what is looked at."""
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
    """A pattern that matches people belongs in `EXCEPTED`: the message names it."""
    mistaken = [text for text in PEOPLE if kind_of(text.encode()) == "bot"]
    patterns = [entry["pattern"] for entry in LIST if entry["pattern"] not in EXCEPTED]
    patterns += [f"(?i:{expression})" for expression in SELF_IDENTIFIED]
    guilty = {text: [p for p in patterns if re.search(p, text)] for text in mistaken}
    assert len(PEOPLE) > 36_000
    assert len(mistaken) <= len(PEOPLE) / 10_000, guilty


def test_bots_are_not_counted_as_people() -> None:
    missed = [text for text in BOTS if kind_of(text.encode()) == "person"]
    assert len(BOTS) > 2_900
    assert len(missed) <= 0.03 * len(BOTS), missed


def test_every_bot_that_the_list_quotes_is_one_but_for_what_people_use() -> None:
    for entry in LIST:
        if entry["pattern"] not in EXCEPTED:
            for text in entry["instances"]:
                assert kind_of(text.encode("latin-1", "replace")) == "bot", text
    assert EXCEPTED.keys() <= {entry["pattern"] for entry in LIST}, "a pattern is gone: remove it"


@pytest.mark.parametrize("pattern", EXCEPTED)
def test_an_excepted_pattern_matches_people_and_leaves_the_bot_that_it_is_for(pattern: str) -> None:
    matched = [text for text in [*PEOPLE, *FIELD_PEOPLE] if re.search(pattern, text)]
    assert matched, "no person has it: remove it"
    assert all(kind_of(text.encode()) == "person" for text in matched)
    (quoted,) = (entry["instances"] for entry in LIST if entry["pattern"] == pattern)
    kind = "person" if pattern in OF_PEOPLE_ALONE else "bot"
    assert {kind_of(text.encode()) for text in quoted} == {kind}


@pytest.mark.parametrize("text", FIELD_PEOPLE)
def test_browsers_from_the_field_are_people(text: str) -> None:
    assert kind_of(text.encode()) == "person"


@pytest.mark.parametrize("text", FIELD_BOTS)
def test_programs_from_the_field_are_bots(text: str) -> None:
    assert kind_of(text.encode()) == "bot"


def test_what_strangers_write_is_judged_by_its_beginning() -> None:
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
def test_the_host_of_a_long_address_is_that_of_the_whole(start: str, length: int) -> None:
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
        # No host is told rather than the beginning of one.
        b"https://" + b"u" * 487 + b"@example.com.evil.example/",
        b"https://" + b"a." * 14_000 + b"example/",
        b"https://" + b"u" * 28_000 + b"@example.com/",
    ],
)
def test_a_referrer_that_tells_no_host_has_none(referrer: bytes) -> None:
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
def test_the_products_own_pages_are_no_referrer(own: str, referrers: list[str]) -> None:
    told = referrers_except(own)
    assert [told(referrer.encode()) for referrer in referrers] == [""] * len(referrers)
    assert told(b"https://www.atajo.example/") == "www.atajo.example"
    assert told(b"https://t.example/") == "t.example"


@pytest.mark.parametrize("name", [b"sec-purpose", b"purpose", b"x-purpose", b"x-moz"])
@pytest.mark.parametrize("value", [b"prefetch", b"Prefetch", b"PREVIEW", b"prefetch;Prerender"])
def test_a_browser_that_looks_ahead_says_so_in_any_case(name: bytes, value: bytes) -> None:
    assert looks_ahead({name: value})
    assert not looks_ahead({name: b"navigate"})
