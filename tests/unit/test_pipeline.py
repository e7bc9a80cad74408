"""The way from an answered visit to its batch, where strangers decide how visits look."""

from __future__ import annotations

from pathlib import Path

from gateway.visits.journal import Batch, Journal
from gateway.visits.pipeline import MOST_ROWS, VisitPipeline


class Sink:
    """Takes every batch."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    async def record(self, batch: Batch) -> None:
        self.batches.append(batch)


async def test_a_batch_fits_a_message_however_many_hosts_come_before_the_next_tick(
    tmp_path: Path,
) -> None:
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 64 << 20), sink)
    pipeline.start()
    for n in range(3 * MOST_ROWS):
        host = ".".join((f"h{n}", "x" * 60, "y" * 60, "z" * 60, "example"))
        pipeline.record("abcdefgh", b"Mozilla/5.0", f"https://{host}/".encode())
    await pipeline.stop(5)
    assert [batch.visits for batch in sink.batches] == [MOST_ROWS] * 3
    assert all(len(batch.counts) * 300 < 4 << 20 for batch in sink.batches)


async def test_visits_on_file_without_a_batch_are_sent_though_nobody_comes(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 1 << 20)
    sink = Sink()
    first = VisitPipeline(journal, sink)
    first.record("abcdefgh", b"Mozilla/5.0", b"")
    second = VisitPipeline(journal, sink)
    second.start()
    await second.stop(5)
    assert [batch.visits for batch in sink.batches] == [1]
