"""The language of a page's document: the query's `lang`, or else what Accept-Language prefers.

A build has `index.html` in English, and `index.es.html` in Spanish. A document is served in two
versions: at the URL that names its language, and at the URL without `lang`, which answers in the
visitor's language. Each has its own canonical URL.

Of Accept-Language, the first `_MAX_ELEMENTS` elements are read, and weights to the first decimal.
Among equal weights, the first wins. gateway and nginx use the same regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

DEFAULT = "en"
VARY = "accept-encoding, accept-language"
"""The header Vary of documents."""

_MAX_ELEMENTS = 32
_MAX_CHARACTERS = 8192
"""Characters of Accept-Language that are read. nginx accepts no longer header."""
_END = "(?![a-z0-9])"
"""The end of a primary subtag. Some clients write a locale, such as es_ES."""
_WEIGHTS = (
    r"(?![^,;]*+;\s{0,9}+q=0)",
    *(rf"[^,;]*+;\s{{0,9}}+q=0\.{tenths}" for tenths in range(9, 0, -1)),
    r"[^,;]*+;\s{0,9}+q=0\.0\d?[1-9]",
)
"""What follows a language of each weight in Accept-Language, the largest weight first."""


class Version(NamedTuple):
    """A version of the documents."""

    language: str
    is_in_url: bool
    """Whether the URL names the language."""

    @property
    def query(self) -> str:
        """The query of its URLs."""
        return query_of(self.language) if self.is_in_url else ""

    @property
    def folder(self) -> str:
        """The folder of its documents in nginx."""
        if self.is_in_url:
            return f"/lang/{self.language}"
        return "" if self.language == DEFAULT else f"/{self.language}"


NEUTRAL = Version(DEFAULT, is_in_url=False)


def built(web_dir: Path) -> list[str]:
    """Return the languages of a build, the default first."""
    return [DEFAULT, *sorted(path.name.split(".")[1] for path in web_dir.glob("index.*.html"))]


def versions(languages: Sequence[str]) -> Iterator[Version]:
    """Yield the versions of a build."""
    for language in languages:
        yield Version(language, is_in_url=False)
        yield Version(language, is_in_url=True)


def file_of(page: str, language: str) -> str:
    """Return the file name of a document in a build.

    The document `index` serves every page that has none of its own.
    """
    return f"{page}.html" if language == DEFAULT else f"{page}.{language}.html"


def query_of(language: str) -> str:
    """Return the query of URLs that name a language."""
    return f"?lang={language}"


def choose(query: str, accepted: str, languages: Sequence[str]) -> Version:
    """Return the version for a query string and an Accept-Language header."""
    for language in languages:
        if re.search(f"(?:^|&){_named(language)}", query):
            return Version(language, is_in_url=True)
    for preferred, language in _preferences(languages):
        if re.search(preferred, accepted[:_MAX_CHARACTERS], re.IGNORECASE):
            return Version(language, is_in_url=False)
    return NEUTRAL


def nginx_maps(languages: Sequence[str]) -> str:
    """Return nginx configuration by which `$documents` is the `folder` for a request."""
    accepted = [
        (preferred, Version(language, is_in_url=False).folder)
        for preferred, language in _preferences(languages)
    ]
    named = [(_named(language), Version(language, is_in_url=True).folder) for language in languages]
    lines = [
        "# The folder of the documents in the language of a request.",
        "map $http_accept_language $accepted_language {",
        f'    default "{NEUTRAL.folder}";',
        *(f'    "~*{preferred}" "{folder}";' for preferred, folder in accepted),
        "}",
        "map $request_uri $documents {",
        "    default $accepted_language;",
        *(f'    "~[?&]{pattern}" "{folder}";' for pattern, folder in named),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _named(language: str) -> str:
    """Return a regular expression of a query's parameter that names a language."""
    return f"lang={language}(?:[-_&]|$)"


def _preferences(languages: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield regular expressions of Accept-Language, and the language that each prefers.

    The first that matches decides: there is one for each weight and language.
    """
    known = "|".join(languages)
    for weight in _WEIGHTS:
        for language in languages:
            others = rf"(?:(?!\s*+(?:{known}){_END}{weight})[^,]*+,){{0,{_MAX_ELEMENTS - 1}}}"
            yield rf"^{others}\s*+{language}{_END}{weight}", language
