"""Sending batches to analytics, one at a time until each is acknowledged or refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import structlog

from gateway.visits.journal.batch import Batch
from gateway.visits.journal.journal import Journal
from gateway.visits.sender import Sender
from services.shared.errors import InvalidArgument, Unavailable
from tests.gateway.visits.test_journal import visit


class Sink:
    """Responds with the given outcomes in turn, and then acknowledges everything."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.batches: list[Batch] = []
        self.at_once = 0

    async def record(self, batch: Batch) -> None:
        self.at_once += 1
        assert self.at_once == 1
        await asyncio.sleep(0)
        self.at_once -= 1
        self.batches.append(batch)
        if self.answers and (error := self.answers.pop(0)):
            raise error


async def filled_journal(folder: Path, batches: int) -> Journal:
    journal = Journal(folder, 1 << 20)
    for n in range(batches):
        journal.append(visit(f"{n:08d}"))
        journal.close_batch()
    await journal.sync()
    return journal


async def test_a_batch_is_sent_again_until_it_is_acknowledged(tmp_path: Path) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    journal = await filled_journal(tmp_path, 2)
    sink = Sink(*[Unavailable("Away.")] * 7)
    left: list[int] = []
    done = asyncio.Event()

    def acknowledged() -> None:
        left.append(journal.closed_batches)
        if not journal.closed_batches:
            done.set()

    lost: list[int] = []
    sender = Sender(journal, sink, acknowledged, lambda visits, _: lost.append(visits), pause)
    with structlog.testing.capture_logs() as logged:
        running = asyncio.create_task(sender.run())
        sender.wake()
        await asyncio.wait_for(done.wait(), 10)
        running.cancel()
        await asyncio.wait([running])
    assert [batch.number for batch in sink.batches] == [1] * 8 + [2]
    assert all(batch == sink.batches[0] for batch in sink.batches[:8])
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    assert sender.batches == {"acknowledged": 2, "refused": 0, "failed": 7}
    assert (left, lost) == ([1, 0], [])
    assert [line["event"] for line in logged] == ["visits_not_sent"]
    await journal.close()


async def test_a_refused_batch_is_lost_and_blocks_no_other(tmp_path: Path) -> None:
    journal = await filled_journal(tmp_path, 3)
    sink = Sink(None, InvalidArgument("Malformed.", "INVALID_BATCH"))
    lost: list[tuple[int, str]] = []
    sender = Sender(journal, sink, lambda: None, lambda *what: lost.append(what))
    await sender.drain()
    assert [batch.number for batch in sink.batches] == [1, 2, 3]
    assert lost == [(1, "batch 2 refused: INVALID_BATCH")]
    assert journal.is_empty
    await journal.close()
