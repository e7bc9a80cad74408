"""Warnings about URLs, and URLs without warnings."""

from __future__ import annotations

import json
from pathlib import Path

import ada_url
import pytest

from gateway.use_cases.url_warnings import UrlWarning, find_warnings, parse_host
from gateway.use_cases.well_known_domains import WELL_KNOWN

ALIKE, PUNYCODE = UrlWarning.LOOK_ALIKE_HOST, UrlWarning.PUNYCODE_HOST
ADDRESS, USER, PORT = (
    UrlWarning.IP_ADDRESS_HOST,
    UrlWarning.USER_INFO,
    UrlWarning.UNUSUAL_PORT,
)

CORPUS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("url_warnings.json").read_text(encoding="utf-8")
)
"""Hosts as people type them, and exactly the warnings about each."""


REAL = Path(__file__).with_name("real_hosts.txt").read_text(encoding="utf-8").split()
"""Hosts of sites, shops and banks that many people know, in many countries."""


def warnings_about(host: str) -> list[str]:
    """Return the warnings about a host, in the form in which links store it."""
    stored = ada_url.URL(f"https://{host}/path?query=a@b:9#c").href
    return [warning.value for warning in find_warnings(stored)]


@pytest.mark.parametrize("host", CORPUS)
def test_each_host_has_its_warnings(host: str) -> None:
    assert warnings_about(host) == CORPUS[host]


@pytest.mark.parametrize("host", WELL_KNOWN)
def test_well_known_domains_have_no_warnings(host: str) -> None:
    assert warnings_about(host) == []


def test_popular_sites_have_no_warnings() -> None:
    said = {
        host: warnings_about(prefix + host) for host in REAL for prefix in ("", "www.", "login.")
    }
    assert len(said) > 500
    assert {host: warnings for host, warnings in said.items() if warnings} == {}


@pytest.mark.parametrize(
    ("url", "warnings"),
    [
        ("https://paypaI.net/", [ALIKE]),
        ("https://a:b@www.PaypaI.net:443/", [ALIKE, USER]),
        ("https://paypaI-login.example", [ALIKE]),
        ("https://paypai.net/", []),
        ("https://PayPal.com/I", []),
        ("https://WWW.LINKEDIN.COM/", []),
        ("https://Instagram.com/", []),
        ("https://WIKIPEDIA.ORG./", []),
        ("https://XN--80AK6AA92E.com/", [ALIKE, PUNYCODE]),
        ("https://p%61ypa1.net/", [ALIKE]),
    ],
)
def test_capitals_of_a_host_are_examined_as_written(url: str, warnings: list[UrlWarning]) -> None:
    assert find_warnings(url) == warnings


@pytest.mark.parametrize(
    ("url", "warnings"),
    [
        ("https://example.com:443/", []),
        ("http://example.com:80/", []),
        ("http://example.com:443/", [PORT]),
        ("https://example.com:8443/", [PORT]),
        ("https://paypal.com@example.com/", [USER]),
        ("https://:secret@example.com/", [USER]),
        ("https://paypal.com%2F@1.2.3.4:81/", [ADDRESS, USER, PORT]),
        ("https://example.com/a@b", []),
        ("https://example.com/?u=a:b@c.example:99", []),
        ("https://u@xn--80ak6aa92e.com:99/", [ALIKE, PUNYCODE, USER, PORT]),
    ],
)
def test_warnings_about_other_parts_of_a_url(url: str, warnings: list[UrlWarning]) -> None:
    assert find_warnings(url) == warnings


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user@example.com:99/a", "example.com"),
        ("http://xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("HTTPS://EXAMPLE.com/", "example.com"),
        ("http://[2001:DB8::1]:80/", "[2001:db8::1]"),
    ],
)
def test_a_host_is_in_ascii(url: str, host: str) -> None:
    assert parse_host(url) == host
