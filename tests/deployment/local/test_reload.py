"""`make dev` restarts the product when a source changes."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deploy.local import reload
from tests.support.waiting import wait_until

_PRODUCT = (
    "import pathlib, sys, time; pathlib.Path(sys.argv[1]).open('a').write('.'); time.sleep(60)"
)


def test_a_changed_source_restarts_the_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = tmp_path / "starts"
    starts.touch()
    source = tmp_path / "code" / "module.py"
    source.parent.mkdir()
    source.write_text("")
    monkeypatch.setattr(reload, "PRODUCT", (sys.executable, "-c", _PRODUCT, str(starts)))
    monkeypatch.setattr(reload, "modified", lambda: _modified([source.parent]))
    pages = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    watching = threading.Thread(target=reload.watch, args=(pages,))
    watching.start()
    try:
        wait_until(lambda: starts.read_text() == ".")
        source.write_text("changed = True")
        wait_until(lambda: starts.read_text() == "..")
    finally:
        pages.communicate(b"\n")
        watching.join()


def test_new_and_deleted_sources_are_changes(tmp_path: Path) -> None:
    before = _modified([tmp_path])
    (tmp_path / "edge.toml").touch()
    (tmp_path / "notes.txt").touch()
    after = _modified([tmp_path])
    assert before == {}
    assert [file.name for file in after] == ["edge.toml"]


_modified = reload.modified
