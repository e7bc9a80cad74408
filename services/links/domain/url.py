"""Which URLs can be stored, and in which form."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import ip_address
from posixpath import normpath
from urllib.parse import unquote

import ada_url

from services.links.domain.block import Refusal, UrlGate
from services.links.domain.host import host_of
from services.links.domain.link import Link
from services.links.domain.url_cleaning import clean_url
from services.shared.codes import addressed_code
from services.shared.errors import InvalidArgument
from services.shared.text import CONTROLS

MIN_URL_LENGTH = 3
MAX_URL_LENGTH = 999
"""In Unicode code points, after cleaning."""
# `mailto:x` has a scheme; in `example.com:8081/x` what follows the colon is a port.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:[/?#]|$))")
_HTTP = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/\\?#]*")
_NO_WEB_SCHEME = re.compile(r"(?!https?://)[^/?#]*://", re.IGNORECASE)
"""`://` before the path, query and fragment, after anything but `http` or `https`."""
_SCHEME_AS_HOST = re.compile(r"https?[^a-z0-9]*")
_PORT = re.compile(r":[0-9]+$")
_DEFAULT_PORTS = {"http:": 80, "https:": 443}


class InvalidUrl(InvalidArgument):
    default_reason = "INVALID_URL"


class InvalidEndedUrl(InvalidArgument):
    default_reason = "INVALID_ENDED_URL"


class UrlRefused(InvalidArgument):
    """A URL that a list names; `refusal` says which."""

    default_reason = "URL_REFUSED"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__("This link cannot be shortened.")
        self.refusal = refusal


class UrlPolicy:
    """Which URLs can be stored by a product that is reached at `public_url`.

    Without a gate, all can be that have the form.
    """

    def __init__(self, public_url: str, gate: UrlGate | None = None) -> None:
        self._gate = gate
        own = ada_url.URL(public_url)
        self._own = host_of(own)
        self._is_local = _is_loopback(self._own)
        self._ports = _own_ports(_port(own))

    def normalize(self, given: str) -> str:
        """Return the URL to store for the text that a visitor gave.

        `clean_url` removes what surrounds it, `http://` is added if it has no scheme, and a Unicode
        host becomes punycode; all else stays as given. ada parses as browsers do (WHATWG URL).

        Refuses text that is a URL with something in front of its scheme (`url=https://a.example`),
        and a host that is the name of a scheme (`http://https//a.example`): they would become links
        that lead nowhere.

        Raises InvalidUrl, UrlRefused, Unavailable.
        """
        url = clean_url(given)
        if not MIN_URL_LENGTH <= len(url) <= MAX_URL_LENGTH:
            raise InvalidUrl(f"A URL has {MIN_URL_LENGTH} to {MAX_URL_LENGTH} characters.")
        if CONTROLS.search(url):
            raise InvalidUrl("A URL has no control characters.")
        if _NO_WEB_SCHEME.match(url):
            raise InvalidUrl("A URL begins with http:// or https://, or has no scheme.")
        if not _SCHEME.match(url):
            url = f"http://{url}"
        if not _HTTP.match(url):
            raise InvalidUrl("Only http and https URLs with a host can be stored.")
        try:
            parsed = ada_url.URL(url)
        except ValueError:
            raise InvalidUrl("This is not a URL.") from None
        hostname = parsed.hostname
        if not hostname.strip("."):
            raise InvalidUrl("A URL has a host.")
        if _has_broken_punycode(hostname) or _is_doubled_scheme(url, hostname):
            raise InvalidUrl("This is not a URL.")
        if self._is_short_address(parsed):
            raise InvalidUrl("This is a short address already.")
        url = _with_ascii_host(url, hostname)
        if self._gate is not None and (refusal := self._gate.refusal(url)):
            raise UrlRefused(refusal)
        return url

    def normalize_ended(self, given: str) -> str:
        """The same for where a link leads once it is expired.

        Raises InvalidEndedUrl, UrlRefused, Unavailable.
        """
        try:
            return self.normalize(given)
        except InvalidUrl as error:
            raise InvalidEndedUrl(error.message) from None

    def freed(self, link: Link) -> Link:
        """A link, freed where it is blocked for a list and no list names where it leads.

        Raises Unavailable.
        """
        if not link.listed or (self._gate is not None and link.refusal(self._gate)):
            return link
        return replace(link, blocked=None, listed="")

    def is_within(self, host: str) -> bool:
        """Whether the product is reached at a host, as `host_of` has it, or below it."""
        return f".{self._own}".endswith(f".{host}")

    def _is_short_address(self, url: ada_url.URL) -> bool:
        host = host_of(url)
        same_host = host == self._own or (self._is_local and _is_loopback(host))
        if not same_host or _port(url) not in self._ports:
            return False
        # Dots are resolved after decoding: an encoded slash or dot leads to the same place.
        path = normpath(unquote(url.pathname).replace("\\", "/")).strip("/")
        return addressed_code(path) is not None


def _authority_of(url: str) -> tuple[int, str]:
    """Return where the authority of a URL with a scheme begins, and its text."""
    start = url.index("//") + 2
    match = _AUTHORITY.match(url, start)
    return start, match.group() if match else ""


def _is_doubled_scheme(url: str, hostname: str) -> bool:
    """Whether the host is only `http` or `https`, as in `http://https//a.example`.

    With a port it is a host: `http:80`.
    """
    if not _SCHEME_AS_HOST.fullmatch(hostname):
        return False
    _, authority = _authority_of(url)
    return not _PORT.search(authority)


def _with_ascii_host(url: str, ascii_host: str) -> str:
    start, authority = _authority_of(url)
    userinfo, at, hostport = authority.rpartition("@")
    host, colon, port = hostport.partition(":")
    if hostport.startswith("[") or host.isascii():
        return url
    return f"{url[:start]}{userinfo}{at}{ascii_host}{colon}{port}{url[start + len(authority) :]}"


def _has_broken_punycode(host: str) -> bool:
    """Whether a label only looks like punycode: ada lets it pass, browsers refuse to go there."""
    return any(
        label.startswith("xn--") and ada_url.idna.decode(label) == label
        for label in host.split(".")
    )


def _port(url: ada_url.URL) -> int:
    return int(url.port) if url.port else _DEFAULT_PORTS.get(url.protocol, 0)


def _own_ports(port: int) -> frozenset[int]:
    """A product on a default port is reached on the other one too."""
    defaults = frozenset(_DEFAULT_PORTS.values())
    return defaults if port in defaults else frozenset({port})


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
