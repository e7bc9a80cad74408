"""The visit journal, through its files: nothing that was appended is lost or told twice."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from gateway.visits.active import JournalFullError
from gateway.visits.folder import JournalInUseError
from gateway.visits.journal import HEADROOM, Journal
from gateway.visits.lines import Visit

ROOM = 1 << 20


def visit(code: str = "abcdefgh", host: str = "") -> Visit:
    return Visit(code, 498_667, "person", host)


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.journal"))


class Disk:
    """What is on disk where a sync fails as on Linux: once, its pages then taken for clean.

    So the bytes that such a sync was to write are not on disk until they are written again.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fails = False
        self._dirty: dict[int, set[int]] = {}
        self._content: dict[int, dict[int, int]] = {}
        self._fdatasync, self._write, self._pwrite = os.fdatasync, os.write, os.pwrite
        monkeypatch.setattr(os, "fdatasync", self.fdatasync)
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(os, "pwrite", self.pwrite)

    def write(self, fd: int, data: bytes) -> int:
        start = os.fstat(fd).st_size
        return self._note(fd, start, self._write(fd, data))

    def pwrite(self, fd: int, data: bytes, start: int) -> int:
        return self._note(fd, start, self._pwrite(fd, data, start))

    def _note(self, fd: int, start: int, written: int) -> int:
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
        """Leave of every segment what is on disk; the rest of it is zeros."""
        for path in segments(folder):
            content = self._content.get(path.stat().st_ino, {})
            size = path.stat().st_size
            path.write_bytes(bytes(content.get(place, 0) for place in range(size)))


async def abandon(journal: Journal) -> None:
    """Leave a journal as SIGKILL does: what was written is on file, nothing is tidied.

    A process that was killed changes no file any more: what threads of it are at is waited for.
    """
    folder = journal._folder
    while folder._running:
        await asyncio.wait(folder._running)
    os.close(folder._lock)
    os.close(journal._active._fd)


async def drain(journal: Journal) -> list[tuple[int, int]]:
    """Acknowledge every batch; returns their numbers and visits."""
    if journal.open_visits:
        journal.close_batch()
    await journal.sync()
    if journal.restoring:
        await journal.restore()
    sent: list[tuple[int, int]] = []
    while batch := await journal.first_batch():
        assert sum(batch.counts.values()) == batch.visits
        sent.append((batch.number, batch.visits))
        journal.acknowledge(batch.number)
    return sent


async def test_visits_that_are_alike_are_counted_together(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    for _ in range(3):
        journal.append(visit())
    journal.append(visit(host="news.example"))
    assert journal.pending == 4
    journal.close_batch()
    await journal.sync()
    batch = await journal.first_batch()
    assert batch is not None
    assert batch.counts == {visit(): 3, visit(host="news.example"): 1}
    journal.acknowledge(batch.number)
    assert journal.pending == 0
    await journal.close()


async def test_a_batch_is_not_given_out_before_its_end_is_on_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    journal.append(visit())
    journal.close_batch()
    assert await journal.first_batch() is None
    await journal.sync()
    assert await journal.first_batch() is not None
    await journal.close()


async def test_what_was_appended_is_there_after_a_kill_under_the_same_numbers(
    tmp_path: Path,
) -> None:
    journal = Journal(tmp_path, ROOM)
    gateway = journal.gateway_id
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        journal.append(visit(code))
        journal.close_batch()
    await journal.sync()
    journal.acknowledge(1)
    journal.append(visit("dddddddd"))
    await abandon(journal)

    restored = Journal(tmp_path, ROOM)
    assert restored.gateway_id == gateway
    await restored.restore()
    assert restored.pending == 3
    seen = []
    while batch := await restored.first_batch():
        seen.append((batch.number, [v.code for v in batch.counts]))
        restored.acknowledge(batch.number)
    assert seen == [(2, ["bbbbbbbb"]), (3, ["cccccccc"]), (4, ["dddddddd"])]
    await restored.close()


async def test_numbers_go_on_when_everything_was_acknowledged_and_removed(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM, segment_bytes=2_000)
    gateway = journal.gateway_id
    for _ in range(40):
        for _ in range(10):
            journal.append(visit())
        assert len(await drain(journal)) == 1
    assert len(segments(tmp_path)) <= 3, "acknowledged segments are removed"
    await journal.close()
    again = Journal(tmp_path, ROOM)
    assert again.gateway_id == gateway
    again.append(visit())
    assert await drain(again) == [(41, 1)]
    await again.close()


async def test_a_backlog_over_many_segments_is_read_back_from_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM, segment_bytes=1_000)
    for number in range(50):
        for _ in range(number % 7 + 1):
            journal.append(visit(f"{number:08d}"))
        journal.close_batch()
        await journal.sync()
    assert len(segments(tmp_path)) > 3
    wanted = [(number + 1, number % 7 + 1) for number in range(50)]
    await abandon(journal)
    restored = Journal(tmp_path, ROOM, segment_bytes=1_000)
    assert await drain(restored) == wanted
    assert len(segments(tmp_path)) == 1
    await restored.close()


