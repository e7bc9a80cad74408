"""Checks that a stored link has text where it must: a message could not be made of it otherwise."""

from __future__ import annotations

from services.links.domain.link import Link


def check_text(link: Link) -> Link:
    """Return a link. Raises TypeError if one of its texts is none."""
    texts = (link.url, link.title, link.created_url, link.ended_url, link.blocklist, *link.tags)
    if not all(isinstance(text, str) for text in (link.code, link.scan_code, *texts)):
        raise TypeError("A value of the link is no text.")
    return link
