"""Generates the description of the REST API, and tables of the documents: `make reference`.

The documents are written by hand. Each table is between two markers, of which the first names it.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from deploy.local.backup import Backup
from deploy.local.restore import RestoreResult
from deploy.local.settings import RunSettings
from deploy.monitoring.__main__ import MonitorSettings
from gateway.api.app import create_app
from gateway.backends.owners import Guest
from gateway.backends.ports import Link
from gateway.backends.view_counts import Totals
from gateway.functions.owned_links import ChangesPayload
from gateway.functions.table import Function, table
from gateway.redirects.resolution import BlockReason, LinkState
from gateway.settings import GatewaySettings
from gateway.use_cases.json_values import link_json
from gateway.use_cases.limits import Limits
from services.admin.documents import DOCUMENTS
from services.admin.settings import AdminSettings
from services.analytics.settings import AnalyticsSettings
from services.auth.settings import AuthSettings
from services.links.settings import LinksSettings
from services.reconciler.settings import ReconcilerSettings
from services.shared.environment import PREFIX
from services.shared.origins import Origins
from services.shared.settings import ProcessSettings, ServiceSettings
from tests.deployment.monitoring.rules import alerts
from tests.support import field_values
from tests.support.processes import ROOT

REFERENCE = ROOT / "docs" / "reference"
DESCRIPTION = REFERENCE / "openapi.json"
"""The description of the REST API."""
OPERATIONS = ROOT / "docs" / "operations" / "README.md"
SETTINGS: dict[str, tuple[type[ProcessSettings], type[ProcessSettings] | None]] = {
    "all": (ProcessSettings, None),
    "services": (ServiceSettings, ProcessSettings),
    "auth": (AuthSettings, ServiceSettings),
    "links": (LinksSettings, ServiceSettings),
    "analytics": (AnalyticsSettings, ServiceSettings),
    "gateway": (GatewaySettings, ProcessSettings),
    "reconciler": (ReconcilerSettings, ProcessSettings),
    "admin": (AdminSettings, ProcessSettings),
    "run": (RunSettings, ProcessSettings),
    "monitor": (MonitorSettings, RunSettings),
}
"""The settings of each process, and the base class that another table already covers."""
MACHINE = {"bcrypt_threads"}
"""Settings whose default depends on the number of cores."""
METRIC_TYPES = {
    "Counter": "counter",
    "CounterMetricFamily": "counter",
    "_counter": "counter",
    "Gauge": "gauge",
    "GaugeMetricFamily": "gauge",
    "Histogram": "histogram",
    "HistogramMetricFamily": "histogram",
}
"""Functions whose first two arguments are the name and help of a metric, by its type."""


_JSON = {
    str: "text",
    Guest: "text",
    datetime: "text",
    type(None): "null",
    int: "number",
    float: "number",
    bool: "true or false",
}


def tables() -> dict[str, str]:
    """Return every table by the name in its marker."""
    made = {f"settings-{name}": _settings(*classes) for name, classes in SETTINGS.items()}
    made["settings-web"] = _web_settings()
    made["payloads"] = _payloads()
    made["changes"] = _table(("field", "value"), _typed(ChangesPayload))
    made["link"] = _link()
    made["metrics-web"] = _web_metrics()
    made["alerts"] = _alerts()
    made["operator"] = "".join(_operator_documents())
    for folder in ("gateway", "services"):
        for process, rows in _metrics(ROOT / folder).items():
            made[f"metrics-{process}"] = _table(("metric", "type", "labels", "meaning"), rows)
    return made


def _settings(settings: type[ProcessSettings], known: type[ProcessSettings] | None) -> str:
    """Return the table of a class without fields that its base class defines."""
    described: dict[str, str] = {}
    for each in settings.__mro__:
        if not issubclass(known or BaseModel, each):
            described = _described(each) | described
    rows = []
    for name, field in settings.model_fields.items():
        if name not in described:
            continue
        values = [f"`{each}`" for each in get_args(field.annotation) if isinstance(each, str)]
        text = (f"One of {', '.join(values)}. " if values else "") + described[name]
        rows.append((f"`{PREFIX}{name.upper()}`", _default(name, field), text.strip()))
    return _table(("name", "default", "meaning"), rows)


def _default(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if name in MACHINE:
        return "depends on the machine"
    default = field.get_default()
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    if default is None or default == "" or default == ():
        return "none"
    if isinstance(default, Path):
        return f"`{default.relative_to(ROOT)}`"
    return f"`{default}`"


def _described(settings: type) -> dict[str, str]:
    """Return the fields of a class with their docstrings.

    Fields of one type that follow each other share the docstring below the last one.
    """
    body = ast.parse(inspect.getsource(settings).lstrip()).body[0]
    assert isinstance(body, ast.ClassDef)
    described: dict[str, str] = {}
    group: list[str] = []
    kind = ""
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if (own := ast.unparse(node.annotation)) != kind:
                kind, group = own, []
            group.append(node.target.id)
            described[node.target.id] = ""
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            described |= dict.fromkeys(group, _flat(str(node.value.value)))
            group = []
    return described


def _web_settings() -> str:
    """Return the table of the settings in the header of nginx's start script."""
    script = (ROOT / "deploy" / "nginx" / "start.sh").read_text(encoding="utf-8")
    rows = []
    for line in re.findall(r"^#   (ATAJO_.*)$", script, re.MULTILINE):
        names, text = re.split(r"\s{2,}", line, maxsplit=1)
        rows.append((", ".join(f"`{name}`" for name in names.split(", ")), text))
    return _table(("name", "meaning"), rows)


