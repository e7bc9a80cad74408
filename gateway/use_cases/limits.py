"""Limits of one client address: how often it calls, and what it stores.

It stores links, rows of imports, and short endings. An ending is short if it has the minimum
length. There are 64^4 of these, 16.8 million, and none is given out twice.
docs/operations/abuse.md has the arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.backends.ports import CreatedLinks, NewLink, RowAllowance
from gateway.support.rate_limits import Hit, Networks, RateLimiter
from services.shared import link_codes
from services.shared.errors import (
    AlreadyExists,
    InvalidArgument,
    ResourceExhausted,
    Unauthenticated,
)

CLIENT_LIMIT = "CLIENT_LIMIT"
"""Reason of links for a call with more new rows than its allowance."""
REFUSALS = (AlreadyExists, InvalidArgument, Unauthenticated)
"""Errors after which a link was certainly not created."""


@dataclass
class Reservation:
    """What a call of an import counts for its client."""

    allowance: RowAllowance
    """What was counted for it."""
    rows: int = 0
    short_codes: int = 0

    def keep(self, rows: int, created: Iterable[str]) -> None:
        """Count the rows that this call stored, and the codes of the links that it created."""
        self.rows, self.short_codes = rows, _count_short(created)


@dataclass(frozen=True)
class CountedLinks:
    """What a call that creates links counts for its client."""

    links: Sequence[NewLink]
    creations: Hit
    short_codes: Hit

    def settle(self, created: CreatedLinks) -> None:
        """Uncount the codes of refused links, and everything if the call repeats another."""
        if created.is_repetition:
            self.creations.take_back(self.creations.calls)
        uncounted = [
            link.code
            for link, outcome in zip(self.links, created.outcomes, strict=True)
            if created.is_repetition or isinstance(outcome, REFUSALS)
        ]
        self.short_codes.take_back(_count_short(uncounted))


@dataclass(frozen=True)
class Limits:
    """Rate limits per client of calls with the same cost. Past one, raises ResourceExhausted."""

    creations: RateLimiter
    reports: RateLimiter
    registrations: RateLimiter
    logins: RateLimiter
    recoveries: RateLimiter
    """Limits password resets. Failed log-ins of the same address must not use up their limit."""
    session_checks: RateLimiter
    """Limits password checks within a session, and log-ins with passkeys. Log-ins with passwords
    must not use up their limit."""
    edits: RateLimiter
    reads: RateLimiter
    import_rows: RateLimiter
    short_codes: RateLimiter

    @contextmanager
    def count_code(self, client: Networks, code: str) -> Iterator[None]:
        """Count the code of a link that counts among the creations otherwise, unless it is refused.

        After other errors of the block, the link may exist.
        """
        hit = self.short_codes.hit(client, _count_short([code]))
        try:
            yield
        except REFUSALS:
            hit.take_back(hit.calls)
            raise

    def count_links(self, client: Networks, links: Sequence[NewLink]) -> CountedLinks:
        """Count links to be created. All count, or none."""
        short = _count_short(link.code for link in links)
        self.short_codes.check(client, short)
        creations = self.creations.hit(client, len(links))
        return CountedLinks(links, creations, self.short_codes.hit(client, short))

    @contextmanager
    def reserve_rows(self, client: Networks, codes: Sequence[str | None]) -> Iterator[Reservation]:
        """Count rows to be imported, by their codes. At the end, uncount those that are not kept.

        Only links knows which rows are new, so it refuses those beyond the allowance: a row that
        is sent again is neither counted nor refused. After an error, nothing is kept.
        """
        rows = self.import_rows.reserve(client, len(codes))
        short_codes = self.short_codes.reserve(client, _count_short(codes))
        kept = Reservation(RowAllowance(rows.calls, short_codes.calls))
        try:
            yield kept
        except ResourceExhausted as error:
            if error.reason != CLIENT_LIMIT:
                raise
            limiter = self.import_rows if rows.calls < len(codes) else self.short_codes
            raise limiter.refusal(client, len(codes)) from None
        finally:
            rows.take_back(rows.calls - kept.rows)
            short_codes.take_back(short_codes.calls - kept.short_codes)


def _count_short(codes: Iterable[str | None]) -> int:
    return sum(code is not None and len(code) == link_codes.MIN_LENGTH for code in codes)
