"""Automatic backups of a run: `ATAJO_BACKUP_HOURS`."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from services.shared.backups import TIME_FORMAT, find_backups
from tests.deployment.local.command import atajo
from tests.deployment.local.test_run import LocalRun, refused
from tests.support.gateway_client import GatewayClient
from tests.support.processes import NO_TLS
from tests.support.waiting import wait_until

SECONDS = "0.0006"
"""Two seconds, in hours."""


def automatic(data: Path) -> list[str]:
    return [backup.path.name for backup in find_backups(data / "backups")]


def name_of(age: timedelta) -> str:
    return f"{datetime.now(UTC) - age:{TIME_FORMAT}}"


def make_backup(data: Path, age: timedelta) -> str:
    """Make what looks like an automatic backup, and return its name."""
    folder = data / "backups" / name_of(age)
    folder.mkdir(parents=True)
    (folder / "scheduled").touch()
    return folder.name


def test_backups_follow_each_other_and_only_automatic_ones_are_deleted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    oldest, future = make_backup(data, timedelta(days=2)), make_backup(data, -timedelta(days=9))
    by_hand = data / "backups" / name_of(timedelta(days=3))
    by_hand.mkdir()
    renamed = data / "backups" / "monday"
    shutil.copytree(data / "backups" / oldest, renamed)
    leftover = data / "backups" / f"{oldest}.k2j4h5g6.partial"
    leftover.mkdir()
    settings = {"ATAJO_BACKUP_HOURS": SECONDS, "ATAJO_BACKUPS_KEPT": "2"}
    with LocalRun.ready(data, settings) as run:
        with GatewayClient(run.url) as client:
            email = client.register()
            code = client.shorten("https://example.com/", client.log_in(email))
        created = name_of(timedelta(seconds=-1))
        # Two that began after the creation.
        wait_until(lambda: all(name > created for name in automatic(data)))
        wait_until(lambda: len(automatic(data)) == 2)
        run.popen.terminate()
        assert run.end() == (0, "", "")
    names = automatic(data)
    assert oldest not in names
    assert future not in names
    assert by_hand.is_dir()
    assert renamed.is_dir()
    assert not leftover.exists()
    # What was being made or deleted when the run stopped is no backup, and goes with the next one.
    left = {path.name for path in (data / "backups").iterdir() if path.suffix != ".partial"}
    assert left == {by_hand.name, renamed.name, *names}

    done = atajo(tmp_path / "restored", "restore", data / "backups" / names[-1])
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(tmp_path / "restored" / "links.sqlite3")) as connection:
        assert connection.execute("SELECT code FROM links").fetchall() == [(code,)]


def test_a_restart_does_not_make_a_backup_that_is_not_due(tmp_path: Path) -> None:
    settings = {"ATAJO_BACKUP_HOURS": "24"}
    with LocalRun.ready(tmp_path, settings) as run:
        wait_until(lambda: len(automatic(tmp_path)) == 1)
        run.popen.terminate()
        assert run.end() == (0, "", "")
    (first,) = automatic(tmp_path)
    with LocalRun.ready(tmp_path, settings) as run:
        # A later backup by hand shows that this one would have been made by now.
        assert atajo(tmp_path, "backup", tmp_path / "backups" / "by-hand").returncode == 0
        assert automatic(tmp_path) == [first]
    newest = tmp_path / "backups" / first
    newest.rename(newest.with_name(name_of(timedelta(hours=25))))
    with LocalRun.ready(tmp_path, settings):
        wait_until(lambda: len(automatic(tmp_path)) == 2)


def read_metrics(run: LocalRun) -> dict[str, float]:
    """Return the metrics of backups without their prefix."""
    endpoint = run.state["processes"]["gateway"]["metrics"]
    text = httpx.get(f"http://{endpoint}/metrics", verify=NO_TLS).text
    found = re.findall(r"^atajo_backup_(\w+) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def test_metrics_say_when_the_last_backup_was_made(tmp_path: Path) -> None:
    data = tmp_path / "data"
    make_backup(data, -timedelta(days=9))  # The clock was ahead.
    (data / "backups").chmod(0o700)
    began = datetime.now(UTC).replace(microsecond=0).timestamp()
    with LocalRun.ready(data, {"ATAJO_BACKUP_HOURS": "24"}) as run:
        wait_until(lambda: read_metrics(run)["last_success_timestamp_seconds"] >= began)
        assert read_metrics(run)["interval_seconds"] == 86400
    failing = tmp_path / "failing"
    failing.mkdir(mode=0o700)
    (failing / "backups").touch()
    with LocalRun.ready(failing, {"ATAJO_BACKUP_HOURS": "1"}) as run:
        assert read_metrics(run) == {"last_success_timestamp_seconds": 0, "interval_seconds": 3600}
    with LocalRun.ready(failing) as run:
        assert read_metrics(run) == {}


def test_a_backup_that_fails_is_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "backups").touch()
    with LocalRun.ready(tmp_path, {"ATAJO_BACKUP_HOURS": SECONDS}) as run:
        assert run.popen.stderr is not None
        assert run.popen.stderr.readline() == (
            f"No backup was made: {tmp_path / 'backups'}: File exists. "
            "The next attempt is in 1 min.\n"
        )
        (tmp_path / "backups").unlink()
        wait_until(lambda: len(automatic(tmp_path)) > 0)
        assert run.popen.poll() is None


def test_a_run_that_stops_ends_a_backup(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path, {"ATAJO_BACKUP_HOURS": "1"}) as run:
        backups = tmp_path / "backups"
        wait_until(lambda: any(backups.glob("*.partial")) or bool(automatic(tmp_path)))
        run.popen.terminate()
        assert run.end() == (0, "", "")
    with LocalRun.ready(tmp_path, {"ATAJO_BACKUP_HOURS": "1"}) as run:
        wait_until(lambda: len(automatic(tmp_path)) == 1)
        assert len(list(backups.iterdir())) == 1


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"ATAJO_BACKUP_HOURS": "0"}, "ATAJO_BACKUP_HOURS: "),
        ({"ATAJO_BACKUP_HOURS": "daily"}, "ATAJO_BACKUP_HOURS: "),
        ({"ATAJO_BACKUPS_KEPT": "0"}, "ATAJO_BACKUPS_KEPT: "),
        (
            {"ATAJO_BACKUP_HOURS": "24", "ATAJO_STORE": "mongodb://localhost/"},
            "ATAJO_BACKUP_HOURS: Value error, data in MongoDB is backed up by mongodump",
        ),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(
    tmp_path: Path, settings: dict[str, str], reason: str
) -> None:
    assert f"Settings refused. {reason}" in refused(LocalRun(tmp_path, settings))


def test_an_old_backup_that_cannot_be_deleted_prevents_no_backup(tmp_path: Path) -> None:
    oldest = make_backup(tmp_path, timedelta(days=2))
    in_the_way = tmp_path / "backups" / f"{oldest}.deleted.partial"
    in_the_way.touch()
    with LocalRun.ready(tmp_path, {"ATAJO_BACKUP_HOURS": "1", "ATAJO_BACKUPS_KEPT": "1"}) as run:
        assert run.popen.stderr is not None
        line = run.popen.stderr.readline()
        assert line == f"Old backups were not deleted: {in_the_way}: Not a directory.\n"
        assert len(automatic(tmp_path)) == 2
