"""What the operator names on the command line: a link, or a host or URL that links lead to.

A code has neither a dot nor a colon; a host or URL has at least one of them. A URL on the product's
own host names a link; a URL on any other host does not, whatever its path looks like.
"""

from __future__ import annotations

from dataclasses import dataclass

import ada_url

from services.shared.link_codes import is_code


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a link."""

    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A host or URL, as it was given."""

    text: str


def subject_of(given: str, origin: str) -> Code | Pattern | None:
    """Return what an argument names; None if it is neither.

    `origin` is the product's public URL; empty if unknown.
    """
    if is_code(given):
        return Code(given)
    if not {".", ":"} & set(given):
        return None
    code = _code_of_short_url(given, origin)
    if code is None:
        return Pattern(given)
    return Code(code) if is_code(code) else None


def _code_of_short_url(given: str, origin: str) -> str | None:
    """Return the path of a URL on the product's host, which need not be a code.

    None for a URL on another host, or if the product's host is unknown.
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
