"""Countries of IP addresses from a configured file."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.visits.enrichment.countries import CountriesFile, InvalidCountriesError
from tests.support.country_database import write_country_database


def country(code: object) -> dict[str, object]:
    return {"country": {"iso_code": code, "names": {"en": "Somewhere"}}}


def test_a_file_has_countries(tmp_path: Path) -> None:
    path = tmp_path / "countries.mmdb"
    records = {
        "192.0.2.0/24": country("CL"),
        "198.51.100.0/25": {"country": "PE"},
        "198.51.100.128/25": {"continent": {"code": "EU"}},
        "203.0.113.0/24": country("EU"),
        "203.0.112.0/24": "CL",
        "203.0.114.0/24": country("Chile"),
        "203.0.115.0/24": country(56),
    }
    write_country_database(path, records)
    country_of = CountriesFile(path)
    told = {
        text: country_of(ip_address(text))
        for text in ("192.0.2.1", "198.51.100.1", "198.51.100.200", "203.0.113.1", "203.0.112.1",
                     "203.0.114.1", "203.0.115.1", "8.8.8.8")
    }  # fmt: skip
    assert {text: code for text, code in told.items() if code} == {
        "192.0.2.1": "CL",
        "198.51.100.1": "PE",
    }


def test_an_address_that_a_file_does_not_have_has_no_country(tmp_path: Path) -> None:
    path = tmp_path / "countries.mmdb"
    write_country_database(path, {"192.0.2.0/24": country("CL")})
    country_of = CountriesFile(path)
    with capture_logs() as logs:
        assert country_of(ip_address("2001:db8::1")) == country_of(ip_address("2001:db8::2")) == ""
    assert [line["event"] for line in logs] == ["country_not_read"]
    assert "2001" not in str(logs)


@pytest.mark.parametrize("content", [b"", b"no database", bytes(100_000)])
def test_an_invalid_file_is_reported_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "countries.mmdb"
    path.write_bytes(content)
    with pytest.raises(InvalidCountriesError) as refused:
        CountriesFile(path)
    assert "\n" not in str(refused.value)
