"""What the operator names on the command line: a link, or an address that links lead to.

A code has neither a dot nor a colon, and an address has one of both. An address on the product's
own host is that of a link; so is none of another host, whatever its path looks like.
"""

from __future__ import annotations

from dataclasses import dataclass

import ada_url

from services.shared.codes import is_code


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a link."""

    text: str


@dataclass(frozen=True, slots=True)
class Address:
    """A host, or a host and the beginning of a path, as it was given."""

    text: str


def subject_of(given: str, origin: str) -> Code | Address | None:
    """What is named; None for what is neither. `origin` is where people reach the product."""
    if is_code(given):
        return Code(given)
    if not {".", ":"} & set(given):
        return None
    code = _code_at(given, origin)
    if code is None:
        return Address(given)
    return Code(code) if is_code(code) else None


def _code_at(given: str, origin: str) -> str | None:
    """The path of a whole short address; None where it is on another host, or that is not known.

    Of what is no link on this host it is no code.
    """
    if not origin:
        return None
    try:
        url = ada_url.URL(given if "://" in given else f"http://{given}")
    except ValueError:
        return None
    if url.hostname != ada_url.URL(origin).hostname:
        return None
    return url.pathname.strip("/").removesuffix("+")
