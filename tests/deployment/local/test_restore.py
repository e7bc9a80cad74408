"""`atajo restore`: all data or nothing, whatever happens meanwhile."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.local.folder import DataFolder
from deploy.local.restore import finish, restore
from services.analytics.storage.sqlite.schema import MIGRATIONS as ANALYTICS
from services.auth.storage.sqlite.schema import MIGRATIONS as AUTH
from services.links.storage.sqlite import MIGRATIONS as LINKS
from services.shared.sqlite.connection import open_migrated
from tests.deployment.local.command import SMALL_FILES, atajo, killed, refused
from tests.deployment.local.test_run import LocalRun
from tests.support.gateway_client import GatewayClient

SCHEMAS = {"auth.sqlite3": AUTH, "links.sqlite3": LINKS, "analytics.sqlite3": ANALYTICS}


def fill(folder: Path, name: str) -> Path:
    """Make a data folder of a stopped run, with logs and a journal. All of it has a name."""
    live = folder.with_name(f"{folder.name}.live")
    live.mkdir(parents=True)
    (folder / "journal").mkdir(mode=0o700, parents=True)
    for store, migrations in SCHEMAS.items():
        with closing(open_migrated(live / store, migrations)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("CREATE TABLE mark AS SELECT ? AS name", (name,))
            for log in ("", "-wal"):
                shutil.copy(live / f"{store}{log}", folder)
            assert (folder / f"{store}-wal").stat().st_size
    shutil.rmtree(live)
    (folder / "token-secret").write_text(name)
    (folder / "journal" / "visits").write_text(name)
    return folder


def names(folder: Path) -> set[str]:
    """Return the names of everything in a folder: one, unless it is a mixture."""
    found = {(folder / "token-secret").read_text()}
    found |= {file.read_text() for file in (folder / "journal").iterdir()}
    for store in SCHEMAS:
        with closing(sqlite3.connect(folder / store)) as connection:
            found |= set(connection.execute("SELECT name FROM mark").fetchone())
    return found


def replaced_in(folder: Path) -> list[Path]:
    kept = folder / "replaced"
    return sorted(kept.iterdir()) if kept.exists() else []


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, without locks."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith("lock")
    }


def begin(folder: Path, source: Path) -> None:
    """Restore a folder in a process that is killed as soon as the restore must be completed."""
    at = 0
    while not (folder / "restoring").exists():
        at += 1
        assert killed(at, lambda: restore(folder, source))


def start(folder: Path) -> None:
    """Do what a run does first."""
    with DataFolder.held(folder) as held:
        if held.is_restoring:
            finish(folder)
    assert not list(folder.glob("restoring*"))


def test_a_restore_that_is_killed_at_any_moment_is_whole_or_changes_nothing(
    tmp_path: Path,
) -> None:
    source, before = fill(tmp_path / "backup", "new"), fill(tmp_path / "before", "old")
    folder = tmp_path / "data"
    results: list[str] = []
    at, was_killed = 0, True
    while was_killed:
        at += 1
        shutil.copytree(before, folder)
        was_killed = killed(at, lambda: restore(folder, source))
        start(folder)
        found = names(folder)
        results += found
        assert found in ({"old"}, {"new"}), at
        assert [names(kept) for kept in replaced_in(folder)] == ([{"old"}] * (found == {"new"}))
        shutil.rmtree(folder)
    changed = results.index("new")
    assert 10 < changed < at - 10
    assert set(results[changed:]) == {"new"}
    assert names(source) == {"new"}


@pytest.mark.slow
def test_completing_a_restore_may_be_killed_at_any_moment_too(tmp_path: Path) -> None:
    source, folder = fill(tmp_path / "backup", "new"), fill(tmp_path / "data", "old")
    begin(folder, source)
    begun = folder.rename(tmp_path / "begun")
    at, was_killed = 0, True
    while was_killed:
        at += 1
        shutil.copytree(begun, folder)
        was_killed = killed(at, lambda: finish(folder))
        start(folder)
        assert names(folder) == {"new"}, at
        assert [names(kept) for kept in replaced_in(folder)] == [{"old"}], at
        shutil.rmtree(folder)
    assert at > 10


def test_what_was_replaced_can_be_restored(tmp_path: Path) -> None:
    source, folder = fill(tmp_path / "backup", "new"), fill(tmp_path / "data", "old")
    for wanted, earlier in ((source, {"old"}), (None, {"new"})):
        done = atajo(folder, "--json", "restore", wanted or replaced_in(folder)[0])
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["path"] == str(folder)
        assert names(Path(document["replaced"])) == earlier
    assert names(folder) == {"old"}
    assert len(replaced_in(folder)) == 2


def unreadable(folder: Path) -> str:
    (folder / "auth.sqlite3").write_bytes(b"no database " * 1000)
    return "auth.sqlite3: file is not a database"


def truncated(folder: Path) -> str:
    store = folder / "links.sqlite3"
    store.write_bytes(store.read_bytes()[:8192])
    return "links.sqlite3: database disk image is malformed"


def overwritten(folder: Path) -> str:
    """Overwrite pages, but not the first, which SQLite reads to open a file."""
    store = folder / "analytics.sqlite3"
    content = store.read_bytes()
    store.write_bytes(content[:4096] + b"\x55" * (len(content) - 4096))
    return "analytics.sqlite3: "


def incomplete(folder: Path) -> str:
    (folder / "links.sqlite3").unlink()
    return f"{folder} is not a complete backup, links.sqlite3 is missing."


def interrupted(folder: Path) -> str:
    """Leave what an interrupted backup leaves."""
    (folder / "token-secret").unlink()
    return f"{folder} is not a complete backup, token-secret is missing."


def unmade(folder: Path) -> str:
    store = folder / "links.sqlite3"
    store.unlink()
    open_migrated(store, ()).close()
    return f"{store} is empty."


def without_secret(folder: Path) -> str:
    (folder / "token-secret").write_text("")
    return f"{folder / 'token-secret'} is empty."


def newer(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "links.sqlite3")) as connection:
        connection.execute(f"PRAGMA user_version = {len(LINKS) + 1}")
    return f"has schema version {len(LINKS) + 1}; this version of Atajo knows up to {len(LINKS)}."


def missing(folder: Path) -> str:
    shutil.rmtree(folder)
    return f"there is no folder {folder}."


@pytest.mark.parametrize(
    "damage",
    [
        *(unreadable, truncated, overwritten, incomplete, interrupted, unmade, without_secret),
        *(newer, missing),
    ],
)
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_backup_that_cannot_be_used_changes_nothing(
    tmp_path: Path, damage: Callable[[Path], str], is_empty: bool
) -> None:
    source, folder = fill(tmp_path / "backup", "new"), tmp_path / "data"
    for store in SCHEMAS:  # As in a backup, which has no logs.
        with closing(sqlite3.connect(source / store)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    if not is_empty:
        fill(folder, "old")
    before = contents(folder)
    reason = damage(source)
    line = refused(atajo(folder, "restore", source))
    assert line.startswith("Nothing was restored: ")
    assert reason in line
    assert contents(folder) == before
    assert not list(folder.glob("restoring*"))


def test_a_disk_without_space_changes_nothing(tmp_path: Path) -> None:
    source, folder = fill(tmp_path / "backup", "new"), fill(tmp_path / "data", "old")
    before = contents(folder)
    line = refused(atajo(folder, "restore", source, by=SMALL_FILES))
    assert line.startswith(f"Nothing was restored: {folder}/restoring.partial/")
    assert line.endswith(": File too large.\n")
    assert contents(folder) == before
    assert not list(folder.glob("restoring*"))


@dataclass(frozen=True)
class BackedUp:
    """A run, and a backup of it in its data folder."""

    run: LocalRun
    backup: Path
    email: str
    code: str
    later: str
    """Code of a link that was created after the backup."""


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackedUp]:
    data = tmp_path_factory.mktemp("backed-up") / "data"
    with LocalRun.ready(data) as run:
        with GatewayClient(run.url) as client:
            email = client.register()
            token = client.log_in(email)
            code = client.shorten("https://example.com/", token)
            copy = data / "backups" / "monday"
            done = atajo(data, "--json", "backup", copy)
            assert done.returncode == 0, done.stderr
            document = json.loads(done.stdout)
            assert document["path"] == str(copy)
            assert document["bytes"] == sum(file.stat().st_size for file in copy.iterdir())
            later = client.shorten("https://example.com/later", token)
        yield BackedUp(run, copy, email, code, later)


def check_serves(run: LocalRun, backed_up: BackedUp, *, later: int) -> None:
    """Check that a run has what was backed up, and which status later links have."""
    with GatewayClient(run.url) as client:
        token = client.log_in(backed_up.email)
        assert client.visit(backed_up.code).status_code == 302
        assert client.visit(backed_up.later).status_code == later
        client.await_views(
            token, {backed_up.code: 1} | ({backed_up.later: 1} if later < 400 else {})
        )


def test_a_run_is_not_replaced(backed_up: BackedUp) -> None:
    data = backed_up.run.data
    line = refused(atajo(data, "restore", backed_up.backup))
    assert f"The data folder {data} is in use by another run: stop that" in line
    assert not list(data.glob("restoring*"))


def test_the_folder_of_a_run_is_no_backup(backed_up: BackedUp, tmp_path: Path) -> None:
    line = refused(atajo(tmp_path / "data", "restore", backed_up.run.data))
    assert f"a run uses {backed_up.run.data}. Make a backup of it instead." in line


def test_a_folder_is_no_backup_of_itself(tmp_path: Path) -> None:
    folder = fill(tmp_path / "data", "old")
    line = refused(atajo(folder, "restore", folder))
    assert line == f"Nothing was restored: {folder} is the data folder itself.\n"


def test_data_in_mongodb_is_not_restored(tmp_path: Path) -> None:
    line = refused(
        atajo(tmp_path, "restore", tmp_path, settings={"ATAJO_STORE": "mongodb://localhost"})
    )
    assert "mongorestore" in line


def test_a_backup_is_restored_into_a_new_folder(backed_up: BackedUp, tmp_path: Path) -> None:
    data, before = tmp_path / "new" / "data", contents(backed_up.backup)
    done = atajo(data, "restore", backed_up.backup)
    assert done.stdout == f"Restored {data} from {backed_up.backup}.\n"
    assert contents(backed_up.backup) == before
    with LocalRun.ready(data) as run:
        check_serves(run, backed_up, later=404)


def test_a_run_completes_a_restore_that_was_killed(backed_up: BackedUp, tmp_path: Path) -> None:
    data = fill(tmp_path / "data", "old")
    begin(data, backed_up.backup)
    at = 0
    while not (data / "restoring" / "replaced" / "links.sqlite3").exists():
        at += 1
        assert killed(at, lambda: finish(data))
    with LocalRun.ready(data) as run:
        check_serves(run, backed_up, later=404)
        run.popen.terminate()
        code, _, stderr = run.end()
    (kept,) = replaced_in(data)
    assert names(kept) == {"old"}
    assert (code, stderr) == (
        0,
        f"A restore that was interrupted is complete now. What was there before: {kept}\n",
    )


def test_a_stopped_run_is_replaced_and_keeps_its_backups(
    backed_up: BackedUp, tmp_path: Path
) -> None:
    """Last, because it stops the run."""
    data = backed_up.run.data
    backed_up.run.popen.terminate()
    assert backed_up.run.end()[0] == 0
    done = atajo(data, "restore", backed_up.backup)
    assert done.returncode == 0, done.stderr
    (kept,) = replaced_in(data)
    assert done.stdout.splitlines()[1] == f"What was there before is in {kept}"
    assert backed_up.backup.is_dir()
    assert list((kept / "journal").iterdir())
    assert not list((data / "journal").iterdir())
    with LocalRun.ready(data) as run:
        check_serves(run, backed_up, later=404)
    with LocalRun.ready(kept) as run:
        check_serves(run, backed_up, later=302)


def test_a_folder_that_no_restore_made_is_not_applied(tmp_path: Path) -> None:
    data = fill(tmp_path / "data", "old")
    shutil.copytree(fill(tmp_path / "backup", "new"), data / "restoring")
    before = contents(data)
    with pytest.raises(SystemExit, match="was not made by a restore"):
        start(data)
    assert contents(data) == before
