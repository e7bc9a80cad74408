"""From a recorded visit to its batch."""

from __future__ import annotations

import asyncio
import errno
import os
import zlib
from pathlib import Path

import pytest
import structlog

from gateway.visits.enrichment.visitors import Visitors
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.journal import Journal
from gateway.visits.journal.lines import Visit
from gateway.visits.pipeline import MAX_ROWS, VisitPipeline
from services.shared import background
from services.shared.errors import Unavailable
from services.shared.ip_addresses import parse
from tests.gateway.visits.test_journal import abandon, failing, write
from tests.gateway.visits.test_sender import Sink


def visitors_of_nowhere() -> Visitors:
    """Return visitors without country, on a day without a key."""
    return Visitors(lambda host, _: parse(host), lambda _: "")


async def test_a_batch_fits_into_a_message_with_any_number_of_hosts(
    tmp_path: Path,
) -> None:
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 64 << 20), sink, visitors_of_nowhere())
    pipeline.start()
    for n in range(3 * MAX_ROWS):
        host = ".".join((f"h{n}", "x" * 60, "y" * 60, "z" * 60, "example"))
        client = f"10.0.{n >> 8}.{n & 255}"
        pipeline.record("abcdefgh", b"Mozilla/5.0", f"https://{host}/".encode(), host=client)
    await pipeline.stop(5)
    assert [batch.visits for batch in sink.batches] == [MAX_ROWS] * 3
    assert all(len(batch.counts) * 300 < 4 << 20 for batch in sink.batches)


async def test_visits_of_an_earlier_process_are_sent_without_new_visits(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 1 << 20)
    sink = Sink()
    pipeline = VisitPipeline(journal, sink, visitors_of_nowhere())
    pipeline.record("abcdefgh", b"Mozilla/5.0", b"")
    pipeline.flush()
    await abandon(journal)
    second = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere())
    second.start()
    await second.stop(5)
    assert [batch.visits for batch in sink.batches] == [1]


