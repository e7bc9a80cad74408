"""How long the gateway remembers rejected reads."""

from __future__ import annotations

import pytest

from gateway.functions.rejected_reads import RECENT_SECONDS, RejectedReads
from services.analytics.domain.errors import TooManyReads
from services.links.domain.link import TooManyQueries
from services.shared.errors import ResourceExhausted


@pytest.mark.parametrize("error", [TooManyQueries("Too many."), TooManyReads("Too many.")])
def test_a_rejection_is_remembered_for_a_minute(error: ResourceExhausted) -> None:
    now = 1000.0
    rejected = RejectedReads(lambda: now)
    assert not rejected.is_recent()
    rejected.record(error)
    assert rejected.is_recent()
    now += RECENT_SECONDS
    assert not rejected.is_recent()


def test_rate_limits_are_no_rejected_reads() -> None:
    rejected = RejectedReads()
    rejected.record(ResourceExhausted("Too many requests.", "TOO_MANY_REQUESTS"))
    assert not rejected.is_recent()
