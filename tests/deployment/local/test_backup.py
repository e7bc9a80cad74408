"""A backup waits for visits by the gateway's metrics, and contains no visitor key."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from deploy.local import backup
from deploy.local.restore import restore
from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Totals, VisitCount, VisitKind
from services.analytics.storage.sqlite.schema import MIGRATIONS as ANALYTICS
from services.auth.storage.sqlite.schema import MIGRATIONS as AUTH
from services.links.storage.sqlite import MIGRATIONS as LINKS
from services.shared import sqlite
from services.shared.sqlite.connection import open_migrated
from tests.deployment.local.command import SMALL_FILES, atajo, killed, refused
from tests.support.ports import free_port
from tests.support.processes import PYTHON_PATH, ROOT, TIMEOUT_SECONDS
from tests.support.store_fixtures import open_stores_at

COUNTED = "atajo_visits_restoring 0.0\natajo_visit_flush_lag_seconds 0.0\n"
"""Metrics of a gateway whose visits are all counted."""
COMPLETE = (*backup.STORES, "token-secret")


@contextmanager
def metrics_of(text: str) -> Iterator[str]:
    """Serve these metrics as a gateway's, and return host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("restoring", "reason"),
    [
        ("1.0", "visits of an earlier run are still being read back. Try again in a minute or two"),
        ("0.0", "visits wait for analytics, which takes them too slowly or not at all"),
    ],
)
def test_a_backup_says_which_visits_it_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restoring: str, reason: str
) -> None:
    monkeypatch.setattr(backup, "_DRAIN_TIMEOUT", 0.2)
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    text = f"atajo_visits_restoring {restoring}\natajo_visit_flush_lag_seconds 40.0\n"
    with metrics_of(text) as address:
        state = {"store": "sqlite", "processes": {"gateway": {"metrics": address}}}
        (data / "run.json").write_text(json.dumps(state))
        with pytest.raises(SystemExit, match=f"No backup was made: {reason}"):
            backup.back_up(data, copy)
    assert not copy.exists()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """The data folder of something that looks like a run to a backup."""
    data = tmp_path / "data"
    data.mkdir()
    for name, migrations in zip(backup.STORES, (ANALYTICS, LINKS, AUTH), strict=True):
        open_migrated(data / name, migrations).close()
    (data / "token-secret").write_text("secret")
    with metrics_of(COUNTED) as address:
        state = {"store": "sqlite", "processes": {"gateway": {"metrics": address}}}
        (data / "run.json").write_text(json.dumps(state))
        yield data


def test_a_backup_that_is_killed_at_any_moment_leaves_no_backup(
    running: Path, tmp_path: Path
) -> None:
    folder, restored = tmp_path / "backups", tmp_path / "restored"
    at = 0
    while killed(at := at + 1, lambda: backup.back_up(running, folder / "copy")):
        for left in folder.glob("*"):
            assert left.name == "copy" or left.name.endswith(".partial")
        if (folder / "copy").exists():
            assert restore(restored, folder / "copy").replaced is None
            shutil.rmtree(restored)
            shutil.rmtree(folder)
    assert at > 20
    # The last one has deleted what the others left.
    assert [path.name for path in folder.iterdir()] == ["copy"]


def test_concurrent_backups_do_not_disturb_each_other(running: Path, tmp_path: Path) -> None:
    targets = [tmp_path / name for name in ("one", "two", "two")]
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda target: atajo(running, "backup", target), targets))
    assert sorted(each.returncode for each in done) == [0, 0, 1]
    failed = next(each for each in done if each.returncode)
    assert failed.stderr.endswith(f"No backup was made: {tmp_path / 'two'} is there already.\n")
    for target in targets:
        assert sorted(path.name for path in target.iterdir()) == sorted(COMPLETE)
    assert not list(tmp_path.glob("*.partial"))


