"""What the store needs of a database, which `storage` has in SQLite and MongoDB."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Protocol, TypeVar

from services.analytics.application.records import GatewayRecord, K, R, Table, TotalsRecord
from services.analytics.domain.visits import Day

MAX_CHANGES = 5000
"""Maximum codes on a page of the change feed. Their totals take 0.3 MB of gRPC's 4 MB."""

T = TypeVar("T")
OnDay = Callable[[str, Day], None]
"""Receives a code and one of its days."""
OnVisitedDays = Callable[[str, list[range], int], None]
"""Receives a code, its days with visits as ranges, and the revision of its past days."""


class NameDetail(Enum):
    """How detailed the names are that come with days."""

    NONE = "none"
    PER_DAY = "per day"
    """Each day has its own names."""
    PER_BLOCK = "per block"
    """If a block lies in the period, one of its days may have the names of all."""
    COMBINED = "combined"
    """A day may have the names of several days."""


class Session(Protocol):
    """A transaction, or a connection for reads. Used by one thread at a time."""

    def find(self, table: Table[K, R], keys: Collection[K]) -> Iterable[tuple[K, R]]:
        """Return the records that exist, with their keys, in any order."""

    def put(
        self, table: Table[K, R], records: Mapping[K, R], new: Collection[K] = frozenset()
    ) -> None:
        """Store records. Those in `new` do not exist yet."""

    def delete(self, table: Table[K, R], keys: Collection[K]) -> None:
        """Delete records, also those set aside."""

    def set_aside(self, table: Table[K, R], keys: Collection[K]) -> None:
        """Move records that cannot be read to where only an operator finds them."""

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        """Return the totals of the next links in order of their codes."""

    def find_days(self, code: str) -> list[int]:
        """Return the days of a link, found without its totals, also those set aside. Slow."""

    def find_gateways(self, gateway_ids: Collection[str]) -> dict[str, GatewayRecord]:
        """Return the last batches of gateways that have sent any, by gateway."""

    def gateways(self) -> Iterable[GatewayRecord]:
        """Return the records of all gateways."""

    def put_gateways(self, records: Mapping[str, GatewayRecord]) -> None: ...

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        """Append codes to the change feed in this transaction, if the database needs that."""


Work = Callable[[Session], T]
