"""Limits what one client address stores: links, rows of imports, and short endings.

An ending is short if it has the minimum length. There are 64^4 of these, 16.8 million, and none is
given out twice. docs/operations/abuse.md has the arithmetic.
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
    creations: Hit | None
    short_codes: Hit | None

    def settle(self, created: CreatedLinks) -> None:
        """Uncount the codes of refused links, and everything if the call repeats another."""
        if self.creations and created.is_repetition:
            self.creations.take_back(self.creations.calls)
        if self.short_codes:
            uncounted = [
                link.code
                for link, outcome in zip(self.links, created.outcomes, strict=True)
                if created.is_repetition or isinstance(outcome, REFUSALS)
            ]
            self.short_codes.take_back(_count_short(uncounted))


@dataclass(frozen=True)
class CreationLimits:
    """Limits by client address, None for no limit. Past one, raises ResourceExhausted."""

    creations: RateLimiter | None
    rows: RateLimiter | None
    short_codes: RateLimiter | None

    @contextmanager
    def count_code(self, client: Networks, code: str) -> Iterator[None]:
        """Count the code of a link that counts among the creations otherwise, unless it is refused.

        After other errors of the block, the link may exist.
        """
        short = _count_short([code])
        hit = self.short_codes.hit(client, short) if self.short_codes and short else None
        try:
            yield
        except REFUSALS:
            if hit:
                hit.take_back(short)
            raise

    def count_links(self, client: Networks, links: Sequence[NewLink]) -> CountedLinks:
        """Count links to be created. All count, or none."""
        short = _count_short(link.code for link in links)
        if self.short_codes and short:
            self.short_codes.check(client, short)
        creations = self.creations.hit(client, len(links)) if self.creations else None
        short_codes = self.short_codes.hit(client, short) if self.short_codes and short else None
        return CountedLinks(links, creations, short_codes)

    @contextmanager
    def reserve_rows(self, client: Networks, codes: Sequence[str | None]) -> Iterator[Reservation]:
        """Count rows to be imported, by their codes. At the end, uncount those that are not kept.

        Only links knows which rows are new, so it refuses those beyond the allowance: a row that
        is sent again is neither counted nor refused. After an error, nothing is kept.
        """
        rows = _reserve(self.rows, client, len(codes))
        short_codes = _reserve(self.short_codes, client, _count_short(codes))
        allowance = RowAllowance(
            None if rows is None else rows.calls, None if short_codes is None else short_codes.calls
        )
        kept = Reservation(allowance)
        try:
            yield kept
        except ResourceExhausted as error:
            if error.reason != CLIENT_LIMIT:
                raise
            is_full = allowance.rows is not None and allowance.rows < len(codes)
            limiter = self.rows if is_full else self.short_codes
            raise (error if limiter is None else limiter.refusal(client, len(codes))) from None
        finally:
            if rows:
                rows.take_back(rows.calls - kept.rows)
            if short_codes:
                short_codes.take_back(short_codes.calls - kept.short_codes)


def _reserve(limiter: RateLimiter | None, client: Networks, calls: int) -> Hit | None:
    return None if limiter is None else limiter.reserve(client, calls)


def _count_short(codes: Iterable[str | None]) -> int:
    return sum(code is not None and len(code) == link_codes.MIN_LENGTH for code in codes)
