"""Dashboards in Grafana's JSON format: rows of panels, laid out from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

_SCHEMA = 41
_COLUMNS = 24
_HEIGHTS = {"stat": 5, "timeseries": 8}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
RUNBOOKS = "RUNBOOKS"
"""Placeholder for the URL of the runbooks in rules and dashboards."""
WINDOW = "[$__rate_interval]"
"""The window of a rate, as Grafana chooses it for the range and the scrape interval."""

Unit = Literal["reqps", "ops", "s", "percentunit", "bytes", "short", "dateTimeFromNow"]


@dataclass(frozen=True)
class Query:
    """An expression, and the legend of its series by their labels."""

    expr: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """A panel that answers one question. Each method returns a copy with one thing added."""

    kind: Literal["timeseries", "stat"]
    title: str
    unit: Unit
    bad_from: float | None = None
    """Values from this one on are bad."""
    bad_below: float | None = None
    """Values below this one are bad."""
    see: str = ""
    """The runbook for bad values."""
    words: tuple[str, str] | None = None
    """Texts shown for 0 and 1."""
    description: str = ""
    queries: tuple[Query, ...] = ()

    def about(self, description: str) -> Panel:
        """Describe the panel."""
        return replace(self, description=description)

    def query(self, expr: str, legend: str = "{{instance}}") -> Panel:
        """Add the series of an expression."""
        return replace(self, queries=(*self.queries, Query(expr, legend)))

    def rate(self, counter: str, by: str = "", legend: str = "") -> Panel:
        """Add the rate per second of a counter, summed by a label or over all series."""
        return self._by(by, _sum(by, f"rate({counter}{WINDOW})"), legend)

    def increase(self, window: str, counter: str, by: str = "", legend: str = "") -> Panel:
        """Add the increase of a counter in a window such as `1h`, summed as by `rate`."""
        return self._by(by, _sum(by, f"increase({counter}[{window}])"), legend)

    def quantile(self, share: float, buckets: str, by: str = "", legend: str = "") -> Panel:
        """Add a quantile of a histogram, by a label or over all series."""
        rate = _sum(f"{by}, le" if by else "le", f"rate({buckets}{WINDOW})")
        return self._by(by, f"histogram_quantile({share}, {rate})", legend)

    def percentiles(self, buckets: str) -> Panel:
        """Add three quantiles of a histogram over all series."""
        half = self.quantile(0.5, buckets, legend="half")
        return half.quantile(0.9, buckets, legend="90 %").quantile(0.99, buckets, legend="99 %")

    def _by(self, label: str, expr: str, legend: str) -> Panel:
        return self.query(expr, legend or f"{{{{{label}}}}}")


def _sum(by: str, expr: str) -> str:
    return f"sum by ({by}) ({expr})" if by else f"sum({expr})"


class Row:
    """Panels side by side under a heading."""

    def __init__(self, title: str, *panels: Panel) -> None:
        self.title = title
        self.panels = panels


class Dashboard:
    """A dashboard with rows from symptoms to causes."""

    def __init__(self, name: str, about: str, *rows: Row) -> None:
        self.name = name
        self.title = f"Atajo: {name}"
        self.about = about
        self.rows = rows


graph = partial(Panel, "timeseries")
"""Creates a panel of values over time."""
number = partial(Panel, "stat")
"""Creates a panel of current values, as numbers or texts."""


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
    link = {"title": "Runbook", "url": f"{RUNBOOKS}/{panel.see}.md", "targetBlank": True}
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "links": [link] if panel.see else [],
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
        style = {"mode": "off" if panel.bad_from is None else "line"}
        field["custom"] = {"fillOpacity": 10, "showPoints": "never", "thresholdsStyle": style}
    if panel.words:
        options = {str(value): {"text": text} for value, text in enumerate(panel.words)}
        field["mappings"] = [{"type": "value", "options": options}]
    return field


def _steps(panel: Panel) -> list[dict[str, Any]]:
    if panel.bad_from is not None:
        return [{"color": "green", "value": None}, {"color": "red", "value": panel.bad_from}]
    if panel.bad_below is not None:
        return [{"color": "red", "value": None}, {"color": "green", "value": panel.bad_below}]
    return [{"color": "blue", "value": None}]
