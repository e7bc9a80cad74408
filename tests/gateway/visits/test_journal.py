"""The visit journal, through its files: no appended visit is lost or counted twice."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog

from gateway.visits.journal import files as batch_files
from gateway.visits.journal import journal as journal_module
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.folder import Folder, JournalInUseError
from gateway.visits.journal.journal import HEADROOM, Journal, JournalFullError
from gateway.visits.journal.lines import Visit

ROOM = 1 << 20
GATEWAY = "0123456789abcdef0123456789abcdef"


def visit(code: str = "abcdefgh", host: str = "") -> Visit:
    return Visit(code, 498_667, "person", host)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.v*"))


def write(folder: Path, number: int, *codes: str, rubbish: bytes = b"") -> Path:
    """Write a batch as an earlier process does."""
    path = folder / f"{number:010d}-{GATEWAY}.v1"
    path.write_bytes(b"".join(lines.line_of(visit(code)) for code in codes) + rubbish)
    return path


async def abandon(journal: Journal) -> None:
    """Abandon a journal as after SIGKILL: without cleanup, and no thread writes any more."""
    for file in (*journal._unsynced, journal._active):
        os.close(file.fd)
    await journal._folder.close()


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    """A journal in the folder of the test, closed at its end."""
    journal = Journal(tmp_path, ROOM)
    yield journal
    await journal.close()


async def drain(journal: Journal) -> list[tuple[int, int]]:
    """Acknowledge every batch, and return their numbers and visits."""
    if journal.open_visits:
        journal.close_batch()
    await journal.sync()
    sent: list[tuple[int, int]] = []
    while batch := await journal.first_batch():
        assert sum(batch.counts.values()) == batch.visits
        sent.append((batch.number, batch.visits))
        await journal.acknowledge(batch.number)
    return sent


class Analytics:
    """Accepts a batch if its number is above the last one, like the service."""

    def __init__(self) -> None:
        self.last = 0
        self.codes: Counter[str] = Counter()

    def take(self, batch: Batch) -> None:
        if batch.number > self.last:
            self.last = batch.number
            for row, count in batch.counts.items():
                self.codes[row.code] += count


def failing(error: int = errno.EIO) -> Callable[..., Any]:
    """Return a system call that fails."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    return fail


