"""Reads the alert rules for tests and drills."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from tests.support.processes import ROOT

RULES = ROOT / "charts" / "atajo" / "monitoring" / "rules.yaml"
SLO = ROOT / "docs" / "operations" / "slo.md"
RUNBOOKS = SLO.parent / "runbooks"
PLACE = "RUNBOOKS/"
"""Placeholder for the base URL of the runbooks."""


@dataclass(frozen=True)
class Rule:
    """A recording rule or an alert. `name` is the recorded series or the alert."""

    name: str
    expr: str
    is_alert: bool
    labels: dict[str, str]
    annotations: dict[str, str]

    @property
    def series(self) -> str:
        """A selector of the recorded series."""
        labels = ",".join(f'{label}="{value}"' for label, value in self.labels.items())
        return f"{self.name}{{{labels}}}"

    @property
    def runbook(self) -> str:
        """The file name of the alert's runbook."""
        return self.annotations["runbook_url"].removeprefix(PLACE)


def rules() -> list[Rule]:
    """Return all rules in order."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [
        Rule(
            name=rule.get("record") or rule["alert"],
            expr=rule["expr"],
            is_alert="alert" in rule,
            labels=rule.get("labels", {}),
            annotations=rule.get("annotations", {}),
        )
        for group in groups
        for rule in group["rules"]
    ]


def alerts() -> list[Rule]:
    """Return the alerts in order."""
    return [rule for rule in rules() if rule.is_alert]
