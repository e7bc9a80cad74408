"""Checks that a stored link has text where it must: a message could not be made of it otherwise."""

from __future__ import annotations

from operator import attrgetter
from typing import get_type_hints

from services.links.domain.link import Link

_texts = attrgetter(*(name for name, kind in get_type_hints(Link).items() if kind is str))


def check_text(link: Link) -> Link:
    """Return a link. Raises TypeError if one of its texts is none."""
    if not all(isinstance(text, str) for text in (*_texts(link), *link.tags)):
        raise TypeError("A value of the link is no text.")
    return link
