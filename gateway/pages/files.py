"""Serves the built pages and files if there is no web server in front.

Reads everything once, at the start, and then also renders what depends on the public URL. Files
that were compressed at build time are sent compressed.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from gateway.pages import languages
from gateway.pages.html import DOCUMENTS, Documents, PageSettings, document_path
from gateway.support.content_negotiation import content_coding
from gateway.support.edge import Edge, RawHeaders

_ENCODINGS = ((b"br", ".br"), (b"gzip", ".gz"))
"""Content codings, best first, and the suffix of a file in each."""
_TEXT = "text/plain; charset=utf-8"
_XML = "application/xml"
_XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
_OPENSEARCH = "application/opensearchdescription+xml"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": _TEXT,
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".xml": _XML,
}
"""Content types by suffix of all files in a build. `mimetypes` depends on the machine."""
SERVICE_WORKER = "/sw.js"
SERVICE_WORKER_OFF = "/sw-off.js"
"""The script that removes the service worker."""
_PLACEHOLDER = b"Atajo"
"""The document of a gateway without pages. The web server in front has the real one."""


@dataclass(frozen=True)
class _File:
    """A file with its bodies by content coding, `b""` for none."""

    bodies: dict[bytes, bytes]
    headers: RawHeaders
    etag: bytes


class _Pages(NamedTuple):
    """A version of the documents."""

    by_path: dict[str, _File]
    missing: _File


class Site:
    """Answers GET and HEAD of pages and files."""

    def __init__(
        self,
        edge: Edge,
        web_dir: Path | None,
        settings: PageSettings | None = None,
    ) -> None:
        self._edge = edge
        self._files: dict[str, _File] = {}
        settings = settings or PageSettings("", "")
        public_url = settings.public_url
        self._hidden = {edge.admin} if settings.admin_pages == "off" else set()
        if web_dir is None:
            pages = dict.fromkeys(edge.pages, self._document(_PLACEHOLDER))
            pages |= {path: self._placeholder(path) for path in edge.link_pages}
            missing = self._document(_PLACEHOLDER, edge.cache_error)
            self._languages = [languages.DEFAULT]
            placeholders = _Pages(pages, missing)
            self._documents = dict.fromkeys(languages.versions(self._languages), placeholders)
        else:
            self._languages = languages.built(web_dir)
            self._documents = {
                version: self._read(Documents(web_dir, edge, settings, version))
                for version in languages.versions(self._languages)
            }
            self._load(web_dir)
            if settings.service_worker == "off":
                self._files[SERVICE_WORKER] = self._files[SERVICE_WORKER_OFF]
        if public_url:
            self._files[edge.robots] = self._text_file(_TEXT, _robots(edge, public_url))
            self._files[edge.sitemap] = self._text_file(_XML, _sitemap(edge, public_url))
            self._files[edge.opensearch] = self._text_file(
                _OPENSEARCH, _opensearch(edge, public_url)
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == self._edge.change_password:
            await self._redirect_to_settings(send)
            return
        page = self._edge.page_at(path)
        if path in self._hidden:
            await self.send_error(scope, receive, send)
        elif file := self._pages_for(scope).by_path[page] if page else self._files.get(path):
            await _send_file(scope, send, file, 200)
        else:
            await self.send_error(scope, receive, send)

    async def _redirect_to_settings(self, send: Send) -> None:
        headers = [
            (b"location", f"{self._edge.settings}#password".encode()),
            (b"cache-control", self._edge.cache_document),
            (b"content-length", b"0"),
            *self._edge.page_headers,
        ]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def send_error(
        self, scope: Scope, receive: Receive, send: Send, status: int = 404
    ) -> None:
        """Send the document with an error status. Its script explains the error."""
        await _send_file(scope, send, self._pages_for(scope).missing, status)

    async def send_unavailable(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the document with status 503 and Retry-After."""
        retry_after = (b"retry-after", b"%d" % self._edge.retry_after)
        await _send_file(scope, send, self._pages_for(scope).missing, 503, [retry_after])

    def _pages_for(self, scope: Scope) -> _Pages:
        """Return the documents in the language that a request asks for."""
        header = dict(scope["headers"]).get(b"accept-language", b"")
        query = scope.get("query_string", b"")
        asked = (query.decode("latin-1"), header.decode("latin-1"))
        return self._documents[languages.choose(*asked, self._languages)]

    def _read(self, documents: Documents) -> _Pages:
        edge = self._edge
        return _Pages(
            {
                path: self._document(
                    documents.of(path),
                    headers=edge.document_headers if path in edge.documents else None,
                )
                for path in edge.pages
            },
            self._document(documents.unlisted(), edge.cache_error),
        )

    def _load(self, web_dir: Path) -> None:
        for path in sorted(web_dir.rglob("*")):
            url = "/" + path.relative_to(web_dir).as_posix()
            if not path.is_file() or path.suffix in (".html", ".br", ".gz"):
                continue
            bodies = {b"": path.read_bytes()}
            for coding, suffix in _ENCODINGS:
                compressed = path.with_name(path.name + suffix)
                if compressed.is_file():
                    bodies[coding] = compressed.read_bytes()
            self._files[url] = self._file(
                TYPES.get(path.suffix, "application/octet-stream"),
                self._select_cache_control(url),
                bodies,
            )

    def _select_cache_control(self, url: str) -> bytes:
        """Return the value of `Cache-Control` for a file."""
        if url.startswith(self._edge.hashed_prefix):
            return self._edge.cache_hashed
        # A cache in front would keep browsers on the files of an earlier version.
        if url in (SERVICE_WORKER, SERVICE_WORKER_OFF):
            return self._edge.cache_document
        return self._edge.cache_files

    def _document(
        self, text: bytes, cache: bytes | None = None, headers: RawHeaders | None = None
    ) -> _File:
        bodies = {b"": text, b"gzip": gzip.compress(text, mtime=0)}
        cache = cache or self._edge.cache_document
        return self._file(TYPES[".html"], cache, bodies, headers, vary=languages.VARY)

    def _placeholder(self, path: str) -> _File:
        """Return a response that makes the web server in front send its page."""
        bodies = {b"": _PLACEHOLDER}
        inner = (DOCUMENTS + document_path(path, self._edge)).encode()
        return _File(bodies, ((b"x-accel-redirect", inner),), _etag(_PLACEHOLDER))

    def _text_file(self, content_type: str, text: str) -> _File:
        return self._file(content_type, self._edge.cache_files, {b"": text.encode()})

    def _file(
        self,
        content_type: str,
        cache: bytes,
        bodies: dict[bytes, bytes],
        own_headers: RawHeaders | None = None,
        vary: str = "accept-encoding",
    ) -> _File:
        headers = (
            (b"content-type", content_type.encode()),
            (b"cache-control", cache),
            (b"vary", vary.encode()),
            *(own_headers or self._edge.page_headers),
        )
        return _File(bodies, headers, _etag(bodies[b""]))


