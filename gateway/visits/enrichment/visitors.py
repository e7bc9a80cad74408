"""Classifies visitors, collects facts about people, and caches both by client.

Visitors of a UTC day are identified by numbers: hashes of IP address and User-Agent under the day's
key (`visitor_key`). Numbers, key and cached addresses are dropped with the day. After that, nobody
can test whether an address visited.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from gateway.support.headers import MAX_HEADER_BYTES
from gateway.support.user_agents import parse_user_agent
from gateway.visits.enrichment.classification import kind_of
from gateway.visits.enrichment.countries import CountryOf
from gateway.visits.enrichment.languages import ALIASES, CODES
from gateway.visits.journal import lines
from gateway.visits.journal.lines import Facts, Kind
from services.shared.ip_addresses import IpAddress, get_subnet

KEY_BYTES = 32
_NUMBER_BYTES = 4
_MAX_CACHED = 8192
"""Maximum cached visitors: 8 MB with real browsers, 20 MB if all headers are long."""
_LANGUAGE = re.compile(rb"[\s,]*([A-Za-z]{2,3})(?![^-_;,\s])")
"""The primary subtag of the first language of an Accept-Language header. Some clients separate
subtags with an underscore, as in `en_US`."""

Client = tuple[str, bytes, bytes, bytes]
"""A client: IP address of the connection, and headers X-Forwarded-For, User-Agent and
Accept-Language."""
AddressOf = Callable[[str, bytes], IpAddress | None]
"""Returns the IP address of a client by the host of its connection and X-Forwarded-For."""


Visitor = tuple[Kind, str, str, bytes]
"""What is known of a client. A plain tuple, since unpacking a named one takes three times as long.

- kind
- facts about a person as the journal stores them (`lines.text_of`), empty for bots
- visitor number of this day, in hexadecimal; empty for bots, unknown addresses, and without a key
- what identifies a person for limits in memory (`ip_addresses.get_subnet`), empty for bots and
  unknown addresses
"""


class Visitors(dict[Client, Visitor]):
    """Caches what is known of visitors by client.

    Keeps a bounded number of clients, and none with a header longer than `MAX_HEADER_BYTES`. A day
    begins without a key, and nobody has a visitor number until `use`.
    """

    def __init__(self, address_of: AddressOf, country_of: CountryOf) -> None:
        super().__init__()
        self._address_of = address_of
        self._country_of = country_of
        self._day = -1
        # A hash that includes the key. blake2b overwrites its state when it is freed.
        self._keyed: hashlib.blake2b | None = None

    @property
    def has_key(self) -> bool:
        """Whether there is a key for the current day."""
        return self._keyed is not None

    def begin(self, day: int) -> None:
        """Begin a UTC day (since the Unix epoch): forget everything of any other day."""
        if day != self._day:
            self._day = day
            self._keyed = None
            self.clear()

    def use(self, key: bytes) -> None:
        """Use the key of the current day from here on."""
        self._keyed = hashlib.blake2b(key=key, digest_size=_NUMBER_BYTES)
        self.clear()

    def __missing__(self, client: Client) -> Visitor:
        host, forwarded, user_agent, language = client
        key = (host, forwarded, user_agent[:MAX_HEADER_BYTES], language[:MAX_HEADER_BYTES])
        if key in self:
            return self[key]
        kind = kind_of(key[2])
        found = self._person(*key) if kind == "person" else (kind, "", "", b"")
        if len(forwarded) <= MAX_HEADER_BYTES:
            if len(self) >= _MAX_CACHED:
                self.clear()  # Those in use return at once.
            self[key] = found
        return found

    def _person(self, host: str, forwarded: bytes, user_agent: bytes, language: bytes) -> Visitor:
        address = self._address_of(host, forwarded)
        agent = parse_user_agent(user_agent)
        facts = lines.text_of(
            Facts(
                agent.device,
                agent.browser,
                agent.system,
                language_of(language),
                "" if address is None else self._country_of(address),
            )
        )
        if address is None:
            return "person", facts, "", b""
        return "person", facts, self._number(address, user_agent), get_subnet(address)

    def _number(self, address: IpAddress, user_agent: bytes) -> str:
        if self._keyed is None:
            return ""
        number = self._keyed.copy()
        number.update(b"%d %s %s" % (address.version, address.packed, user_agent))
        return number.hexdigest()


def language_of(header: bytes) -> str:
    """Return the code of the first language in an Accept-Language header.

    It is one of `CODES`, or empty for other languages and invalid headers.
    """
    found = _LANGUAGE.match(header[:MAX_HEADER_BYTES])
    if found is None:
        return ""
    code = found[1].decode("ascii").lower()
    code = ALIASES.get(code, code)
    return code if code in CODES else ""
