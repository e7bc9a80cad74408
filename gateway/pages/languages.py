"""The language of a page's document: the query's `lang`, or else the first of Accept-Language.

A build has `index.html` in English, and `index.es.html` in Spanish. Browsers list languages by
preference, so weights are not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

DEFAULT = "en"
VARY = "accept-encoding, accept-language"
"""The header Vary of documents."""


def built(web_dir: Path) -> list[str]:
    """Return the languages of a build, the default first."""
    return [DEFAULT, *sorted(path.name.split(".")[1] for path in web_dir.glob("index.*.html"))]


def file_of(page: str, language: str) -> str:
    """Return the file name of a document in a build.

    The document `index` serves every page that has none of its own.
    """
    return f"{page}.html" if language == DEFAULT else f"{page}.{language}.html"


def choose(query: str, accepted: str, languages: Sequence[str]) -> str:
    """Return the language for a query string and an Accept-Language header."""
    for language in languages:
        if re.search(f"(?:^|&){_asked(language)}", query):
            return language
    for language in languages:
        if re.search(_first(language, languages), accepted, re.IGNORECASE):
            return language
    return DEFAULT


def folder(language: str) -> str:
    """Return the folder of a language's documents in nginx."""
    return "" if language == DEFAULT else f"/{language}"


def nginx_maps(languages: Sequence[str]) -> str:
    """Return nginx configuration by which `$language` is the `folder` for a request."""
    others = [language for language in languages if language != DEFAULT]
    lines = [
        "# The folder of the documents in the language of a request.",
        "map $http_accept_language $accepted_language {",
        '    default "";',
        *(f'    "~*{_first(each, languages)}" "{folder(each)}";' for each in others),
        "}",
        "map $request_uri $language {",
        "    default $accepted_language;",
        *(f'    "~[?&]{_asked(each)}" "{folder(each)}";' for each in languages),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _asked(language: str) -> str:
    return f"lang={language}(?:&|$)"


def _first(language: str, languages: Sequence[str]) -> str:
    """Return a regular expression of headers whose first known language is this one."""
    known = "|".join(languages)
    return rf"^(?:(?!\s*(?:{known})\b)[^,]*,)*\s*{language}\b"
