"""values.yaml and the tables of README.md come from the schema."""

from __future__ import annotations

from typing import Any

import yaml

from deploy.chart.values import Values, generate
from tests.deployment.chart.render import CHART

SCHEMA: dict[str, Any] = {
    "properties": {
        "level": {"enum": ["low", "high"], "default": "low", "description": "A level."},
        "first": {
            "description": "The first part.",
            "properties": {"size": {"$ref": "#/definitions/size", "default": "1Gi"}},
        },
        "second": {
            "description": "The second part.",
            "properties": {
                "size": {"$ref": "#/definitions/size", "default": "2Gi"},
                "nodes": {"default": [{"name": "a"}], "description": "Nodes | pools."},
            },
        },
        "global": {"type": "object"},
    },
    "definitions": {"size": {"type": "string", "description": "Size of the claim."}},
}


def test_values_have_their_defaults_under_their_descriptions() -> None:
    assert Values(SCHEMA).yaml().partition("\n\n")[2] == (
        "# A level. One of: low, high.\n"
        "level: low\n"
        "\n"
        "# The first part.\n"
        "first:\n"
        "  # Size of the claim.\n"
        "  size: 1Gi\n"
        "\n"
        "# The second part.\n"
        "second:\n"
        "  size: 2Gi\n"
        "  # Nodes | pools.\n"
        "  nodes:\n"
        "    - {name: a}\n"
    )


def test_tables_have_a_row_for_each_value() -> None:
    rows = [line for line in Values(SCHEMA).tables().splitlines() if line.startswith("| `")]
    assert rows == [
        "| `level` | `low` | A level. One of: low, high. |",
        "| `first.size` | `1Gi` | Size of the claim. |",
        "| `second.size` | `2Gi` | Size of the claim. |",
        "| `second.nodes` | `[{name: a}]` | Nodes \\| pools. |",
    ]


def test_the_chart_has_what_its_schema_generates() -> None:
    for file, text in generate(CHART).items():
        assert file.read_text() == text, "make chart-values"
    assert yaml.safe_load((CHART / "values.yaml").read_text())["web"]["replicas"] == 2
