"""A link as JSON, for its owner."""

from __future__ import annotations

from typing import Any

from gateway.backends.ports import Link
from gateway.backends.view_counts import Totals
from gateway.support.timestamps import text_of


def link_json(link: Link, views: Totals | None) -> dict[str, Any]:
    """Return every field of a link, with its views, which are null if unknown."""
    shown = {
        "code": link.code,
        "short_link": link.code,
        "long_link": link.url,
        "title": link.title,
        "tags": link.tags,
        "state": link.state.value,
        "reason": link.reason.value if link.reason else None,
        "created_at": text_of(link.created_at),
        "changed_at": text_of(link.changed_at) if link.changed_at else None,
        "expires_at": text_of(link.expires_at) if link.expires_at else None,
        "ended_url": link.ended_url or None,
        "public_statistics": link.public_statistics,
        "views": views.people if views else None,
        "bots": views.bots if views else None,
    }
    if link.scan_code:
        shown["scan_code"] = link.scan_code
    return shown
