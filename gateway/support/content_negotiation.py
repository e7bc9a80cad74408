"""Chooses the content coding of a response by the client's Accept-Encoding (RFC 9110, 12.5.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MAX_BYTES = 512
"""Maximum length of an Accept-Encoding header that is read. Browsers send about 50 bytes."""
_MEMBER = re.compile(
    rb"([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?"
)


def content_coding(accepted: bytes, offered: Iterable[bytes]) -> bytes:
    """Return the offered coding that a client prefers. The order of `offered` breaks ties.

    `accepted` is the value of the Accept-Encoding header. Its invalid members are ignored. Returns
    `b""` (no coding) if the client accepts none of the offered ones or prefers `identity`.
    """
    if len(accepted) > _MAX_BYTES:
        return b""
    members = (_MEMBER.fullmatch(member.strip()) for member in accepted.lower().split(b","))
    weights = {member[1]: float(member[2] or 1) for member in members if member}

    def weight(coding: bytes) -> float:
        return weights.get(coding, weights.get(b"*", 0.0))

    best = max(offered, key=weight, default=b"")
    is_acceptable = weight(best) > 0 and weight(best) >= weights.get(b"identity", 0.0)
    return best if is_acceptable else b""
