"""The rule for the URLs of an OpenID Connect provider."""

from __future__ import annotations

from urllib.parse import urlsplit

from services.shared import ip_addresses

_MAX_CHARACTERS = 2000


def check_provider_url(url: object) -> str:
    """Return the URL if it is https, or http on a loopback address. Raises ValueError."""
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("this is no URL")
    if len(url) > _MAX_CHARACTERS:
        raise ValueError(f"a URL has at most {_MAX_CHARACTERS} characters")
    parts = urlsplit(url)
    if parts.username is not None or parts.fragment or parts.port == 0:
        raise ValueError("a URL with user info, a fragment or port 0 is refused")
    is_local = parts.scheme == "http" and _is_loopback(parts.hostname or "")
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ValueError("https is needed, or http on a loopback address")
    return url


def _is_loopback(host: str) -> bool:
    address = ip_addresses.parse(host)
    return host == "localhost" if address is None else address.is_loopback
