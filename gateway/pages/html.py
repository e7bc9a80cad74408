"""The HTML document of all pages, with the public URL and the contact filled in."""

from __future__ import annotations

from html import escape
from pathlib import Path

from gateway.support.edge import Edge

_CANONICAL = '<link rel="canonical" href="" />'
_OG_URL = '<meta property="og:url" content="" />'
_OG_IMAGE = '<meta property="og:image" content="/'
_INDEX = "index.html"
"""The document of all pages that have none of their own."""
_EXAMPLE_ORIGIN = "https://atajo.example"
"""The origin of the product in texts of documents."""

DOCUMENTS = "/.documents"
"""Internal path of the documents in nginx (deploy/nginx/nginx.conf)."""
UNLISTED = "/unlisted.html"


def document_path(path: str, edge: Edge) -> str:
    """Return the path of a page's document below `DOCUMENTS`."""
    if path not in edge.listed:
        return UNLISTED
    return "/index.html" if path == "/" else f"{path}.html"


class Documents:
    """The documents of a build for a public URL and a contact, which may be placeholders."""

    def __init__(self, built: Path, edge: Edge, public_url: str, contact: str) -> None:
        """Read the documents. Raises OSError."""
        self._edge = edge
        self._documents = {
            name: _Document((built / name).read_text(encoding="utf-8"), public_url, contact)
            for name in (_INDEX, *edge.documents.values())
        }

    def of(self, path: str) -> bytes:
        """Return the document of the page at `path`."""
        document = self._documents[self._edge.documents.get(path, _INDEX)]
        return document.listed(path) if path in self._edge.listed else document.unlisted()

    def unlisted(self) -> bytes:
        """Return the document of any other URL, marked `noindex`."""
        return self._documents[_INDEX].unlisted()


class _Document:
    def __init__(self, document: str, public_url: str, contact: str) -> None:
        self._origin = escape(public_url)
        if public_url:
            document = document.replace(_EXAMPLE_ORIGIN, self._origin)
        for name, value in (("atajo-public-url", public_url), ("atajo-contact", contact)):
            document = document.replace(
                f'<meta name="{name}" content=""', f'<meta name="{name}" content="{escape(value)}"'
            )
        self._document = document.replace(_OG_IMAGE, f"{_OG_IMAGE[:-1]}{self._origin}/")

    def listed(self, path: str) -> bytes:
        """Return the document of a page that search engines may list, with its own URL."""
        url = f'"{self._origin}{escape(path)}"'
        return (
            self._document.replace(_CANONICAL, _CANONICAL.replace('""', url))
            .replace(_OG_URL, _OG_URL.replace('""', url))
            .encode()
        )

    def unlisted(self) -> bytes:
        return (
            self._document.replace(_CANONICAL, '<meta name="robots" content="noindex" />')
            .replace(_OG_URL, "")
            .encode()
        )
