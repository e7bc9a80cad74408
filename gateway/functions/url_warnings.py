"""What is told of a URL to whoever wants to know it before following it.

A host is looked at as people see it: what is punycode (`xn--`) is decoded first. Which scripts may
stand together in one label is told by Unicode's TR39, at its highly restrictive level. Which
letters look like which is told by Unicode's confusables, as confusable-homoglyphs has them, and by
a few that browsers add.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from importlib import resources
from typing import Any

import ada_url
import unicodedataplus
from publicsuffixlist import PublicSuffixList

from gateway.functions.well_known_domains import WELL_KNOWN


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
_PASS_FOR = (("0", "o"), ("1", "l"), ("I", "l"), ("rn", "m"), ("vv", "w"), ("cl", "d"))
"""What looks the same among ASCII letters, in the order in which one takes the other's place. By
Unicode's confusables, which have the capital I among them and not the small one."""
_WRITTEN_HOST = re.compile(r"https?://(?:[^/\\?#]*@)?([^/\\?#:@]+)", re.IGNORECASE)
_LETTERS = 4096
"""Letters whose scripts are remembered, in 2 MB. All of them are 440, and strangers choose."""


def host_of(url: str) -> str:
    """The host of a URL that is stored, in ASCII as it goes over the wire; an IPv6 one in brackets.

    Raises ValueError for what is no URL.
    """
    return ada_url.URL(url).hostname


def warnings_of(url: str) -> list[UrlWarning]:
    """What is to be told of a URL that is stored. Raises ValueError for what is no URL."""
    parsed = ada_url.URL(url)
    is_address = parsed.host_type is not ada_url.HostType.DEFAULT
    host = "" if is_address else ".".join(_labels_of(parsed.hostname))
    ascii_labels = _labels_of(host)
    labels = [_shown(label) for label in _labels_of(_as_written(url, host))]
    found = {
        UrlWarning.MIXED_SCRIPT_HOST: any(map(_mixes_scripts, labels)),
        UrlWarning.LOOK_ALIKE_HOST: _looks_like_another(labels, host),
        UrlWarning.PUNYCODE_HOST: any(label.startswith(_PUNYCODE) for label in ascii_labels),
        UrlWarning.IP_ADDRESS_HOST: is_address,
        UrlWarning.USER_INFO: bool(parsed.username or parsed.password),
        UrlWarning.UNUSUAL_PORT: bool(parsed.port),
    }
    return [warning for warning, holds in found.items() if holds]


def _labels_of(host: str) -> list[str]:
    return [label for label in host.split(".") if label]


def _as_written(url: str, host: str) -> str:
    """The host of a URL in the capitals that it is stored and shown with."""
    written = _WRITTEN_HOST.match(url)
    if written is None or ".".join(_labels_of(written[1].lower())) != host:
        return host  # It is written in another way, with letters encoded.
    return written[1]


def _shown(label: str) -> str:
    """A label of a host as people see it."""
    ascii_label = label.lower()
    return ada_url.idna.decode(ascii_label) if ascii_label.startswith(_PUNYCODE) else label


def _mixes_scripts(label: str) -> bool:
    """Whether no one script, nor the scripts of one language, has all letters of a label."""
    each = [scripts for letter in label if not (scripts := _scripts_of(letter)) <= _ANY_SCRIPT]
    if not each or frozenset.intersection(*each):
        return False
    return not any(all(scripts & together for scripts in each) for together in _TOGETHER)


@lru_cache(_LETTERS)
def _scripts_of(letter: str) -> frozenset[str]:
    return frozenset(unicodedataplus.script_extensions(letter))


def _looks_like_another(labels: list[str], host: str) -> bool:
    """Whether a host may be taken for another one, by its letters or by how it begins.

    `labels` are those of `host` as people see them.
    """
    ends_in_ascii = host.endswith(labels[-1].lower()) if labels else False
    registered = _SUFFIXES.privatesuffix(host) or ""
    return (
        (ends_in_ascii and any(map(_reads_as_ascii, labels)))
        or any(_passes_for_well_known(part) for label in labels for part in _parts(label))
        or _is_close_to_well_known(registered)
        or _begins_as_well_known(host, registered)
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
    look = _skeleton(word)
    # Who writes with letters of other alphabets or with accents does not mean an `i` by an `l`.
    name = _NAMES.get(look) if word.isascii() else _LOOSE_NAMES.get(_loose(look))
    return name is not None and name != word.lower()


def _is_close_to_well_known(registered: str) -> bool:
    """Whether a domain as it is registered is a well-known one with an `i` for an `l`."""
    name, _, suffix = registered.partition(".")
    known = _CLOSE.get((_loose(_skeleton(name)), suffix), registered)
    return known != registered


def _begins_as_well_known(host: str, registered: str) -> bool:
    """Whether a well-known domain stands in front of the domain that a host belongs to."""
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
    return read.lower()


def _loose(skeleton: str) -> str:
    """A skeleton in which an `i` is an `l`, too: similar and not the same."""
    return skeleton.replace("i", "l")


def _read_confusables() -> Mapping[str, str]:
    """The ASCII letters and digits, in lower case, that other letters look like.

    The package's table takes 10 MB as Python objects: only the look-alikes of each letter are made.
    """
    file = resources.files("confusable_homoglyphs") / "confusables.json"
    table: dict[str, list[str]] = json.loads(file.read_text("utf-8"), object_hook=_look_of)
    read: dict[str, str] = {}
    for letter, alike in table.items():
        looks = [look.lower() for look in alike if look.isascii() and look.isalnum()]
        if looks and not letter.isascii():
            read[letter] = looks[0]
    return read


def _look_of(entry: dict[str, Any]) -> Any:
    """An entry of the table as the letter it is about, and the table as it is."""
    look = entry.get("c")
    return look if isinstance(look, str) else entry


# Read with the module: nobody's request waits for them.
_CONFUSABLES = _read_confusables()
_WRITTEN = {"icloud": "iCloud", "linkedin": "LinkedIn"}
"""Names that are written otherwise than with one capital, where that makes another skeleton."""
_NAMES = {
    _skeleton(written): name
    for name in (domain.partition(".")[0] for domain in WELL_KNOWN)
    for written in (name, _WRITTEN.get(name, name.capitalize()))
}
"""Names of well-known domains by their skeletons: `Instagram` looks like `lnstagram`."""
_LOOSE_NAMES = {_loose(look): name for look, name in _NAMES.items()}
_CLOSE = {
    (_loose(_skeleton(name)), suffix): domain
    for domain in WELL_KNOWN
    for name, _, suffix in [domain.partition(".")]
}
"""Well-known domains by their names' loose skeletons and by what comes behind the names."""
# Who has a name below a private suffix, as of github.io, is no registry's customer.
_SUFFIXES = PublicSuffixList(only_icann=True)
