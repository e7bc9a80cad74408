"""Decoding of blocked patterns in both stores."""

from __future__ import annotations

from typing import Any

from services.links.domain.block import BlockReason
from services.links.domain.decision import BlockedPattern
from services.shared import unreadable_records
from services.shared.timestamps import EPOCH, from_micros


def decode_pattern(pattern: str, reason: Any, blocked_at: Any) -> BlockedPattern:
    """Return a blocked pattern. One whose other values cannot be read stays blocked."""
    try:
        return BlockedPattern(pattern, BlockReason(reason), from_micros(blocked_at))
    except Exception as error:
        unreadable_records.report("blocked_pattern", pattern, error)
        return BlockedPattern(pattern, BlockReason.OTHER, EPOCH)
