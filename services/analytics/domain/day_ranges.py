"""The UTC days on which a link was visited, and the blocks of days that stores aggregate.

Days are whole days since the Unix epoch. A set of days is stored as runs of consecutive days in
MessagePack: for each run its distance from the end of the run before, then its length. The first
distance counts from the epoch. A lone day takes two bytes if fewer than 128 days lie before it, and
a link that is visited every day takes nine bytes in all. The empty set has no bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, groupby

from msgspec import msgpack

BLOCK_DAYS = 32
"""Days in a block. Block n has the days from n * BLOCK_DAYS on."""
BLOCKS_PER_ERA = 16
"""Blocks in an era, which is 512 days. Era n has the blocks from n * BLOCKS_PER_ERA on."""
MIN_BLOCK_DAYS = 8
"""Minimum days with visits for an aggregate of a block: fewer days are read as quickly."""
MIN_ERA_DAYS = 256
"""Minimum days with visits for an aggregate of an era."""
_CACHED_ADDITIONS = 1000
"""Results of `with_day` in the cache, 7 MB at most: most links with a new day had none before."""
_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(list[int]).decode


def days_of(packed: bytes) -> list[range]:
    """Return the runs of consecutive days, in order."""
    runs = []
    end = 0
    numbers = iter(_unpack(packed) if packed else ())
    for gap, length in zip(numbers, numbers, strict=True):
        start = end + gap
        end = start + length
        runs.append(range(start, end))
    return runs


@lru_cache(_CACHED_ADDITIONS)
def with_day(packed: bytes, day: int) -> bytes:
    """Return the same days and one more, which is not among them."""
    numbers = _unpack(packed) if packed else []
    end = sum(numbers)
    if numbers and day < end:  # A late visit.
        return pack({day, *chain.from_iterable(days_of(packed))})
    if numbers and day == end:
        numbers[-1] += 1
    else:
        numbers += (day - end, 1)
    return _pack(numbers)


def pack(days: Iterable[int]) -> bytes:
    """Encode distinct days, in any order."""
    numbers: list[int] = []
    end = 0
    for day in sorted(days):
        if numbers and day == end:
            numbers[-1] += 1
        else:
            numbers += (day - end, 1)
        end = day + 1
    return _pack(numbers) if numbers else b""


def clip(runs: Iterable[range], first: int, last: int) -> Iterator[range]:
    """Yield the parts of runs that lie between two days, both included."""
    for run in runs:
        if run.start <= last and run.stop > first:
            yield range(max(run.start, first), min(run.stop, last + 1))


def block_of(day: int) -> int:
    """Return the number of the block that has a day."""
    return day // BLOCK_DAYS


def days_of_block(block: int) -> range:
    """Return all days of a block."""
    return range(block * BLOCK_DAYS, (block + 1) * BLOCK_DAYS)


def by_block(runs: Iterable[range]) -> Iterator[tuple[int, list[int]]]:
    """Yield blocks with the days that they have in `runs`, in order."""
    for block, days in groupby(chain.from_iterable(runs), block_of):
        yield block, list(days)
