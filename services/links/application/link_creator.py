"""What the use cases that create links share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from datetime import datetime
from weakref import WeakValueDictionary

from services.links.application.account_sizes import AccountSizes
from services.links.application.ports import LinkStore
from services.links.application.time_slices import TimeSlices
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.url import UrlPolicy
from services.links.metrics import REFUSED
from services.shared.observability import logs

_MAX_LINES = 10
"""Maximum log lines a minute about refused URLs, since strangers can cause them."""


class LinkCreator:
    """A base class. In a process, all of them share `accounts` and `slices`."""

    def __init__(
        self,
        store: LinkStore,
        urls: UrlPolicy,
        now: Callable[[], datetime],
        accounts: AccountSizes | None = None,
        slices: TimeSlices | None = None,
    ) -> None:
        self._store = store
        self._urls = urls
        self._now = now
        self._accounts = accounts or AccountSizes(store, now)
        self._slices = slices or TimeSlices()
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        """Of calls that must not run at the same time, by what they have in common."""
        self._log = logs.Throttled(__name__, max_lines=_MAX_LINES)

    def _record_refusal(self, match: BlocklistMatch) -> None:
        """Count a refused URL, and log which entry refused it, but not the URL."""
        REFUSED.labels(match.reason.value).inc()
        self._log.info("url_refused", reason=match.reason.value, list=match.list, line=match.line)
