"""URLs of pages that carry a secret. The fragment is not sent to any server."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from services.shared import edge_table

_PAGES = edge_table.read()["pages"]


def reset_url(origin: str, email: str, code: str) -> str:
    """Return the URL with which the owner of an account sets a password by a recovery code."""
    return _page_url(origin, "resetPassword", email=email, code=code)


def invitation_url(origin: str, token: str) -> str:
    """Return the URL with which somebody registers by an invitation."""
    return _page_url(origin, "register", invitation=token)


def _page_url(origin: str, page: str, **fragment: str) -> str:
    return f"{origin.rstrip('/')}{_PAGES[page]['path']}#{urlencode(fragment, quote_via=quote)}"
