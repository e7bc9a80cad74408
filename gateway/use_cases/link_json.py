"""A link as JSON, for its owner."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any

from gateway.backends.ports import Link
from gateway.backends.view_counts import Totals
from gateway.support.timestamps import text_of

_NAMES = [field.name for field in fields(Link)]


def link_json(link: Link, views: Totals | None, origin: str) -> dict[str, Any]:
    """Return every field of a link, with its views, which are null if unknown.

    `origin` is that of the public URL, with which the short URL begins.
    A link without a scan code has no `scan_code`.
    """
    shown = {name: _value(getattr(link, name)) for name in _NAMES}
    shown["short_link"] = link.code
    shown["short_url"] = f"{origin}/{link.code}"
    shown["long_link"] = shown.pop("url")
    shown["ended_url"] = link.ended_url or None
    shown["views"] = views.people if views else None
    shown["bots"] = views.bots if views else None
    if not link.scan_code:
        del shown["scan_code"]
    return shown


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return text_of(value)
    return value.value if isinstance(value, Enum) else value
