"""The document that further origins have for short URLs that lead nowhere.

The pages and their files are at the public URL only, so it needs no file. It depends on the
standard library only: `gateway/nginx/webroot.py` writes it for nginx.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from gateway.pages import languages

UNAVAILABLE = "/further.html"
"""The document in nginx for a gateway that does not answer."""
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1.25rem/1.5 system-ui,sans-serif;max-width:40rem;margin:20vh auto;padding:0 1rem;"
    "background:#f5f6f2;color:#14181f;overflow-wrap:anywhere}"
    "a{color:inherit}"
    "@media(prefers-color-scheme:dark){body{background:#12161c;color:#f1f3ef}}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of the document."""


@dataclass(frozen=True)
class Texts:
    """The texts in a language. They are those of web/src/features/redirect."""

    expired: str
    removed: str
    blocked: Mapping[str, str]
    """By the class of the block."""
    blocked_by: str
    appeal: str
    """With `{contact}`."""
    unavailable: str
    home: str


TEXTS = {
    languages.DEFAULT: Texts(
        expired="This link has expired.",
        removed="This link was removed by its owner.",
        blocked={
            name: f"This link was blocked: {name}."
            for name in ("phishing", "malware", "spam", "illegal", "other")
        },
        blocked_by="The operator of this site blocked it.",
        appeal="If you think this is a mistake, write to {contact}.",
        unavailable="This link cannot be opened right now. Try again in a minute.",
        home="GO HOME",
    ),
    "es": Texts(
        expired="Este enlace ha caducado.",
        removed="Su propietario ha eliminado este enlace.",
        blocked={
            "phishing": "Este enlace se ha bloqueado: suplantación de identidad.",
            "malware": "Este enlace se ha bloqueado: software malicioso.",
            "spam": "Este enlace se ha bloqueado: correo no deseado.",
            "illegal": "Este enlace se ha bloqueado: contenido ilegal.",
            "other": "Este enlace se ha bloqueado: otro motivo.",
        },
        blocked_by="Lo ha bloqueado el responsable de este sitio.",
        appeal="Si crees que es un error, escribe a {contact}.",
        unavailable="Este enlace no se puede abrir ahora. Inténtalo de nuevo en un minuto.",
        home="IR AL INICIO",
    ),
}


def render(public_url: str, language: str, sentences: Sequence[str]) -> bytes:
    """Return the document with some sentences of a language, and a link to the home page."""
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="robots" content="noindex">'
        f"<title>{escape(sentences[0])}</title><style>{_STYLE}</style></head>"
        f'<body><main>{paragraphs}<p><a href="{escape(public_url)}/">'
        f"{TEXTS[language].home}</a></p></main></body></html>"
    ).encode()


def render_unavailable(public_url: str, language: str) -> bytes:
    """Return the document for a link that cannot be looked up now."""
    return render(public_url, language, [TEXTS[language].unavailable])
