"""The HTML document of all pages, with the settings of an installation filled in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from gateway.pages import languages
from gateway.support.edge import Edge

_CANONICAL = '<link rel="canonical" href="" />'
_OG_URL = '<meta property="og:url" content="" />'
_OG_IMAGE = '<meta property="og:image" content="/'
_PART = re.compile("<!--if ([a-z -]+)-->(.*?)<!--fi-->")
"""A part of a document for instances that offer something (web/build/prerender.ts)."""
_EXAMPLE_ORIGIN = "https://atajo.example"
_EXAMPLE_CONTACT = "contact@atajo.example"
"""The origin and the contact in texts of documents."""

DOCUMENTS = "/.documents"
"""Internal path of the documents in nginx (deploy/nginx/nginx.conf)."""
UNLISTED = "/unlisted.html"


def document_path(path: str, edge: Edge) -> str:
    """Return the path of a page's document below `DOCUMENTS`."""
    if path not in edge.listed:
        return UNLISTED
    return "/index.html" if path == "/" else f"{path}.html"


class PageSettings(NamedTuple):
    """Settings that the documents contain. They may be placeholders."""

    public_url: str
    contact: str
    service_worker: str = "on"
    """`off` if the pages must not register one."""
    registration: str = "open"
    """Who may register: `open`, `invite` or `closed`."""
    guest_links: str = "on"
    """`off` if only accounts may shorten."""
    admin_pages: str = "on"
    """`off` if there is no page for administrators."""
    domains: str = ""
    """Further origins of short URLs, separated by spaces."""
    oidc_name: str = ""
    """Name of the OpenID Connect provider, empty if there is none."""

    @property
    def offers(self) -> frozenset[str]:
        """What the instance offers to strangers, as parts of documents name it."""
        return frozenset(
            ("guest-links" if self.guest_links == "on" else "no-guest-links",)
            + ("registration",) * (self.registration == "open")
        )


class Documents:
    """A version of the documents of a build, with the settings of an installation."""

    def __init__(
        self,
        built: Path,
        edge: Edge,
        settings: PageSettings,
        version: languages.Version = languages.NEUTRAL,
        *,
        all_parts: bool = False,
    ) -> None:
        """Read the documents. Raises OSError.

        With `all_parts`, they keep the parts that the instance does not offer, and all marks.
        """
        self._edge = edge
        self._version = version
        self._languages = languages.built(built)
        self._built = built
        self._settings = settings
        self._all_parts = all_parts
        self._index = self._read(languages.file_of("index", version.language))

    def of(self, path: str) -> bytes:
        """Return the document of the page at `path`. Raises OSError."""
        if name := self._edge.documents.get(path):
            return self._read(name).listed(path)
        if path not in self._edge.listed:
            return self._index.unlisted()
        rendered = languages.file_of(path[1:] or "home", self._version.language)
        exists = (self._built / rendered).is_file()
        document = self._read(rendered) if exists else self._index
        return document.listed(path, self._version.query, self._languages)

    def unlisted(self) -> bytes:
        """Return the document of any other URL, marked `noindex`."""
        return self._index.unlisted()

    def _read(self, name: str) -> _Document:
        document = (self._built / name).read_text(encoding="utf-8")
        if not self._all_parts:
            offers = self._settings.offers
            document = _PART.sub(
                lambda part: part[2] if offers.issuperset(part[1].split()) else "", document
            )
        return _Document(document, self._settings)


class _Document:
    def __init__(self, document: str, settings: PageSettings) -> None:
        self._origin = escape(settings.public_url)
        if settings.public_url:
            document = document.replace(_EXAMPLE_ORIGIN, self._origin)
        if settings.contact:
            document = document.replace(_EXAMPLE_CONTACT, escape(settings.contact))
        for name, value in settings._asdict().items():
            meta = f'<meta name="atajo-{name.replace("_", "-")}" content="'
            document = document.replace(f'{meta}"', f'{meta}{escape(value)}"')
        self._document = document.replace(_OG_IMAGE, f"{_OG_IMAGE[:-1]}{self._origin}/")

    def listed(self, path: str, query: str = "", alternatives: Sequence[str] = ()) -> bytes:
        """Return the document of a page that search engines may list, with its own URL.

        `alternatives` are the languages in which the page exists. The URL without a query answers
        in the visitor's language.
        """
        page = self._origin + escape(path)
        url = f'"{page}{query}"'
        alternates = {name: page + languages.query_of(name) for name in alternatives}
        if alternates:
            alternates["x-default"] = page
        links = "".join(
            f'\n    <link rel="alternate" hreflang="{language}" href="{target}" />'
            for language, target in alternates.items()
        )
        return (
            self._document.replace(_CANONICAL, _CANONICAL.replace('""', url) + links)
            .replace(_OG_URL, _OG_URL.replace('""', url))
            .encode()
        )

    def unlisted(self) -> bytes:
        return (
            self._document.replace(_CANONICAL, '<meta name="robots" content="noindex" />')
            .replace(_OG_URL, "")
            .encode()
        )
