"""Finds the country of an IP address.

The default is iptocc: the package includes the registries' allocations, so there is no file to
download and no licence to accept, and a lookup takes 0.2 us. Providers may use their ranges in
other countries. A configured file in MaxMind's format, which several vendors offer, can be more
accurate.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import iptocc
import maxminddb

from services.shared.ip_addresses import IpAddress
from services.shared.observability import logs

CountryOf = Callable[[IpAddress], str]
"""Returns the country of an address in two capital letters, empty if unknown."""


def registry_country(address: IpAddress) -> str:
    """Return the country for which a registry allocated the range of an address."""
    return _checked(iptocc.country_code(str(address)))


class InvalidCountriesError(Exception):
    """A file is not in MaxMind's format."""


class CountriesFile:
    """Countries from a file in MaxMind's format. Raises OSError and InvalidCountriesError.

    Lookups read the open file. So replace the file instead of overwriting it, and restart the
    gateway to use the new one.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._reader = maxminddb.open_database(path)
        except maxminddb.InvalidDatabaseError as error:
            raise InvalidCountriesError(" ".join(str(error).split())) from error
        self._throttled = logs.Throttled(__name__)

    def __call__(self, address: IpAddress) -> str:
        """Return the country of an address."""
        try:
            found = self._reader.get(address)
        except (maxminddb.InvalidDatabaseError, ValueError) as error:
            # The file has no IPv6, or is corrupt, which must not fail a redirect.
            self._throttled.error("country_not_read", reason=type(error).__name__)
            return ""
        country = found.get("country") if isinstance(found, dict) else None
        return _checked(country.get("iso_code") if isinstance(country, dict) else country)


def _checked(code: object) -> str:
    """Return a country code, empty if it is not that of a country."""
    is_code = isinstance(code, str) and len(code) == 2 and code.isascii() and code.isupper()
    return str(code) if is_code and code not in _NO_COUNTRIES else ""


_NO_COUNTRIES = {"AP", "EU", "ZZ"}
"""Codes of registries for a continent, or for no country."""
