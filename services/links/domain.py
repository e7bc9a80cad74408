"""Links and the rules a link keeps to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from ipaddress import IPv4Address, ip_address
from posixpath import normpath
from urllib.parse import unquote

import ada_url

from services.runtime.codes import (
    CODE_LENGTH,
    MAX_LENGTH,
    MIN_LENGTH,
    is_code,
    is_reserved,
    is_route,
)
from services.runtime.errors import AlreadyExists, InvalidArgument
from services.runtime.feed import Feed
from services.runtime.text import BLANKS, CONTROLS

MIN_URL_LENGTH = 3
MAX_URL_LENGTH = 999
MAX_CODES = 1000
"""Most codes in one look-up."""
FEED = Feed(most_keys=250, kept_for=timedelta(days=1), kept_least=1000)
"""The feed of changed links. The resolutions of 250 codes, URL and ended URL of 999 characters of
four bytes, are 2 MB, half of gRPC's limit on a message."""
GUEST_HASH_BYTES = 32
"""SHA-256 has so many."""

# `mailto:x` has a scheme; in `example.com:8081/x` what follows the colon is a port.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:[/?#]|$))")
_HTTP = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/\\?#]*")
_DEFAULT_PORTS = {"http:": 80, "https:": 443}


class InvalidCode(InvalidArgument):
    default_reason = "INVALID_CODE"


class InvalidUrl(InvalidArgument):
    default_reason = "INVALID_URL"


class InvalidOwner(InvalidArgument):
    default_reason = "INVALID_OWNER"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class CodeTaken(AlreadyExists):
    default_reason = "CODE_TAKEN"


@dataclass(frozen=True, slots=True)
class Account:
    """An owner with an account. Raises InvalidOwner for an empty id."""

    id: str

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidOwner("An account has an id.")


@dataclass(frozen=True, slots=True)
class Guest:
    """An owner without an account: a browser that keeps a key, of which this is the SHA-256.

    Raises InvalidOwner for a hash that has not 32 bytes.
    """

    key_hash: bytes

    def __post_init__(self) -> None:
        if len(self.key_hash) != GUEST_HASH_BYTES:
            raise InvalidOwner(f"The hash of a guest's key has {GUEST_HASH_BYTES} bytes.")


@dataclass(frozen=True, slots=True)
class Nobody:
    """What owns the link of a visitor who sent neither a session nor a key."""


NOBODY = Nobody()
Owner = Account | Guest | Nobody


@dataclass(frozen=True, slots=True)
class Link:
    """A short link."""

    code: str
    url: str
    owner: Owner
    created_at: datetime

    def same_as(self, other: Link) -> bool:
        """Whether both say the same: then one is a repetition of the other."""
        return (self.code, self.url, self.owner) == (other.code, other.url, other.owner)


class LinkState(Enum):
    """What a link is at a moment; where several hold, the first of blocked, removed, expired,
    active."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REMOVED = "removed"
    BLOCKED = "blocked"


class BlockReason(Enum):
    """Why the operator blocked a link."""

    PHISHING = "phishing"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a short address answers.

    `url` is where an active link leads and empty in every other state. From `expires_at` on an
    active link is expired, and then leads to `ended_url`, or nowhere where that is empty. `reason`
    is there where the link is blocked.
    """

    code: str
    state: LinkState
    url: str = ""
    expires_at: datetime | None = None
    ended_url: str = ""
    reason: BlockReason | None = None

    @classmethod
    def active(cls, code: str, url: str) -> Resolution:
        """Of a link that leads to `url` and has no end."""
        return cls(code, LinkState.ACTIVE, url)


@dataclass(frozen=True, slots=True)
class Changes:
    """Which short addresses answer otherwise than before a mark.

    `resolutions` has what they answer now, `gone` those whose link was removed for good. The rest
    is as in `services.runtime.feed.Told`.
    """

    mark: int
    resolutions: list[Resolution]
    gone: list[str]
    more: bool
    lost: bool


def check_code(code: str, owner: Owner) -> None:
    """Refuse what cannot be the code of an owner's new link.

    An account chooses its codes and may have any length of them; everybody else has codes of the
    length that the page makes. Raises CodeTaken for a reserved name, however long it is, and
    InvalidCode for what is no code or has a length that the owner cannot have.
    """
    if is_reserved(code):
        raise CodeTaken("This code is taken.")
    chooses = isinstance(owner, Account)
    if not is_code(code) or (not chooses and len(code) != CODE_LENGTH):
        lengths = f"{MIN_LENGTH} to {MAX_LENGTH}" if chooses else f"{CODE_LENGTH}"
        raise InvalidCode(f"A code has {lengths} characters of A-Z, a-z, 0-9, - and _.")


class UrlPolicy:
    """Which URLs can be stored by a product that is reached at `public_url`."""

    def __init__(self, public_url: str) -> None:
        own = ada_url.URL(public_url)
        self._host = _folded(own.hostname)
        self._ports = _own_ports(_port(own))

    def normalize(self, given: str) -> str:
        """The URL to store for what a visitor gave, unchanged but for three things.

        Blanks around it go, `http://` comes in front where it has no scheme, and a Unicode host
        becomes punycode. Parsing is that of browsers (WHATWG URL), by ada.

        Raises InvalidUrl.
        """
        url = given.strip(BLANKS)
        if not MIN_URL_LENGTH <= len(url) <= MAX_URL_LENGTH:
            raise InvalidUrl(f"A URL has {MIN_URL_LENGTH} to {MAX_URL_LENGTH} characters.")
        if CONTROLS.search(url):
            raise InvalidUrl("A URL has no control characters.")
        if not _SCHEME.match(url):
            url = f"http://{url}"
        if not _HTTP.match(url):
            raise InvalidUrl("Only http and https URLs with a host can be stored.")
        try:
            parsed = ada_url.URL(url)
        except ValueError:
            raise InvalidUrl("This is not a URL.") from None
        if not parsed.hostname.strip("."):
            raise InvalidUrl("A URL has a host.")
        if _has_broken_punycode(parsed.hostname):
            raise InvalidUrl("This is not a URL.")
        if self._is_short_address(parsed):
            raise InvalidUrl("This is a short address already.")
        return _with_ascii_host(url, parsed.hostname)

    def _is_short_address(self, url: ada_url.URL) -> bool:
        host = _folded(url.hostname)
        same_host = host == self._host or (_is_loopback(host) and _is_loopback(self._host))
        if not same_host or _port(url) not in self._ports:
            return False
        # Dots are resolved after decoding: an encoded slash or dot leads to the same place.
        path = normpath(unquote(url.pathname).replace("\\", "/")).strip("/")
        return is_code(path) and not is_route(path)


def _with_ascii_host(url: str, ascii_host: str) -> str:
    start = url.index("//") + 2
    match = _AUTHORITY.match(url, start)
    authority = match.group() if match else ""
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


def _folded(hostname: str) -> str:
    return hostname.rstrip(".")


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
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = address if isinstance(address, IPv4Address) else address.ipv4_mapped
    return address.is_loopback or address.is_unspecified or bool(mapped and mapped.is_loopback)
