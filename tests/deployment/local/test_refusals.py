"""What a run cannot start over is one line that says what to do, and changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.deployment.local import command
from tests.deployment.local.test_run import LocalRun, refused
from tests.support.gateway_client import GatewayClient
from tests.support.processes import NO_TLS

USER = 10001
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
"""Prefix of a command: runs it as another user, if the tests run as root."""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def public() -> Iterator[Path]:
    """Return a folder that other users can reach."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of a stopped run with a link and a visit."""
    folder = tmp_path_factory.mktemp("used")
    with LocalRun.ready(folder) as run:
        with GatewayClient(run.url) as client:
            assert client.visit(client.shorten("https://example.com/")).status_code == 302
        run.popen.terminate()
        assert run.end()[0] == 0
    return folder


def own(folder: Path, user: int) -> None:
    """Give a folder and everything in it to a user."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@needs_root
def test_a_folder_of_another_user_is_refused(public: Path) -> None:
    data = public / "data"
    data.mkdir(mode=0o755)
    line = refused(LocalRun(data, by=AS_USER))
    assert line == (
        f"Atajo runs as user {USER} and may not read and write {data}, which belongs to user 0: "
        f"run chown -R {USER}:{USER} on {data} (in a container: on what is mounted there).\n"
    )
    assert list(data.iterdir()) == []


@needs_root
@pytest.mark.parametrize("name", ["links.sqlite3", "token-secret", "lock", "journal"])
def test_a_file_of_another_user_in_an_own_folder_is_refused(
    public: Path, used: Path, name: str
) -> None:
    data = shutil.copytree(used, public / "data")
    own(data, USER)
    shutil.chown(data / name, 0)
    before = contents(data)
    line = refused(LocalRun(data, by=AS_USER))
    assert f"may not read and write {data / name}, which belongs to user 0: run chown -R" in line
    assert contents(data) == before
    own(data, USER)
    with LocalRun.ready(data, by=AS_USER) as run:
        assert httpx.get(run.url, verify=NO_TLS).status_code == 200


@needs_root
def test_root_uses_the_folder_of_another_user(public: Path, used: Path) -> None:
    data = shutil.copytree(used, public / "data")
    own(data, USER)
    with LocalRun.ready(data) as run:
        assert httpx.get(run.url, verify=NO_TLS).status_code == 200


@needs_root
def test_a_folder_without_permissions_is_refused(public: Path) -> None:
    data = public / "data"
    data.mkdir(mode=0o500)
    own(data, USER)
    line = refused(LocalRun(data, by=AS_USER))
    assert line == f"User {USER} may not read and write {data}: run chmod -R u+rwX on {data}.\n"


@needs_root
def test_a_folder_that_cannot_be_made_is_refused(public: Path) -> None:
    line = refused(LocalRun(public / "data", by=AS_USER))
    assert line.startswith(f"Cannot use the data folder {public}/data: Permission denied.")


@contextmanager
def file_system(folder: Path, options: str) -> Iterator[Path]:
    """Mount an empty file system in memory at a new folder. Skips the test if that is denied."""
    folder.mkdir(mode=0o700)
    options = f"mode=0700,{options}"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_read_only_file_system_is_refused(tmp_path: Path, used: Path) -> None:
    with file_system(tmp_path / "disk", "size=32m") as disk:
        data = shutil.copytree(used, disk / "data")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        line = refused(LocalRun(data))
    assert line.startswith(f"Cannot use the data folder {data}: its file system is read-only. ")


def fill(disk: Path) -> Path:
    """Leave no space on a disk; return the file that takes it."""
    file = disk / "other"
    with file.open("wb", buffering=0) as other:
        try:
            while True:
                other.write(bytes(4096))
        except OSError:
            return file


def test_a_full_disk_is_refused_and_loses_nothing(tmp_path: Path, used: Path) -> None:
    with file_system(tmp_path / "disk", "size=32m") as disk:
        data = shutil.copytree(used, disk / "data")
        other = fill(disk)
        line = refused(LocalRun(data))
        assert line.startswith(f"Cannot use the data folder {data}: its disk is full. Free some ")
        other.unlink()
        with LocalRun.ready(data) as run:
            assert httpx.get(run.url, verify=NO_TLS).status_code == 200


@pytest.mark.parametrize("kilobytes", [4, 16, 512])
def test_a_first_start_on_a_full_disk_can_be_repeated(tmp_path: Path, kilobytes: int) -> None:
    with file_system(tmp_path / "disk", f"size={kilobytes}k") as disk:
        line = refused(LocalRun(disk / "data"))
        assert line.startswith(f"Cannot use the data folder {disk}/data: its disk is full. ")
        subprocess.run(["mount", "-o", "remount,size=32m", str(disk)], check=True)
        with LocalRun.ready(disk / "data") as run:
            assert httpx.get(run.url, verify=NO_TLS).status_code == 200


@pytest.mark.parametrize("name", ["auth", "links", "analytics"])
def test_a_store_of_a_newer_version_is_refused(tmp_path: Path, used: Path, name: str) -> None:
    data = shutil.copytree(used, tmp_path / "data")
    with closing(sqlite3.connect(data / f"{name}.sqlite3")) as connection:
        connection.execute("PRAGMA user_version = 99")
    line = refused(LocalRun(data))
    assert line.startswith(f"Cannot use the store. {data}/{name}.sqlite3 has schema version 99; ")
    assert line.endswith(
        "A newer version of Atajo wrote it: run that one, or restore a backup of this one.\n"
    )


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "links.sqlite3").write_bytes(b"no database " * 100)
    line = refused(LocalRun(tmp_path))
    assert line == f"Cannot use the store {tmp_path}/links.sqlite3: file is not a database.\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DRAIN_SECONDS", "soon"),  # Of every process.
        ("BCRYPT_THREADS", "0"),  # Of auth.
        ("STATISTICS_DAYS", "-1"),  # Of analytics.
        ("TRUSTED_HOPS", "many"),  # Of the gateway.
    ],
)
def test_a_wrong_setting_of_a_process_is_one_line(tmp_path: Path, name: str, value: str) -> None:
    line = refused(LocalRun(tmp_path, {f"ATAJO_{name}": value}))
    assert line.startswith(f"Settings refused. ATAJO_{name}: ")


def test_a_folder_of_blocklists_that_is_not_there_is_refused(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    line = refused(LocalRun(tmp_path / "data", {"ATAJO_BLOCKLIST_DIR": str(lists)}))
    assert line == (
        f"Cannot read the blocklists in {lists}: No such file or directory. Correct "
        "ATAJO_BLOCKLIST_DIR, or unset it: without lists, every URL can be shortened.\n"
    )
    lists.touch()
    line = refused(LocalRun(tmp_path / "data", {"ATAJO_BLOCKLIST_DIR": str(lists)}))
    assert f"{lists}: Not a directory. Correct ATAJO_BLOCKLIST_DIR" in line


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("TOKEN_SECRET", "s" * 48, "is in the file token-secret in its data folder"),
        ("TOKEN_SECRET_FILE", "/run/secrets/token", "is in the file token-secret in its data"),
        ("JOURNAL_DIR", "/journal", "is in its data folder, ATAJO_DATA_DIR"),
        ("LINKS_ADDRESS", "links:50051", "a run starts its services itself"),
        ("AUTH_ADMIN_ADDRESS", "auth:50052", "a run starts its services itself"),
        ("LISTEN", "0.0.0.0:80", "set ATAJO_BIND and ATAJO_PORT instead"),
    ],
)
def test_a_setting_that_a_run_would_not_heed_is_refused(
    tmp_path: Path, name: str, value: str, why: str
) -> None:
    line = refused(LocalRun(tmp_path / "data", {f"ATAJO_{name}": value}))
    assert line.startswith(f"Settings refused. ATAJO_{name.removesuffix('_FILE')}: ")
    assert why in line
    assert not (tmp_path / "data").exists()


def test_an_empty_setting_that_a_run_would_not_heed_is_not_there(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path, {"ATAJO_TOKEN_SECRET": "", "ATAJO_LISTEN": ""}) as run:
        assert httpx.get(run.url, verify=NO_TLS).status_code == 200


@needs_root
def test_a_backup_that_its_user_cannot_search_is_not_restored(public: Path) -> None:
    data, source = public / "data", public / "monday"
    data.mkdir(mode=0o700)
    own(data, USER)
    source.mkdir(mode=0o700)
    line = command.refused(command.atajo(data, "restore", source, by=AS_USER))
    assert line.startswith(f"Nothing was restored: {source}/")
    assert line.endswith(": Permission denied.\n")
