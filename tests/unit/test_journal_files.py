"""The journal's folder and the segment that is appended to, each by itself."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from gateway.visits import segments
from gateway.visits.active import ActiveSegment, JournalFullError
from gateway.visits.folder import Folder, JournalInUseError
from gateway.visits.ledger import Ledger
from gateway.visits.retention import Retention


async def test_a_folder_is_given_back_only_when_no_thread_changes_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    changing, go_on = threading.Event(), threading.Event()

    def change(path: Path) -> None:
        changing.set()
        assert go_on.wait(10)
        path.write_text("changed")

    running = asyncio.create_task(folder.run(change, tmp_path / "file"))
    await asyncio.to_thread(changing.wait, 10)
    running.cancel()
    await asyncio.wait([running])
    closing = asyncio.create_task(folder.close())
    await asyncio.sleep(0)
    with pytest.raises(JournalInUseError):
        Folder(tmp_path)
    go_on.set()
    await closing
    assert (tmp_path / "file").read_text() == "changed"
    await Folder(tmp_path).close()


async def test_what_a_thread_raises_reaches_who_asked_for_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        await folder.run(os.unlink, tmp_path / "missing")
    await folder.close()


class Parts:
    """A folder with a segment that is appended to."""

    def __init__(self, path: Path) -> None:
        self.folder = Folder(path)
        self.ledger = Ledger(0, restoring=False)
        self.files = Retention(self.folder, self.ledger, [])
        self.active = ActiveSegment(self.folder, self.files, segments.path_of(path, 1))

    async def close(self) -> None:
        self.active.close()
        await self.folder.close()


async def test_lines_go_to_the_next_file_once_that_is_ready(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    active = parts.active
    with pytest.raises(JournalFullError):
        active.write(b"too early\n")
    active.begin(b"first\n")
    active.roll(b"there is no next file\n")
    assert active.write(b"one\n") == 4
    await active.prepare_next()
    active.roll(b"second\n")
    assert active.write(b"two\n") == 4
    assert [path.read_bytes() for path in segments.found_in(tmp_path)] == [
        b"first\none\n",
        b"second\ntwo\n",
    ]
    assert (active.size, parts.files.size) == (11, 10)
    await active.sync()
    assert not active.dirty
    await parts.close()


async def test_a_file_that_was_ready_and_is_not_needed_is_removed(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.active.begin(b"first\n")
    await parts.active.prepare_next()
    assert len(segments.found_in(tmp_path)) == 2
    await parts.close()
    assert len(segments.found_in(tmp_path)) == 1


@pytest.mark.parametrize(("taken", "kept"), [(3, 0), (4, 4), (7, 4), (11, 8)])
async def test_of_what_a_full_disk_takes_the_whole_lines_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int, kept: int
) -> None:
    parts = Parts(tmp_path)
    active = parts.active
    active.begin(b"first\n")
    write = os.write
    with monkeypatch.context() as full:
        full.setattr("gateway.visits.active.os.write", lambda fd, data: write(fd, data[:taken]))
        if kept:
            assert active.write(b"one\ntwo\nsix\n") == kept
        else:
            with pytest.raises(JournalFullError):
                active.write(b"one\ntwo\nsix\n")
    assert active.write(b"end\n") == 4
    (path,) = segments.found_in(tmp_path)
    assert path.read_bytes() == b"first\n" + b"one\ntwo\nsix\n"[:kept] + b"end\n"
    assert active.size == path.stat().st_size
    await parts.close()


async def test_a_part_of_a_line_that_cannot_be_cut_off_now_is_cut_off_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Parts(tmp_path)
    active = parts.active
    active.begin(b"first\n")
    write = os.write

    def fail(_fd: int, _size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr("gateway.visits.active.os.write", lambda fd, data: write(fd, data[:2]))
        broken.setattr("gateway.visits.active.os.ftruncate", fail)
        for _ in range(2):
            with pytest.raises(JournalFullError):
                active.write(b"one\n")
    active.write(b"end\n")
    (path,) = segments.found_in(tmp_path)
    assert path.read_bytes() == b"first\nend\n"
    await parts.close()
