"""The blocklist that decides about URLs: list files and the patterns that the operator blocked.

Patterns are in the store, and in the memory of every process, which checks twice a second whether
their version changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

from services.links import metrics
from services.links.application.records.decisions import DecisionReader
from services.links.domain.blocklist import OPERATOR_PREFIX, BlocklistMatch, VersionedBlocklist
from services.links.domain.blocklist_key import hash_key, pages_marker
from services.links.domain.decision import BlockedPattern
from services.links.domain.pattern import parse_pattern
from services.links.domain.target import Target, host_keys
from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs
from services.shared.timestamps import to_micros

REFRESH_SECONDS = 0.5
"""How often the version of the blocked patterns is read."""
SETTLE_SECONDS = 10.0
"""How long after this process every other one knows the same patterns, if links answers at all."""


class CompositeBlocklist:
    """A `VersionedBlocklist` of list files, if there are any, and the operator's patterns."""

    def __init__(self, files: VersionedBlocklist | None, decisions: DecisionReader) -> None:
        self._files = files
        self._decisions = decisions
        self._log = logs.Throttled(__name__)
        self._refreshing = asyncio.Lock()
        self._version: int | None = None
        self._patterns: dict[int, BlockedPattern] = {}
        """By the digest of their keys."""
        self._page_markers: set[int] = set()
        """Digests of the markers of hosts with blocked paths."""
        self._fingerprint = ""
        """Of the patterns; empty if there are none."""
        self._settled_at = 0.0

    @property
    def fingerprint(self) -> str | None:
        files = self._files.fingerprint if self._files else ""
        if files is None or self._version is None:
            return None
        return _digest([files, self._fingerprint])

    @property
    def settled_at(self) -> float:
        return max(self._settled_at, self._files.settled_at if self._files else 0.0)

    def match(self, url: str) -> BlocklistMatch | None:
        # The operator's patterns take precedence.
        operator = self._operator_matches(url)
        if operator:
            return operator[0]
        return self._files.match(url) if self._files else None

    def matches(self, url: str) -> list[BlocklistMatch]:
        return [*self._operator_matches(url), *(self._files.matches(url) if self._files else ())]

    def may_match_host(self, host: str) -> bool:
        if self._patterns and any(
            key.digest in self._patterns or key.pages_digest in self._page_markers
            for key in host_keys(host)
        ):
            return True
        return self._files.may_match_host(host) if self._files else False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the patterns, then keep them up to date until the body ends."""
        await self._try_refresh()
        async with background.running(self._watch(), "blocked-addresses"):
            yield

    async def refresh(self) -> None:
        """Load the patterns from the store if they changed. Raises Unavailable."""
        async with self._refreshing:
            # Read the version first: a block in between is read now and once more next time.
            version = await self._decisions.blocked_patterns_version()
            if version != self._version:
                self._use(await self._decisions.blocked_patterns())
                self._version = version

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            await self._try_refresh()

    async def _try_refresh(self) -> None:
        with background.log_errors(self._log, "blocked_addresses"):
            await self.refresh()

    def _use(self, blocked: list[BlockedPattern]) -> None:
        patterns: dict[int, BlockedPattern] = {}
        page_markers = set()
        for pattern in blocked:
            host, key = parse_pattern(pattern.pattern)
            patterns[hash_key(key)] = pattern
            if key != host:
                page_markers.add(hash_key(pages_marker(host)))
        self._patterns, self._page_markers = patterns, page_markers
        fingerprint = _compute_fingerprint(blocked)
        if fingerprint != self._fingerprint:
            self._fingerprint = fingerprint
            self._settled_at = time.monotonic() + SETTLE_SECONDS
        metrics.BLOCKED_PATTERNS.set(len(blocked))

    def _operator_matches(self, url: str) -> list[BlocklistMatch]:
        """Return the operator's patterns that match a URL, the one blocked last first."""
        if self._version is None:
            raise Unavailable("The blocked patterns are being loaded.", "BLOCKLISTS_UNREAD")
        if not self._patterns:
            return []
        found = [
            (self._patterns[digest], key)
            for digest, key in Target(url).keys(self._page_markers.__contains__)
            if digest in self._patterns
        ]
        found.sort(key=lambda match: (match[0].blocked_at, match[0].pattern), reverse=True)
        return [
            BlocklistMatch(
                blocked.reason,
                f"{OPERATOR_PREFIX}{blocked.pattern}",
                1,
                key.decode(errors="backslashreplace"),
                blocked.blocked_at,
            )
            for blocked, key in found
        ]


def _compute_fingerprint(blocked: list[BlockedPattern]) -> str:
    entries = sorted(
        (pattern.pattern, pattern.reason.value, to_micros(pattern.blocked_at))
        for pattern in blocked
    )
    return _digest(entries) if entries else ""


def _digest(parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()
