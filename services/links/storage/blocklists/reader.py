"""Reads one blocklist, in a process of its own: `python -m …storage.blocklists.reader FILE`.

A million lines are some seconds of Python. In a thread they would hold each creation up by
milliseconds, for only one thread at a time runs; here they cost a core that has nothing better to
do, and memory that is given back.

Standard output has a line of JSON, `Outcome`, and behind it, in this machine's byte order, the
digests of all keys (64 bits each, ascending) and the number of each one's line (32 bits; 0 for what
is no line's: see `blocklist_key.pages_of`).
"""

from __future__ import annotations

import os
import sys
from array import array
from hashlib import blake2b
from typing import BinaryIO, Literal

import msgspec

from services.links.domain.blocklist_key import LONGEST_LINE, digest_of, keys_of, pages_of

Fault = Literal["NOT_READ", "NOT_UTF8", "UNREADABLE_LINES"]
"""Why a file is no list: it cannot be opened or read, is no UTF-8, or has more lines that cannot be
understood than others. Blank lines and comments are not counted."""

_NICENESS = 10
_BOM = b"\xef\xbb\xbf"
_SHARES = 256
"""Digests are sorted in so many parts, by their highest byte, so that little is taken twice."""


class Outcome(msgspec.Struct, forbid_unknown_fields=True):
    """What became of a file. `entries` digests follow, and none where there is a fault."""

    fault: Fault | None = None
    entries: int = 0
    lines: int = 0
    """How many lines say something."""
    unreadable: int = 0
    """How many of them cannot be understood."""
    contents: str = ""
    """What tells these keys from others: 32 characters."""


class _Table:
    """Digests with their lines, ascending, the first line of those that are alike."""

    def __init__(self) -> None:
        self._shares = [(array("Q"), array("I")) for _ in range(_SHARES)]

    def add(self, key: bytes, line: int) -> None:
        digest = digest_of(key)
        digests, lines = self._shares[digest >> 56]
        digests.append(digest)
        lines.append(line)

    def sort(self) -> int:
        """Put all in order; returns how many there are."""
        for place, (digests, lines) in enumerate(self._shares):
            order: list[int] = []
            for index in sorted(range(len(digests)), key=digests.__getitem__):
                if not order or digests[order[-1]] != digests[index]:
                    order.append(index)
            self._shares[place] = (
                array("Q", (digests[index] for index in order)),
                array("I", (lines[index] for index in order)),
            )
        return sum(len(digests) for digests, _ in self._shares)

    def contents(self) -> str:
        digest = blake2b(digest_size=16)
        for digests, _ in self._shares:
            digest.update(digests.tobytes())
        return digest.hexdigest()

    def write(self, out: BinaryIO) -> None:
        for part in (0, 1):
            for share in self._shares:
                out.write(share[part].tobytes())


def read(file: BinaryIO, table: _Table) -> Outcome:
    """Put what a file names into a table."""
    outcome = Outcome()
    number = 0
    continued = False
    while line := file.readline(LONGEST_LINE):
        is_whole = line.endswith(b"\n") or len(line) < LONGEST_LINE
        if not continued:
            number += 1
            try:
                keys = keys_of(_text(line, number)) if is_whole else None
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
                    table.add(pages_of(host), 0)
        continued = not is_whole
    if 2 * outcome.unreadable > outcome.lines:
        outcome.fault = "UNREADABLE_LINES"
    return outcome


def _text(line: bytes, number: int) -> str:
    return (line.removeprefix(_BOM) if number == 1 else line).decode()


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
        outcome.contents = table.contents()
    out.write(msgspec.json.encode(outcome) + b"\n")
    if outcome.fault is None:
        table.write(out)
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.stdout.buffer)
