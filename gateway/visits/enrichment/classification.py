"""Who visits: a person, a bot, or a browser that only looks ahead.

Strangers write the headers, up to what the server takes of them. So of each only the beginning is
looked at and remembered, and a new one costs microseconds, whatever is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

import ada_url
import re2
from ahocorasick_rs import BytesAhoCorasick

from gateway.visits.enrichment.bot_patterns import (
    BROWSER_WORDS,
    EXCEPTED,
    PROGRAMS,
    SELF_IDENTIFIED,
)

Kind = Literal["person", "bot"]
Headers = Collection[tuple[bytes, bytes]]
Verdict = TypeVar("Verdict")

_BROWSERS = (b"Mozilla/", b"Opera/")
"""How the User-Agent of nearly every browser begins."""
LONGEST = 512
"""Bytes of a header that are looked at; the longest User-Agent the list quotes has 285."""
_REMEMBERED = 4096
"""Most headers of a kind whose verdict is kept: 4 MB if all are long."""

_PLAIN = re.compile(r"(?:[^][(){}*+?|^$.\\]|\\[^a-zA-Z0-9])+")


def _patterns() -> list[str]:
    """The patterns of the package, from its file: imported, it keeps examples of each (1.5 MB)."""
    package = find_spec("crawleruseragents")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).with_name("crawler-user-agents.json")
    listed = (entry["pattern"] for entry in json.loads(file.read_text("utf-8")))
    return [pattern for pattern in listed if pattern not in EXCEPTED]


# `re` tries the alternatives of one expression in turn (2 ms a header). RE2 builds its states while
# it searches and drops them when there are many (3 ms where headers contain beginnings of
# patterns). Nearly all patterns are plain text. Aho-Corasick builds all states for these in
# advance, and RE2 has the few others. The worst header then takes 10 us.
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
_expressions = re2.Set.SearchSet(_options)  # Costs less in Python than a compiled expression.
for text in [
    *(text for text in _PATTERNS if not _PLAIN.fullmatch(text)),
    f"(?i:{'|'.join(SELF_IDENTIFIED)})",
]:
    _expressions.Add(text.encode())
_expressions.Compile()
_browser_words = BytesAhoCorasick([word.encode() for word in BROWSER_WORDS])

_TO_HOST = re.compile(rb"[^:/?#]+:[/\\]*[^/\\?#]+[/\\?#]")
"""A URL up to its host, and what shows that the host ends there."""
_MAX_HOST = 253
_ANDROID_APP = re.compile(r"(?=.{3,80}$)[A-Za-z]\w*(?:\.[A-Za-z]\w*)+", re.ASCII)
"""The package name of an Android app, such as `com.google.android.gm`."""


class Verdicts(dict[bytes, Verdict]):
    """Verdicts by header, a bounded number of them, and no header longer than `LONGEST`."""

    def __init__(self, judge: Callable[[bytes], Verdict]) -> None:
        super().__init__()
        self._judge = judge

    def __missing__(self, header: bytes) -> Verdict:
        beginning = header[:LONGEST]
        if beginning in self:
            return self[beginning]
        if len(self) >= _REMEMBERED:
            self.clear()  # Those in use are back at once.
        verdict = self[beginning] = self._judge(beginning)
        return verdict


def _kind_of(user_agent: bytes) -> Kind:
    if not user_agent.startswith(_BROWSERS) and not _browser_words.find_matches_as_indexes(
        user_agent.lower()
    ):
        return "bot"
    if _texts.find_matches_as_indexes(user_agent) or _expressions.Match(user_agent):
        return "bot"
    return "person"


def _referrer_of(header: bytes) -> str:
    if len(header) == LONGEST and not _TO_HOST.match(header):
        return ""  # It may have been cut within its host.
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


kind_of: Callable[[bytes], Kind] = Verdicts(_kind_of).__getitem__
"""Whether a User-Agent is a person's browser."""


def referrers_except(own_url: str) -> Callable[[bytes], str]:
    """Return a function from a Referer header to the name under which it is counted.

    The name is the host of a web page, in lower case, in Punycode and without a trailing dot, or
    `android-app://` and the package of an Android app. It is empty where the header names neither,
    and for the host of `own_url`: the product's own pages are no referrer.
    """
    own = _referrer_of(own_url.encode())

    def judge(header: bytes) -> str:
        referrer = _referrer_of(header)
        return "" if referrer == own else referrer

    return Verdicts(judge).__getitem__


PURPOSES = frozenset({b"sec-purpose", b"purpose", b"x-purpose", b"x-moz"})
"""Headers in which a browser says what it asks for a page for."""
_AHEAD = (b"prefetch", b"preview", b"prerender")


def joined(headers: Headers) -> dict[bytes, bytes]:
    """Headers by their names; those of one name are one, as RFC 9110 (5.3) joins them."""
    together: dict[bytes, bytes] = {}
    for name, value in headers:
        together[name] = b"%s, %s" % (together[name], value) if name in together else value
    return together


def looks_ahead(headers: Mapping[bytes, bytes]) -> bool:
    """Whether headers say that a browser prefetches or prerenders: nobody saw the page."""
    values = [headers[name] for name in PURPOSES if name in headers]
    return any(purpose in value.lower() for value in values for purpose in _AHEAD)
