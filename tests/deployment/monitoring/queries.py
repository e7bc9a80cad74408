"""All queries of panels and rules, and their selectors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from deploy.monitoring.prometheus import CHART
from tests.deployment.monitoring.rules import rules

_WITHOUT = re.compile(
    r"\[[^\]]*\]|\boffset\s+\w+|\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)"
)
_NAMES = re.compile(
    r'"[^"]*"|(?P<name>[a-zA-Z_:][\w:]*)(?P<labels>\s*\{[^}]*\})?(?P<call>\s*\()?', re.DOTALL
)
_WORDS = {"and", "or", "unless", "bool"}
_LEGEND = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class PanelQuery:
    """A query of a panel, with windows of 10 s in place of Grafana's variable."""

    dashboard: str
    row: str
    panel: str
    unit: str
    expr: str
    legend: str

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.row}: {self.panel}: {self.legend}"

    @property
    def legend_labels(self) -> set[str]:
        """Labels that its legend needs."""
        return set(_LEGEND.findall(self.legend))


def panel_queries() -> list[PanelQuery]:
    """Return the queries of all dashboards in order."""
    return [
        query
        for file in sorted((CHART / "dashboards").glob("*.json"))
        for query in _of_dashboard(file.stem, json.loads(file.read_text(encoding="utf-8")))
    ]


def _of_dashboard(name: str, model: dict[str, list[dict[str, object]]]) -> Iterator[PanelQuery]:
    row = ""
    for panel in model["panels"]:
        if panel["type"] == "row":
            row = str(panel["title"])
            continue
        targets: list[dict[str, str]] = panel["targets"]  # type: ignore[assignment]
        unit: str = panel["fieldConfig"]["defaults"]["unit"]  # type: ignore[index]
        for target in targets:
            expr = target["expr"].replace("$__rate_interval", "10s")
            yield PanelQuery(name, row, str(panel["title"]), unit, expr, target["legendFormat"])


def selectors(expr: str) -> set[str]:
    """Return the selectors of an expression, with labels and without windows."""
    found = _NAMES.finditer(_WITHOUT.sub("", expr))
    return {
        match["name"] + (match["labels"] or "").strip()
        for match in found
        if match["name"] and not match["call"] and match["name"] not in _WORDS
    }


def all_selectors() -> set[str]:
    """Return the selectors of all panels and rules."""
    exprs = [query.expr for query in panel_queries()] + [rule.expr for rule in rules()]
    return {selector for expr in exprs for selector in selectors(expr)}
