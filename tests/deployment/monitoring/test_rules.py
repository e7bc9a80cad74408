"""Every alert fires when it should and only then, and has a runbook."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.deployment.monitoring.cases import CASES, Case, healthy
from tests.deployment.monitoring.rules import RULES, RUNBOOKS, Rule, alerts

_FIRING = 'group by (alertname, severity) (ALERTS{alertstate="firing"})'
_HEADINGS = ["## What it means", "## How to see it", "## What to do", "## How to know it is over"]


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)


def unit_test(case: Case) -> dict[str, object]:
    """Return the case as a promtool test. JSON is YAML, too."""
    series = {**healthy(), **case.changed}
    return {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": s, "values": v} for s, v in series.items()],
                "promql_expr_test": [
                    {
                        "expr": _FIRING,
                        "eval_time": f"{case.minutes}m",
                        "exp_samples": [
                            {"labels": _labels(alert), "value": 1} for alert in case.firing
                        ],
                    }
                ],
            }
        ],
    }


def _labels(alert: str) -> str:
    name, severity = alert.split()
    return f'{{alertname="{name}", severity="{severity}"}}'


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.alert}: {case.story}")
def test_exactly_the_right_alerts_fire(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "test.json"
    file.write_text(json.dumps(unit_test(case)))
    ran = promtool("test", "rules", file)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("alert", [alert.name for alert in alerts()])
def test_each_alert_is_shown_firing_and_not_firing(alert: str) -> None:
    cases = [case for case in CASES if case.alert == alert]
    fires = {any(fired.split()[0] == alert for fired in case.firing) for case in cases}
    assert fires == {True, False}


def test_promtool_accepts_the_rules() -> None:
    ran = promtool("check", "rules", RULES)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert.name)
def test_each_alert_has_a_runbook(alert: Rule) -> None:
    assert alert.annotations.keys() == {"summary", "description", "runbook_url"}
    assert alert.annotations["summary"].endswith(".")
    text = (RUNBOOKS / alert.runbook).read_text(encoding="utf-8")
    assert text.startswith(f"# {alert.name}\n")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == _HEADINGS


def test_no_runbook_is_without_an_alert() -> None:
    assert {path.name for path in RUNBOOKS.glob("*.md")} == {alert.runbook for alert in alerts()}
