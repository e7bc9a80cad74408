"""Who visits, by headers that strangers write."""

from __future__ import annotations

import random
from typing import Any

import ada_url
import crawleruseragents
import pytest

from gateway.visits.classify import host_of, kind_of

LIST: list[dict[str, Any]] = crawleruseragents.CRAWLER_USER_AGENTS_DATA
LOOKED_AT = 512
"""Bytes of a header that decide."""

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


def test_a_browser_is_told_from_a_crawler_as_the_list_tells_them() -> None:
    quoted = [text for entry in LIST for text in entry["instances"]]
    assert len(quoted) > 2000
    named = [f"Mozilla/5.0 (compatible; {entry['pattern']})" for entry in LIST]
    texts = [*BROWSERS, *hostile(), *quoted, *named, *(f"Mozilla/5.0 {text}" for text in quoted)]
    kinds = set()
    for text in texts:
        header = text.encode("latin-1", "replace")
        looked_at = header[:LOOKED_AT].decode("latin-1")
        browser = looked_at.startswith(("Mozilla/", "Opera/"))
        person = browser and not crawleruseragents.is_crawler(looked_at)
        if "Postman" not in text and "PowerShell/" not in text:  # The list lacks these.
            assert kind_of(header) == ("person" if person else "bot"), text
            kinds.add((kind_of(header), browser))
    assert kinds == {("person", True), ("bot", True), ("bot", False)}
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
    assert host_of(referrer.encode()) == ada_url.URL(referrer).hostname != ""


@pytest.mark.parametrize(
    "referrer",
    [
        b"",
        b"nothing",
        b"ftp://example.com/",
        b"https://",
        b"https://\xc3\xb1.example/",
        b"https://" + b"a." * 200 + b"example/",
        # No host is told rather than the beginning of one.
        b"https://" + b"u" * 487 + b"@example.com.evil.example/",
        b"https://" + b"a." * 14_000 + b"example/",
        b"https://" + b"u" * 28_000 + b"@example.com/",
    ],
)
def test_a_referrer_that_tells_no_host_has_none(referrer: bytes) -> None:
    assert host_of(referrer) == ""
