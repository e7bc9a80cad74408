"""What the stores need of a database, which `storage` has in SQLite and MongoDB.

Every method raises Unavailable if the database cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeVar

from services.auth.application.records import Collection, Part, Record

T = TypeVar("T")


class Not(NamedTuple):
    """In a query: any value but this one."""

    value: Any


Where = Mapping[str, Any]
"""A query: the values of fields, or `Not` of them. The account of a record is `account_id`."""


class Insert(NamedTuple):
    """Records to add to an account, newer than its others of the same part."""

    part: Part[Any]
    records: Sequence[Record]
    limit: int | None = None
    """Refuse the update if the account has this number of records already."""
    max_records: int | None = None
    """Delete the oldest records of the account beyond this number."""
    expired_at: int | None = None
    """Delete records that expired by then, of the account or of any."""


class Update(NamedTuple):
    """A change of an account. Deletes records before it inserts some."""

    fields: Record | None = None
    """New values of fields of the account."""
    increments_session: bool = False
    """Whether to increment the session number."""
    has: tuple[Part[Any], Where] | None = None
    """Refuse the update unless the account has such a record."""
    delete: Sequence[tuple[Part[Any], Where]] = ()
    insert: Insert | None = None


class Use(NamedTuple):
    """A use of a record of an account. Times are microseconds since the Unix epoch."""

    where: Where
    at: int
    hour: int
    """The start of its hour."""


class Position(NamedTuple):
    """Where a page of records starts: after the record with this time and id."""

    micros: int
    id: str


class Transaction(Protocol):
    """Everything that a transaction can read and write, all or nothing.

    Its methods block. Concurrent transactions that write the same record run one after the other.
    """

    def find_account(self, where: Where) -> Record | None: ...

    def has_accounts(self) -> bool:
        """Return whether there is any account, even a closed one."""

    def insert_account(self, account: Record) -> None:
        """Store an account whose e-mail key is not taken."""

    def update(self, account: Where, update: Update) -> bool:
        """Do what `Backend.update` does."""

    def has_other_administrator(self, account_id: str) -> bool:
        """Return whether an account other than this one may administer the instance.

        Concurrent transactions that ask run one after the other.
        """

    def find(self, collection: Collection[Any], where: Where) -> Record | None:
        """Return the only record that matches."""

    def count(self, collection: Collection[Any]) -> int: ...

    def insert(self, collection: Collection[Any], record: Record) -> None: ...

    def delete(self, collection: Collection[Any], where: Where) -> bool:
        """Delete the records that match. Return whether there were any."""

    def delete_expired(self, collection: Collection[Any], now: int) -> None:
        """Delete the records whose `expires_at` is not after `now`."""


class Backend(Protocol):
    """Accounts, the records of their parts, and collections of records.

    `name` labels an operation in the metrics.
    """

    async def transact(self, name: str, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction, in a thread, and return its result once it is committed.

        What `work` raises rolls it back. After a conflict it runs again, so it must have no other
        effects.
        """

    async def list_page(
        self,
        name: str,
        collection: Collection[Any],
        where: Where,
        text: str,
        after: Position | None,
        limit: int,
    ) -> list[Record]:
        """Return up to `limit` records that match, by time and id, descending.

        Only those whose searched field contains `text`, and that follow the position `after`.
        """

    async def count(self, name: str, collection: Collection[Any]) -> int:
        """Return about how many records there are."""

    async def insert(self, name: str, account: Record) -> Record:
        """Store an account unless its e-mail key is taken. Return the account with that key."""

    async def find_account(self, name: str, where: Where) -> Record | None: ...

    async def find(self, name: str, part: Part[Any], where: Where) -> tuple[Record, Record] | None:
        """Return the only record that matches, and its account."""

    async def list_all(self, name: str, part: Part[Any], account_id: str) -> list[Record]:
        """Return the records of an account, unordered."""

    async def list_closed(self, name: str, limit: int) -> list[str]:
        """Return the ids of any `limit` closed accounts."""

    async def delete_closed(self, name: str, account_id: str) -> None:
        """Delete an account with all its records, if it is closed."""

    async def update(self, name: str, account: Where, update: Update) -> bool:
        """Change the account that matches, atomically. `account` contains its id.

        Return False, and change nothing, if there is none, if the update is refused, or if any
        account has a record with the id of a new one, in parts whose ids are unique. Raises the
        driver's error if another unique field is taken.
        """

    async def delete_other_sessions(self, name: str, account: Where, session_id: str) -> int | None:
        """Delete the sessions of the account that matches, except this one, atomically.

        Increment the session number if this one is stored. Return how many were deleted. Return
        None, and change nothing, if there is no such account. `account` contains its id.
        """

    async def set_fields(
        self, name: str, part: Part[Any], account_id: str, where: Where, values: Record
    ) -> bool:
        """Set fields of the only record of an account that matches. Return whether there is one."""

    async def advance(self, name: str, part: Part[Any], field: str, uses: Sequence[Use]) -> None:
        """Raise a field of each used record to the time of the use, unless it is higher already.

        Raise `last_seen_at` of its account to the hour likewise. `uses` is not empty, and all its
        queries name the same fields in the same order.
        """


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Whether an attempt was granted, and when its window ends."""

    granted: bool
    window_ends: datetime


class AttemptStore(Protocol):
    """Counts attempts in fixed windows.

    A window begins with an attempt for which there is no open window, or only one whose attempts
    were all released. It ends by the caller's clock. A window that would last longer than the
    window length and `CLOCK_LEEWAY` was begun by a clock that was ahead, and counts as over. Stores
    delete windows some time after their end.
    """

    async def acquire(
        self, counter: str, limit: int, window: timedelta, now: datetime
    ) -> AttemptResult:
        """Count an attempt, unless the window already has `limit` attempts."""

    async def release(self, counter: str, window_ends: datetime) -> None:
        """Remove an attempt, if the window that ends at this time is still the current one."""