@pytest.mark.parametrize("cut", range(1, 45, 4))
async def test_a_torn_tail_costs_that_line_alone(tmp_path: Path, cut: int) -> None:
    journal = Journal(tmp_path, ROOM)
    journal.append(visit("aaaaaaaa"))
    journal.append(visit("bbbbbbbb"))
    await abandon(journal)
    (segment,) = segments(tmp_path)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines)[:-cut] if cut < len(lines[-1]) else b"".join(lines[:-1]))
    restored = Journal(tmp_path, ROOM)
    await restored.restore()
    assert restored.pending == 1
    restored.append(visit("cccccccc"))
    assert await drain(restored) == [(1, 1), (2, 1)]
    await restored.close()


async def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        journal.append(visit(code))
    await abandon(journal)
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"bbbbbbbb", b"bbbbbbbc"))
    restored = Journal(tmp_path, ROOM)
    await restored.restore()
    assert restored.pending == 1
    assert restored.lost_lines == 2
    await restored.close()


async def test_numbers_that_may_be_spent_are_never_given_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        journal.append(visit(code))
        journal.close_batch()
    await journal.sync()
    await abandon(journal)
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"bbbbbbbb", b"bbbbbbbc"))
    restored = Journal(tmp_path, ROOM)
    assert [number for number, _ in await drain(restored)] == [1]
    restored.append(visit("dddddddd"))
    restored.close_batch()
    await restored.sync()
    await abandon(restored)
    # Nor is the number another one after the next start.
    again = Journal(tmp_path, ROOM)
    (number, _), *_ = await drain(again)
    assert number > 3, "analytics had batch 3, and would take this one for it"
    await again.close()


async def test_a_room_below_a_segments_size_is_won_back_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 4_000)
    appended = 0
    for _ in range(1_000):
        journal.append(visit())
        appended += 1
        if journal.open_visits == 10:
            await drain(journal)
    assert appended == 1_000
    await journal.close()


