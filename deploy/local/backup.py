"""Backs up a running Atajo on SQLite: `python -m deploy.local.backup FOLDER`.

The copy is a complete data folder, which `make run` can use. It contains everything that was
acknowledged before the backup began. It does not contain the visit journal: a restored gateway
starts a new journal under a new id, so that it never reuses a batch number.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from deploy.local.folder import UMASK, sync
from deploy.local.settings import RunSettings

# In this order, no store refers to data that is newer than the copies before it.
STORES = ("analytics.sqlite3", "links.sqlite3", "auth.sqlite3")
# A visitor key must be deleted when its day ends, but a copy would keep it.
_NOT_COPIED = {"analytics.sqlite3": "visitor_keys"}
_KEY_FILE = "token-secret"
_DRAIN_TIMEOUT = 30.0
_LAG = re.compile(r"^atajo_visit_flush_lag_seconds (\S+)$", re.MULTILINE)
_RESTORING = re.compile(r"^atajo_visits_restoring 1(\.0)?$", re.MULTILINE)


def main() -> None:
    if len(sys.argv) != 2 or not sys.argv[1]:
        raise SystemExit("Usage: make backup TO=folder")
    copy = Path(sys.argv[1]).expanduser().absolute()
    os.umask(UMASK)
    try:
        back_up(RunSettings.load().data_dir, copy)
    except (OSError, sqlite3.Error) as error:
        raise SystemExit(f"No backup was made: {error}.") from None
    sys.stdout.write(f"Backed up to {copy}. To restore: ATAJO_DATA_DIR={copy} make run\n")


def back_up(data: Path, copy: Path) -> None:
    """Copy a running data folder to a new one, atomically.

    Raises SystemExit with one line, OSError or sqlite3.Error.
    """
    if copy.exists():
        raise SystemExit(f"No backup was made: {copy} is there already.")
    _await_counted(_find_metrics_url(data))
    draft = copy.with_name(copy.name + ".partial")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700, parents=True)
    for name in STORES:
        _copy_store(data / name, draft / name)
        if table := _NOT_COPIED.get(name):
            _empty(draft / name, table)
        sync(draft / name)
    shutil.copy2(data / _KEY_FILE, draft / _KEY_FILE)
    sync(draft / _KEY_FILE)
    sync(draft)
    draft.rename(copy)
    sync(copy.parent)


def _find_metrics_url(data: Path) -> str:
    """Return the metrics URL of the gateway of a run on SQLite. Raises SystemExit."""
    try:
        state = json.loads((data / "run.json").read_text(encoding="utf-8"))
        metrics = f"http://{state['processes']['gateway']['metrics']}/metrics"
        store = state["store"]
    except (OSError, ValueError, KeyError):
        raise SystemExit(
            f"No backup was made: Atajo does not run over {data}. "
            "What does not run can be copied as a folder, with its journal."
        ) from None
    if store != "sqlite":
        raise SystemExit("No backup was made: this run is over MongoDB, which has its own tools.")
    return metrics


def _await_counted(metrics: str) -> None:
    """Wait until analytics has acknowledged all visits that were answered so far."""
    opener = build_opener(ProxyHandler({}))
    began = time.monotonic()
    text = ""
    while (now := time.monotonic()) < began + _DRAIN_TIMEOUT:
        with opener.open(metrics, timeout=_DRAIN_TIMEOUT) as response:
            text = response.read().decode()
        found = _LAG.search(text)
        if found and now - float(found[1]) >= began:
            return
        time.sleep(0.05)
    if _RESTORING.search(text):
        raise SystemExit(
            "No backup was made: visits of an earlier run are still being read back. "
            "Try again in a minute or two."
        )
    raise SystemExit(
        "No backup was made: visits wait for analytics, which takes them too slowly or not at all."
    )


def _copy_store(source: Path, target: Path) -> None:
    """Copy a consistent snapshot while other processes read and write."""
    with (
        closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as read,
        closing(sqlite3.connect(target)) as write,
    ):
        read.backup(write)


def _empty(store: Path, table: str) -> None:
    """Delete the rows of a table in a copy, and overwrite them in the file."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"DELETE FROM {table}")
        connection.commit()


if __name__ == "__main__":
    main()
