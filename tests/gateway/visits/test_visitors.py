"""Visitors and facts about people, from headers that clients choose and IP addresses."""

from __future__ import annotations

import json
import random
import string
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from gateway.support.client_ip import ClientIpFinder
from gateway.visits.enrichment.countries import registry_country
from gateway.visits.enrichment.languages import ALIASES, CODES
from gateway.visits.enrichment.visitors import Visitors, language_of
from gateway.visits.journal import lines
from gateway.visits.journal.lines import Facts
from services.shared.ip_addresses import IpAddress
from tests.support.gateway_client import BROWSER

KEY = bytes(range(32))
UA = BROWSER.encode()
PROXY = "10.0.0.1"


def country(address: IpAddress) -> str:
    return {"192.0.2.1": "CL", "2001:db8::1": "PE"}.get(str(address), "")


def visitors(key: bytes | None = KEY) -> Visitors:
    """Return visitors behind the trusted `PROXY`."""
    made = Visitors(ClientIpFinder([ip_network("10.0.0.0/8")]).find, country)
    made.begin(1)
    if key:
        made.use(key)
    return made


def facts(
    host: str, forwarded: bytes = b"", user_agent: bytes = UA, language: bytes = b""
) -> Facts:
    kind, text, *_ = visitors()[host, forwarded, user_agent, language]
    assert kind == "person"
    return lines.facts_of(text)


def number(host: str, forwarded: bytes = b"", user_agent: bytes = UA, language: bytes = b"") -> str:
    """Return the visitor number of a client."""
    return visitors()[host, forwarded, user_agent, language][2]


def test_facts_of_a_person_are_from_headers_and_address() -> None:
    known = facts("192.0.2.1", language=b"es-CL,es;q=0.9,en;q=0.8")
    assert known == Facts("desktop", "Chrome", "Linux", "es", "CL")


def test_a_bot_has_no_facts() -> None:
    assert visitors()["192.0.2.1", b"", b"curl/8.5.0", b"es"] == ("bot", "", "", b"")


@pytest.mark.parametrize("host", ["", "/run/atajo.sock"])
def test_a_client_without_an_address_has_no_visitor_number(host: str) -> None:
    assert facts(host, b"192.0.2.1") == Facts("desktop", "Chrome", "Linux")
    assert number(host, b"192.0.2.1") == ""


def test_only_the_last_of_many_hops_are_read() -> None:
    chain = b"192.0.2.1" + b",10.0.0.2" * 5_000
    assert number(PROXY, chain) == number("10.0.0.2")
    long = b"6192.0.2.1," * 5_000 + b"192.0.2.1"
    assert number(PROXY, long) == number("192.0.2.1")
    assert number(PROXY, b"1" * 600 + b".0.2.1") == number(PROXY)
    padded = (b"," + b"10.0.0.2".rjust(62)) * 7 + b"," + b"10.0.0.2".rjust(59)
    assert number(PROXY, b"210.20.30.40" + padded) == number("10.0.0.2"), "10.20.30.40 is none"


LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))
"""The language that is counted, by Accept-Language."""


@pytest.mark.parametrize(("header", "language"), [*LANGUAGES.items(), (" " * 600 + "es", "")])
def test_the_language_is_the_first_of_the_header(header: str, language: str) -> None:
    assert language_of(header.encode()) == language
    assert facts("192.0.2.1", language=header.encode()).language == language


def test_only_known_languages_are_counted() -> None:
    letters = string.ascii_lowercase
    codes = [a + b + c for a in letters for b in letters for c in ["", *letters]]
    told = {language_of(code.encode()) for code in codes}
    assert told == {"", *CODES}
    assert len(CODES) < 400
    assert CODES.isdisjoint(ALIASES)
    assert CODES.issuperset(ALIASES.values())


def test_without_a_key_people_have_no_visitor_number() -> None:
    kind, text, visitor, _ = visitors(key=None)["192.0.2.1", b"", UA, b"es"]
    assert (kind, lines.facts_of(text), visitor) == (
        "person",
        Facts("desktop", "Chrome", "Linux", "es", "CL"),
        "",
    )


def test_a_key_applies_to_clients_cached_without_one() -> None:
    known = visitors(key=None)
    client = ("192.0.2.1", b"", UA, b"es")
    assert known[client] == visitors(key=None)[client]
    known.use(KEY)
    assert known[client] == visitors()[client]
    known.begin(1)
    assert known[client] == visitors()[client], "it is still the same day"
    known.begin(2)
    assert known[client] == visitors(key=None)[client]


def test_the_visitor_number_depends_on_address_and_user_agent_only() -> None:
    first = number("192.0.2.1", language=b"es")
    assert number(PROXY, b"192.0.2.1", language=b"en") == first
    assert number("192.0.2.2") != first
    assert number("192.0.2.1", user_agent=UA + b" ") != first
    assert visitors(key=KEY[::-1])["192.0.2.1", b"", UA, b"es"][2] != first


def test_visitor_numbers_use_32_bits() -> None:
    known = visitors()
    numbers = set()
    for n in range(10_000):
        _, _, visitor, _ = known[f"198.51.{n >> 8}.{n & 255}", b"", UA, b""]
        assert len(visitor) == 8
        numbers.add(int(visitor, 16))
    assert len(numbers) >= 9_998
    assert abs(sum(numbers) / len(numbers) / 2**31 - 1) < 0.05


def test_the_cache_is_bounded_and_has_no_long_header() -> None:
    chance = random.Random(7)
    known = visitors()
    for n in range(10_000):
        tail = b"x" * chance.choice([0, 600, 28_000])
        host = f"192.0.{n >> 8 & 255}.{n & 255}"
        known[host, b"192.0.2.1" + tail, b"Mozilla/5.0 %d" % n + tail, b"es-%d" % n + tail]
        if n % 1000 == 0:
            assert len(known) <= 8192
            assert all(len(header) <= 512 for client in known for header in client[1:])
    assert facts("192.0.2.1", user_agent=UA.ljust(600) + b"a") == facts(
        "192.0.2.1", user_agent=UA.ljust(600) + b"b"
    )


def test_registries_have_countries_of_ipv4_and_ipv6_addresses() -> None:
    found = {text: registry_country(ip_address(text)) for text in COUNTRIES}
    assert found == COUNTRIES


COUNTRIES = {
    "8.8.8.8": "US",
    "193.0.0.1": "NL",
    "2001:67c:2e8::1": "NL",
    "127.0.0.1": "",
    "10.0.0.1": "",
    "192.0.2.1": "",
    "::1": "",
    "2001:db8::1": "",
    "fe80::1%eth0": "",
}
