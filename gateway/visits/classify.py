"""Who visits: a person, a bot, or a browser that only looks ahead.

Strangers write the headers, up to what the server takes of them. So of each only the beginning is
looked at and remembered, and a new one costs microseconds, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeVar

import ada_url
import crawleruseragents
import re2
from ahocorasick_rs import BytesAhoCorasick

Kind = Literal["person", "bot"]
Headers = Collection[tuple[bytes, bytes]]
Verdict = TypeVar("Verdict")

# Every browser people use says Mozilla or, on small devices, Opera; clients that do not are
# programs. The kept list has the crawlers and previews that say Mozilla too; these it lacks.
_BROWSERS = (b"Mozilla/", b"Opera/")
_PROGRAMS = (b"PowerShell/", b"Postman")
LONGEST = 512
"""Bytes of a header that are looked at; the longest User-Agent the list quotes has 285."""
_REMEMBERED = 4096
"""Most headers of a kind whose verdict is kept: 4 MB if all are long."""

# As one expression the list is too much for `re`, which tries its patterns in turn (2 ms a header),
# and for RE2, which makes its states when it meets them and drops them when they are many (3 ms for
# beginnings of patterns). Nearly all patterns are plain text: for these Aho-Corasick makes all
# states beforehand; those of the few others stay with RE2. The worst header then takes 10 us.
_PLAIN = re.compile(r"(?:[^][(){}*+?|^$.\\]|\\[^a-zA-Z0-9])+")
_PATTERNS: list[str] = [entry["pattern"] for entry in crawleruseragents.CRAWLER_USER_AGENTS_DATA]
_texts = BytesAhoCorasick(
    [
        *_PROGRAMS,
        *(re.sub(r"\\(.)", r"\1", text).encode() for text in _PATTERNS if _PLAIN.fullmatch(text)),
    ]
)
_options = re2.Options()
_options.encoding = re2.Options.Encoding.LATIN1
_options.never_capture = True
_expressions = re2.compile(
    "|".join(text for text in _PATTERNS if not _PLAIN.fullmatch(text)).encode(), _options
)

_TO_HOST = re.compile(rb"[^:/?#]+:[/\\]*[^/\\?#]+[/\\?#]")
"""A URL up to its host, and what shows that the host ends there."""


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
    if not user_agent.startswith(_BROWSERS) or _texts.find_matches_as_indexes(user_agent):
        return "bot"
    return "bot" if _expressions.search(user_agent) else "person"


def _host_of(referrer: bytes) -> str:
    if len(referrer) == LONGEST and not _TO_HOST.match(referrer):
        return ""  # It may have been cut within its host.
    try:
        url = ada_url.URL(referrer.decode("ascii"))
    except ValueError:
        return ""
    host = url.hostname if url.protocol in ("http:", "https:") else ""
    return host if len(host) <= 253 else ""


kind_of: Callable[[bytes], Kind] = Verdicts(_kind_of).__getitem__
"""Whether a User-Agent is a person's browser."""
host_of: Callable[[bytes], str] = Verdicts(_host_of).__getitem__
"""Host of a Referer header's page; empty when there is none to tell."""

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
    return any(purpose in value for value in values for purpose in _AHEAD)
