"""The pages' document, with what the build cannot know written into its head: address, contact."""

from __future__ import annotations

from html import escape

from gateway.support.edge import Edge

_CANONICAL = '<link rel="canonical" href="" />'
_ADDRESS = '<meta property="og:url" content="" />'
_IMAGE = '<meta property="og:image" content="/'

DOCUMENTS = "/.documents"
"""Where nginx has the documents inside: deploy/nginx/nginx.conf."""
UNLISTED = "/unlisted.html"


def document_of(path: str, edge: Edge) -> str:
    """The file that nginx has of a page, below `DOCUMENTS`."""
    if path not in edge.listed:
        return UNLISTED
    return "/index.html" if path == "/" else f"{path}.html"


class Document:
    """The document for a public address and a contact, which may be placeholders of a template."""

    def __init__(self, document: str, public_url: str, contact: str) -> None:
        for name, value in (("atajo-public-url", public_url), ("atajo-contact", contact)):
            document = document.replace(
                f'<meta name="{name}" content=""', f'<meta name="{name}" content="{escape(value)}"'
            )
        self._origin = escape(public_url)
        self._document = document.replace(_IMAGE, f"{_IMAGE[:-1]}{self._origin}/")

    def of(self, path: str, edge: Edge) -> bytes:
        """The document of the page at `path`."""
        return self.listed(path) if path in edge.listed else self.unlisted()

    def listed(self, path: str) -> bytes:
        """The document of a page that search engines may list, with its own address in it."""
        address = f'"{self._origin}{escape(path)}"'
        return (
            self._document.replace(_CANONICAL, _CANONICAL.replace('""', address))
            .replace(_ADDRESS, _ADDRESS.replace('""', address))
            .encode()
        )

    def unlisted(self) -> bytes:
        """The document of every other address, marked `noindex`."""
        return (
            self._document.replace(_CANONICAL, '<meta name="robots" content="noindex" />')
            .replace(_ADDRESS, "")
            .encode()
        )
