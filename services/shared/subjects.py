"""What the operator and administrators name by a text: a link, or a host or URL that links lead to.

A code has neither a dot nor a colon; a host or URL has at least one of them. A URL on the product's
own host names a link; a URL on any other host does not, whatever its path looks like.
"""

from __future__ import annotations

from collections.abc import Collection
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


def parse_subject(given: str, origins: Collection[str]) -> Code | Pattern | None:
    """Return what a text names; None if it is neither.

    `origins` are the product's own, such as its public URL.
    """
    if is_code(given):
        return Code(given)
    if not {".", ":"} & set(given):
        return None
    code = _parse_short_url(given, origins)
    if code is None:
        return Pattern(given)
    return Code(code) if is_code(code) else None


def _parse_short_url(given: str, origins: Collection[str]) -> str | None:
    """Return the path of a URL on a host of the product, which need not be a code.

    None for a URL on another host.
    """
    try:
        url = ada_url.URL(given if "://" in given else f"http://{given}")
    except ValueError:
        return None
    if url.hostname not in {ada_url.URL(origin).hostname for origin in origins}:
        return None
    return url.pathname.strip("/").removesuffix("+")
