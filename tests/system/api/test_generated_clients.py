"""Clients that are generated from the description of the REST API call every operation."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import ApiClient
from tests.support.gateway_client import new_code
from tests.support.processes import ROOT
from tests.support.product import Product

DESCRIPTION = ROOT / "docs" / "reference" / "openapi.json"
WEB_TOOLS = ROOT / "web" / "node_modules"
PROGRAM = Path(__file__).with_name("every_operation.ts")


def run(*command: str | Path, folder: Path, **environment: str) -> None:
    """Run a command. Fails with its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_client_of_openapi_python_client(
    product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = Path(sys.executable).with_name("openapi-python-client")
    target = tmp_path / "atajo_client"
    options = ("--meta", "none", "--output-path", target, "--fail-on-warning")
    run(generator, "generate", "--path", DESCRIPTION, *options, folder=tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    models: Any = importlib.import_module("atajo_client.models")
    generated: Any = importlib.import_module("atajo_client")
    with generated.AuthenticatedClient(f"{product.url}/api/v1", ApiClient(product).key) as client:
        call_every_operation(client, models)


def call_every_operation(client: Any, models: Any) -> None:
    """Call every operation with a generated client, and check the values that it returns."""

    def call(operation: str, *path: str, **arguments: Any) -> Any:
        module = importlib.import_module(f"atajo_client.api.{operation}")
        return module.sync_detailed(*path, client=client, **arguments)

    new = models.NewLink(url="https://example.com/", title="a", tags=["b"])
    created = call("links.create_link", body=new, idempotency_key="once")
    assert created.status_code == 201
    assert call("links.create_link", body=new, idempotency_key="once").parsed == created.parsed
    code = created.parsed.code
    listed = call("links.list_links", order=models.LinkOrder.OLDEST, limit=1).parsed
    assert [link.code for link in listed.items] == [code]
    links = models.NewLinks(links=[new, models.NewLink(url="https://example.com/", code=code)])
    results = call("links.create_links", body=links).parsed.results
    assert [one.status for one in results] == [201, 409]
    assert results[1].problem.code == "code_taken"
    assert call("links.get_link", code).parsed == created.parsed
    changes = models.LinkChanges(title="changed", expires_at=None)
    assert call("links.change_link", code, body=changes).parsed.title == "changed"
    assert call("links.remove_link", code).status_code == 204
    assert call("links.restore_link", code).parsed.state == models.LinkState.ACTIVE
    statistics = call("statistics.get_link_statistics", code, range_=models.RecentPeriod.ALL)
    assert statistics.parsed.totals.people == 0
    period = {"from_": date(2026, 1, 1), "to": date(2026, 1, 31)}
    assert call("statistics.get_statistics", **period).parsed.top == []
    assert call("account.get_account").parsed.links == 2
    problem = call("links.get_link", new_code()).parsed
    assert (problem.status, problem.code) == (404, "not_found")


def test_the_client_of_openapi_typescript(product: Product, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(WEB_TOOLS)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    tools = WEB_TOOLS / ".bin"
    run(tools / "openapi-typescript", DESCRIPTION, "--output", "api.d.ts", folder=tmp_path)
    (tmp_path / PROGRAM.name).write_text(PROGRAM.read_text(encoding="utf-8"))
    strict = ("--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess")
    target = ("--target", "es2022", "--module", "nodenext", "--types", "node")
    run(tools / "tsc", *strict, *target, PROGRAM.name, folder=tmp_path)
    program = PROGRAM.with_suffix(".js").name
    key = ApiClient(product).key
    run("node", program, folder=tmp_path, URL=f"{product.url}/api/v1", KEY=key)
