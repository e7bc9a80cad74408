"""Visits are in the journal before their responses are passed to the transport."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import cast

import pytest

from gateway.http.coalescing import CoalescingTransport, WriteQueue
from gateway.visits.journal.journal import Journal
from gateway.visits.pipeline import VisitPipeline
from tests.gateway.visits.test_pipeline import visitors_of_nowhere
from tests.gateway.visits.test_sender import Sink

ANSWER = b"HTTP/1.1 302 Found\r\n\r\nRedirecting..."


class Wire:
    """Transports that record what the journal has at each write."""

    def __init__(self, folder: Path, visits: VisitPipeline) -> None:
        self.folder = folder
        self.visits = visits
        self.answered = 0
        self.missing = 0
        self.writes = 0
        outbox = WriteQueue(visits.flush)
        self.connections = [
            CoalescingTransport(cast(asyncio.Transport, self), outbox) for _ in range(8)
        ]

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def write(self, data: bytes) -> None:
        """Receive what is sent on a connection."""
        self.answered += data.count(ANSWER)
        text = b"".join(path.read_bytes() for path in self.folder.glob("*.v1"))
        on_file = text.count(b"\n") + self.visits.lost
        self.missing = max(self.missing, self.answered - on_file)

    def visit(self, connection: int) -> None:
        """Record a visit and answer it."""
        self.visits.record("abcdefgh", b"Mozilla/5.0", b"")
        self.connections[connection].write(ANSWER)


async def visit_in_turns(wire: Wire) -> None:
    # The second visits are on connections that had data to send before the first ones.
    for turn in range(20):
        wire.connections[0].write(b"HTTP/1.1 404 Not Found\r\n\r\n")
        for connection in (3, 1, 0, 7, 0, 3):
            wire.visit(connection)
        if turn % 3 == 0:
            wire.connections[1].close()
            wire.visit(2)
        await asyncio.sleep(0)


async def test_each_visit_is_in_the_journal_before_its_response_is_sent(tmp_path: Path) -> None:
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), Sink(), visitors_of_nowhere())
    wire = Wire(tmp_path, pipeline)
    await visit_in_turns(wire)
    await asyncio.sleep(0)
    assert (wire.answered, wire.missing, pipeline.lost) == (127, 0, 0)
    pipeline.start()
    await pipeline.stop(5)


async def test_a_broken_connection_does_not_affect_others() -> None:
    sent: list[int] = []

    class Broken:
        def __init__(self, number: int) -> None:
            self.number = number

        def is_closing(self) -> bool:
            return False

        def write(self, data: bytes) -> None:
            if self.number == 1:
                raise RuntimeError("broken")
            sent.append(self.number)

    outbox = WriteQueue(lambda: None)
    for number in range(3):
        CoalescingTransport(cast(asyncio.Transport, Broken(number)), outbox).write(ANSWER)
    await asyncio.sleep(0)
    assert sent == [0, 2]


@pytest.mark.parametrize("written_bytes", [0, 1, 30, 100])
async def test_visits_that_a_full_disk_rejects_are_lost_before_their_responses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written_bytes: int
) -> None:
    sink = Sink()
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), sink, visitors_of_nowhere())
    wire = Wire(tmp_path, pipeline)
    pwrite = os.pwrite

    def fill(fd: int, data: bytes, start: int) -> int:
        if not written_bytes:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(fd, data[:written_bytes], start)

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", fill)
        await visit_in_turns(wire)
        await asyncio.sleep(0)
    assert (wire.answered, wire.missing) == (127, 0)
    assert pipeline.lost
    await visit_in_turns(wire)
    await asyncio.sleep(0)
    assert sum(pipeline.visits.values()) == 254 - pipeline.lost
    pipeline.start()
    await pipeline.stop(5)
    assert sum(batch.visits for batch in sink.batches) == 254 - pipeline.lost


async def test_the_visits_of_a_turn_are_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = VisitPipeline(Journal(tmp_path, 1 << 20), Sink(), visitors_of_nowhere())
    wire = Wire(tmp_path, pipeline)
    written: list[int] = []
    pwrite = os.pwrite

    def note(fd: int, data: bytes, start: int) -> int:
        written.append(data.count(b"\n"))
        return pwrite(fd, data, start)

    monkeypatch.setattr(os, "pwrite", note)
    for connection in range(8):
        wire.visit(connection)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert written == [8]
    pipeline.start()
    await pipeline.stop(5)
