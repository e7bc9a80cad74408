"""Statistics as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gateway.backends.ports import Dimension, People, Statistics


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
