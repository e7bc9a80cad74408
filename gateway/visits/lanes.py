"""Lanes: the links by a hash of their codes, each counted by one replica of analytics at a time.

A gateway with several replicas of analytics behind it sends each lane as batches of its own, so
that replicas do not count visits to the same links. For analytics, each lane is a gateway.
"""

from __future__ import annotations

from zlib import crc32

LANES = 64
"""Number of lanes. Files of the journal may have been sent in part by this division: to change it,
add a version of files, too."""


def find_lane(code: str) -> int:
    """Return the lane of a link, 1 to 64."""
    return crc32(code.encode()) % LANES + 1


def sender_id(gateway_id: str, lane: int) -> str:
    """Return the id under which analytics counts the batches of a lane of a gateway."""
    return f"{gateway_id}-{lane}"
