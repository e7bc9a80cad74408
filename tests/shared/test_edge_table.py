"""deploy/edge.toml is the one place where the product's paths stand: no other source names one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy import edge as pages_edge
from services.shared import edge_table, link_codes
from tests.support.processes import ROOT

TABLE = edge_table.read()
PATHS = [path for path in edge_table.routes(TABLE) if path != "/"]
WEB_EDGE = ROOT / "web" / "src" / "lib" / "edge.ts"
SUFFIXES = {".py", ".sh", ".ts", ".tsx", ".js", ".html", ".conf"}
GENERATED = {WEB_EDGE, ROOT / "deploy" / "nginx" / "edge" / "routes.conf"}


def sources() -> Iterator[Path]:
    """The program's own files: neither tests nor what is generated from the table."""
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


def test_no_path_stands_anywhere_else() -> None:
    any_path = "|".join(re.escape(path.removesuffix(f"/{edge_table.CODE}")) for path in PATHS)
    assert found(rf"""["'](?:{any_path})["'/?#]""") == []
    assert found(rf"\blocation [^{{]*(?:{any_path})\b") == []


def test_the_shape_of_a_code_stands_nowhere_else() -> None:
    assert found(r"A-Za-z0-9_-\](\{4|\{8)") == []


def test_no_second_list_names_what_is_reserved() -> None:
    """Some of the words stand alone in many places; several of them in a row are a list."""
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
def test_what_is_watched_is_a_route(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    named = {path for many in re.findall(r'route=~?"([^"]*)"', text) for path in many.split("|")}
    assert named <= {*PATHS, "other"}


def test_the_pages_have_the_table_as_it_is() -> None:
    assert WEB_EDGE.read_text(encoding="utf-8") == pages_edge.module()


def test_no_two_paths_are_the_same() -> None:
    assert len(set(PATHS)) == len(PATHS)
