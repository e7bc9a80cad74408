"""The operations that the analytics store needs of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from services.analytics.storage.records import DayRecord, GatewayRecord, Key, TotalsRecord
from services.shared.feed import FeedPage

T = TypeVar("T")


class Session(Protocol):
    """A transaction, or a connection for reads. Used by one thread at a time."""

    def gateway(self, gateway_id: str) -> GatewayRecord | None:
        """Return the last batch of a gateway; None before its first."""
        ...

    def put_gateway(self, gateway_id: str, record: GatewayRecord) -> None: ...

    def lock(self, codes: Sequence[str]) -> None:
        """Make concurrent transactions on these links conflict now, before they do any work."""
        ...

    def totals(self, codes: Sequence[str]) -> dict[str, TotalsRecord]: ...

    def totals_after(self, code: str, limit: int) -> dict[str, TotalsRecord]:
        """Return the totals of the next links in order of their codes."""
        ...

    def put_totals(self, totals: Mapping[str, TotalsRecord]) -> None: ...

    def delete_totals(self, codes: Sequence[str]) -> None:
        """Delete totals, also those set aside."""
        ...

    def set_totals_aside(self, codes: Sequence[str]) -> None:
        """Move totals that cannot be read to where only an operator finds them."""
        ...

    def days(self, keys: Sequence[Key]) -> Iterable[tuple[Key, DayRecord]]: ...

    def put_days(self, days: Mapping[Key, DayRecord], new: set[Key]) -> None:
        """Store days. Those in `new` do not exist yet."""
        ...

    def find_days(self, code: str) -> list[int]:
        """Return the days of a link, found without its totals, also those set aside. Slow."""
        ...

    def delete_days(self, keys: Sequence[Key]) -> None:
        """Delete days, also those set aside."""
        ...

    def set_days_aside(self, keys: Sequence[Key]) -> None:
        """Move days that cannot be read to where only an operator finds them."""
        ...

    def aggregates(self, keys: Sequence[Key]) -> dict[Key, bytes]: ...

    def put_aggregates(self, aggregates: Mapping[Key, bytes]) -> None: ...

    def delete_aggregates(self, keys: Sequence[Key]) -> None: ...

    def publish(self, codes: Sequence[str], now: datetime) -> None:
        """Append codes to the change feed in this transaction, if the database needs that."""
        ...


Work = Callable[[Session], T]


class Backend(Protocol):
    """A database. Every method raises Unavailable if it cannot be reached."""

    codes_per_transaction: int
    """Maximum links to which one transaction adds a batch."""

    async def read(self, name: str, work: Work[T]) -> T:
        """Run reads in a thread. `name` labels them in the metrics."""
        ...

    async def write(self, name: str, work: Work[T], size: int = 0) -> T:
        """Run a transaction in a thread. Repeat it after conflicts.

        `size` is the number of links that it changes, at most `codes_per_transaction`.
        """
        ...

    async def changed_since(self, cursor: str | None) -> FeedPage: ...

    async def visitor_key(self, day: int, new_key: bytes) -> bytes: ...

    async def delete_visitor_keys(self, today: int) -> int: ...
