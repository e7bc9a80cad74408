"""Finds what is suspicious about a URL: look-alike hosts, mixed scripts, credentials and others.

Hosts are examined as people see them, with Punycode (`xn--`) decoded. Unicode's TR39, at its highly
restrictive level, says which scripts may be combined in a label. Unicode's confusables
(confusable-homoglyphs), and a few that browsers add, say which letters look alike.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import resources
from typing import Any

import ada_url
from publicsuffixlist import PublicSuffixList

from gateway.use_cases.unicode_scripts import SCRIPTS
from gateway.use_cases.well_known_domains import WELL_KNOWN


class UrlWarning(Enum):
    """A warning about a URL. The values are those of the functions' payloads."""

    MIXED_SCRIPT_HOST = "mixed script host"
    LOOK_ALIKE_HOST = "look-alike host"
    PUNYCODE_HOST = "punycode host"
    IP_ADDRESS_HOST = "ip address host"
    USER_INFO = "user info in address"
    UNUSUAL_PORT = "unusual port"


_PUNYCODE = "xn--"
_ANY_SCRIPT = frozenset({"Zyyy", "Zinh"})
"""Common and inherited characters, such as digits, the hyphen and marks."""
_SCRIPT_SETS = (
    frozenset({"Latn", "Hani", "Hira", "Kana"}),
    frozenset({"Latn", "Hani", "Bopo"}),
    frozenset({"Latn", "Hani", "Hang"}),
)
"""Sets of scripts that may be combined in a label: Japanese, Chinese, Korean (TR39, 5.2)."""
_LOOKS_LIKE = {
    letter: latin
    for letters, latin in (
        *(("вьҍƅ", "b"), ("ҫ", "c"), ("єҽҿ", "e"), ("ғӻ", "f"), ("нћңҥӈӊħ", "h")),
        *(("кқҝҟҡӄĸκ", "k"), ("мӎ", "m"), ("пԥŋη", "n"), ("ґг", "r"), ("тҭŧτ", "t")),
        *(("шщω", "w"), ("χҳӽӿ", "x"), ("ұ", "y")),
    )
    for letter in letters
}
"""Letters that look like a Latin one within a known word, though not alone. From Chromium's host
skeletons (components/url_formatter/spoof_checks)."""
_ASCII_LOOK_ALIKES = (("0", "o"), ("1", "l"), ("I", "l"), ("rn", "m"), ("vv", "w"), ("cl", "d"))
"""ASCII letters that look alike, in the order of replacement. From Unicode's confusables, which
include the capital I but not the small i."""
_HOST_AS_WRITTEN = re.compile(r"https?://(?:[^/\\?#]*@)?([^/\\?#:@]+)", re.IGNORECASE)
_RANGES = SCRIPTS.split()
_FIRST_POINTS = [int(point, 16) for point in _RANGES[::2]]
_SCRIPTS_OF_RANGES = [frozenset(scripts.split("+")) for scripts in _RANGES[1::2]]


def parse_host(url: str) -> str:
    """Return the host of a stored URL in ASCII, an IPv6 address in brackets.

    Raises ValueError for an invalid URL.
    """
    return ada_url.URL(url).hostname


def find_warnings(url: str) -> list[UrlWarning]:
    """Return the warnings about a stored URL. Raises ValueError for an invalid URL."""
    parsed = ada_url.URL(url)
    is_address = parsed.host_type is not ada_url.HostType.DEFAULT
    host = "" if is_address else ".".join(_split_labels(parsed.hostname))
    ascii_labels = _split_labels(host)
    labels = [_displayed(label) for label in _split_labels(_host_as_written(url, host))]
    found = {
        UrlWarning.MIXED_SCRIPT_HOST: any(map(_mixes_scripts, labels)),
        UrlWarning.LOOK_ALIKE_HOST: _looks_like_other_host(labels, host),
        UrlWarning.PUNYCODE_HOST: any(label.startswith(_PUNYCODE) for label in ascii_labels),
        UrlWarning.IP_ADDRESS_HOST: is_address,
        UrlWarning.USER_INFO: bool(parsed.username or parsed.password),
        UrlWarning.UNUSUAL_PORT: bool(parsed.port),
    }
    return [warning for warning, holds in found.items() if holds]


def _split_labels(host: str) -> list[str]:
    return [label for label in host.split(".") if label]


def _host_as_written(url: str, host: str) -> str:
    """Return the host of a URL with the capitals that it is stored and shown with."""
    written = _HOST_AS_WRITTEN.match(url)
    if written is None or ".".join(_split_labels(written[1].lower())) != host:
        return host  # It is written in another way, such as percent-encoded.
    return written[1]


def _displayed(label: str) -> str:
    """Return a label as people see it."""
    ascii_label = label.lower()
    return ada_url.idna.decode(ascii_label) if ascii_label.startswith(_PUNYCODE) else label


