"""Classifies requests by their headers: person or bot, prefetch or visit, referrer.

Clients choose the headers. So only the beginning of each header is read and cached, and a new one
costs microseconds, whatever its content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import ada_url
import re2
from ahocorasick_rs import BytesAhoCorasick

from gateway.support.headers import MAX_HEADER_BYTES, HeaderCache
from gateway.visits.enrichment.bot_patterns import (
    BROWSER_WORDS,
    CONTACT_URL,
    ENGINE_WORDS,
    EXCEPTED,
    HOME_PAGE,
    PROGRAMS,
    SELF_IDENTIFIED,
)
from gateway.visits.journal.lines import Kind

_BROWSERS = (b"Mozilla/", b"Opera/")
"""Prefixes of nearly every browser's User-Agent."""
_NAMED = re.compile(rb"Mozilla/(?:5[^ ]*|4\.0) (?:[A-Za-z]|\(.*[;/.])")
"""A User-Agent that names something. That of a browser then has one of `ENGINE_WORDS`."""

_PLAIN = re.compile(r"(?:[^][(){}*+?|^$.\\]|\\[^a-zA-Z0-9])+")


def _patterns() -> list[str]:
    """Return the patterns of the package, from its file. The module also has examples (1.5 MB)."""
    package = find_spec("crawleruseragents")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).with_name("crawler-user-agents.json")
    listed = (entry["pattern"] for entry in json.loads(file.read_text("utf-8")))
    return [pattern for pattern in listed if pattern not in EXCEPTED]


# `re` tries the alternatives of an expression in turn (2 ms per header). RE2 builds its states
# while it searches, and drops them if there are many (3 ms for headers with prefixes of patterns).
# Nearly all patterns are plain text, for which Aho-Corasick builds all states in advance. RE2
# matches the few others. The worst header then takes 10 us.
_PATTERNS = _patterns()
_texts = BytesAhoCorasick(
    [
        *(name.encode() for name in PROGRAMS),
        *(re.sub(r"\\(.)", r"\1", text).encode() for text in _PATTERNS if _PLAIN.fullmatch(text)),
    ]
)
_options = re2.Options()
_options.encoding = re2.Options.Encoding.LATIN1
_options.never_capture = True
_expressions = re2.Set.SearchSet(_options)  # Faster from Python than a compiled expression.
_only_contact = [_expressions.Add(f"(?i:{CONTACT_URL})".encode())]
for text in [
    *(text for text in _PATTERNS if not _PLAIN.fullmatch(text)),
    f"(?i:{'|'.join(SELF_IDENTIFIED)})",
]:
    _expressions.Add(text.encode())
_expressions.Compile()
_browser_words = BytesAhoCorasick([word.encode() for word in BROWSER_WORDS])
_engines = re2.Set.SearchSet(_options)
_engines.Add(f"(?i:{'|'.join(map(re.escape, ENGINE_WORDS))})".encode())
_engines.Compile()
_home_page = re2.compile(f"(?i:{HOME_PAGE})".encode(), _options)

_TO_HOST = re.compile(rb"[^:/?#]+:[/\\]*[^/\\?#]+[/\\?#]")
"""A URL up to the character that ends its host."""
_MAX_HOST = 253
_ANDROID_APP = re.compile(r"(?=.{3,80}$)[A-Za-z]\w*(?:\.[A-Za-z]\w*)+", re.ASCII)
"""The package name of an Android app, such as `com.google.android.gm`."""


def _kind_of(user_agent: bytes) -> Kind:
    if not _looks_like_a_browser(user_agent):
        return "bot"
    if _texts.find_matches_as_indexes(user_agent):
        return "bot"
    matched = _expressions.Match(user_agent)
    is_app = matched == _only_contact and _home_page.search(user_agent)
    return "bot" if matched and not is_app else "person"


def _looks_like_a_browser(user_agent: bytes) -> bool:
    if not user_agent.startswith(_BROWSERS):
        return bool(_browser_words.find_matches_as_indexes(user_agent.lower()))
    if b"Gecko" in user_agent:  # Nearly all browsers say so, or that they are like it.
        return True
    return not _NAMED.match(user_agent) or bool(_engines.Match(user_agent))


def _referrer_of(header: bytes) -> str:
    if len(header) == MAX_HEADER_BYTES and not _TO_HOST.match(header):
        return ""  # The host may be truncated.
    try:
        url = ada_url.URL(header.decode(errors="replace"))
    except ValueError:
        return ""
    host = url.hostname
    if url.protocol == "android-app:":
        return f"android-app://{host}" if _ANDROID_APP.fullmatch(host) else ""
    if url.protocol not in ("http:", "https:"):
        return ""
    host = host.removesuffix(".")
    return host if len(host) <= _MAX_HOST else ""


kind_of: Callable[[bytes], Kind] = HeaderCache(_kind_of).__getitem__
"""Returns whether a User-Agent is that of a person's browser or of a bot."""


def referrers_except(own_urls: Sequence[str]) -> Callable[[bytes], str]:
    """Return a function from a Referer header to the name under which it is counted.

    The name is the host of a web page (lower case, Punycode, without a trailing dot), or
    `android-app://` and the package of an Android app. It is empty for any other header, and for
    the hosts of `own_urls`: the product's own pages are no referrer.
    """
    own = {_referrer_of(url.encode()) for url in own_urls}

    def judge(header: bytes) -> str:
        referrer = _referrer_of(header)
        return "" if referrer in own else referrer

    return HeaderCache(judge).__getitem__


PURPOSE_HEADERS = frozenset({b"sec-purpose", b"purpose", b"x-purpose", b"x-moz"})
"""Headers in which a browser states the purpose of a request."""
_PREFETCH_PURPOSES = (b"prefetch", b"preview", b"prerender")


def is_prefetch(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser prefetches or prerenders the page, which nobody may see."""
    values = [headers[name] for name in PURPOSE_HEADERS if name in headers]
    return any(purpose in value.lower() for value in values for purpose in _PREFETCH_PURPOSES)
