"""Which country an address belongs to.

iptocc knows to whom the registries gave each range, and carries that with it: no file to fetch, no
licence to accept, 0.2 us a look-up. A provider may use its range in another country; who wants to
know better names a file in MaxMind's format, which many make.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import iptocc
import maxminddb

from services.shared.ip_addresses import Address
from services.shared.observability import logs

CountryOf = Callable[[Address], str]
"""The country of an address in two capital letters; empty where it is not known."""


def registered(address: Address) -> str:
    """The country to which a registry gave the range of an address."""
    return _checked(iptocc.country_code(str(address)))


class InvalidCountriesError(Exception):
    """A file is none in MaxMind's format."""


class CountriesFile:
    """The countries of a file in MaxMind's format. Raises OSError and InvalidCountriesError.

    The file is read as it is asked for: it is to be replaced by another one, not written over. What
    replaces it is read after a restart.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._reader = maxminddb.open_database(path)
        except maxminddb.InvalidDatabaseError as error:
            raise InvalidCountriesError(" ".join(str(error).split())) from error
        self._throttled = logs.Throttled(__name__)

    def __call__(self, address: Address) -> str:
        """The country of an address."""
        try:
            found = self._reader.get(address)
        except (maxminddb.InvalidDatabaseError, ValueError) as error:
            # It knows no IPv6, or is damaged: no reason to fail a redirect.
            self._throttled.error("country_not_read", reason=type(error).__name__)
            return ""
        country = found.get("country") if isinstance(found, dict) else None
        return _checked(country.get("iso_code") if isinstance(country, dict) else country)


def _checked(code: object) -> str:
    """A country's code, empty for what is none: `ZZ` and the like stand for no country."""
    known = isinstance(code, str) and len(code) == 2 and code.isascii() and code.isupper()
    return str(code) if known and code not in _NO_COUNTRIES else ""


_NO_COUNTRIES = {"AP", "EU", "ZZ"}
"""Codes that registries use for a continent, or for nobody."""
