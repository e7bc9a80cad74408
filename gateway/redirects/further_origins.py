"""Answers requests to the further origins of an instance: what they have beside short URLs.

The pages are at the public URL only. A link that is not active keeps its status here, so the body
cannot be theirs: it is a document without files, in the languages of the pages.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from starlette.types import Receive, Scope, Send

from gateway.pages import languages
from gateway.redirects.resolution import BlockReason, LinkState, Resolution
from gateway.support.edge import Edge
from services.shared.origins import Origins

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1.25rem/1.5 system-ui,sans-serif;max-width:40rem;margin:20vh auto;padding:0 1rem;"
    "background:#f5f6f2;color:#14181f;overflow-wrap:anywhere}"
    "a{color:inherit}"
    "@media(prefers-color-scheme:dark){body{background:#12161c;color:#f1f3ef}}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Texts:
    """The texts of the document in a language. They are those of web/src/features/redirect."""

    expired: str
    removed: str
    blocked: Mapping[BlockReason, str]
    blocked_by: str
    appeal: str
    """With `{contact}`."""
    unavailable: str
    home: str


TEXTS = {
    languages.DEFAULT: Texts(
        expired="This link has expired.",
        removed="This link was removed by its owner.",
        blocked={reason: f"This link was blocked: {reason.value}." for reason in BlockReason},
        blocked_by="The operator of this site blocked it.",
        appeal="If you think this is a mistake, write to {contact}.",
        unavailable="This link cannot be opened right now. Try again in a minute.",
        home="GO HOME",
    ),
    "es": Texts(
        expired="Este enlace ha caducado.",
        removed="Su propietario ha eliminado este enlace.",
        blocked={
            BlockReason.PHISHING: "Este enlace se ha bloqueado: suplantación de identidad.",
            BlockReason.MALWARE: "Este enlace se ha bloqueado: software malicioso.",
            BlockReason.SPAM: "Este enlace se ha bloqueado: correo no deseado.",
            BlockReason.ILLEGAL: "Este enlace se ha bloqueado: contenido ilegal.",
            BlockReason.OTHER: "Este enlace se ha bloqueado: otro motivo.",
        },
        blocked_by="Lo ha bloqueado el responsable de este sitio.",
        appeal="Si crees que es un error, escribe a {contact}.",
        unavailable="Este enlace no se puede abrir ahora. Inténtalo de nuevo en un minuto.",
        home="IR AL INICIO",
    ),
}


class FurtherOrigins:
    """Recognizes requests to a further origin by their `Host`, and answers them."""

    def __init__(self, origins: Origins, edge: Edge, contact: str) -> None:
        self._public = origins.public
        self._hosts = origins.further_hosts
        self._contact = contact
        self._retry_after = (b"retry-after", b"%d" % edge.retry_after)
        self._moved_headers = (
            # A browser that kept the redirect would loop once the two origins change roles.
            (b"cache-control", edge.cache_error),
            (b"content-length", b"0"),
            *edge.plain_headers,
        )
        self._headers = (
            (b"content-type", b"text/html; charset=utf-8"),
            (b"cache-control", edge.cache_error),
            (b"vary", languages.VARY.encode()),
            (b"content-security-policy", _POLICY.encode()),
            *edge.plain_headers,
        )

    def serve(self, scope: Scope) -> bool:
        """Return whether a request is to one of the further origins."""
        if not self._hosts:
            return False
        return any(
            name == b"host" and value.lower() in self._hosts for name, value in scope["headers"]
        )

    async def redirect(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect to the same path and query of the public URL."""
        query = scope["query_string"]
        target = scope["raw_path"] + (b"?" + query if query else b"")
        headers = [(b"location", self._public.encode() + target), *self._moved_headers]
        await send({"type": "http.response.start", "status": 301, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def send_ended(
        self, scope: Scope, send: Send, status: int, resolution: Resolution
    ) -> None:
        """Say why a link leads nowhere."""
        language = _choose_language(scope)
        texts = TEXTS[language]
        sentences = [texts.removed if resolution.state is LinkState.REMOVED else texts.expired]
        if resolution.state is LinkState.BLOCKED:
            why = texts.blocked[resolution.reason or BlockReason.OTHER]
            sentences = [why, texts.blocked_by, texts.appeal.format(contact=self._contact)]
        await self._send(send, status, language, sentences)

    async def send_unavailable(self, scope: Scope, send: Send) -> None:
        """Say that a link cannot be looked up now."""
        language = _choose_language(scope)
        sentences = [TEXTS[language].unavailable]
        await self._send(send, 503, language, sentences, self._retry_after)

    async def _send(
        self,
        send: Send,
        status: int,
        language: str,
        sentences: list[str],
        *extra_headers: tuple[bytes, bytes],
    ) -> None:
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
        body = (
            f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            '<meta name="robots" content="noindex">'
            f"<title>{escape(sentences[0])}</title><style>{_STYLE}</style></head>"
            f'<body><main>{paragraphs}<p><a href="{escape(self._public)}/">'
            f"{TEXTS[language].home}</a></p></main></body></html>"
        ).encode()
        headers = [*self._headers, *extra_headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _choose_language(scope: Scope) -> str:
    """Return the language that a request asks for, as the pages do."""
    header = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    return languages.choose(query, header, list(TEXTS)).language
