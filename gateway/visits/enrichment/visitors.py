"""Who visits: a person or a bot, and what is known of a person, all of it found from what memory
has of who came before.

Visitors of a UTC day are told apart by numbers that the key of that day makes of address and
User-Agent (`key`). Numbers, key and the addresses in memory are of one day, and forgotten with it:
nobody can then tell whether an address was there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from gateway.visits.enrichment.classification import LONGEST, Kind, kind_of
from gateway.visits.enrichment.countries import CountryOf
from gateway.visits.enrichment.languages import ALIASES, CODES
from gateway.visits.enrichment.user_agents import agent_of
from gateway.visits.journal import lines
from gateway.visits.journal.lines import Facts
from services.shared.ip_addresses import Address, household_of

KEY_BYTES = 32
_NUMBER_BYTES = 4
_REMEMBERED = 8192
"""Most visitors that are remembered: 8 MB as browsers are, 20 MB if all headers are long."""
_LANGUAGE = re.compile(rb"[\s,]*([A-Za-z]{2,3})(?![^-_;,\s])")
"""The first language of an Accept-Language header by its primary subtag. Some clients separate
subtags with an underscore, as in `en_US`."""

Client = tuple[str, bytes, bytes, bytes]
"""Who sent a request: host of the connection, and the headers X-Forwarded-For, User-Agent
and Accept-Language."""
AddressOf = Callable[[str, bytes], Address | None]
"""The address of a client, by the host of its connection and the header X-Forwarded-For."""


class Visitors(dict[Client, tuple[Kind, str, bytes]]):
    """Who visits, and the facts of people as they stand in the journal, by the client.

    The last value identifies the client for limits in memory (`addresses.household_of`). It is
    empty for bots and unknown addresses.

    A bounded number is remembered, and no header longer than `LONGEST`. A day begins without a key;
    people's facts say nothing of the visitor until `use`.
    """

    def __init__(self, address_of: AddressOf, country_of: CountryOf) -> None:
        super().__init__()
        self._address_of = address_of
        self._country_of = country_of
        self._day = -1
        # The hash with the key in it: it overwrites what it has when it goes.
        self._keyed: hashlib.blake2b | None = None

    @property
    def has_key(self) -> bool:
        """Whether visitors of the day that runs are told apart."""
        return self._keyed is not None

    def begin(self, day: int) -> None:
        """Go on in this UTC day, in whole days since the Unix epoch; any other is forgotten."""
        if day != self._day:
            self._day = day
            self._keyed = None
            self.clear()

    def use(self, key: bytes) -> None:
        """Tell visitors apart under the key of the day that was begun."""
        self._keyed = hashlib.blake2b(key=key, digest_size=_NUMBER_BYTES)
        self.clear()

    def __missing__(self, client: Client) -> tuple[Kind, str, bytes]:
        host, forwarded, user_agent, language = client
        known = (host, forwarded, user_agent[:LONGEST], language[:LONGEST])
        if known in self:
            return self[known]
        kind = kind_of(known[2])
        found = (kind, *self._facts(*known)) if kind == "person" else (kind, "", b"")
        if len(forwarded) <= LONGEST:
            if len(self) >= _REMEMBERED:
                self.clear()  # Those in use are back at once.
            self[known] = found
        return found

    def _facts(
        self, host: str, forwarded: bytes, user_agent: bytes, language: bytes
    ) -> tuple[str, bytes]:
        address = self._address_of(host, forwarded)
        agent = agent_of(user_agent)
        facts = lines.text_of(
            Facts(
                agent.device,
                agent.browser,
                agent.system,
                language_of(language),
                "" if address is None else self._country_of(address),
                visitor="" if address is None else self._number(address, user_agent),
            )
        )
        return facts, b"" if address is None else household_of(address)

    def _number(self, address: Address, user_agent: bytes) -> str:
        if self._keyed is None:
            return ""
        number = self._keyed.copy()
        number.update(b"%d %s %s" % (address.version, address.packed, user_agent))
        return number.hexdigest()


def language_of(header: bytes) -> str:
    """Return the code of the first language in an Accept-Language header.

    It is one of `CODES`, or empty where the header names no language or another one.
    """
    found = _LANGUAGE.match(header[:LONGEST])
    if found is None:
        return ""
    code = found[1].decode("ascii").lower()
    code = ALIASES.get(code, code)
    return code if code in CODES else ""
