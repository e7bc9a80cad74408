"""Chooses the content coding of a response by the client's Accept-Encoding (RFC 9110, 12.5.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 512
"""Most bytes of an Accept-Encoding header that is read. Browsers send about fifty."""
_MEMBER = re.compile(
    rb"([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?"
)


def content_coding(accepted: bytes, offered: Iterable[bytes]) -> bytes:
    """The coding that a client prefers among those offered, whose order breaks ties.

    `accepted` is the value of its Accept-Encoding header. The result is `b""`, no coding, where the
    client takes none of them or prefers `identity`. A member that cannot be parsed is passed over.
    """
    if len(accepted) > _LONGEST:
        return b""
    members = (_MEMBER.fullmatch(member.strip()) for member in accepted.lower().split(b","))
    weights = {member[1]: float(member[2] or 1) for member in members if member}

    def weight(coding: bytes) -> float:
        return weights.get(coding, weights.get(b"*", 0.0))

    best = max(offered, key=weight, default=b"")
    is_acceptable = weight(best) > 0 and weight(best) >= weights.get(b"identity", 0.0)
    return best if is_acceptable else b""
