"""A backup under load, and a run on it."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.deployment.local.command import atajo
from tests.support.load_generator import Load
from tests.support.product import Product

STORES = ("auth.sqlite3", "links.sqlite3", "analytics.sqlite3")


def write_state(product: Product, store: str = "sqlite") -> None:
    """Return the state that `make run` writes to the data folder."""
    metrics = product.metrics_url("gateway").removeprefix("http://").removesuffix("/metrics")
    state = {"store": store, "processes": {"gateway": {"metrics": metrics}}}
    (product.folder / "run.json").write_text(json.dumps(state))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with Product(tmp_path_factory.mktemp("run") / "data", {"ATAJO_LIMITS": "off"}) as product:
        product.folder.mkdir()
        product.start()
        write_state(product)
        yield product


def test_a_backup_under_load_has_all_that_was_acknowledged_before(
    running: Product, tmp_path: Path
) -> None:
    email = running.register()
    token = running.log_in(email)
    codes = [running.shorten(f"https://example.com/{n}", token) for n in range(3)]
    copy = tmp_path / "copies" / "first"
    with Load(running, token, codes, visitors=3, makers=2) as load:
        load.await_more(visits=300, created=30)
        # Everything noted so far was acknowledged before the backup begins.
        answered, created = dict(load.answered), dict(load.created)
        done = atajo(running.folder, "backup", copy)
        assert done.returncode == 0, done.stderr
        load.await_more(visits=100, created=10)
        last = {**load.answered}
    assert not load.failures

    assert {path.name for path in copy.iterdir()} == {*STORES, "token-secret"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in copy.iterdir()} == {0o600}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    for name in STORES:
        with closing(sqlite3.connect(copy / name)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    data = tmp_path / "data"
    assert atajo(data, "restore", copy).returncode == 0
    with Product(data, {"ATAJO_LIMITS": "off"}) as restored:
        restored.start()
        restored.log_in(email)
        views = restored.views(token)  # The key that signed it was restored, too.
        assert (
            created.items()
            <= {code: f"https://example.com/{code}" for code in views if code not in codes}.items()
        )
        for code in codes:
            assert answered[code] <= views[code] <= last[code] + len(codes)
        for code, url in list(created.items())[:20]:
            assert restored.visit(code).headers["location"] == url
            views[code] += 1
        for code in codes:
            for _ in range(7):
                assert restored.visit(code).status_code == 302
            views[code] += 7
        restored.await_views(token, views)
        restored.stop("gateway")
        restored.start("gateway")
        assert restored.views(token) == views, "a restart counts nothing twice"


def test_no_incomplete_backup_is_made(running: Product, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    token = running.log_in(running.register())
    running.shorten("https://example.com/", token)
    copy.mkdir()
    assert atajo(running.folder, "backup", copy).stderr == (
        f"No backup was made: {copy} is there already.\n"
    )
    copy.rmdir()

    write_state(running, store="mongodb")
    assert "this run is over MongoDB" in atajo(running.folder, "backup", copy).stderr
    (running.folder / "run.json").unlink()
    assert "Atajo does not run over" in atajo(running.folder, "backup", copy).stderr
    assert not list(tmp_path.glob("copy*"))
    write_state(running)


def test_older_counts_with_a_newer_journal_lose_only_the_visits_in_between(
    running: Product, tmp_path: Path
) -> None:
    """Only the analytics store is restored; the gateway keeps its journal."""
    token = running.log_in(running.register())
    code = running.shorten("https://example.com/", token)
    for _ in range(5):
        running.visit(code)
    assert atajo(running.folder, "backup", tmp_path / "copy").returncode == 0
    for _ in range(3):
        running.visit(code)
    running.await_views(token, {code: 8})
    running.stop("analytics")
    for _ in range(2):
        running.visit(code)  # These wait in the journal.
    running.stop("gateway")
    for path in running.folder.glob("analytics.sqlite3*"):
        path.unlink()
    (tmp_path / "copy" / "analytics.sqlite3").rename(running.folder / "analytics.sqlite3")

    running.start("analytics")
    running.start("gateway")
    running.await_views(token, {code: 7})
    running.visit(code)
    running.await_views(token, {code: 8})
