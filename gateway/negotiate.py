"""Which content coding a client is sent (RFC 9110, 12.5.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 512
"""Bytes of an Accept-Encoding header that is read; browsers send fifty."""
_MEMBER = re.compile(
    rb"([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?"
)


def content_coding(accepted: bytes, offered: Iterable[bytes]) -> bytes:
    """Of the codings offered, best first, the one a client prefers; `b""`, which is none, where it
    takes none of them or would rather have none. A member that is not understood is passed over.
    """
    if len(accepted) > _LONGEST:
        return b""
    members = (_MEMBER.fullmatch(member.strip()) for member in accepted.lower().split(b","))
    weights = {member[1]: float(member[2] or 1) for member in members if member}

    def weight(coding: bytes) -> float:
        return weights.get(coding, weights.get(b"*", 0.0))

    best = max(offered, key=weight, default=b"")
    liked = weight(best) > 0 and weight(best) >= weights.get(b"identity", 0.0)
    return best if liked else b""
