"""The built pages, where no web server stands in front: files, and one document for every route.

Everything is read once at start. Files that were compressed at build time are sent as such.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from starlette.types import Receive, Scope, Send

from gateway.edge import Edge, RawHeaders

_ENCODINGS = ((b"br", ".br"), (b"gzip", ".gz"))
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json"}
_WITHOUT_PAGES = b"Atajo"
"""The document of a gateway that serves no pages: whoever stands in front has its own."""


@dataclass(frozen=True)
class _File:
    """A file as it is sent, by content coding; `b""` is the plain one."""

    bodies: dict[bytes, bytes]
    headers: RawHeaders
    etag: bytes


class Site:
    """Answers GET and HEAD of pages and files."""

    def __init__(
        self, edge: Edge, web_dir: Path | None, *, public_url: str = "", contact: str = ""
    ) -> None:
        self._edge = edge
        self._pages = frozenset(edge.pages)
        self._files: dict[str, _File] = {}
        document = _WITHOUT_PAGES
        if web_dir is not None:
            document = _with_settings(web_dir / "index.html", public_url, contact)
            self._load(web_dir)
        bodies = {b"": document, b"gzip": gzip.compress(document, mtime=0)}
        self._document = self._file("text/html; charset=utf-8", edge.cache_document, bodies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if file := self._files.get(path):
            await _send_file(scope, send, file, 200)
        elif path in self._pages:
            await _send_file(scope, send, self._document, 200)
        else:
            await self.missing(scope, receive, send)

    async def missing(self, scope: Scope, receive: Receive, send: Send) -> None:
        """404 with the document: its own routes say the rest."""
        await _send_file(scope, send, self._document, 404)

    async def failing(self, scope: Scope, receive: Receive, send: Send) -> None:
        """503 with the document, and when to ask again."""
        retry_after = (b"retry-after", b"%d" % self._edge.retry_after)
        await _send_file(scope, send, self._document, 503, [retry_after])

    def _load(self, web_dir: Path) -> None:
        for path in sorted(web_dir.rglob("*")):
            url = "/" + path.relative_to(web_dir).as_posix()
            if not path.is_file() or url == "/index.html" or path.suffix in (".br", ".gz"):
                continue
            bodies = {b"": path.read_bytes()}
            for coding, suffix in _ENCODINGS:
                compressed = path.with_name(path.name + suffix)
                if compressed.is_file():
                    bodies[coding] = compressed.read_bytes()
            hashed = url.startswith(self._edge.hashed_prefix)
            cache = self._edge.cache_hashed if hashed else self._edge.cache_files
            self._files[url] = self._file(_type_of(path), cache, bodies)

    def _file(self, content_type: str, cache: bytes, bodies: dict[bytes, bytes]) -> _File:
        headers = (
            (b"content-type", content_type.encode()),
            (b"cache-control", cache),
            (b"vary", b"accept-encoding"),
            *self._edge.page_headers,
        )
        # Weak: the codings of one file share it.
        etag = b'W/"%s"' % hashlib.sha256(bodies[b""]).hexdigest()[:32].encode()
        return _File(bodies, headers, etag)


def _with_settings(document: Path, public_url: str, contact: str) -> bytes:
    """The document with what the pages need to know written into its `<meta>` tags."""
    text = document.read_text(encoding="utf-8")
    for name, value in (("atajo-public-url", public_url), ("atajo-contact", contact)):
        text = text.replace(
            f'<meta name="{name}" content=""', f'<meta name="{name}" content="{escape(value)}"'
        )
    return text.encode()


def _type_of(path: Path) -> str:
    known = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    content_type = known or "application/octet-stream"
    return f"{content_type}; charset=utf-8" if content_type.startswith("text/") else content_type


async def _send_file(
    scope: Scope,
    send: Send,
    file: _File,
    status: int,
    more: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    request = dict(scope["headers"])
    if status == 200 and request.get(b"if-none-match") == file.etag:
        headers = [*file.headers, (b"etag", file.etag)]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    coding = _coding(file.bodies, request.get(b"accept-encoding", b""))
    body = file.bodies[coding]
    headers = [*file.headers, *more, (b"content-length", b"%d" % len(body))]
    if status == 200:
        headers.append((b"etag", file.etag))
    if coding:
        headers.append((b"content-encoding", coding))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _coding(bodies: dict[bytes, bytes], accepted: bytes) -> bytes:
    """The best coding both sides have. A coding with `q=0` is one the client refuses."""
    offers: set[bytes] = set()
    for offer in accepted.lower().split(b","):
        name, *parameters = (part.strip() for part in offer.split(b";"))
        if not any(part in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000") for part in parameters):
            offers.add(name)
    return next((name for name, _ in _ENCODINGS if name in offers and name in bodies), b"")
