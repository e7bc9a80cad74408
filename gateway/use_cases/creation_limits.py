"""Limits what one client address stores: links, rows of imports, and short endings.

An ending is short if it has the minimum length. There are 64^4 of these, 16.8 million, and none is
given out twice. docs/operations/abuse.md has the arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.backends.ports import RowAllowance
from gateway.support.rate_limits import Networks, RateLimiter
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
        if self.short_codes and (short := _count_short([code])):
            self.short_codes.hit(client, short)
        try:
            yield
        except REFUSALS:
            self.uncount_codes(client, [code])
            raise

    def count_links(self, client: Networks, codes: Sequence[str | None]) -> None:
        """Count links to be created, by their codes; None for random ones. All count, or none."""
        short = _count_short(codes)
        if self.short_codes and short:
            self.short_codes.check(client, short)
        if self.creations:
            self.creations.hit(client, len(codes))
        if self.short_codes and short:
            self.short_codes.hit(client, short)

    def uncount_codes(self, client: Networks, codes: Iterable[str | None]) -> None:
        """Uncount the codes of links that were refused."""
        if self.short_codes:
            self.short_codes.take_back(client, _count_short(codes))

    @contextmanager
    def reserve_rows(self, client: Networks, codes: Sequence[str | None]) -> Iterator[Reservation]:
        """Count rows to be imported, by their codes. At the end, uncount those that are not kept.

        Only links knows which rows are new, so it refuses those beyond the allowance: a row that
        is sent again is neither counted nor refused. After an error, nothing is kept.
        """
        short_codes = _count_short(codes)
        allowance = RowAllowance(
            None if self.rows is None else self.rows.reserve(client, len(codes)),
            None if self.short_codes is None else self.short_codes.reserve(client, short_codes),
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
            if self.rows:
                self.rows.take_back(client, (allowance.rows or 0) - kept.rows)
            if self.short_codes:
                self.short_codes.take_back(client, (allowance.short_codes or 0) - kept.short_codes)


def _count_short(codes: Iterable[str | None]) -> int:
    return sum(code is not None and len(code) == link_codes.MIN_LENGTH for code in codes)