def test_a_backup_waits_for_another_one(running: Path, tmp_path: Path) -> None:
    with backup.held(running):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "deploy.local", "backup", str(tmp_path / "copy")],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": PYTHON_PATH,
                "ATAJO_DATA_DIR": str(running),
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        assert waiting.stderr.readline() == "Waits until another backup is complete.\n"
        assert not (tmp_path / "copy").exists()
    assert waiting.communicate(timeout=TIMEOUT_SECONDS)[1] == ""
    assert (tmp_path / "copy").is_dir()


def test_a_disk_without_space_leaves_nothing_behind(running: Path, tmp_path: Path) -> None:
    line = refused(atajo(running, "backup", tmp_path / "backups" / "copy", by=SMALL_FILES))
    assert line.startswith("No backup was made: ")
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_backup_leaves_space_for_the_run(
    running: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = os.statvfs(tmp_path)
    free = 60_000_000 // disk.f_frsize
    fields = (*disk[:3], free, free, *disk[5:])
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(fields))
    with pytest.raises(SystemExit, match="has 60 MB of free space, and a backup takes 67 MB"):
        backup.back_up(running, tmp_path / "backups" / "copy")
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_damaged_store_is_not_backed_up(running: Path, tmp_path: Path) -> None:
    store = running / "links.sqlite3"
    content = store.read_bytes()
    store.write_bytes(content[:8192] + b"\x55" * (len(content) - 8192))
    with pytest.raises(SystemExit, match=r"No backup was made: links.sqlite3: "):
        backup.back_up(running, tmp_path / "copy")
    assert not list(tmp_path.glob("copy*"))


def test_another_user_than_that_of_the_run_makes_no_backup(
    running: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: running.stat().st_uid + 1)
    for act in (backup.back_up, restore):
        with pytest.raises(SystemExit, match="run this as that user"):
            act(running, tmp_path / "copy")


def test_the_run_of_a_killed_supervisor_is_over(tmp_path: Path) -> None:
    state = {"store": "sqlite", "processes": {"gateway": {"metrics": f"127.0.0.1:{free_port()}"}}}
    (tmp_path / "run.json").write_text(json.dumps(state))
    with pytest.raises(SystemExit, match="Atajo does not run over"):
        backup.back_up(tmp_path, tmp_path / "copy")


def test_a_backup_has_the_counts_and_no_key_of_visitors(tmp_path: Path) -> None:
    """The copy would outlive the day of the key."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    (data / "token-secret").write_text("secret")
    key = b"key of the day, 32 bytes of it.."

    def holding(folder: Path) -> list[str]:
        return [path.name for path in folder.iterdir() if key in path.read_bytes()]

    async def fill_and_copy(address: str) -> None:
        for name in ("auth", "links"):
            await (await sqlite.Database.open(data / f"{name}.sqlite3", ())).close()
        setting = f"sqlite:///{data}/analytics.sqlite3"
        async with open_stores_at(setting, "analytics", STORE_FACTORIES) as store:
            visits = (VisitCount("abcdefgh", 490_000, VisitKind.PERSON, {}, 1),)
            await store.apply(Batch("one", 1, visits), datetime.now(UTC))
            await store.visitor_key(20_513, key)
            assert holding(data)
            state = {"store": "sqlite", "processes": {"gateway": {"metrics": address}}}
            (data / "run.json").write_text(json.dumps(state))
            await asyncio.to_thread(backup.back_up, data, copy)

    with metrics_of(COUNTED) as address:
        asyncio.run(fill_and_copy(address))
    assert holding(copy) == []
    assert sorted(path.name for path in copy.iterdir()) == sorted(COMPLETE)

    async def totals() -> dict[str, Totals]:
        setting = f"sqlite:///{copy}/analytics.sqlite3"
        async with open_stores_at(setting, "analytics", STORE_FACTORIES) as store:
            return await store.totals(["abcdefgh"])

    assert asyncio.run(totals()) == {"abcdefgh": Totals(1, 0)}


def test_no_backup_is_made_beside_the_data(running: Path) -> None:
    line = refused(atajo(running, "backup", running / "restoring"))
    assert line.startswith(f"No backup was made: {running} is the data folder itself. ")
