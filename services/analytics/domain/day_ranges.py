"""Sets of UTC days in a compact encoding, and their division into blocks and eras.

Days are whole days since the Unix epoch. A set is encoded in MessagePack as ranges of consecutive
days: for each range, its distance from the end of the previous one (from the epoch for the first),
then its length. A single day takes two bytes if fewer than 128 days precede it since the previous
range. All days of ten years together take nine bytes. The empty set is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, groupby

from msgspec import msgpack

DAYS_PER_BLOCK = 32
"""Block n has the days from n * DAYS_PER_BLOCK on."""
BLOCKS_PER_ERA = 16
"""An era is 512 days. Era n has the blocks from n * BLOCKS_PER_ERA on."""
MIN_BLOCK_DAYS = 8
"""Minimum days with visits for an aggregate of a block. Fewer days are read as quickly."""
MIN_ERA_DAYS = 256
"""Minimum days with visits for an aggregate of an era."""
_CACHED_ADDITIONS = 1000
"""Cached results of `add_day`, at most 7 MB. Most links that get a new day had none before, so
their sets are equal."""
_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(list[int]).decode


def unpack_days(packed: bytes) -> list[range]:
    """Return the ranges of consecutive days, in order."""
    ranges = []
    end = 0
    numbers = iter(_unpack(packed) if packed else ())
    for gap, length in zip(numbers, numbers, strict=True):
        start = end + gap
        end = start + length
        ranges.append(range(start, end))
    return ranges


@lru_cache(_CACHED_ADDITIONS)
def add_day(packed: bytes, day: int) -> bytes:
    """Return the encoded set with one more day, which must not be in it."""
    numbers = _unpack(packed) if packed else []
    end = sum(numbers)
    if numbers and day < end:  # A late visit.
        return pack_days({day, *chain.from_iterable(unpack_days(packed))})
    if numbers and day == end:
        numbers[-1] += 1
    else:
        numbers += (day - end, 1)
    return _pack(numbers)


def pack_days(days: Iterable[int]) -> bytes:
    """Encode distinct days in any order."""
    numbers: list[int] = []
    end = 0
    for day in sorted(days):
        if numbers and day == end:
            numbers[-1] += 1
        else:
            numbers += (day - end, 1)
        end = day + 1
    return _pack(numbers) if numbers else b""


def clip(ranges: Iterable[range], first: int, last: int) -> Iterator[range]:
    """Yield the parts of ranges between two days, both included."""
    for days in ranges:
        if days.start <= last and days.stop > first:
            yield range(max(days.start, first), min(days.stop, last + 1))


def block_number(day: int) -> int:
    """Return the number of the block that contains a day."""
    return day // DAYS_PER_BLOCK


def block_days(block: int) -> range:
    """Return all days of a block."""
    return range(block * DAYS_PER_BLOCK, (block + 1) * DAYS_PER_BLOCK)


def group_by_block(ranges: Iterable[range]) -> Iterator[tuple[int, list[int]]]:
    """Yield block numbers with the days that `ranges` have in them, in order."""
    for block, days in groupby(chain.from_iterable(ranges), block_number):
        yield block, list(days)