def _mixes_scripts(label: str) -> bool:
    """Whether the letters of a label are not of one script, nor of the scripts of one language."""
    found = [scripts for letter in label if not (scripts := _find_scripts(letter)) <= _ANY_SCRIPT]
    if not found or frozenset.intersection(*found):
        return False
    return not any(all(scripts & allowed for scripts in found) for allowed in _SCRIPT_SETS)


def _find_scripts(letter: str) -> frozenset[str]:
    return _SCRIPTS_OF_RANGES[bisect_right(_FIRST_POINTS, ord(letter)) - 1]


def _looks_like_other_host(labels: list[str], host: str) -> bool:
    """Whether a host may be mistaken for another one, by its letters or its beginning.

    `labels` are those of `host` as people see them.
    """
    ends_in_ascii = host.endswith(labels[-1].lower()) if labels else False
    registered = _SUFFIXES.privatesuffix(host) or ""
    return (
        (ends_in_ascii and any(map(_looks_latin, labels)))
        or any(_imitates_well_known(part) for label in labels for part in _parts(label))
        or _is_close_to_well_known(registered)
        or _begins_with_well_known(host, registered)
    )


def _looks_latin(label: str) -> bool:
    """Whether a label looks Latin, but has letters of another script.

    Not suspicious below a domain such as `.рф`, where nobody expects Latin letters.
    """
    others = [letter for letter in label if not _find_scripts(letter) & {"Latn", *_ANY_SCRIPT}]
    return (
        bool(others)
        and all(letter in _CONFUSABLES for letter in others)
        and all(letter.isascii() or letter in others for letter in label)
    )


def _parts(label: str) -> Iterator[str]:
    """Yield a label, and the words between its hyphens."""
    yield label
    if "-" in label:
        yield from label.split("-")


def _imitates_well_known(word: str) -> bool:
    """Whether a word of a host looks like the name of a well-known domain, but is not that name."""
    look = _skeleton(word)
    # Words with other alphabets or accents do not use an `l` for an `i`.
    name = _NAMES.get(look) if word.isascii() else _LOOSE_NAMES.get(_loose(look))
    return name is not None and name != word.lower()


def _is_close_to_well_known(registered: str) -> bool:
    """Whether a registered domain is a well-known one with an `i` for an `l`."""
    name, _, suffix = registered.partition(".")
    known = _CLOSE.get((_loose(_skeleton(name)), suffix), registered)
    return known != registered


def _begins_with_well_known(host: str, registered: str) -> bool:
    """Whether a host has a well-known domain in front of its registered domain."""
    if not registered:
        return False
    front = f".{host.removesuffix(registered)}"
    return any(f".{domain}." in front for domain in WELL_KNOWN)


def _skeleton(word: str) -> str:
    """Return the appearance of a word: words with the same skeleton look alike."""
    plain = [
        letter
        for letter in unicodedata.normalize("NFD", word)
        if not unicodedata.category(letter).startswith("M")
    ]
    latin = "".join(_LOOKS_LIKE.get(letter) or _CONFUSABLES.get(letter, letter) for letter in plain)
    for look, same in _ASCII_LOOK_ALIKES:
        latin = latin.replace(look, same)
    return latin.lower()


def _loose(skeleton: str) -> str:
    """Return a skeleton in which an `i` is an `l`, too: similar, but not the same."""
    return skeleton.replace("i", "l")


def _read_confusables() -> Mapping[str, str]:
    """Return the ASCII letter or digit, in lower case, that each letter looks like.

    The package's table takes 10 MB as Python objects, so only the look-alikes are created.
    """
    file = resources.files("confusable_homoglyphs") / "confusables.json"
    table: dict[str, list[str]] = json.loads(file.read_text("utf-8"), object_hook=_parse_look)
    confusables: dict[str, str] = {}
    for letter, alike in table.items():
        looks = [look.lower() for look in alike if look.isascii() and look.isalnum()]
        if looks and not letter.isascii():
            confusables[letter] = looks[0]
    return confusables


def _parse_look(entry: dict[str, Any]) -> Any:
    """Return the letter of an entry of the table, and the table unchanged."""
    look = entry.get("c")
    return look if isinstance(look, str) else entry


# Read at import, so that no request waits for it.
_CONFUSABLES = _read_confusables()
_CAPITALIZED = {"icloud": "iCloud", "linkedin": "LinkedIn"}
"""Names with other capitals than their first letter, if that changes the skeleton."""
_NAMES = {
    _skeleton(written): name
    for name in (domain.partition(".")[0] for domain in WELL_KNOWN)
    for written in (name, _CAPITALIZED.get(name, name.capitalize()))
}
"""Names of well-known domains by skeleton: `Instagram` looks like `lnstagram`."""
_LOOSE_NAMES = {_loose(look): name for look, name in _NAMES.items()}
_CLOSE = {
    (_loose(_skeleton(name)), suffix): domain
    for domain in WELL_KNOWN
    for name, _, suffix in [domain.partition(".")]
}
"""Well-known domains by the loose skeleton of their name, and their suffix."""
# Private suffixes such as github.io are not those of a registry.
_SUFFIXES = PublicSuffixList(only_icann=True)