def _payloads() -> str:
    limits = Limits(
        **{
            name: f"`{PREFIX}LIMIT_{name.upper()}`"  # type: ignore[arg-type]
            for name in (
                *("creations", "reports", "registrations", "logins", "edits", "reads"),
                *("import_rows", "short_codes"),
            )
        },
        recoveries="as many as log-ins",  # type: ignore[arg-type]
        session_checks="as many as log-ins",  # type: ignore[arg-type]
    )
    rows = [
        (name, _fields(function), str(function.limit or "none"))
        for name, function in table(limits).items()
    ]
    return _table(("function", "fields", "limit by client"), rows)


def _fields(function: Function) -> str:
    fields = []
    for name, field in function.payload.model_fields.items():
        kind = _kind(field.annotation)
        if field.is_required():
            fields.append(f"`{field.alias or name}`: {kind}")
        else:
            fields.append(f"`{field.alias or name}`?: {kind.removesuffix(' or null')}")
    return ", ".join(fields)


def _typed(payload: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Return the fields of a payload with their JSON types."""
    for name, field in payload.model_fields.items():
        yield f"`{field.alias or name}`", _kind(field.annotation)


def _link() -> str:
    """Return the table of the fields of a link, as its owner gets them."""
    link = field_values.filled(Link)
    bare = Link(
        **{name: getattr(link, name) for name in ("code", "url", "title", "created_at")},
        changed_at=None,
        state=link.state,
        reason=None,
    )
    origins = Origins("https://atajo.example")
    shown, empty = link_json(link, Totals(), origins), link_json(bare, None, origins)
    enums = {"state": LinkState, "reason": BlockReason}
    rows = []
    for name, value in shown.items():
        kind = _kind(enums.get(name, type(value)))
        if name not in empty:
            kind += "; absent if it has none"
        elif empty[name] is None:
            kind += " or null"
        rows.append((f"`{name}`", kind))
    return _table(("field", "value"), rows)


def _kind(annotation: Any) -> str:
    """Return the JSON type of an annotation."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(_kind(each) for each in get_args(annotation))
    if (get_origin(annotation) or annotation) in (list, tuple):
        return "list"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "one of " + ", ".join(f"`{member.value}`" for member in annotation)
    return _JSON.get(annotation, "object")


def _operator_documents() -> Iterator[str]:
    """Yield a section for each document of `atajo`, and for each object in one."""
    for document in (*DOCUMENTS, Backup, RestoreResult):
        described = _described(document)
        rows = [
            (f"`{name}`", _linked_kind(annotation), described[name])
            for name, annotation in get_type_hints(document).items()
        ]
        yield f"\n## {document.__name__}\n\n{document.__doc__}\n\n"
        yield _table(("field", "value", "meaning"), rows)
    yield "\n"


def _linked_kind(annotation: Any) -> str:
    """Return the JSON type of an annotation, with links to the sections of objects."""
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(_linked_kind(each) for each in get_args(annotation))
    if get_origin(annotation) is list:
        return f"list of {_linked_kind(get_args(annotation)[0])}"
    if is_dataclass(annotation):
        name = getattr(annotation, "__name__", "")
        return f"[{name}](#{name.lower()})"
    return _kind(annotation)


def _metrics(root: Path) -> dict[str, list[tuple[str, ...]]]:
    """Return the metrics that the code below a folder defines, by process."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(ROOT).parts
        process = parts[1] if parts[0] == "services" else parts[0]
        rows = found.setdefault("all" if process == "shared" else process, [])
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            rows += _metric(node)
    return {process: sorted(rows) for process, rows in found.items() if rows}


def _metric(node: ast.AST) -> Iterator[tuple[str, ...]]:
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return
    kind = METRIC_TYPES.get(ast.unparse(node.func))
    name, text = (each.value if isinstance(each, ast.Constant) else None for each in node.args[:2])
    if kind is None or not isinstance(name, str) or not isinstance(text, str):
        return
    labels = next((each.value for each in node.keywords if each.arg == "labels"), None)
    if labels is None and len(node.args) > 2:
        labels = node.args[2]
    suffix = "_total" if kind == "counter" and not name.endswith("_total") else ""
    yield f"`{name}{suffix}`", kind, _labels(labels), _flat(text)


def _web_metrics() -> str:
    """Return the table of the metrics in nginx's configuration."""
    text = (ROOT / "deploy" / "nginx" / "nginx.conf").read_text(encoding="utf-8")
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    helps = re.findall(r"^\"?# HELP (\w+) (.*)$", text, re.MULTILINE)
    rows = [(f"`{name}`", kinds[name], _flat(about)) for name, about in helps]
    return _table(("metric", "type", "meaning"), rows)


def _alerts() -> str:
    """Return the table of the alerts with their severities and runbooks."""
    rows = []
    for alert in alerts():
        severity = alert.labels.get("severity", "page or ticket")
        summary = re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"*\1*", alert.annotations["summary"])
        rows.append((f"[{alert.name}](runbooks/{alert.runbook})", severity, summary))
    return _table(("alert", "severity", "summary"), rows)


def _labels(node: ast.expr | None) -> str:
    parts = ast.walk(node) if node else ()
    names = [each.value for each in parts if isinstance(each, ast.Constant)]
    return ", ".join(f"`{name}`" for name in names if isinstance(name, str))


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill(text: str, made: dict[str, str]) -> str:
    """Return a document with each table between its markers. Raises KeyError for an unknown one."""
    return re.sub(
        r"(<!-- reference: ([\w-]+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + made[match[2]] + match[3],
        text,
        flags=re.DOTALL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a document differs")
    check = parser.parse_args().check
    made = tables()
    written = {
        document: fill(document.read_text(encoding="utf-8"), made)
        for document in (OPERATIONS, *sorted(REFERENCE.glob("*.md")))
    }
    written[DESCRIPTION] = json.dumps(create_app().openapi(), indent=2, ensure_ascii=False) + "\n"
    for document, after in written.items():
        before = document.read_text(encoding="utf-8")
        if check and after != before:
            sys.exit(f"{document.relative_to(ROOT)} is not current: make reference")
        if not check:
            document.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
