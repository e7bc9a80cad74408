"""Values of ports as JSON, for functions and the REST API."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import datetime
from enum import Enum
from typing import Any

from gateway.backends.ports import Dimension, Link, People, Statistics
from gateway.backends.view_counts import Totals
from gateway.support.timestamps import format_timestamp
from services.shared.origins import Origins, parse_domain

_NAMES = [field.name for field in fields(Link)]


def to_json(value: Any) -> Any:
    """Return a value as JSON: a dataclass by its fields, a time as text, an enum by its value."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, datetime):
        return format_timestamp(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}


def link_json(link: Link, views: Totals | None, origins: Origins) -> dict[str, Any]:
    """Return every field of a link, with its views, which are null if unknown.

    A domain that is no longer listed is replaced by that of the public URL. A link without a scan
    code has no `scan_code`.
    """
    origin = origins.find(link.domain)
    shown = {name: to_json(getattr(link, name)) for name in _NAMES}
    shown["short_link"] = link.code
    shown["short_url"] = f"{origin}/{link.code}"
    shown["domain"] = parse_domain(origin)
    shown["long_link"] = shown.pop("url")
    shown["ended_url"] = link.ended_url or None
    shown["views"] = views.people if views else None
    shown["bots"] = views.bots if views else None
    if not link.scan_code:
        del shown["scan_code"]
    return shown


def link_statistics_json(found: Statistics, timezone: str) -> dict[str, Any]:
    """Return the statistics of one link. `kept_from` is absent if all days are kept."""
    shown: dict[str, Any] = {
        "range": {
            "from": found.first,
            "to": found.last,
            "step": found.step.value,
            "timezone": timezone,
        },
        "totals": asdict(found.totals),
        "previous": asdict(found.previous) if found.previous else None,
        "series": [
            {
                "start": step.start,
                "people": step.people,
                "bots": step.bots,
                "visitors": step.visitors,
            }
            for step in found.series
        ],
        "breakdowns": {
            dimension.value: _ranking("name", found.breakdowns[dimension])
            for dimension in Dimension
        },
    }
    if found.kept_from:
        shown["kept_from"] = found.kept_from
    return shown


def statistics_json(found: Statistics, timezone: str) -> dict[str, Any]:
    """Return the statistics of all links of an owner, with the most visited ones."""
    return {**link_statistics_json(found, timezone), "top": _ranking("code", found.top)}


def _ranking(key: str, people: People) -> list[dict[str, str | int]]:
    return [{key: name, "people": count} for name, count in people]
