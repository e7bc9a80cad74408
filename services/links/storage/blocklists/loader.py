"""Loads a list file in a reader process (`reader`) and takes over the resulting table."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from services.links.storage.blocklists import reader
from services.links.storage.blocklists.table import BlocklistTable

TIMEOUT_SECONDS = 120.0
"""The limit for one file. A million lines take some seconds."""
_CHUNK_BYTES = 1 << 16
"""Bytes taken over before the event loop runs other tasks."""


@dataclass(eq=False)
class LoadError(Exception):
    """A file could not be loaded."""

    reason: str
    is_final: bool
    """Whether a retry would fail, too."""
    unreadable: int = 0
    lines: int = 0


async def load(path: Path) -> BlocklistTable:
    """Load a list file. Raises LoadError."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await _read(path)
    except TimeoutError:
        raise LoadError("TOO_SLOW", is_final=True) from None
    except (OSError, EOFError, msgspec.DecodeError) as error:
        # The reader could not be started or was killed. The file may be fine.
        raise LoadError(f"READER_{type(error).__name__}", is_final=False) from error


def printable(name: str) -> str:
    """Return a file name with bytes replaced that are not UTF-8."""
    return name.encode(errors="replace").decode()


async def _read(path: Path) -> BlocklistTable:
    """Run the reader. Raises LoadError, OSError, EOFError, msgspec.DecodeError."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        reader.__name__,
        str(path),
        stdin=DEVNULL,
        stdout=PIPE,
        limit=_CHUNK_BYTES,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},  # The rest contains secrets.
    )
    try:
        return await _receive(printable(path.name), process)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        await process.wait()


async def _receive(name: str, process: Process) -> BlocklistTable:
    out = process.stdout
    assert out is not None
    outcome = msgspec.json.decode(await out.readline(), type=reader.Outcome)
    if outcome.fault is not None:
        raise LoadError(
            outcome.fault,
            is_final=outcome.fault != "NOT_READ",
            unreadable=outcome.unreadable,
            lines=outcome.lines,
        )
    columns = []
    for size in (8 * outcome.entries, 4 * outcome.entries):
        column = memoryview(bytearray(size))
        for start in range(0, size, _CHUNK_BYTES):
            column[start : start + _CHUNK_BYTES] = await out.readexactly(
                min(_CHUNK_BYTES, size - start)
            )
        columns.append(column.toreadonly())
    digests, lines = columns
    return BlocklistTable(name, outcome.fingerprint, digests.cast("Q"), lines.cast("I"))
