"""Dashboards in Grafana's JSON format: rows of panels, laid out from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

_SCHEMA = 41
_COLUMNS = 24
_HEIGHTS = {"stat": 5, "timeseries": 8}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
RUNBOOKS = "RUNBOOKS"
"""Placeholder for the URL of the runbooks, replaced when a dashboard is loaded."""

Unit = Literal["reqps", "ops", "s", "percentunit", "bytes", "short", "dateTimeFromNow"]


@dataclass(frozen=True)
class Query:
    """An expression, and the legend of its series by their labels."""

    expr: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """A panel that answers one question.

    Values from `limit` on are bad, or values below it with `good_above`. `runbook` is the name of
    the runbook for that case.
    """

    title: str
    unit: Unit
    queries: Sequence[Query]
    about: str
    limit: float | None = None
    good_above: bool = False
    runbook: str = ""
    kind: Literal["timeseries", "stat"] = "timeseries"
    words: tuple[str, str] | None = None
    """Texts shown for 0 and 1."""


@dataclass(frozen=True)
class Row:
    """Panels side by side under a heading."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Dashboard:
    """A dashboard with rows from symptoms to causes."""

    name: str
    title: str
    about: str
    rows: Sequence[Row]


def graph(title: str, unit: Unit, about: str, *queries: tuple[str, str], **more: Any) -> Panel:
    """Return a panel of values over time. A query is an expression and a legend."""
    return Panel(title, unit, [Query(*query) for query in queries], about, **more)


def number(title: str, unit: Unit, about: str, *queries: tuple[str, str], **more: Any) -> Panel:
    """Return a panel of current values, as numbers or texts."""
    return Panel(title, unit, [Query(*query) for query in queries], about, kind="stat", **more)


def model(dashboard: Dashboard) -> dict[str, Any]:
    """Return the dashboard as Grafana's JSON."""
    return {
        "uid": f"atajo-{dashboard.name}",
        "title": dashboard.title,
        "description": dashboard.about,
        "tags": ["atajo"],
        "schemaVersion": _SCHEMA,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "links": [{"title": "Atajo", "type": "dashboards", "tags": ["atajo"], "keepTime": True}],
        "templating": {
            "list": [
                {
                    "name": "datasource",
                    "label": "Prometheus",
                    "type": "datasource",
                    "query": "prometheus",
                }
            ]
        },
        "panels": _laid_out(dashboard.rows),
    }


def _laid_out(rows: Sequence[Row]) -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = []
    top = 0
    for row in rows:
        place = {"x": 0, "y": top, "w": _COLUMNS, "h": 1}
        panels.append({"type": "row", "title": row.title, "gridPos": place, "id": len(panels) + 1})
        width = _COLUMNS // len(row.panels)
        height = max(_HEIGHTS[panel.kind] for panel in row.panels)
        for column, panel in enumerate(row.panels):
            place = {"x": column * width, "y": top + 1, "w": width, "h": height}
            panels.append({**_panel(panel), "gridPos": place, "id": len(panels) + 1})
        top += 1 + height
    return panels


def _panel(panel: Panel) -> dict[str, Any]:
    link = {"title": "Runbook", "url": f"{RUNBOOKS}/{panel.runbook}.md", "targetBlank": True}
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "links": [link] if panel.runbook else [],
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": _SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": panel.kind == "stat",
                "range": panel.kind != "stat",
            }
            for number, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _field(panel), "overrides": []},
        "options": _OPTIONS[panel.kind],
    }


_OPTIONS: dict[str, Any] = {
    "stat": {
        "colorMode": "background",
        "graphMode": "none",
        "reduceOptions": {"calcs": ["lastNotNull"]},
        "textMode": "value_and_name",
    },
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
}


def _field(panel: Panel) -> dict[str, Any]:
    field: dict[str, Any] = {
        "unit": panel.unit,
        "thresholds": {"mode": "absolute", "steps": _steps(panel)},
    }
    if panel.kind == "timeseries":
        field["min"] = 0
        style = {"mode": "off" if panel.limit is None else "line"}
        field["custom"] = {"fillOpacity": 10, "showPoints": "never", "thresholdsStyle": style}
    if panel.words:
        options = {str(value): {"text": text} for value, text in enumerate(panel.words)}
        field["mappings"] = [{"type": "value", "options": options}]
    return field


def _steps(panel: Panel) -> list[dict[str, Any]]:
    if panel.limit is None:
        return [{"color": "blue", "value": None}]
    low, high = ("red", "green") if panel.good_above else ("green", "red")
    return [{"color": low, "value": None}, {"color": high, "value": panel.limit}]
