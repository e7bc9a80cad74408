"""Reads one list file in a process of its own: `python -m …storage.blocklists.reader FILE`.

A million lines take some seconds of Python. In a thread they would delay every creation by
milliseconds because of the GIL. A process uses an idle core and returns its memory.

Writes a line of JSON (`Outcome`) to standard output, followed in native byte order by the digests
of all keys (64 bits each, ascending) and their line numbers (32 bits each; 0 for markers, see
`blocklist_key.pages_marker`).
"""

from __future__ import annotations

import os
import sys
from array import array
from hashlib import blake2b
from typing import BinaryIO, Literal

import msgspec

from services.links.domain.blocklist_key import MAX_LINE_BYTES, hash_key, pages_marker, parse_line

Fault = Literal["NOT_READ", "NOT_UTF8", "UNREADABLE_LINES"]
"""Why a file is not a list: it cannot be opened or read, is not UTF-8, or more than half of its
lines cannot be parsed. Blank lines and comments do not count."""

_NICENESS = 10
_BOM = b"\xef\xbb\xbf"
_SHARDS = 256
"""Digests are sorted in shards by their highest byte, so that sorting needs little extra memory."""


class Outcome(msgspec.Struct, forbid_unknown_fields=True):
    """The result of reading a file. `entries` digests follow; none if there is a fault."""

    fault: Fault | None = None
    entries: int = 0
    lines: int = 0
    """Lines that are neither blank nor comments."""
    unreadable: int = 0
    """Those of `lines` that cannot be parsed."""
    fingerprint: str = ""
    """32 characters that identify the keys."""


class _Table:
    """Digests with line numbers, sorted and without duplicates; the first line wins."""

    def __init__(self) -> None:
        self._shards = [(array("Q"), array("I")) for _ in range(_SHARDS)]

    def add(self, key: bytes, line: int) -> None:
        digest = hash_key(key)
        digests, lines = self._shards[digest >> 56]
        digests.append(digest)
        lines.append(line)

    def sort(self) -> int:
        """Sort the entries; return their number."""
        for number, (digests, lines) in enumerate(self._shards):
            order: list[int] = []
            for index in sorted(range(len(digests)), key=digests.__getitem__):
                if not order or digests[order[-1]] != digests[index]:
                    order.append(index)
            self._shards[number] = (
                array("Q", (digests[index] for index in order)),
                array("I", (lines[index] for index in order)),
            )
        return sum(len(digests) for digests, _ in self._shards)

    def fingerprint(self) -> str:
        digest = blake2b(digest_size=16)
        for digests, _ in self._shards:
            digest.update(digests.tobytes())
        return digest.hexdigest()

    def write(self, out: BinaryIO) -> None:
        for part in (0, 1):
            for shard in self._shards:
                out.write(shard[part].tobytes())


def read(file: BinaryIO, table: _Table) -> Outcome:
    """Read the lines of a file into a table."""
    outcome = Outcome()
    number = 0
    continued = False
    while line := file.readline(MAX_LINE_BYTES):
        is_whole = line.endswith(b"\n") or len(line) < MAX_LINE_BYTES
        if not continued:
            number += 1
            text = line.removeprefix(_BOM) if number == 1 else line
            try:
                keys = parse_line(text.decode()) if is_whole else None
            except UnicodeDecodeError:
                return Outcome("NOT_UTF8", lines=outcome.lines, unreadable=outcome.unreadable)
            except ValueError:
                keys = None
            outcome.lines += keys != []
            outcome.unreadable += keys is None
            for key in keys or ():
                host = key.partition(b"/")[0].partition(b"?")[0]
                table.add(key, number)
                if host != key:
                    table.add(pages_marker(host), 0)
        continued = not is_whole
    if 2 * outcome.unreadable > outcome.lines:
        outcome.fault = "UNREADABLE_LINES"
    return outcome


def main(path: str, out: BinaryIO) -> None:
    os.nice(_NICENESS)
    table = _Table()
    try:
        with open(path, "rb") as file:
            outcome = read(file, table)
    except OSError:
        outcome = Outcome("NOT_READ")
    if outcome.fault is None:
        outcome.entries = table.sort()
        outcome.fingerprint = table.fingerprint()
    out.write(msgspec.json.encode(outcome) + b"\n")
    if outcome.fault is None:
        table.write(out)
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.stdout.buffer)
