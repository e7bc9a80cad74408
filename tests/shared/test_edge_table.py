"""deploy/edge.toml is the only source file that contains the product's paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.edge import modules
from services.shared import edge_table, link_codes
from tests.support.processes import ROOT

TABLE = edge_table.read()
PATHS = [path for path in (*edge_table.routes(TABLE), edge_table.api(TABLE)) if path != "/"]
MODULES = {ROOT / "web" / "src" / "lib" / name: text for name, text in modules().items()}
SUFFIXES = {".py", ".sh", ".ts", ".tsx", ".js", ".html", ".conf"}
GENERATED = {*MODULES, *(ROOT / "deploy" / "nginx" / "edge").iterdir()}


def sources() -> Iterator[Path]:
    """Yield the source files, without tests and files generated from the table."""
    for folder in ("gateway", "services", "deploy", "web/src", "web/build"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and ".test." not in path.name and path not in GENERATED:
                yield path
    yield ROOT / "web" / "vite.config.ts"
    yield ROOT / "web" / "index.html"


def found(pattern: str) -> list[str]:
    expression = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if expression.search(line)
    ]


def test_no_other_source_file_contains_a_path() -> None:
    any_path = "|".join(re.escape(path.removesuffix(f"/{edge_table.CODE}")) for path in PATHS)
    in_files = found(rf"""["'](?:{any_path})["'/?#]""")
    # Paths of operations are relative to that of the API.
    assert [one for one in in_files if not one.startswith("gateway/api/")] == []
    assert found(rf"\blocation [^{{]*(?:{any_path})\b") == []


def test_no_other_source_file_contains_the_pattern_of_codes() -> None:
    assert found(r"A-Za-z0-9_-\](\{4|\{8)") == []


def test_no_other_source_file_contains_a_list_of_reserved_names() -> None:
    """Single words are common; several of them in a row are a list."""
    run = re.compile(r"""(?:["'][\w-]+["'][\s,]+){3,}["'][\w-]+["']""")
    lists = [
        f"{path.relative_to(ROOT)}: {names}"
        for path in sources()
        for names in (re.findall(r"[\w-]+", text) for text in run.findall(path.read_text("utf-8")))
        if sum(link_codes.is_reserved(name) for name in names) > 3
    ]
    assert lists == []


@pytest.mark.parametrize(
    "file", ["charts/atajo/monitoring/rules.yaml", "deploy/monitoring/dashboards.py"]
)
def test_monitored_paths_are_routes(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    text = text.replace("{_API_PREFIX}", edge_table.api(TABLE))
    named = {path for many in re.findall(r'route=~?"([^"]*)"', text) for path in many.split("|")}
    assert named <= {*PATHS, f"{edge_table.api(TABLE)}/", "other"}


def test_the_generated_modules_of_the_pages_are_current() -> None:
    assert {path: path.read_text(encoding="utf-8") for path in MODULES} == MODULES


def test_paths_are_unique() -> None:
    assert len(set(PATHS)) == len(PATHS)
