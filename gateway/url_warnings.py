"""What is told of a URL to whoever wants to know it before following it.

A host is looked at as people see it: what is punycode (`xn--`) is decoded first. Which scripts may
stand together in one label is told by Unicode's TR39, at its highly restrictive level. Which
letters look like which is told by Unicode's confusables, as confusable-homoglyphs has them, and by
a few that browsers add.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from importlib import resources
from typing import Any

import ada_url
import unicodedataplus
from publicsuffixlist import PublicSuffixList

from gateway.well_known import WELL_KNOWN


class UrlWarning(Enum):
    """What to be careful about; the values are the words that callers of functions see."""

    MIXED_SCRIPT_HOST = "mixed script host"
    LOOK_ALIKE_HOST = "look-alike host"
    PUNYCODE_HOST = "punycode host"
    IP_ADDRESS_HOST = "ip address host"
    USER_INFO = "user info in address"
    UNUSUAL_PORT = "unusual port"


_PUNYCODE = "xn--"
_ANY_SCRIPT = frozenset({"Zyyy", "Zinh"})
"""Digits, the hyphen, marks and the like: of every script."""
_TOGETHER = (
    frozenset({"Latn", "Hani", "Hira", "Kana"}),
    frozenset({"Latn", "Hani", "Bopo"}),
    frozenset({"Latn", "Hani", "Hang"}),
)
"""Scripts of one language that may stand in one label: Japanese, Chinese, Korean (TR39, 5.2)."""
_READ_AS = {
    letter: read
    for letters, read in (
        *(("вьҍƅ", "b"), ("ҫ", "c"), ("єҽҿ", "e"), ("ғӻ", "f"), ("нћңҥӈӊħ", "h")),
        *(("кқҝҟҡӄĸκ", "k"), ("мӎ", "m"), ("пԥŋη", "n"), ("ґг", "r"), ("тҭŧτ", "t")),
        *(("шщω", "w"), ("χҳӽӿ", "x"), ("ұ", "y")),
    )
    for letter in letters
}
"""Letters that pass for a Latin one in a word that people know, though alone they would not. From
Chromium's skeletons of hosts (components/url_formatter/spoof_checks)."""
_PASS_FOR = (("0", "o"), ("1", "l"), ("i", "l"), ("rn", "m"), ("vv", "w"), ("cl", "d"))
"""What looks the same among ASCII letters, in the order in which one takes the other's place."""


def host_of(url: str) -> str:
    """The host of a URL that is stored, in ASCII as it goes over the wire; an IPv6 one in brackets.

    Raises ValueError for what is no URL.
    """
    return ada_url.URL(url).hostname


def warnings_of(url: str) -> list[UrlWarning]:
    """What is to be told of a URL that is stored. Raises ValueError for what is no URL."""
    parsed = ada_url.URL(url)
    is_address = parsed.host_type is not ada_url.HostType.DEFAULT
    ascii_labels = [] if is_address else [label for label in parsed.hostname.split(".") if label]
    labels = [_shown(label) for label in ascii_labels]
    found = {
        UrlWarning.MIXED_SCRIPT_HOST: any(map(_mixes_scripts, labels)),
        UrlWarning.LOOK_ALIKE_HOST: _looks_like_another(labels, ascii_labels),
        UrlWarning.PUNYCODE_HOST: any(label.startswith(_PUNYCODE) for label in ascii_labels),
        UrlWarning.IP_ADDRESS_HOST: is_address,
        UrlWarning.USER_INFO: bool(parsed.username or parsed.password),
        UrlWarning.UNUSUAL_PORT: bool(parsed.port),
    }
    return [warning for warning, holds in found.items() if holds]


def _shown(label: str) -> str:
    """A label of a host as people see it."""
    return ada_url.idna.decode(label) if label.startswith(_PUNYCODE) else label


def _mixes_scripts(label: str) -> bool:
    """Whether no one script, nor the scripts of one language, has all letters of a label."""
    each = [scripts for letter in label if not (scripts := _scripts_of(letter)) <= _ANY_SCRIPT]
    if not each or frozenset.intersection(*each):
        return False
    return not any(all(scripts & together for scripts in each) for together in _TOGETHER)


@cache
def _scripts_of(letter: str) -> frozenset[str]:
    return frozenset(unicodedataplus.script_extensions(letter))


def _looks_like_another(labels: list[str], ascii_labels: list[str]) -> bool:
    """Whether a host may be taken for another one, by its letters or by how it begins."""
    return (
        (labels[-1:] == ascii_labels[-1:] and any(map(_reads_as_ascii, labels)))
        or any(_passes_for_well_known(part) for label in labels for part in _parts(label))
        or _begins_as_well_known(ascii_labels)
    )


def _reads_as_ascii(label: str) -> bool:
    """Whether a label reads as one of Latin letters, some of which are of another script.

    Below a domain such as `.рф` that is how words are written, and nobody expects Latin there.
    """
    others = [letter for letter in label if not _scripts_of(letter) & {"Latn", *_ANY_SCRIPT}]
    return (
        bool(others)
        and all(letter in _CONFUSABLES for letter in others)
        and all(letter.isascii() or letter in others for letter in label)
    )


def _parts(label: str) -> Iterator[str]:
    """A label, and where it has hyphens the words between them."""
    yield label
    if "-" in label:
        yield from label.split("-")


def _passes_for_well_known(word: str) -> bool:
    """Whether a word of a host looks like the name of a well-known domain and is not that."""
    return _NAMES.get(_skeleton(word), word) != word


def _begins_as_well_known(labels: list[str]) -> bool:
    """Whether a well-known domain stands in front of the domain that a host belongs to."""
    host = ".".join(labels)
    registered = _SUFFIXES.privatesuffix(host)
    if not registered:
        return False
    front = f".{host.removesuffix(registered)}"
    return any(f".{domain}." in front for domain in WELL_KNOWN)


def _skeleton(word: str) -> str:
    """A word as it looks: two words with the same one may be taken for each other."""
    plain = [
        letter
        for letter in unicodedata.normalize("NFD", word)
        if not unicodedata.category(letter).startswith("M")
    ]
    read = "".join(_READ_AS.get(one) or _CONFUSABLES.get(one, one) for one in plain)
    for look, same in _PASS_FOR:
        read = read.replace(look, same)
    return read


def _read_confusables() -> Mapping[str, str]:
    """The ASCII letters and digits, in lower case, that other letters look like.

    Of the package's table, 10 MB in memory, only these are kept.
    """
    file = resources.files("confusable_homoglyphs") / "confusables.json"
    table: dict[str, list[dict[str, Any]]] = json.loads(file.read_text(encoding="utf-8"))
    read: dict[str, str] = {}
    for letter, alike in table.items():
        looks = [one["c"].lower() for one in alike if one["c"].isascii() and one["c"].isalnum()]
        if looks and not letter.isascii():
            read[letter] = looks[0]
    return read


# Read with the module: nobody's request waits for them.
_CONFUSABLES = _read_confusables()
_NAMES = {_skeleton(name): name for name in (one.partition(".")[0] for one in WELL_KNOWN)}
"""Names of well-known domains by their skeletons."""
# Who has a name below a private suffix, as of github.io, is no registry's customer.
_SUFFIXES = PublicSuffixList(only_icann=True)