def _etag(body: bytes) -> bytes:
    """Return a weak tag, since all codings of a file share it."""
    return b'W/"%s"' % hashlib.sha256(body).hexdigest()[:32].encode()


def _robots(edge: Edge, public_url: str) -> str:
    """Return a robots.txt that allows everything. Unlisted pages have `noindex`."""
    return f"User-agent: *\nDisallow:\n\nSitemap: {public_url}{edge.sitemap}\n"


def _sitemap(edge: Edge, public_url: str) -> str:
    urls = "".join(f"  <url><loc>{escape(public_url + path)}</loc></url>\n" for path in edge.listed)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'{_XML_DECLARATION}<urlset xmlns="{namespace}">\n{urls}</urlset>\n'


def _opensearch(edge: Edge, public_url: str) -> str:
    """Return an OpenSearch description: a browser's keyword shortens the link that follows it."""
    template = escape(f"{public_url}{edge.share}?url={{searchTerms}}")
    return f"""{_XML_DECLARATION}\
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Atajo</ShortName>
  <Description>Shorten a link</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image width="32" height="32">{escape(public_url)}/favicon.ico</Image>
  <Url type="text/html" template="{template}"/>
</OpenSearchDescription>
"""


async def _send_file(
    scope: Scope,
    send: Send,
    file: _File,
    status: int,
    extra_headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    request = dict(scope["headers"])
    if status == 200 and _matches(request.get(b"if-none-match", b""), file.etag):
        headers = [*file.headers, (b"etag", file.etag)]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    offered = [coding for coding, _ in _ENCODINGS if coding in file.bodies]
    coding = content_coding(request.get(b"accept-encoding", b""), offered)
    body = file.bodies[coding]
    headers = [*file.headers, *extra_headers, (b"content-length", b"%d" % len(body))]
    if status == 200:
        headers.append((b"etag", file.etag))
    if coding:
        headers.append((b"content-encoding", coding))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _matches(if_none_match: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match header matches, by weak comparison (RFC 9110, 8.8.3.2)."""
    tags = {tag.strip().removeprefix(b"W/") for tag in if_none_match.split(b",")}
    return b"*" in tags or etag.removeprefix(b"W/") in tags
