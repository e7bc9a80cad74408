"""Generates values.yaml and the tables of README.md from values.schema.json: `make chart-values`.

A property with `default` is a value. One with `properties` alone is a section. A `description` is
the comment in values.yaml and the meaning in README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "atajo"
HEADER = "# Generated from values.schema.json by `make chart-values`. Unknown values are refused.\n"
MARKER = "<!-- Generated from values.schema.json by make chart-values. -->\n"
"""The line of README.md below which everything is generated."""
_WIDTH = 100

Schema = Mapping[str, Any]


class Values:
    """The values that a schema describes."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def yaml(self) -> str:
        """Return values.yaml: the defaults, with each description above its first value."""
        return f"{HEADER}\n" + "".join(self._lines(self._schema, 0, set()))

    def tables(self) -> str:
        """Return a table of the values outside of sections, then one for each section."""
        properties = [
            (name, self._resolve(own)) for name, own in self._schema["properties"].items()
        ]
        text = _format_table((name, value) for name, value in properties if "default" in value)
        for name, section in properties:
            if _is_section(section):
                text += f"\n### {name}\n\n{section['description']}\n\n"
                text += _format_table(self._leaves(f"{name}.", section))
        return text

    def _resolve(self, schema: Schema) -> Schema:
        """Return a schema with the definition that it refers to. Its own keys go before."""
        if "$ref" not in schema:
            return schema
        definition = self._schema["definitions"][schema["$ref"].removeprefix("#/definitions/")]
        return {**self._resolve(definition), **schema}

    def _lines(self, section: Schema, depth: int, described: set[str]) -> Iterator[str]:
        """Yield the lines of a section. Adds to `described` the definitions with a comment."""
        for name, own in section["properties"].items():
            value = self._resolve(own)
            if not _is_section(value) and "default" not in value:
                continue
            if depth == 0 and _is_section(value):
                yield "\n"
            indent = "  " * depth
            if "description" in own or own["$ref"] not in described:
                described.add(own.get("$ref", ""))
                comment = _with_choices(value)
                for line in textwrap.wrap(comment, _WIDTH - len(indent) - 2):
                    yield f"{indent}# {line}\n"
            if _is_section(value):
                yield f"{indent}{name}:\n"
                yield from self._lines(value, depth + 1, described)
            else:
                yield textwrap.indent(_format_assignment(name, value["default"]), indent)

    def _leaves(self, prefix: str, section: Schema) -> Iterator[tuple[str, Schema]]:
        """Yield path and schema of the values in a section and its sections."""
        for name, own in section["properties"].items():
            value = self._resolve(own)
            if _is_section(value):
                yield from self._leaves(f"{prefix}{name}.", value)
            else:
                yield f"{prefix}{name}", value


def _is_section(schema: Schema) -> bool:
    return "properties" in schema and "default" not in schema


def _with_choices(schema: Schema) -> str:
    """Return the description of a value, with the values that it may have."""
    choices = ", ".join(str(choice) for choice in schema.get("enum", ()))
    return f"{schema['description']} One of: {choices}." if choices else str(schema["description"])


def _format_value(value: object) -> str:
    """Return a value as YAML on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=sys.maxsize)
    return text.removesuffix("...\n").strip()


def _format_assignment(name: str, value: object) -> str:
    """Return the YAML of a value. Objects that contain objects take a line for each key."""
    if isinstance(value, (dict, list)) and value:
        text = yaml.safe_dump(value, default_flow_style=None, sort_keys=False, width=sys.maxsize)
        if text.count("\n") > 1 or isinstance(value[0] if isinstance(value, list) else None, dict):
            return f"{name}:\n{textwrap.indent(text, '  ')}"
    return f"{name}: {_format_value(value)}\n"


def _format_table(values: Iterator[tuple[str, Schema]]) -> str:
    rows = ["| value | default | meaning |\n", "| --- | --- | --- |\n"]
    for path, value in values:
        meaning = _with_choices(value).replace("|", "\\|")
        rows.append(f"| `{path}` | `{_format_value(value['default'])}` | {meaning} |\n")
    return "".join(rows)


def generate(chart: Path) -> dict[Path, str]:
    """Return the text of each file that the schema of a chart determines."""
    values = Values(json.loads((chart / "values.schema.json").read_text(encoding="utf-8")))
    readme = chart / "README.md"
    head, _, _ = readme.read_text(encoding="utf-8").partition(MARKER)
    return {
        chart / "values.yaml": values.yaml(),
        readme: f"{head}{MARKER}\n{values.tables()}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file differs")
    check = parser.parse_args().check
    for file, text in generate(CHART).items():
        if not check:
            file.write_text(text, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != text:
            sys.exit(f"{file.relative_to(ROOT)} is not current: make chart-values")


if __name__ == "__main__":
    main()
