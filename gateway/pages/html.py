"""The HTML document of all pages, with the public URL and the contact filled in."""

from __future__ import annotations

from html import escape

from gateway.support.edge import Edge

_CANONICAL = '<link rel="canonical" href="" />'
_OG_URL = '<meta property="og:url" content="" />'
_OG_IMAGE = '<meta property="og:image" content="/'

DOCUMENTS = "/.documents"
"""Internal path of the documents in nginx (deploy/nginx/nginx.conf)."""
UNLISTED = "/unlisted.html"


def document_path(path: str, edge: Edge) -> str:
    """Return the path of a page's document below `DOCUMENTS`."""
    if path not in edge.listed:
        return UNLISTED
    return "/index.html" if path == "/" else f"{path}.html"


class Document:
    """The document for a public URL and a contact, which may be placeholders."""

    def __init__(self, document: str, public_url: str, contact: str) -> None:
        for name, value in (("atajo-public-url", public_url), ("atajo-contact", contact)):
            document = document.replace(
                f'<meta name="{name}" content=""', f'<meta name="{name}" content="{escape(value)}"'
            )
        self._origin = escape(public_url)
        self._document = document.replace(_OG_IMAGE, f"{_OG_IMAGE[:-1]}{self._origin}/")

    def of(self, path: str, edge: Edge) -> bytes:
        """Return the document of the page at `path`."""
        return self.listed(path) if path in edge.listed else self.unlisted()

    def listed(self, path: str) -> bytes:
        """Return the document of a page that search engines may list, with its own URL."""
        url = f'"{self._origin}{escape(path)}"'
        return (
            self._document.replace(_CANONICAL, _CANONICAL.replace('""', url))
            .replace(_OG_URL, _OG_URL.replace('""', url))
            .encode()
        )

    def unlisted(self) -> bytes:
        """Return the document of any other URL, marked `noindex`."""
        return (
            self._document.replace(_CANONICAL, '<meta name="robots" content="noindex" />')
            .replace(_OG_URL, "")
            .encode()
        )
