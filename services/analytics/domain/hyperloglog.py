"""About how many visitors a day had, in at most 4 kB: a HyperLogLog of 4,096 registers.

A visitor is a number of 32 bits, every one as likely as any other. Its first twelve bits choose a
register, and the register keeps the largest rank it saw: the place of the first one bit in the
other twenty, from 1, or 21 where there is none. So a number that is added again changes nothing,
the order does not matter, and sketches are joined by the larger of each two registers. The error
is 1.04 / sqrt(4096), 1.6 % of the true number in one standard deviation; of a few visitors, where
two may fall into one register, about 1 %.

As bytes, none is an empty sketch. Up to `_MOST_LISTED` registers are listed, each by three bytes
in the order of its number: the number in two, most significant first, then the rank. More of them
are a byte each, all of them. So the same registers are always the same bytes.

Of the libraries, DataSketches 5.2 takes 12 bytes for one visitor and 20 for three, which are 3 and
9 here, keeps other bytes for the same visitors in another order, and brings NumPy: 19 MB of memory.
HLL 3.0 has no form as bytes.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from struct import calcsize, iter_unpack, pack

_REGISTERS = 1 << 12
_RANK_BITS = 20
_LISTED = ">HB"
_LISTED_BYTES = calcsize(_LISTED)
_MOST_LISTED = 256
"""Past it, to take a list apart takes longer than 4 kB do, in memory and in a store."""
_MOST_COUNTED = 32
"""Up to so many registers, no estimate is nearer than their number."""
_MOST = 1 << 32
_ALPHA = 0.5 / math.log(2)


def add(sketch: bytes, numbers: Collection[int]) -> bytes:
    """The sketch with some visitors more. `sketch` comes from here, or is empty."""
    if not sketch and len(numbers) == 1:  # As on most days of most links.
        (number,) = numbers
        return pack(_LISTED, *_place(number))
    if len(sketch) == _REGISTERS:
        registers = bytearray(sketch)
        for number in numbers:
            register, rank = _place(number)
            if registers[register] < rank:
                registers[register] = rank
        return bytes(registers)
    listed: dict[int, int] = dict(iter_unpack(_LISTED, sketch))
    for number in numbers:
        register, rank = _place(number)
        if listed.get(register, 0) < rank:
            listed[register] = rank
    if len(listed) <= _MOST_LISTED:
        return b"".join(pack(_LISTED, *one) for one in sorted(listed.items()))
    registers = bytearray(_REGISTERS)
    for register, rank in listed.items():
        registers[register] = rank
    return bytes(registers)


def estimate(sketch: bytes) -> int:
    """How many visitors were added, each counted once."""
    if len(sketch) <= _MOST_COUNTED * _LISTED_BYTES:
        return len(sketch) // _LISTED_BYTES
    ranks = sketch if len(sketch) == _REGISTERS else sketch[2::_LISTED_BYTES]
    counts = [0] * (_RANK_BITS + 2)
    left = len(ranks) - ranks.count(0)
    for rank in range(1, _RANK_BITS + 2):
        if not left:  # High ranks are rare.
            break
        counts[rank] = ranks.count(rank)
        left -= counts[rank]
    counts[0] = _REGISTERS - sum(counts)
    if counts[-1] == _REGISTERS:
        return _MOST
    # Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017,
    # algorithm 6: right from none to as many as there are numbers, without tables.
    shrunk = _REGISTERS * _tau(1 - counts[-1] / _REGISTERS)
    for count in reversed(counts[1:-1]):
        shrunk = (shrunk + count) / 2
    shrunk += _REGISTERS * _sigma(counts[0] / _REGISTERS)
    return min(_MOST, round(_ALPHA * _REGISTERS * _REGISTERS / shrunk))


def _place(number: int) -> tuple[int, int]:
    """The register of a number, and its rank there."""
    rest = number & ((1 << _RANK_BITS) - 1)
    return number >> _RANK_BITS, _RANK_BITS + 1 - rest.bit_length()


def _sigma(share: float) -> float:
    """What registers that saw nothing add. `share` is theirs, below 1."""
    power, total, before = 1.0, share, -1.0
    while total != before:
        share *= share
        before = total
        total += share * power
        power *= 2
    return total


def _tau(share: float) -> float:
    """What registers add that are full. `share` is that of all others."""
    if share in (0.0, 1.0):
        return 0.0
    power, total, before = 1.0, 1 - share, -1.0
    while total != before:
        share = math.sqrt(share)
        before = total
        power /= 2
        total -= (1 - share) ** 2 * power
    return total / 3
