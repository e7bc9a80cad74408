"""What earlier runs left in a journal, read back while it is in use."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import threading
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import structlog

from gateway.visits import ledger, lines
from gateway.visits import segments as segment_files
from gateway.visits.folder import JournalInUseError
from gateway.visits.journal import Journal
from gateway.visits.lines import Visit
from gateway.visits.segments import PIECE_VISITS
from services.runtime import background
from tests.unit.test_journal import ROOM, abandon, drain, segments, visit

GATEWAY = "0123456789abcdef0123456789abcdef"


def line(body: str) -> bytes:
    """A line as version 33cf8fd wrote it."""
    return f"{zlib.crc32(body.encode()):08x} {body}\n".encode()


def write(folder: Path, position: int, *bodies: str) -> Path:
    path = folder / f"{position:010d}.journal"
    path.write_bytes(b"".join(map(line, bodies)))
    return path


class Analytics:
    """Takes a batch if its number is above the last one, as the service does."""

    def __init__(self) -> None:
        self.last = 0
        self.codes: Counter[str] = Counter()

    def take(self, batch: ledger.Batch) -> None:
        if batch.number > self.last:
            self.last = batch.number
            for row, count in batch.counts.items():
                self.codes[row.code] += count


async def test_a_journal_of_the_version_before_is_read(tmp_path: Path) -> None:
    write(
        tmp_path, 7, f"h {GATEWAY} 41",
        "v aaaaaaaa 498667 p ", "b 41 1", "v bbbbbbbb 498667 b news.example",
        "v bbbbbbbb 498667 b news.example", "v cccccccc 498668 p ", "b 42 3", "a 41",
    )  # fmt: skip
    write(tmp_path, 8, f"h {GATEWAY} 43", "v dddddddd 498668 p ")
    journal = Journal(tmp_path, ROOM)
    assert journal.gateway_id == GATEWAY
    await journal.restore()
    found = []
    while batch := await journal.first_batch():
        found.append((batch.number, batch.visits, batch.counts))
        journal.acknowledge(batch.number)
    assert found == [
        (42, 3, {Visit("bbbbbbbb", 498667, "bot", "news.example"): 2,
                 Visit("cccccccc", 498668, "person", ""): 1}),
        (43, 1, {Visit("dddddddd", 498668, "person", ""): 1}),
    ]  # fmt: skip
    assert journal.is_empty
    assert len(segments(tmp_path)) == 1
    await journal.close()


@pytest.mark.parametrize("seed", range(40))
async def test_killed_at_any_moment_of_reading_each_visit_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(segment_files, "PIECE_VISITS", 7)
    monkeypatch.setattr("gateway.visits.restore.PIECE_VISITS", 7)
    monkeypatch.setattr(lines, "SLICE_BYTES", chance.choice([200, 700, 5_000]))
    analytics = Analytics()
    taken: list[str] = []

    def visit_once(journal: Journal) -> None:
        taken.append(f"{len(taken):08d}")
        journal.append(visit(taken[-1]))

    for run in range(12):
        journal = Journal(tmp_path, ROOM, segment_bytes=chance.choice([300, 1_000, 10_000]))
        restoring = asyncio.create_task(journal.restore())
        for _ in range(chance.randrange(60) if run < 11 else 0):
            match chance.randrange(6):
                case 0 | 1:
                    for _ in range(chance.randrange(30)):
                        visit_once(journal)
                case 2 if journal.open_visits:
                    journal.close_batch()
                case 3:
                    await journal.sync()
                case 4:
                    await asyncio.sleep(chance.choice([0, 0, 0.001]))
                case 5 if batch := await journal.first_batch():
                    analytics.take(batch)
                    if chance.random() < 0.8:
                        journal.acknowledge(batch.number)
        if run == 11:
            await restoring
            while batch := await journal.first_batch():
                analytics.take(batch)
                journal.acknowledge(batch.number)
            assert journal.is_empty
            await journal.close()
            break
        restoring.cancel()
        await asyncio.wait([restoring])
        await abandon(journal)
        torn = chance.random() < 0.3
        if torn:  # A line that was never answered for.
            with segments(tmp_path)[-1].open("ab") as file:
                file.write(b"0badc0de v abc")
    assert analytics.codes == Counter(taken)


async def test_a_journal_takes_visits_before_it_has_read_what_was_left(tmp_path: Path) -> None:
    rows = [f"v {n:08d} 498667 p " for n in range(3 * PIECE_VISITS + 1)]
    write(tmp_path, 1, f"h {GATEWAY} 1", *rows)
    journal = Journal(tmp_path, 16 << 20)
    assert (journal.restoring, journal.pending, journal.is_empty) == (True, 0, False)
    journal.append(visit())
    journal.close_batch()
    await journal.sync()
    assert journal.pending == 1
    assert await journal.first_batch() is None, "older visits have lower numbers and go first"
    await journal.restore()
    assert journal.pending == len(rows) + 1
    sent = await drain(journal)
    assert [visits for _, visits in sent] == [PIECE_VISITS] * 3 + [1, 1]
    numbers = [number for number, _ in sent]
    assert numbers == sorted(set(numbers))
    await journal.close()


async def test_a_start_looks_at_few_of_many_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(2_000):
        write(tmp_path, n + 1, f"h {GATEWAY} {n + 1}", f"v {n:08d} 498667 p ", f"b {n + 1} 1")
    write(tmp_path, 2_001, f"h {GATEWAY} 2001", "a 1990")
    looked_at: list[str] = []
    numbers_of = segment_files.numbers_of

    def look(path: Path, header: lines.Header) -> segment_files.Numbers:
        looked_at.append(path.name)
        return numbers_of(path, header)

    monkeypatch.setattr(segment_files, "numbers_of", look)
    journal = Journal(tmp_path, 16 << 20)
    assert looked_at == ["0000002001.journal"]
    await journal.restore()
    assert await drain(journal) == [(n, 1) for n in range(1991, 2001)]
    await journal.close()


async def test_what_is_read_ahead_of_the_sender_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MOST_RESTORED", 10)
    bodies = [f"{kind}" for n in range(100) for kind in (f"v {n:08d} 498667 p ", f"b {n + 1} 1")]
    write(tmp_path, 1, f"h {GATEWAY} 1", *bodies)
    journal = Journal(tmp_path, ROOM)
    found = asyncio.Event()
    restoring = asyncio.create_task(journal.restore(found.set))
    sent = 0
    while journal.restoring or journal.restored_batches:
        assert journal.restored_batches <= 10
        if batch := await journal.first_batch():
            journal.acknowledge(batch.number)
            sent += 1
        else:
            await asyncio.wait_for(found.wait(), 10)
            found.clear()
        await asyncio.sleep(0)
    await restoring
    assert sent == 100
    await journal.close()


async def test_visits_whose_batch_may_be_counted_are_lost_and_said_to_be_once(
    tmp_path: Path,
) -> None:
    first = write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1")
    write(tmp_path, 2, f"h {GATEWAY} 2", "v bbbbbbbb 498667 p ", "b 2 1")
    first.write_bytes(first.read_bytes()[:-2] + b"9\n")
    journal = Journal(tmp_path, ROOM)
    await journal.restore()
    assert journal.lost_lines == 2
    batch = await journal.first_batch()
    assert batch is not None
    assert batch.number == 2
    await abandon(journal)
    again = Journal(tmp_path, ROOM)
    assert await drain(again) == [(2, 1)]
    assert again.lost_lines == 0
    await again.close()


async def test_a_file_that_is_given_up_costs_nothing_of_those_behind_it(tmp_path: Path) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1", "a 1")
    write(tmp_path, 2)
    write(tmp_path, 3, f"h {GATEWAY} 2", *["v bbbbbbbb 498667 p "] * 3)
    write(tmp_path, 4)
    write(tmp_path, 5, f"h {GATEWAY} 7", "v cccccccc 498667 p ", "b 7 1")
    journal = Journal(tmp_path, ROOM)
    assert [visits for _, visits in await drain(journal)] == [3, 1]
    assert journal.lost_lines == 0
    assert len(segments(tmp_path)) == 1
    await journal.close()


async def test_a_start_left_while_it_cuts_a_segment_cuts_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ")
    spoilt.write_bytes(spoilt.read_bytes() + b"no line\n")
    cutting, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def slowly(cut: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        def held(file: object, size: int) -> None:
            cutting.set()
            assert go_on.wait(10)
            try:
                cut(file, size)
            finally:
                done.set()

        return held

    monkeypatch.setattr("gateway.visits.restore.os.truncate", slowly(os.truncate))
    monkeypatch.setattr("gateway.visits.restore.os.ftruncate", slowly(os.ftruncate))
    journal = Journal(tmp_path, ROOM)
    restoring = asyncio.create_task(journal.restore())
    await asyncio.to_thread(cutting.wait, 10)
    restoring.cancel()
    await asyncio.wait([restoring])
    others = [(tmp_path / f"other-{n}").open("w+b", buffering=0) for n in range(20)]
    for other in others:
        other.write(bytes(1_000))
    go_on.set()
    await asyncio.to_thread(done.wait, 10)
    assert {os.fstat(other.fileno()).st_size for other in others} == {1_000}
    for other in others:
        other.close()
    await abandon(journal)


async def test_killed_while_a_long_file_is_removed_no_later_one_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analytics = Analytics()
    write(tmp_path, 1, f"h {GATEWAY} 1", *["v aaaaaaaa 498667 p "] * 30)
    write(tmp_path, 2, f"h {GATEWAY} 3", "v bbbbbbbb 498667 p ", "b 3 1")
    write(tmp_path, 3)
    unlink = Path.unlink
    removing, go_on = threading.Event(), threading.Event()

    def slowly(path: Path, missing_ok: bool = False) -> None:
        if path.name == "0000000001.journal":
            removing.set()
            assert go_on.wait(10)
        unlink(path, missing_ok=missing_ok)

    async def send(journal: Journal) -> None:
        while batch := await journal.first_batch():
            analytics.take(batch)
            journal.acknowledge(batch.number)

    with monkeypatch.context() as patch:
        patch.setattr("gateway.visits.retention._LONG_TO_REMOVE", 500)
        patch.setattr(Path, "unlink", slowly)
        journal = Journal(tmp_path, ROOM)
        await journal.restore()
        await send(journal)
        await asyncio.to_thread(removing.wait, 10)
        killed = tmp_path / "killed"
        killed.mkdir()
        for path in segments(tmp_path):
            (killed / path.name).write_bytes(path.read_bytes())
        go_on.set()
        await journal.close()
    assert len(segments(tmp_path)) == 1, "and what waited for it is removed after it"
    again = Journal(killed, ROOM)
    await again.restore()
    await send(again)
    assert analytics.codes == {"aaaaaaaa": 30, "bbbbbbbb": 1}
    assert again.is_empty
    await again.close()


@pytest.mark.parametrize("long", [500, 32 << 20])
async def test_a_file_that_the_disk_does_not_let_go_is_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int
) -> None:
    monkeypatch.setattr(background, "_process", background._Process())
    monkeypatch.setattr("gateway.visits.retention._LONG_TO_REMOVE", long)
    write(tmp_path, 1, f"h {GATEWAY} 1", *["v aaaaaaaa 498667 p "] * 30, "b 1 30")
    write(tmp_path, 2, f"h {GATEWAY} 2", "v bbbbbbbb 498667 p ", "b 2 1")
    refused: list[str] = []

    def keep(path: Path, missing_ok: bool = False) -> None:
        refused.append(path.name)
        raise OSError(errno.EROFS, "Read-only file system")

    journal = Journal(tmp_path, ROOM)
    with monkeypatch.context() as read_only:
        read_only.setattr(Path, "unlink", keep)
        assert await drain(journal) == [(1, 30), (2, 1)]
        while not refused:  # noqa: ASYNC110 - In a thread; nobody says so but this.
            await asyncio.sleep(0)
    assert len(segments(tmp_path)) == 3
    assert journal.size == sum(path.stat().st_size for path in segments(tmp_path))
    assert set(refused) == {"0000000001.journal"}
    await journal.close()
    assert not background._process.failed
    assert len(segments(tmp_path)) == 1


def no_room(_fd: int, _line: bytes) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_a_disk_that_earlier_runs_filled_is_won_back_before_this_one_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1")
    write(tmp_path, 2, f"h {GATEWAY} 2", "v bbbbbbbb 498667 p ")
    newest = write(tmp_path, 3, f"h {GATEWAY} 4", "v cccccccc 498667 p ", "b 4 1")
    write(tmp_path, 4)
    with monkeypatch.context() as full:
        full.setattr("gateway.visits.active.os.write", no_room)
        journal = Journal(tmp_path, ROOM)
        restoring = asyncio.create_task(journal.restore())
        sent: list[int] = []
        while len(sent) < 3:
            if batch := await journal.first_batch():
                journal.acknowledge(batch.number)
                sent.append(batch.number)
            await asyncio.sleep(0)
        await journal.sync()
        assert sent[0] == 1
        assert sent[-1] == 4
        assert newest == segments(tmp_path)[0], "the others made room, this one has the numbers"
        assert journal.size == newest.stat().st_size
    await journal.sync()
    await restoring
    journal.append(visit())
    ((number, _),) = await drain(journal)
    assert number > 4
    assert len(segments(tmp_path)) == 1
    await journal.close()


async def test_a_disk_that_fails_once_as_a_journal_begins_holds_nothing_back_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    write(tmp_path, 1, f"h {GATEWAY} 1", *["v aaaaaaaa 498667 p "] * 3)
    with monkeypatch.context() as full:
        full.setattr("gateway.visits.active.os.write", no_room)
        journal = Journal(tmp_path, ROOM)
    with monkeypatch.context() as broken:
        broken.setattr("gateway.visits.active.os.fdatasync", fail)
        with pytest.raises(OSError, match="Input/output"):
            await journal.sync()
    journal.append(visit())
    assert [visits for _, visits in await asyncio.wait_for(drain(journal), 10)] == [3, 1]
    await journal.close()


async def sent_and_killed(folder: Path, analytics: Analytics, visits: int) -> None:
    """Leave a journal whose one batch was counted, and not noted to be."""
    journal = Journal(folder, 16 << 20)
    for n in range(visits):
        journal.append(visit(f"{n:08d}"))
    journal.close_batch()
    await journal.sync()
    batch = await journal.first_batch()
    assert batch is not None
    analytics.take(batch)
    await abandon(journal)


@pytest.mark.parametrize("cut", [1, 2, 3, 6])
async def test_an_end_that_was_cut_off_is_its_batchs_end(tmp_path: Path, cut: int) -> None:
    analytics = Analytics()
    await sent_and_killed(tmp_path, analytics, 9_000)
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes()[:-cut])
    for _ in range(2):
        again = Journal(tmp_path, 16 << 20)
        again.append(visit("again"))
        await again.restore()
        batch = await again.first_batch()
        assert batch is not None
        assert (batch.number, batch.visits, again.lost_lines) == (1, 9_000, 0)
        await abandon(again)
    last = Journal(tmp_path, 16 << 20)
    await last.restore()
    while batch := await last.first_batch():
        analytics.take(batch)
        last.acknowledge(batch.number)
    assert analytics.codes == Counter([f"{n:08d}" for n in range(9_000)] + ["again"] * 2)
    assert last.is_empty
    await last.close()


async def test_visits_whose_numbers_a_spoilt_first_line_told_are_lost_once(tmp_path: Path) -> None:
    analytics = Analytics()
    write(tmp_path, 1, f"h {GATEWAY} 1", *["v aaaaaaaa 498667 p "] * 3)
    journal = Journal(tmp_path, ROOM)
    await journal.restore()
    batch = await journal.first_batch()
    assert batch is not None
    analytics.take(batch)
    await abandon(journal)
    second = segments(tmp_path)[-1]
    second.write_bytes(second.read_bytes().replace(GATEWAY[:8].encode(), b"0123456x"))
    lost = 0
    for _ in range(2):
        journal = Journal(tmp_path, ROOM)
        await journal.restore()
        while batch := await journal.first_batch():
            analytics.take(batch)
            journal.acknowledge(batch.number)
        lost += journal.lost_lines
        await abandon(journal)
    assert analytics.codes == {"aaaaaaaa": 3}
    assert lost == 4, "its visits, which may have been counted, and that line"


async def test_a_file_that_somebody_took_away_is_not_taken_for_another(tmp_path: Path) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", *["v aaaaaaaa 498667 p "] * 3)
    taken_away = write(tmp_path, 2)
    write(tmp_path, 3, f"h {GATEWAY} 9", "v bbbbbbbb 498667 p ", "b 9 1")
    journal = Journal(tmp_path, ROOM)
    taken_away.unlink()
    with structlog.testing.capture_logs() as told:
        assert [visits for _, visits in await drain(journal)] == [3, 1]
    assert [(line["event"], line["segment"]) for line in told] == [
        ("journal_segment_gone", taken_away.name)
    ]
    assert len(segments(tmp_path)) == 1
    await journal.close()


async def test_a_new_journal_has_nothing_to_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ROOM)
    read = asyncio.Event()
    await journal.restore(read.set)
    assert read.is_set()
    assert journal.is_empty
    await journal.close()


async def test_an_empty_file_ahead_is_no_loss_to_tell_of(tmp_path: Path) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1")
    write(tmp_path, 2)
    journal = Journal(tmp_path, ROOM)
    with structlog.testing.capture_logs() as told:
        assert await drain(journal) == [(1, 1)]
    assert told == []
    await journal.close()


@pytest.mark.parametrize(
    "rubbish",
    [b"\n" * 100_000, b"\0" * 100_000, b"x\n" * 50_000, b"0badc0de b 7 1\n" * 5_000, b""],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_rubbish_costs_what_it_spoils_and_no_number_twice(
    tmp_path: Path, rubbish: bytes, whole: bool
) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 5", "v aaaaaaaa 498667 p ", "b 5 1")
    (tmp_path / "0000000002.journal").write_bytes(
        b"" if whole else line(f"h {GATEWAY} 6") + line("v bbbbbbbb 498667 p ")
    )
    with (tmp_path / "0000000002.journal").open("ab") as file:
        file.write(rubbish)
    journal = Journal(tmp_path, ROOM)
    assert journal.gateway_id == GATEWAY
    journal.append(visit("cccccccc"))
    sent = await drain(journal)
    assert [visits for _, visits in sent] == ([1, 1] if whole else [1, 1, 1])
    assert sent[0][0] == 5
    assert journal.lost_lines == rubbish.count(b"\n") + bool(rubbish and rubbish[-1:] != b"\n")
    assert sent[-1][0] > 5 + rubbish.count(b"\n")
    assert journal.is_empty
    await journal.close()


async def test_a_journal_left_while_it_was_read_loses_nothing(tmp_path: Path) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", *[f"v {n:08d} 498667 p " for n in range(3_000)])
    journal = Journal(tmp_path, ROOM)
    restoring = asyncio.create_task(journal.restore())
    journal.append(visit())
    await asyncio.sleep(0)
    restoring.cancel()
    await asyncio.wait([restoring])
    assert not journal.is_empty
    await journal.close()
    again = Journal(tmp_path, ROOM)
    await again.restore()
    assert again.pending == 3_001
    await again.close()


async def test_a_segment_of_a_later_version_waits_for_who_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1")
    later = write(tmp_path, 2, f"h {GATEWAY} 2 2", "v cccccccc 498667 p ", "b 2 1")
    written = later.read_bytes()
    monkeypatch.setattr("gateway.visits.restore._AGAIN_SECONDS", 0.001)
    looked_at: list[Path] = []
    header_of = segment_files.header_of

    def look(path: Path) -> lines.Header | None:
        looked_at.append(path)
        return header_of(path)

    journal = Journal(tmp_path, ROOM)
    journal.append(visit("bbbbbbbb"))
    journal.close_batch()
    await journal.sync()
    with monkeypatch.context() as watched, structlog.testing.capture_logs() as told:
        watched.setattr(segment_files, "header_of", look)
        restoring = asyncio.create_task(journal.restore())
        while looked_at.count(later) < 5:
            await asyncio.sleep(0)
            if batch := await journal.first_batch():
                assert batch.number == 1
                journal.acknowledge(1)
    assert [(line["event"], line["segment"], line["reason"]) for line in told] == [
        ("journal_not_read", later.name, "Version 2 of the format wrote it.")
    ]
    assert await journal.first_batch() is None, "visits of this run have higher numbers"
    assert (journal.restoring, journal.pending, journal.lost_lines) == (True, 1, 0)
    assert journal.last_number > 1 << 32, "whatever numbers that segment has used"
    restoring.cancel()
    await asyncio.wait([restoring])
    await abandon(journal)
    assert later.read_bytes() == written
    # Who knows that version finds every visit, under numbers that rise.
    monkeypatch.setattr(lines, "VERSION", 2)
    journal = Journal(tmp_path, ROOM)
    assert journal.gateway_id == GATEWAY
    await journal.restore()
    analytics = Analytics()
    analytics.last = 1
    while batch := await journal.first_batch():
        analytics.take(batch)
        journal.acknowledge(batch.number)
    assert analytics.codes == {"bbbbbbbb": 1, "cccccccc": 1}
    await journal.close()


async def test_a_segment_that_the_disk_does_not_give_is_told_of_once_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1")
    monkeypatch.setattr("gateway.visits.restore._AGAIN_SECONDS", 0.001)
    journal = Journal(tmp_path, ROOM)
    header_of = segment_files.header_of
    tried = 0

    def fail(path: Path) -> lines.Header | None:
        nonlocal tried
        tried += 1
        if tried > 20:
            return header_of(path)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(segment_files, "header_of", fail)
    with structlog.testing.capture_logs() as told:
        assert await drain(journal) == [(1, 1)]
    assert [(line["event"], line["reason"]) for line in told] == [
        ("journal_not_read", "Input/output error")
    ]
    await journal.close()


async def test_lines_of_a_kind_that_nobody_knows_are_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path, 1, f"h {GATEWAY} 1",
        "v aaaaaaaa 498667 p ", "x 99999999 1", "v bbbbbbbb 498667 p ", "x", "b 1 2",
        "a-new-kind 7", "v cccccccc 498667 p news.example mood=good",
    )  # fmt: skip
    journal = Journal(tmp_path, ROOM)
    await journal.restore()
    analytics = Analytics()
    while batch := await journal.first_batch():
        analytics.take(batch)
        journal.acknowledge(batch.number)
    assert analytics.codes == {"aaaaaaaa": 1, "bbbbbbbb": 1, "cccccccc": 1}
    assert journal.lost_lines == 0
    await journal.close()


async def test_visits_that_nobody_understands_are_lost_and_said_to_be(tmp_path: Path) -> None:
    write(
        tmp_path, 1, f"h {GATEWAY} 1",
        "v aaaaaaaa 498667 p ", "v bbbbbbbb 498667 robot ", "b 1 2", "v cccccccc now p ", "b 2 1",
        "v dddddddd 498667 p ", "b 3 1",
    )  # fmt: skip
    journal = Journal(tmp_path, ROOM)
    await journal.restore()
    assert journal.pending == 4
    with structlog.testing.capture_logs() as told:
        assert await drain(journal) == [(1, 1), (2, 0), (3, 1)]
    assert [(line["event"], line["visits"]) for line in told] == [
        ("journal_visits_unreadable", 1),
        ("journal_visits_unreadable", 1),
    ]
    assert (journal.pending, journal.lost_lines) == (0, 2)
    assert journal.is_empty
    await journal.close()


async def test_a_file_taken_away_with_batches_in_it_keeps_back_none_behind_it(
    tmp_path: Path,
) -> None:
    taken_away = write(tmp_path, 1, f"h {GATEWAY} 1", "v aaaaaaaa 498667 p ", "b 1 1")
    write(tmp_path, 2, f"h {GATEWAY} 2", "v bbbbbbbb 498667 p ", "b 2 1")
    journal = Journal(tmp_path, ROOM)
    await journal.restore()
    taken_away.unlink()
    assert await drain(journal) == [(1, 0), (2, 1)]
    assert journal.lost_lines == 1
    assert journal.is_empty
    await journal.close()


async def test_a_journal_is_not_given_back_while_a_file_of_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rubbish = tmp_path / "0000000001.journal"
    rubbish.write_bytes(b"rubbish\n" * 100)
    unlink = Path.unlink
    removing, go_on = threading.Event(), threading.Event()

    def slowly(path: Path, missing_ok: bool = False) -> None:
        removing.set()
        assert go_on.wait(10)
        unlink(path, missing_ok=missing_ok)

    journal = Journal(tmp_path, ROOM)
    with monkeypatch.context() as slow:
        slow.setattr(Path, "unlink", slowly)
        restoring = asyncio.create_task(journal.restore())
        await asyncio.to_thread(removing.wait, 10)
        restoring.cancel()
        await asyncio.wait([restoring])
        closing = asyncio.create_task(journal.close())
        done, _ = await asyncio.wait([closing], timeout=0.2)
        assert not done
        with pytest.raises(JournalInUseError):
            Journal(tmp_path, ROOM)
        go_on.set()
        await closing
    assert not rubbish.exists()
    again = Journal(tmp_path, ROOM)
    await again.restore()
    await again.close()
