"""One blocklist in memory: sorted digests of its keys, looked up by binary search.

An entry takes 12 bytes: a digest and a line number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from services.links.domain.block import BlockReason
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.target import HostKey, Target


class BlocklistTable:
    """The entries of one list."""

    def __init__(self, name: str, fingerprint: str, digests: memoryview, lines: memoryview) -> None:
        """Take 64-bit digests in ascending order, and as many 32-bit line numbers."""
        self.name = name
        self.fingerprint = fingerprint
        self.reason = find_reason(name)
        self._digests = digests
        self._lines = lines

    def __len__(self) -> int:
        return len(self._digests)

    def match(self, target: Target) -> BlocklistMatch | None:
        """Return the entry that matches a target; None if there is none."""
        for digest, key in target.keys(self._has):
            line = self._line(digest)
            if line is not None:
                text = key.decode(errors="backslashreplace")
                return BlocklistMatch(self.reason, self.name, line, text)
        return None

    def may_match_host(self, hosts: Sequence[HostKey]) -> bool:
        """Return whether the list has an entry for one of the hosts, or for pages on one."""
        return any(
            self._has(digest) for host in hosts for digest in (host.digest, host.pages_digest)
        )

    def _has(self, digest: int) -> bool:
        return self._line(digest) is not None

    def _line(self, digest: int) -> int | None:
        index = bisect_left(self._digests, digest)
        if index < len(self._digests) and self._digests[index] == digest:
            return int(self._lines[index])
        return None


def find_reason(name: str) -> BlockReason:
    """Return the class of a list, with which its file name may start."""
    matching = (reason for reason in BlockReason if name.lower().startswith(reason.value))
    return next(matching, BlockReason.OTHER)
