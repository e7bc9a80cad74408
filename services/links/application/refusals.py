"""Counts and logs URLs that blocklists refuse."""

from __future__ import annotations

from services.links.domain.blocklist import BlocklistMatch
from services.links.metrics import REFUSED
from services.shared.observability import logs

_MAX_LINES = 10
"""Maximum log lines a minute, since strangers can cause them."""


class RefusalLog:
    """Counts refused URLs, and logs which entry refused them, but not the URLs."""

    def __init__(self) -> None:
        self._log = logs.Throttled(__name__, max_lines=_MAX_LINES)

    def record(self, match: BlocklistMatch) -> None:
        REFUSED.labels(match.reason.value).inc()
        self._log.info("url_refused", reason=match.reason.value, list=match.list, line=match.line)
