"""Files of an older schema are brought up to date with all they hold; newer ones are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.analytics import store_sqlite as analytics
from services.auth import store_sqlite as auth
from services.auth.domain import Account
from services.links import store_sqlite as links
from services.links.domain import Link
from services.runtime import sqlite

CREATED = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MICROS = 1_772_368_215_123_456
MIGRATIONS = {
    "analytics": analytics.MIGRATIONS,
    "auth": auth.MIGRATIONS,
    "links": links.MIGRATIONS,
}


def make(path: Path, version: int, migrations: Sequence[str], *rows: str) -> None:
    """A file as the program of that schema version left it."""
    connection = sqlite3.connect(path)
    for script in migrations[:version]:
        connection.executescript(script)
    for row in rows:
        connection.execute(row)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()


def version_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    assert isinstance(version, int)
    return version


async def test_links_of_version_1_are_kept_and_can_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "links.sqlite3"
    row = f"INSERT INTO links VALUES ('abcdefgh', 'http://a.example', 'one', {MICROS})"
    make(path, 1, links.MIGRATIONS, row)

    async with sqlite.opened(f"sqlite:///{path}", links.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        kept = Link("abcdefgh", "http://a.example", "one", CREATED)
        assert [page async for page in store.by_creator("one", 10)] == [[kept]]
        assert await store.remove(["abcdefgh"]) == ["abcdefgh"]
        assert await store.add(kept) is None
    assert version_of(path) == len(links.MIGRATIONS) > 1


async def test_accounts_of_version_1_are_kept_and_open(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    row = f"INSERT INTO accounts VALUES ('id', 'A@b', 'a@b', 'Ana', 'hash', 'salt', {MICROS})"
    make(path, 1, auth.MIGRATIONS, row)

    async with sqlite.opened(f"sqlite:///{path}", auth.MIGRATIONS) as database:
        store = auth.SqliteAccountStore(database)
        kept = Account("id", "A@b", "a@b", "Ana", "hash", "salt", CREATED)
        assert await store.by_email("a@b") == kept
        assert await store.exists("id")
        assert await store.close("a@b") == "id"
    assert version_of(path) == len(auth.MIGRATIONS) > 1


@pytest.mark.parametrize("name", MIGRATIONS)
async def test_opening_again_changes_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    for _ in range(2):
        async with sqlite.opened(f"sqlite:///{path}", MIGRATIONS[name]):
            pass
    assert version_of(path) == len(MIGRATIONS[name])


@pytest.mark.parametrize("name", MIGRATIONS)
async def test_a_newer_file_is_refused_in_one_line_and_left_alone(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "store.sqlite3"
    newer = len(MIGRATIONS[name]) + 1
    make(path, newer, MIGRATIONS[name])

    with pytest.raises(SystemExit) as refused:
        async with sqlite.opened(f"sqlite:///{path}", MIGRATIONS[name]):
            pass

    line = str(refused.value)
    assert f"schema version {newer}; this program knows up to {newer - 1}." in line
    assert "\n" not in line
    assert version_of(path) == newer
