"""Which URLs can be stored, and their stored form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from posixpath import normpath
from urllib.parse import unquote

import ada_url

from services.links.domain.blocklist import BlocklistMatch, UrlBlocklist
from services.links.domain.host import get_host
from services.links.domain.link import Link
from services.links.domain.url_cleaning import clean_url
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.errors import InvalidArgument
from services.shared.link_codes import code_in_path
from services.shared.origins import Origins

MIN_URL_LENGTH = 3
MAX_URL_LENGTH = 999
"""In Unicode code points, after cleaning."""
MAX_GIVEN_LENGTH = 1200
"""In Unicode code points, before cleaning: a URL with what surrounds it."""
# `mailto:x` has a scheme; in `example.com:8081/x` what follows the colon is a port.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:[/?#]|$))")
_HTTP = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/\\?#]*")
_NO_WEB_SCHEME = re.compile(r"(?!https?://)[^/?#]*://", re.IGNORECASE)
"""`://` before the path, query and fragment, after anything but `http` or `https`."""
_EMAIL_ADDRESS = re.compile(r"[^@:/\\?#]+@[^@:/\\?#]+")
"""Text that could be a URL with user info; but people who type it mean the address."""
_SCHEME_AS_HOST = re.compile(r"https?[^a-z0-9]*")
_PORT = re.compile(r":[0-9]+$")
_DEFAULT_PORTS = {"http:": 80, "https:": 443}


class InvalidUrl(InvalidArgument):
    default_reason = "INVALID_URL"


class InvalidUrlLength(InvalidUrl):
    """The URL is empty, too short or too long."""


class OwnShortUrl(InvalidUrl):
    """The URL is a short URL of this product, so a link to it could be a loop."""


class InvalidDomain(InvalidArgument):
    """A link was given a domain that is none of the instance, or that its owner may not choose."""

    default_reason = "INVALID_DOMAIN"


class InvalidEndedUrl(InvalidArgument):
    default_reason = "INVALID_ENDED_URL"


class UrlRefused(InvalidArgument):
    """A blocklist names the URL; `match` is its entry."""

    default_reason = "URL_REFUSED"

    def __init__(self, match: BlocklistMatch) -> None:
        super().__init__("This link cannot be shortened.")
        self.match = match


class UrlPolicy:
    """Rules for the URLs of links in a product that is served at `public_url`.

    Its short URLs also work at the origins in `further`. Without a blocklist, every well-formed URL
    is accepted.
    """

    def __init__(
        self,
        public_url: str,
        blocklist: UrlBlocklist | None = None,
        further: Sequence[str] = (),
    ) -> None:
        self._blocklist = blocklist
        self._origins = Origins(public_url, tuple(further))
        self._own = [_OwnHost.parse(origin) for origin in self._origins.all]

    def normalize(self, given: str) -> str:
        """Return the URL to store for a visitor's input.

        Removes surrounding characters (`clean_url`), adds `http://` if there is no scheme, and
        converts a Unicode host to punycode; everything else stays. ada parses URLs as browsers do
        (WHATWG URL).

        Rejects text in front of a scheme (`url=https://a.example`) and the name of a scheme as the
        host (`http://https//a.example`): they would become links that lead nowhere. Rejects an
        e-mail address, which would become a link to its host.

        Raises InvalidUrl, UrlRefused, Unavailable.
        """
        if len(given) > MAX_GIVEN_LENGTH:
            raise InvalidUrlLength(
                f"A URL with the text around it must have at most {MAX_GIVEN_LENGTH} characters."
            )
        url = clean_url(given)
        if not MIN_URL_LENGTH <= len(url) <= MAX_URL_LENGTH:
            raise InvalidUrlLength(
                f"A URL must have {MIN_URL_LENGTH} to {MAX_URL_LENGTH} characters."
            )
        if CONTROL_CHARACTERS.search(url):
            raise InvalidUrl("A URL must not contain control characters.")
        if _NO_WEB_SCHEME.match(url):
            raise InvalidUrl("A URL must begin with http:// or https://, or have no scheme.")
        if _EMAIL_ADDRESS.fullmatch(url):
            raise InvalidUrl("This is an e-mail address.")
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
            raise InvalidUrl("A URL must have a host.")
        if _has_broken_punycode(hostname) or _is_doubled_scheme(url, hostname):
            raise InvalidUrl("This is not a URL.")
        if self._is_short_address(parsed):
            raise OwnShortUrl("This is already a short URL.")
        url = _with_ascii_host(url, hostname)
        if self._blocklist is not None and (match := self._blocklist.match(url)):
            raise UrlRefused(match)
        return url

    def normalize_ended(self, given: str) -> str:
        """Return the URL to store for where a link leads after it expires.

        Raises InvalidEndedUrl, UrlRefused, Unavailable.
        """
        try:
            return self.normalize(given)
        except InvalidUrl as error:
            raise InvalidEndedUrl(error.message) from None

    def parse_domain(self, given: str) -> str:
        """Return the domain to store: empty for that of the public URL, which may change.

        Raises InvalidDomain.
        """
        domain = given.lower()
        if domain not in self._origins.by_domain:
            raise InvalidDomain("This is none of the domains of this instance.")
        return "" if self._origins.find(domain) == self._origins.public else domain

    def fit_domain(self, given: str) -> str:
        """Return the domain to store for one that may be of another instance."""
        try:
            return self.parse_domain(given)
        except InvalidDomain:
            return ""

    def unblock_if_unlisted(self, link: Link) -> Link:
        """Return a link, unblocked if a blocklist blocked it and none names its destinations.

        Raises Unavailable.
        """
        if not link.blocklist or (
            self._blocklist is not None and link.blocklist_match(self._blocklist)
        ):
            return link
        return replace(link, blocked=None, blocklist="")

    def is_within(self, host: str) -> bool:
        """Return whether the product is reached at a canonical host or a subdomain of it."""
        return any(f".{own.host}".endswith(f".{host}") for own in self._own)

    def _is_short_address(self, url: ada_url.URL) -> bool:
        host, port = get_host(url), _port(url)
        if not any(own.is_at(host, port) for own in self._own):
            return False
        # Dots are resolved after decoding: an encoded slash or dot leads to the same place.
        path = normpath(unquote(url.pathname).replace("\\", "/")).strip("/")
        return code_in_path(path) is not None


@dataclass(frozen=True, slots=True)
class _OwnHost:
    """A host of the product, in the form of blocklists, and the ports at which it is reached."""

    host: str
    ports: frozenset[int]
    is_local: bool

    @classmethod
    def parse(cls, origin: str) -> _OwnHost:
        url = ada_url.URL(origin)
        host, port, defaults = get_host(url), _port(url), frozenset(_DEFAULT_PORTS.values())
        # A product on a default port is reached on the other one too.
        ports = defaults if port in defaults else frozenset({port})
        return cls(host, ports, _is_loopback(host))

    def is_at(self, host: str, port: int) -> bool:
        same_host = host == self.host or (self.is_local and _is_loopback(host))
        return same_host and port in self.ports


def _find_authority(url: str) -> tuple[int, str]:
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
    _, authority = _find_authority(url)
    return not _PORT.search(authority)


def _with_ascii_host(url: str, ascii_host: str) -> str:
    start, authority = _find_authority(url)
    userinfo, at, hostport = authority.rpartition("@")
    host, colon, port = hostport.partition(":")
    if hostport.startswith("[") or host.isascii():
        return url
    return f"{url[:start]}{userinfo}{at}{ascii_host}{colon}{port}{url[start + len(authority) :]}"


def _has_broken_punycode(host: str) -> bool:
    """Whether a label only looks like punycode: ada lets it pass, browsers refuse to go there."""
    if "xn--" not in host:
        return False
    labels, decoded = host.split("."), ada_url.idna.decode(host).split(".")
    return any(
        label.startswith("xn--") and label == unicode_label
        for label, unicode_label in zip(labels, decoded, strict=True)
    )


def _port(url: ada_url.URL) -> int:
    return int(url.port) if url.port else _DEFAULT_PORTS.get(url.protocol, 0)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