async def test_a_full_disk_does_not_keep_a_journal_from_being_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, ROOM)
    journal.append(visit())
    await abandon(journal)

    def no_room(_fd: int, _line: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("gateway.visits.active.os.write", no_room)
        restored = Journal(tmp_path, ROOM)
    with pytest.raises(JournalFullError):
        restored.append(visit())
    assert await drain(restored) == [(1, 1)]
    restored.append(visit())
    assert await drain(restored) == [(2, 1)]
    assert len(segments(tmp_path)) == 1
    await restored.close()


async def test_a_disk_that_the_journal_itself_has_filled_is_won_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = 2 * HEADROOM

    def free(_fd: int) -> int:
        return max(0, disk - sum(path.stat().st_size for path in segments(tmp_path)))

    monkeypatch.setattr("gateway.visits.folder._free_bytes", free)
    journal = Journal(tmp_path, ROOM << 10)
    lost = counted = 0
    for turn in range(20_000):
        try:
            journal.append(visit())
        except JournalFullError:
            lost += 1
            assert journal.dirty, "room is looked for"
        if turn % 500 == 0:
            counted += sum(visits for _, visits in await drain(journal))
    counted += sum(visits for _, visits in await drain(journal))
    assert counted + lost == 20_000
    assert lost < 3_000, "room that came back was used again"
    await journal.close()


async def test_a_lost_folder_means_a_new_gateway(tmp_path: Path) -> None:
    first, second = Journal(tmp_path / "a", ROOM), Journal(tmp_path / "b", ROOM)
    assert first.gateway_id != second.gateway_id
    await first.close()
    await second.close()


async def test_one_process_a_folder(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    with pytest.raises(JournalInUseError):
        Journal(tmp_path, ROOM)
    await journal.close()


async def test_past_its_room_nothing_is_appended_and_what_is_there_still_goes_out(
    tmp_path: Path,
) -> None:
    journal = Journal(tmp_path, 2_000)

    def fill() -> None:
        while True:
            journal.append(visit())

    with pytest.raises(JournalFullError):
        fill()
    appended = journal.pending
    assert appended > 10
    assert await drain(journal) == [(1, appended)]
    await journal.close()


async def test_room_comes_back_when_segments_go(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 5_000, segment_bytes=1_000)
    for _ in range(100):
        for _ in range(20):
            journal.append(visit())
        assert len(await drain(journal)) == 1
    await journal.close()


async def test_a_full_disk_is_an_error_and_no_half_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    journal.append(visit())
    full = os.open("/dev/full", os.O_WRONLY)
    active = journal._active
    good, active._fd = active._fd, full
    with pytest.raises(JournalFullError):
        journal.append(visit("bbbbbbbb"))
    active._fd = good
    os.close(full)
    journal.append(visit("cccccccc"))
    assert await drain(journal) == [(1, 2)]
    await journal.close()


async def test_a_batch_is_given_out_only_once_the_disk_has_taken_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: dict[int, int] = {}

    def take(fd: int) -> None:
        file = os.fstat(fd)
        taken[file.st_ino] = file.st_size

    journal = Journal(tmp_path, ROOM)
    monkeypatch.setattr("gateway.visits.active.os.fdatasync", take)
    journal.append(visit())
    journal.close_batch()
    await journal.sync()
    assert await journal.first_batch() is not None
    (segment,) = segments(tmp_path)
    assert taken == {segment.stat().st_ino: segment.stat().st_size}
    await journal.close()


async def test_a_disk_that_fails_keeps_batches_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal(tmp_path, ROOM)
    journal.append(visit())
    journal.close_batch()
    with monkeypatch.context() as broken:
        broken.setattr("gateway.visits.active.os.fdatasync", fail)
        with pytest.raises(OSError, match="Input/output"):
            await journal.sync()
    assert await journal.first_batch() is None
    assert await drain(journal) == [(1, 1)]
    await journal.close()


@pytest.mark.parametrize("segment_bytes", [500, 1 << 20])
@pytest.mark.parametrize("failing", [0, 1, 4])
async def test_what_a_failed_sync_left_is_written_again_before_a_sync_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segment_bytes: int, failing: int
) -> None:
    disk = Disk(monkeypatch)
    journal = Journal(tmp_path, ROOM, segment_bytes=segment_bytes)
    for number in range(8):
        journal.append(*[visit(f"code{number:04}")] * 10)
        if number % 2:
            journal.close_batch()
        disk.fails = number == failing
        if disk.fails:
            with pytest.raises(OSError, match="Input/output"):
                await journal.sync()
            assert journal.dirty
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


async def test_an_older_segment_whose_sync_failed_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.visits.restore._AGAIN_SECONDS", 0)
    disk = Disk(monkeypatch)
    journal = Journal(tmp_path, ROOM)
    journal.append(*[visit()] * 10)
    journal.close_batch()
    await abandon(journal)  # Nothing was brought to disk but the first line.

    later = Journal(tmp_path, ROOM)
    disk.fails = True
    await later.restore()
    assert not disk.fails
    await later.sync()
    batch = await later.first_batch()
    assert batch is not None
    await abandon(later)
    disk.cut_power(tmp_path)

    again = Journal(tmp_path, ROOM)
    assert await drain(again) == [(batch.number, 10)]
    assert again.lost_lines == 0
    await again.close()


async def test_a_file_whose_name_may_not_be_on_disk_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, ROOM, segment_bytes=500)
    made: list[int] = []

    def fail(fd: int) -> None:
        made.append(fd)
        raise OSError(errno.EIO, "Input/output error")

    async def fill() -> None:
        while len(segments(tmp_path)) < 2:
            journal.append(visit())
            await journal.sync()

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output"):
            await fill()
    assert made
    assert len(segments(tmp_path)) == 1
    await journal.sync()
    assert len(segments(tmp_path)) == 2
    await journal.close()


async def test_what_is_not_on_disk_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.visits.active.MAX_UNSYNCED_BYTES", 1000)
    journal = Journal(tmp_path, ROOM)
    with pytest.raises(JournalFullError, match="does not keep up"):
        journal.append(*[visit()] * 100)
    while journal.pending < 10:
        journal.append(visit())
    appended = journal.pending
    await journal.sync()
    journal.append(visit())
    assert await drain(journal) == [(1, appended + 1)]
    await journal.close()


async def test_a_sync_that_is_cancelled_forgets_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, ROOM, segment_bytes=500)
    while len(segments(tmp_path)) < 2:
        journal.append(visit())
        await journal.sync()
    journal.close_batch()  # It goes on in the next file: two are to be brought to disk.
    waiting, go_on = threading.Event(), threading.Event()

    def slowly(_fd: int) -> None:
        waiting.set()
        assert go_on.wait(10)

    with monkeypatch.context() as slow:
        slow.setattr("gateway.visits.active.os.fdatasync", slowly)
        syncing = asyncio.create_task(journal.sync())
        await asyncio.to_thread(waiting.wait, 10)
        syncing.cancel()
        await asyncio.wait([syncing])
        go_on.set()
    assert journal.dirty
    synced: set[int] = set()
    fdatasync = os.fdatasync

    def note(fd: int) -> None:
        synced.add(os.fstat(fd).st_ino)
        fdatasync(fd)

    wanted = {path.stat().st_ino for path in segments(tmp_path)}
    monkeypatch.setattr("gateway.visits.active.os.fdatasync", note)
    await journal.sync()
    assert synced == wanted
    assert await journal.first_batch() is not None
    await journal.close()
