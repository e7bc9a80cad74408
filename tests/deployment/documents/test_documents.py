"""Documents have a maximum size, and everything they name exists."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from deploy.monitoring.dashboards import DASHBOARDS
from services.shared import edge_table
from tests.deployment.documents.reference import REFERENCE, SETTINGS
from tests.support.processes import ROOT

MAX_WORDS = {
    "README.md": 1200,
    "ARCHITECTURE.md": 2800,
    "CONTRIBUTING.md": 600,
    "docs/install.md": 1000,
    **{f"docs/adr/{file.name}": 400 for file in (ROOT / "docs" / "adr").glob("0*.md")},
}
DOCUMENTS = sorted(
    str(file.relative_to(ROOT))
    for file in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "charts").rglob("*.md"),
        *(ROOT / ".github").rglob("*.md"),
    )
)
HISTORY = [name for name in DOCUMENTS if name == "CHANGELOG.md" or re.search(r"/adr/\d", name)]
"""Documents that may name identifiers that no longer exist."""
SOURCES = ("charts", "deploy", "gateway", "proto", "services", "tests", "web")
TEXTS = {
    *(".py", ".ts", ".tsx", ".js", ".mjs", ".css", ".html", ".proto", ".sh", ".conf", ".toml"),
    *(".yaml", ".tpl", ".json", "Dockerfile"),
}
EXTERNAL = frozenset(
    {
        *("kind", "kubectl", "mongodump", "mongosh", "pre-commit"),
        *("dmesg", "db.currentOp", "rs.status", "periodicNoopIntervalSecs"),
        *("OOMKilled", "github.io", "co.uk"),
        *("atajo_auth", "atajo_links", "atajo_analytics"),
    }
)
"""Names of other programs and their output, and of databases."""

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]*(?:\(\))?")
_PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+/?|[\w-]+\.(?:py|ts|tsx|toml|ya?ml|json|sh|conf|md)")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def spans(name: str) -> Iterator[str]:
    """Return the code spans of a document."""
    yield from _SPAN.findall(_FENCED.sub("", read(name)))


def files() -> Iterator[Path]:
    """Return the source files, without dependencies and build output."""
    for folder in SOURCES:
        for file in (ROOT / folder).rglob("*"):
            skipped = {"node_modules", "dist", Path(__file__).name}
            if {file.suffix, file.name} & TEXTS and not skipped & set(file.parts):
                yield file


@cache
def words() -> frozenset[str]:
    """Return all words of the sources, also split at dots and hyphens."""
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files()]
    texts += [read(name) for name in ("Makefile", "compose.yaml", "pyproject.toml", ".ci/run")]
    texts += [file.read_text(encoding="utf-8") for file in (ROOT / ".github").rglob("*.yml")]
    found = set(re.findall(r"[A-Za-z_][\w.-]*\w", "\n".join(texts)))
    return frozenset(found | {part for word in found for part in re.split(r"[.-]", word)})


@cache
def paths() -> frozenset[str]:
    """Return all files and folders of sources and documents."""
    roots = [ROOT / name for name in (*SOURCES, "docs", ".ci", ".github", ".vscode")]
    found = {path for root in roots for path in (root, *root.rglob("*"))}
    found |= set(ROOT.iterdir())
    return frozenset(
        str(path.relative_to(ROOT)) for path in found if "node_modules" not in path.parts
    )


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z0-9-]*):", read("Makefile"), re.MULTILINE))


def slug(heading: str) -> str:
    """Return GitHub's anchor of a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return kept.replace(" ", "-")


def anchors(file: Path) -> set[str]:
    return {slug(one) for one in re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M)}


@pytest.mark.parametrize("name", MAX_WORDS)
def test_a_document_keeps_to_its_size(name: str) -> None:
    assert len(read(name).split()) <= MAX_WORDS[name]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    for link in _LINK.findall(_FENCED.sub("", read(name))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), f"{name}: {link}"
        assert not anchor or anchor in anchors(file), f"{name}: {link}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_make_targets_exist(name: str) -> None:
    called = re.findall(r"(?:`|^    )make ([a-z][a-z0-9-]*)", read(name), re.MULTILINE)
    assert not set(called) - targets()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_settings_and_metrics_exist(name: str) -> None:
    for word in re.findall(r"\b(?:ATAJO_[A-Z_]+[A-Z]|atajo_[a-z_]+[a-z])\b", read(name)):
        assert is_known(word), word


def is_known(word: str) -> bool:
    """Return whether the sources contain a word, or all its parts."""
    known = words() | EXTERNAL
    # The Prometheus client and `background.log_errors` append these.
    bare = re.sub(r"_(total|bucket|count|sum|failed|error)$", "", word)
    parts = re.split(r"[.-]", word)
    return bool(known & {word, bare}) or set(parts) <= known | {""} or _is_setting(word)


def _is_setting(word: str) -> bool:
    field = word.removeprefix("ATAJO_").removesuffix("_FILE").lower()
    return any(field in settings.model_fields for settings, _ in SETTINGS.values())


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_files_and_modules_exist(name: str) -> None:
    for span in spans(name):
        if _PATH.fullmatch(span) and not span.startswith(("text/", "application/")):
            assert _exists(span, name), f"{name}: {span}"
        for module in re.findall(r"python -m ([\w.]+)", span):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def _exists(span: str, name: str) -> bool:
    span = span.rstrip("/")
    if "*" in span:
        return any(ROOT.glob(span))
    if "/" not in span:
        return any(path == span or path.endswith(f"/{span}") for path in paths())
    first = span.split("/")[0]
    # Names of images and the like resemble paths.
    return span in paths() or ((ROOT / name).parent / span).exists() or first not in SOURCES


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name not in HISTORY])
def test_identifiers_exist(name: str) -> None:
    for span in spans(name):
        if _IDENTIFIER.fullmatch(span) and not _PATH.fullmatch(span):
            assert is_known(span.removesuffix("()")), span


def test_every_function_is_documented() -> None:
    edge = tomllib.loads(read("deploy/edge.toml"))
    text = (REFERENCE / "functions.md").read_text(encoding="utf-8")
    for function in edge["functions"]["names"]:
        assert re.search(rf"^\| .*\b{function}\b", text, re.MULTILINE), function


def test_every_setting_has_a_meaning() -> None:
    text = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(ATAJO_\w+)`.*\| +\|$", text, re.MULTILINE) == []


def test_dashboards_have_the_rows_and_panels_that_documents_name() -> None:
    titles = {row.title for dashboard in DASHBOARDS for row in dashboard.rows}
    titles |= {panel.title for each in DASHBOARDS for row in each.rows for panel in row.panels}
    for name in DOCUMENTS:
        for title in re.findall(r'(?:row|panel) "([^"]+)"', read(name)):
            assert title in titles, f"{name}: {title}"


def test_every_function_is_described() -> None:
    described = read("docs/reference/functions.md").partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w, ]+) \|", described, re.MULTILINE)
    names = {name for row in rows for name in row.split(", ")}
    assert not set(edge_table.read()["functions"]["names"]) - names
