"""The databases of a local run, and what it does if one of them is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.local.store import check_complete, store_of
from services.analytics.storage.sqlite.schema import MIGRATIONS as ANALYTICS
from services.auth.storage.sqlite.schema import MIGRATIONS as AUTH
from services.links.storage.sqlite import MIGRATIONS as LINKS
from services.shared.sqlite.connection import open_migrated
from tests.deployment.local.test_run import LocalRun
from tests.support.gateway_client import GatewayClient
from tests.support.product import SERVICES


@pytest.mark.parametrize(
    ("setting", "store"),
    [
        ("", "sqlite:////data/links.sqlite3"),
        ("mongodb://host", "mongodb://host"),
        ("mongodb://a:1,b:2/?replicaSet=rs", "mongodb://a:1,b:2/?replicaSet=rs"),
        ("mongodb://host/mine", "mongodb://host/mine_links"),
        ("mongodb+srv://host/mine?tls=true", "mongodb+srv://host/mine_links?tls=true"),
        ("mongodb://u:p@host/mine", "mongodb://u:p@host/mine_links?authSource=mine"),
        ("mongodb://u:p@host/mine?w=1", "mongodb://u:p@host/mine_links?w=1&authSource=mine"),
        (
            "mongodb://u:p@host/mine?authSource=admin",
            "mongodb://u:p@host/mine_links?authSource=admin",
        ),
    ],
)
def test_each_service_has_a_store_of_its_own(setting: str, store: str) -> None:
    assert store_of("links", setting, Path("/data")) == store


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of a stopped run with an account, a link and a visit."""
    folder = tmp_path_factory.mktemp("full")
    with LocalRun.ready(folder) as run:
        use(run)
        run.popen.terminate()
        assert run.end()[0] == 0
    return folder


def use(run: LocalRun) -> None:
    with GatewayClient(run.url) as client:
        token = client.log_in(client.register())
        code = client.shorten("https://example.com/", token)
        assert client.visit(code).status_code == 302
        client.await_views(token, {code: 1})


def empty(file: Path) -> None:
    file.write_bytes(b"")


def unmade(file: Path) -> None:
    """Leave the file of a start that was interrupted before the schema was made."""
    file.unlink()
    open_migrated(file, ()).close()


LOSSES = [Path.unlink, empty, unmade]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("lost", SERVICES)
def test_a_lost_file_beside_full_ones_is_named(
    full: Path, tmp_path: Path, lost: str, lose: Callable[[Path], None]
) -> None:
    folder = shutil.copytree(full, tmp_path / "data")
    check_complete(folder)
    lose(folder / f"{lost}.sqlite3")
    with pytest.raises(SystemExit) as refused:
        check_complete(folder)
    assert f"but {lost}.sqlite3 is missing or empty: restore the folder" in str(refused.value)


@pytest.mark.parametrize("left", SERVICES)
def test_one_full_file_is_enough(full: Path, tmp_path: Path, left: str) -> None:
    for file in full.glob(f"{left}.sqlite3*"):  # With its log.
        shutil.copy(file, tmp_path)
    with pytest.raises(SystemExit, match=f"has {left}.sqlite3, but"):
        check_complete(tmp_path)


def test_a_lost_file_is_refused_before_anything_starts(full: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(full, tmp_path / "data")
    empty(folder / "links.sqlite3")
    with LocalRun(folder) as run:
        code, stdout, stderr = run.end()
    assert (code, stdout, stderr.count("\n")) == (1, "", 1)
    assert "links.sqlite3 is missing or empty" in stderr
    assert (folder / "links.sqlite3").stat().st_size == 0


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("missing", SERVICES)
def test_a_first_start_may_be_interrupted(
    tmp_path: Path, missing: str, lose: Callable[[Path], None]
) -> None:
    check_complete(tmp_path)
    for name, migrations in zip(SERVICES, (AUTH, LINKS, ANALYTICS), strict=True):
        open_migrated(tmp_path / f"{name}.sqlite3", migrations).close()
    lose(tmp_path / f"{missing}.sqlite3")
    check_complete(tmp_path)