class Disk:
    """A simulated disk on which a failed sync loses the data, as on Linux.

    Its error is reported once and its pages count as clean, until they are written again.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fails = False
        self._dirty: dict[int, set[int]] = {}
        self._content: dict[int, dict[int, int]] = {}
        self._fdatasync, self._pwrite = os.fdatasync, os.pwrite
        monkeypatch.setattr(os, "fdatasync", self.fdatasync)
        monkeypatch.setattr(os, "pwrite", self.pwrite)

    def pwrite(self, fd: int, data: bytes, start: int) -> int:
        written = self._pwrite(fd, data, start)
        self._dirty.setdefault(os.fstat(fd).st_ino, set()).update(range(start, start + written))
        return written

    def fdatasync(self, fd: int) -> None:
        inode = os.fstat(fd).st_ino
        dirty = self._dirty.pop(inode, set())
        if self.fails:
            self.fails = False
            raise OSError(errno.EIO, "Input/output error")
        data = Path(f"/proc/self/fd/{fd}").read_bytes()
        content = self._content.setdefault(inode, {})
        content.update({place: data[place] for place in dirty if place < len(data)})

    def cut_power(self, folder: Path) -> None:
        """Keep in every file what is on disk, and zero the rest."""
        for path in files(folder):
            content = self._content.get(path.stat().st_ino, {})
            size = path.stat().st_size
            path.write_bytes(bytes(content.get(place, 0) for place in range(size)))


async def test_equal_visits_are_merged(journal: Journal) -> None:
    journal.append(*[visit()] * 3, visit(host="news.example"))
    assert (journal.pending, journal.open_rows) == (4, 2)
    journal.close_batch()
    await journal.sync()
    batch = await journal.first_batch()
    assert batch is not None
    assert batch.counts == {visit(): 3, visit(host="news.example"): 1}
    await journal.acknowledge(batch.number)
    assert journal.pending == 0


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
async def test_a_batch_is_returned_only_once_it_and_its_name_are_synced(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    journal.append(visit())
    journal.close_batch()
    assert await journal.first_batch() is None
    with monkeypatch.context() as broken:
        broken.setattr(os, call, failing())
        with pytest.raises(OSError, match="Input/output"):
            await journal.sync()
    assert journal.is_dirty
    assert await journal.first_batch() is None
    assert await drain(journal) == [(1, 1)]


async def test_after_a_kill_every_visit_has_the_same_batch_number(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    gateway = journal.gateway_id
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        journal.append(visit(code))
        journal.close_batch()
    await journal.sync()
    await journal.acknowledge(1)
    journal.append(visit("dddddddd"))
    await abandon(journal)

    restored = Journal(tmp_path, ROOM)
    assert (restored.restoring, restored.pending, restored.closed_batches) == (True, 0, 3)
    await restored.count_restored()
    assert restored.pending == 3
    restored.append(visit("eeeeeeee"))
    restored.close_batch()
    await restored.sync()
    seen = []
    while batch := await restored.first_batch():
        assert batch.gateway_id == gateway
        seen.append((batch.number, [v.code for v in batch.counts]))
        await restored.acknowledge(batch.number)
    assert not restored.restoring
    assert seen == [(2, ["bbbbbbbb"]), (3, ["cccccccc"]), (4, ["dddddddd"]), (5, ["eeeeeeee"])]
    await restored.close()


async def test_numbers_continue_after_everything_was_acknowledged(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    gateway = journal.gateway_id
    for number in range(1, 41):
        journal.append(visit())
        assert await drain(journal) == [(number, 1)]
    assert journal.is_empty
    await journal.close()
    assert journal.is_empty
    for number in (41, 42):
        again = Journal(tmp_path, ROOM)
        assert (again.gateway_id, again.last_number) == (gateway, number - 1)
        again.append(visit())
        assert await drain(again) == [(number, 1)]
        assert len(files(tmp_path)) == 1, "acknowledged batches are removed"
        await again.close()


@pytest.mark.parametrize("seed", range(20))
async def test_each_visit_is_counted_once_after_a_kill_at_any_moment(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    analytics = Analytics()
    taken: list[str] = []
    for run in range(12):
        journal = Journal(tmp_path, ROOM)
        counting = asyncio.create_task(journal.count_restored())
        for _ in range(chance.randrange(60) if run < 11 else 0):
            match chance.randrange(6):
                case 0 | 1:
                    for _ in range(chance.randrange(30)):
                        taken.append(f"{len(taken):08d}")
                        journal.append(visit(taken[-1]))
                case 2 if journal.open_visits:
                    journal.close_batch()
                case 3:
                    await journal.sync()
                case 4:
                    await asyncio.sleep(chance.choice([0, 0, 0.001]))
                case 5 if batch := await journal.first_batch():
                    analytics.take(batch)
                    if chance.random() < 0.8:
                        await journal.acknowledge(batch.number)
        if run == 11:
            while batch := await journal.first_batch():
                analytics.take(batch)
                await journal.acknowledge(batch.number)
            assert journal.is_empty
            await journal.close()
            break
        counting.cancel()
        await asyncio.wait([counting])
        await abandon(journal)
        if chance.random() < 0.3:  # A line whose response was never sent.
            with files(tmp_path)[-1].open("ab") as file:
                file.write(b"0badc0de abc")
    assert analytics.codes == Counter(taken)


async def test_a_backlog_is_read_back_batch_by_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "SLICE_BYTES", 100)
    journal = Journal(tmp_path, ROOM)
    for number in range(50):
        journal.append(*[visit(f"{number:08d}")] * (number % 7 + 1))
        journal.close_batch()
        await journal.sync()
    assert sum(file.counts is not None for file in journal._closed) <= 8
    wanted = [(number + 1, number % 7 + 1) for number in range(50)]
    await abandon(journal)
    restored = Journal(tmp_path, ROOM)
    assert await drain(restored) == wanted
    assert restored.lost_lines == 0
    await restored.close()


@pytest.mark.parametrize("cut", range(1, 28, 3))
async def test_a_torn_last_line_loses_nothing_else(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path, 1, "aaaaaaaa", "bbbbbbbb")
    path.write_bytes(path.read_bytes()[:-cut])
    journal = Journal(tmp_path, ROOM)
    journal.append(visit("cccccccc"))
    assert await drain(journal) == [(1, 1), (2, 1)]
    assert journal.lost_lines == 0, "its response was never sent"
    await journal.close()


@pytest.mark.parametrize(
    ("rubbish", "lost"),
    [
        (b"\n" * 100_000, 100_000),
        (b"x\n" * 50_000, 50_000),
        (lines.line_of(visit()).replace(b"abc", b"abd"), 1),
        (bytes(100_000), 3),
        (b"", 0),
    ],
)
async def test_corrupt_lines_are_counted_as_lost(tmp_path: Path, rubbish: bytes, lost: int) -> None:
    path = write(tmp_path, 5, "aaaaaaaa", rubbish=rubbish)
    with path.open("ab") as file:
        file.write(lines.line_of(visit("bbbbbbbb")) if rubbish.endswith(b"\n") else b"")
    write(tmp_path, 6, "cccccccc")
    journal = Journal(tmp_path, ROOM)
    await journal.count_restored()
    with structlog.testing.capture_logs() as told:
        sent = await drain(journal)
    assert sent == [(5, 1 + rubbish.endswith(b"\n")), (6, 1)]
    assert journal.lost_lines == lost
    assert [line["visits"] for line in told] == ([lost] if lost else [])
    assert (journal.pending, journal.is_empty) == (0, True)
    await journal.close()


async def test_a_removed_file_blocks_no_later_one(tmp_path: Path) -> None:
    removed = write(tmp_path, 1, "aaaaaaaa", "bbbbbbbb")
    write(tmp_path, 2, "cccccccc")
    journal = Journal(tmp_path, ROOM)
    await journal.count_restored()
    removed.unlink()
    assert await drain(journal) == [(1, 0), (2, 1)]
    assert (journal.lost_lines, journal.pending, journal.is_empty) == (2, 0, True)
    await journal.close()


async def test_an_unreadable_file_is_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 1, "aaaaaaaa")
    journal = Journal(tmp_path, ROOM)
    with monkeypatch.context() as broken:
        broken.setattr(os, "pread", failing())
        broken.setattr(journal_module, "count_lines", failing())
        await journal.count_restored()
        with pytest.raises(OSError, match="Input/output"):
            await journal.first_batch()
    assert (journal.restoring, journal.pending) == (True, 0)
    assert await drain(journal) == [(1, 1)]
    await journal.close()


async def test_files_of_a_later_version_are_kept_and_block_nothing(tmp_path: Path) -> None:
    write(tmp_path, 1, "aaaaaaaa")
    later = write(tmp_path, 2, "bbbbbbbb").rename(tmp_path / f"0000000002-{GATEWAY}.v3")
    content = later.read_bytes()
    (tmp_path / "of-somebody-else").touch()
    for codes in (["aaaaaaaa", "cccccccc"], ["cccccccc"]):
        journal = Journal(tmp_path, ROOM)
        journal.append(visit("cccccccc"))
        journal.close_batch()
        await journal.sync()
        assert journal.gateway_id != GATEWAY, "its numbers would be above those of the files"
        while batch := await journal.first_batch():
            assert [row.code for row in batch.counts] == [codes.pop(0)]
            await journal.acknowledge(batch.number)
        assert not codes
        await journal.close()
    assert later.read_bytes() == content
    assert (tmp_path / "of-somebody-else").exists()


async def test_a_batch_is_divided_or_not_for_good(tmp_path: Path) -> None:
    """Whatever the process that sends it does with its own batches."""
    write(tmp_path, 1, "aaaaaaaa")
    expected = [(1, False)]
    for divides, number in ((True, 2), (False, 4), (True, 6)):
        journal = Journal(tmp_path, ROOM, divides=partial(bool, divides))
        assert journal.gateway_id == GATEWAY
        journal.append(visit("bbbbbbbb"))
        journal.close_batch()
        await abandon(journal)
        expected.append((number, divides))
    journal = Journal(tmp_path, ROOM)
    sent = []
    while batch := await journal.first_batch():
        if batch.counts:
            sent.append((batch.number, batch.is_divided))
        await journal.acknowledge(batch.number)
    await journal.close()
    assert sent == expected


async def test_a_folder_is_locked_by_one_process_even_after_it_was_removed(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal = Journal(folder, ROOM)
    with pytest.raises(JournalInUseError):
        Journal(folder, ROOM)
    journal.append(visit("aaaaaaaa"))
    await asyncio.to_thread(folder.rename, tmp_path / "gone")
    journal.append(visit("bbbbbbbb"))
    assert await drain(journal) == [(1, 2)]
    with pytest.raises(JournalInUseError):
        Journal(folder, ROOM)
    await journal.close()
    again = Journal(folder, ROOM)
    assert again.last_number == 1
    await again.close()


async def test_a_folder_is_released_after_its_threads_have_ended(tmp_path: Path) -> None:
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


async def test_a_full_journal_appends_nothing_until_batches_are_acknowledged(
    tmp_path: Path,
) -> None:
    journal = Journal(tmp_path, 2_000)
    for number in range(1, 20):
        appended = 0
        try:
            while True:
                journal.append(*[visit()] * 7)
                appended += 7
        except JournalFullError as error:
            appended += error.appended
        assert journal.pending == appended > 50
        assert not await journal.has_room()
        assert journal.is_dirty, "it looks for room"
        assert await drain(journal) == [(number, appended)]
        assert await journal.has_room()
    await journal.close()


async def test_a_full_disk_keeps_whole_lines_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = 2 * HEADROOM

    def free(_fd: int) -> int:
        return max(0, disk - sum(path.stat().st_size for path in files(tmp_path)))

    monkeypatch.setattr("gateway.visits.journal.folder._free_bytes", free)
    journal = Journal(tmp_path, ROOM << 10)
    lost = counted = 0
    for turn in range(20_000):
        try:
            journal.append(visit())
        except JournalFullError:
            lost += 1
        if turn % 500 == 0:
            counted += sum(visits for _, visits in await drain(journal))
    counted += sum(visits for _, visits in await drain(journal))
    assert counted + lost == 20_000
    assert lost < 3_000, "freed room was used again"
    await journal.close()


async def test_a_full_disk_continues_an_old_journal_but_begins_no_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr("gateway.visits.journal.folder._free_bytes", lambda _: 0)
        with pytest.raises(JournalFullError, match="no room to begin"):
            Journal(tmp_path / "new", ROOM)
        write(tmp_path, 1, "aaaaaaaa")
        journal = Journal(tmp_path, ROOM)
        full.setattr(os, "pwrite", failing(errno.ENOSPC))
        with pytest.raises(JournalFullError, match="No space left"):
            journal.append(visit())
        assert not await journal.has_room()
        assert await drain(journal) == [(1, 1)]
    assert await journal.has_room()
    journal.append(visit())
    assert await drain(journal) == [(2, 1)]
    await journal.close()


@pytest.mark.parametrize(("taken", "whole"), [(20, 0), (31, 1), (50, 1), (70, 2)])
@pytest.mark.parametrize("can_cut", [True, False])
async def test_a_partial_write_keeps_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int, whole: int, can_cut: bool
) -> None:
    journal = Journal(tmp_path, ROOM)
    journal.append(visit())
    pwrite = os.pwrite
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", lambda fd, data, start: pwrite(fd, data[:taken], start))
        if not can_cut:
            full.setattr(os, "ftruncate", failing())
            whole = 0
        with pytest.raises(JournalFullError) as refused:
            journal.append(visit(), visit(), visit())
    assert refused.value.appended == whole
    journal.append(*[visit()] * 9)
    await abandon(journal)
    again = Journal(tmp_path, ROOM)
    assert await drain(again) == [(1, 10 + whole)]
    assert again.lost_lines == 0
    await again.close()


async def test_a_batch_stays_open_if_the_next_file_cannot_be_created(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(visit())
    with monkeypatch.context() as full:
        full.setattr(os, "open", failing(errno.ENOSPC))
        with pytest.raises(OSError, match="No space left"):
            journal.close_batch()
    journal.append(visit())
    assert await drain(journal) == [(1, 2)]


@pytest.mark.parametrize("failing_sync", [0, 1, 4])
async def test_after_a_failed_sync_data_is_rewritten_before_a_sync_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_sync: int
) -> None:
    disk = Disk(monkeypatch)
    journal = Journal(tmp_path, ROOM)
    for number in range(8):
        journal.append(*[visit(f"code{number:04}")] * 10)
        if number % 2:
            journal.close_batch()
        disk.fails = number == failing_sync
        if disk.fails:
            with pytest.raises(OSError, match="Input/output"):
                await journal.sync()
            assert journal.is_dirty
            journal.append(visit("unsynced"))
        else:
            await journal.sync()
    journal.append(visit("unsynced"))
    journal.close_batch()
    await journal.sync()
    await abandon(journal)
    disk.cut_power(tmp_path)

    again = Journal(tmp_path, ROOM)
    assert sum(visits for _, visits in await drain(again)) == 8 * 10 + 2
    assert again.lost_lines == 0
    await again.close()


async def test_a_file_of_an_earlier_process_is_synced_before_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    journal = Journal(tmp_path, ROOM)
    journal.append(*[visit()] * 10)
    await abandon(journal)

    later = Journal(tmp_path, ROOM)
    disk.fails = True
    with pytest.raises(OSError, match="Input/output"):
        await later.first_batch()
    batch = await later.first_batch()
    assert batch is not None
    await abandon(later)
    disk.cut_power(tmp_path)

    again = Journal(tmp_path, ROOM)
    assert await drain(again) == [(batch.number, 10)]
    assert again.lost_lines == 0
    await again.close()


async def test_a_name_that_may_not_be_on_disk_is_recreated(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(visit())
    journal.close_batch()
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", failing())
        with pytest.raises(OSError, match="Input/output"):
            await journal.sync()
    written: list[str] = []
    rename = Path.rename

    def note(path: Path, other: Path) -> Path:
        written.append(other.name)
        return rename(path, other)

    monkeypatch.setattr(Path, "rename", note)
    await journal.sync()
    assert files(tmp_path)[-1].name in written
    assert await drain(journal) == [(1, 1)]


async def test_unsynced_data_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "MAX_UNSYNCED_BYTES", 1000)
    journal = Journal(tmp_path, ROOM)
    with pytest.raises(JournalFullError, match="does not keep up"):
        journal.append(*[visit()] * 100)
    for _ in range(10):
        journal.append(*[visit()] * 20)
        journal.close_batch()
        await journal.sync()
    assert sum(visits for _, visits in await drain(journal)) == 200
    await journal.close()


async def test_a_cancelled_sync_forgets_no_file(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(visit())
    journal.close_batch()
    journal.append(visit())
    waiting, go_on = threading.Event(), threading.Event()

    def slowly(_fd: int) -> None:
        waiting.set()
        assert go_on.wait(10)

    with monkeypatch.context() as slow:
        slow.setattr(os, "fdatasync", slowly)
        syncing = asyncio.create_task(journal.sync())
        await asyncio.to_thread(waiting.wait, 10)
        syncing.cancel()
        await asyncio.wait([syncing])
        go_on.set()
    assert journal.is_dirty
    synced: set[int] = set()
    monkeypatch.setattr(os, "fdatasync", lambda fd: synced.add(os.fstat(fd).st_ino))
    await journal.sync()
    assert synced == {path.stat().st_ino for path in files(tmp_path)}
    assert await journal.first_batch() is not None


async def test_a_file_that_cannot_be_removed_is_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 1, "aaaaaaaa")
    journal = Journal(tmp_path, ROOM)
    with monkeypatch.context() as read_only:
        read_only.setattr(Path, "unlink", failing(errno.EROFS))
        assert await drain(journal) == [(1, 1)]
    assert not journal.is_empty, "the next start would send it again"
    assert journal.size == sum(path.stat().st_size for path in files(tmp_path))
    await journal.close()
    assert journal.is_empty
    assert len(files(tmp_path)) == 1


async def test_a_file_that_is_sent_while_it_is_counted_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 1, "aaaaaaaa", rubbish=b"damaged\n")
    journal = Journal(tmp_path, ROOM)
    counted, go_on = threading.Event(), threading.Event()
    count_lines = batch_files.count_lines

    def slowly(path: Path) -> int:
        count = count_lines(path)
        counted.set()
        assert go_on.wait(10)
        return count

    monkeypatch.setattr(journal_module, "count_lines", slowly)
    counting = asyncio.create_task(journal.count_restored())
    await asyncio.to_thread(counted.wait, 10)
    assert await drain(journal) == [(1, 1)]
    go_on.set()
    await counting
    assert journal.pending == 0
    await journal.close()


async def test_a_journal_with_unsynced_removals_is_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, ROOM)
    journal.append(visit())
    assert await drain(journal) == [(1, 1)]
    monkeypatch.setattr(os, "fsync", failing())
    await journal.close()
    assert not journal.is_empty