async def test_a_journal_of_1_0_0_is_sent_as_it_would_be_written_now(tmp_path: Path) -> None:
    """1.0.0 wrote the visitor number of a scan before its source."""
    facts = "device=phone browser=Safari country=ES"
    bodies = (
        f"abcdefgh 498667 p  {facts} visitor=0123abcd source=qr",
        f"abcdefgh 498667 p  {facts} source=qr visitor=0123abcd",
        f"abcdefgh 498667 p  {facts} visitor=ffffffff",
        f"abcdefgh 498667 p  {facts}",
    )
    file = b"".join(b"%08x %s\n" % (zlib.crc32(text), text) for text in map(str.encode, bodies))
    write(tmp_path, 1, rubbish=file)
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere())
    pipeline.start()
    await pipeline.stop(5)
    [batch] = sink.batches
    assert batch.counts == {
        Visit("abcdefgh", 498_667, "person", "", f" {facts} source=qr"): 2,
        Visit("abcdefgh", 498_667, "person", "", f" {facts}"): 2,
    }
    assert batch.visitors == {(498_667 // 24, "abcdefgh"): {0x0123ABCD, 0xFFFF_FFFF}}


async def test_an_unreadable_batch_is_lost_and_not_sent(tmp_path: Path) -> None:
    write(tmp_path, 1, rubbish=b"robot\n")
    write(tmp_path, 2, "bbbbbbbb")
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere())
    pipeline.start()
    await pipeline.stop(5)
    assert [(batch.number, batch.visits) for batch in sink.batches] == [(2, 1)]
    assert (pipeline.lost, pipeline.sender.batches["refused"]) == (1, 0)


class KeepsTheFile(Sink):
    """Accepts a batch whose file then cannot be removed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._patch = patch

    async def record(self, batch: Batch) -> None:
        await super().record(batch)
        self._patch.setattr(Path, "unlink", failing(errno.EROFS))


async def test_a_batch_whose_file_was_not_removed_is_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        sink = KeepsTheFile(patch)
        pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere())
        pipeline.start()
        pipeline.record("abcdefgh", b"Mozilla/5.0", b"")
        await pipeline.stop(5)
    assert len(sink.batches) == 1

    again = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), again, visitors_of_nowhere())
    pipeline.start()
    await pipeline.stop(5)
    assert again.batches == sink.batches


MIDNIGHT = 20_780 * 86_400.0
CHROME = b"Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36"


async def test_a_batch_has_distinct_visitors_and_merged_visits(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 1 << 20)
    visitors = visitors_of_nowhere()
    visitors.begin(20_779)
    visitors.use(bytes(32))
    pipeline = VisitPipeline(journal, Sink(), visitors, lambda: MIDNIGHT - 1)
    for code, host in (("aaaaaaaa", "192.0.2.1"), ("bbbbbbbb", "192.0.2.1")):
        pipeline.record(code, CHROME, b"", b"es", host)
    for host in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        pipeline.record("aaaaaaaa", CHROME, b"", b"es", host)
    pipeline.record("aaaaaaaa", b"curl/8", b"", b"es", "192.0.2.4")
    pipeline.flush()
    await abandon(journal)
    first, sink = Sink(), Sink()
    for sink_in_turn in (first, sink):  # The same batch again.
        journal = Journal(tmp_path, 1 << 20)
        batch = await journal.first_batch()
        assert batch is not None
        await sink_in_turn.record(batch)
        await abandon(journal)
    [batch] = sink.batches
    assert first.batches == sink.batches
    facts = " device=desktop browser=Chrome system=Linux language=es"
    hour = 20_780 * 24 - 1
    assert batch.counts == {
        Visit("aaaaaaaa", hour, "person", "", facts): 4,
        Visit("bbbbbbbb", hour, "person", "", facts): 1,
        Visit("aaaaaaaa", hour, "bot", ""): 1,
    }
    assert {place: len(numbers) for place, numbers in batch.visitors.items()} == {
        (20_779, "aaaaaaaa"): 3,
        (20_779, "bbbbbbbb"): 1,
    }
    assert set(batch.visitors[20_779, "bbbbbbbb"]) <= set(batch.visitors[20_779, "aaaaaaaa"])


async def test_a_visitor_is_numbered_with_the_key_of_the_day_of_the_visit(tmp_path: Path) -> None:
    clock = [0.0]
    visitors = visitors_of_nowhere()
    visitors.begin(20_779)
    visitors.use(b"1" * 32)
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors, lambda: clock[0])
    moments = {
        "aaaaaaaa": MIDNIGHT - 3600, "bbbbbbbb": MIDNIGHT - 0.001, "cccccccc": MIDNIGHT,
        "dddddddd": MIDNIGHT + 7200, "eeeeeeee": MIDNIGHT + 7201, "ffffffff": MIDNIGHT - 1,
    }  # fmt: skip
    for code, clock[0] in moments.items():
        if code == "eeeeeeee":
            visitors.use(b"2" * 32)
        pipeline.record(code, CHROME, b"", b"es", "192.0.2.1")
    pipeline.start()
    await pipeline.stop(5)
    [batch] = sink.batches
    hours = {visit.code: visit.hour for visit in batch.counts}
    assert hours == {code: int(moment) // 3600 for code, moment in moments.items()}
    assert sorted(batch.visitors) == [
        (20_779, "aaaaaaaa"),
        (20_779, "bbbbbbbb"),
        (20_780, "eeeeeeee"),
    ]
    first, same, other = (set(batch.visitors[place]) for place in sorted(batch.visitors))
    assert first == same != other


async def test_an_unexpected_error_of_the_sender_stops_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_process", background._Process())
    stop = asyncio.Event()
    background.stop_on_failure(stop)
    broken = Sink(RuntimeError("unforeseen"))
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), broken, visitors_of_nowhere())
    pipeline.start()
    pipeline.record("abcdefgh", b"Mozilla/5.0", b"")
    await asyncio.wait_for(stop.wait(), 10)
    await pipeline.stop(0.2)
    with pytest.raises(SystemExit):
        background.exit_if_failed()


async def test_the_lag_of_a_backlog_counts_from_the_start(tmp_path: Path) -> None:
    away = Sink(*[Unavailable("Away.")] * 100)
    first = VisitPipeline(Journal(tmp_path, 1 << 20), away, visitors_of_nowhere())
    first.start()
    for _ in range(3):
        first.record("abcdefgh", b"Mozilla/5.0", b"")
    await first.stop(0.2)
    now = 1_800_000_000.0
    again = VisitPipeline(Journal(tmp_path, 1 << 20), away, visitors_of_nowhere(), lambda: now)
    now += 1
    assert (again.journal.restoring, again.pending, again.lag_seconds) == (True, 0, 1.0)
    again.start()
    while not again.pending:  # noqa: ASYNC110 - Nobody says so but this.
        await asyncio.sleep(0)
    now += 4
    assert (again.pending, again.lag_seconds) == (3, 5.0)
    await again.stop(0.1)


async def test_a_full_disk_is_checked_until_it_has_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), Sink(), visitors_of_nowhere())
    pipeline.start()
    with monkeypatch.context() as full, structlog.testing.capture_logs() as logged:
        full.setattr("gateway.visits.journal.folder._free_bytes", lambda _: 0)
        with pytest.raises(Unavailable, match="full"):
            await pipeline.check_journal()
        for _ in range(3):
            pipeline.record("abcdefgh", b"Mozilla/5.0", b"")
            pipeline.flush()
    assert pipeline.lost == 3
    assert [line["event"] for line in logged] == ["visits_lost"]
    async with asyncio.timeout(10):
        while pipeline.lost < 4:  # Only the tick looks for room.
            await asyncio.sleep(0.05)
            pipeline.record("abcdefgh", b"Mozilla/5.0", b"")
            pipeline.flush()
            if pipeline.visits["person"]:
                break
    await pipeline.check_journal()
    await pipeline.stop(5)


async def test_a_failing_disk_makes_the_journal_unwritable_until_a_sync_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere())
    pipeline.start()
    with monkeypatch.context() as broken, structlog.testing.capture_logs() as logged:
        broken.setattr(os, "fdatasync", failing())
        pipeline.record("abcdefgh", b"Mozilla/5.0", b"")
        while not logged:  # noqa: ASYNC110 - Nobody says so but the log.
            await asyncio.sleep(0.01)
        with pytest.raises(Unavailable) as raised:
            await pipeline.check_journal()
        assert raised.value.reason == "JOURNAL_UNWRITABLE"
        assert [line["event"] for line in logged] == ["journal_not_synced"]
        assert not sink.batches
    await pipeline.stop(5)
    assert [batch.visits for batch in sink.batches] == [1]
