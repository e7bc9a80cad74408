"""What the records need of a database.

A record is a row of a table on SQLite, and a document of a collection on MongoDB. `Table` describes
both. `storage.sqlite.records` and `storage.mongo.records` implement `Session` and `Backend`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")
Record = Mapping[str, Any]
"""The values of a record by field. Times are microseconds since the Unix epoch."""
Key = tuple[Any, ...]
"""The values of the key fields of a table."""
Condition = tuple[str, Literal["=", "<>", "<", "<=", ">", "in"], Any]
"""A field, an operator and a value."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an SQLite file, and the collection of a MongoDB database with the same name."""

    name: str
    key: tuple[str, ...]
    """The fields of the primary key. `_id` has the value of a single one, or all by name."""
    fields: tuple[str, ...]
    """The other fields that are read and written."""
    left_out: Mapping[str, Any] = field(default_factory=dict)
    """The values that documents leave out, by field."""
    dated_by: str = ""
    """Set if the database chooses the keys: SQLite numbers records in the order of insertion.
    MongoDB's keys are random, and this field replaces the key in orders."""
    expires: bool = False
    """Whether MongoDB deletes a record some time after the server wrote it (`changed_at`)."""
    mark: str = ""
    """Set if there is only one record: its `_id` in the collection `marks`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All fields."""
        return (*self.key, *self.fields)

    def has_pair(self, condition: Condition) -> bool:
        """Return whether the value of a condition is a pair (see `Session`)."""
        name, operator, _ = condition
        return bool(self.dated_by) and name in self.key and operator == "<"

    def with_keys(self, keys: Sequence[Key]) -> list[Condition]:
        """Return the conditions of having one of some keys, which differ in the last field only."""
        *same, last = self.key
        equal = zip(same, keys[0] if keys else (), strict=False)
        values = [key[-1] for key in keys]
        return [*((name, "=", value) for name, value in equal), (last, "in", values)]

    def read_keys(self, records: Iterable[Record]) -> list[Key]:
        """Return the keys of records."""
        return [tuple(record[name] for name in self.key) for record in records]


class Session(ABC):
    """A transaction, or a connection for reads. Used by one thread at a time.

    The keys in a call differ in their last field only. Only `find_all` takes no keys. The
    conditions of a call all hold, and each is about another field. In `order`, a minus before a
    field stands for the descending order. A limit of 0 is none.

    Of a table with `dated_by`, a condition `<` about the key has a pair, the values of `dated_by`
    and of the key. It holds for the records that come before that in the order of keys.
    """

    def find_all(self, table: Table, keys: Sequence[Key]) -> list[Record]:
        """Return the records with some keys, unordered."""
        return self.select(table, *table.with_keys(keys), limit=len(keys)) if keys else []

    def find(self, table: Table, *key: Any) -> Record | None:
        """Return the record with a key."""
        return next(iter(self.find_all(table, [key])), None)

    def select(
        self,
        table: Table,
        *conditions: Condition,
        order: Sequence[str] = (),
        limit: int = 0,
        index: str = "",
    ) -> list[Record]:
        """Return the first records that meet the conditions.

        `index` names the index to use. Both databases must have it.
        """
        return list(self.scan(table, conditions, order, limit, index))

    @abstractmethod
    def scan(
        self,
        table: Table,
        conditions: Sequence[Condition],
        order: Sequence[str],
        limit: int,
        index: str = "",
    ) -> Iterator[Record]:
        """Yield what `select` returns, while it is read."""

    def search(
        self,
        table: Table,
        fields: Sequence[str],
        pattern: re.Pattern[str],
        conditions: Sequence[Condition],
        order: Sequence[str],
        max_searched: int,
        limit: int,
    ) -> list[Record]:
        """Return the first records with a match of `pattern` in some fields.

        Searches the first `max_searched` records that meet the conditions.
        """
        matching = (
            record
            for record in self.scan(table, conditions, order, max_searched)
            if any(pattern.search(str(record[name] or "")) for name in fields)
        )
        return list(islice(matching, limit))

    @abstractmethod
    def add(self, table: Table, records: Sequence[Record]) -> None:
        """Store new records, whose keys are known."""

    @abstractmethod
    def append(self, table: Table, record: Record) -> str:
        """Store a new record of a table with `dated_by`; return its key as text."""

    @abstractmethod
    def parse_key(self, text: str) -> Any:
        """Return the key that `append` returned as text. Raises ValueError if it never would."""

    @abstractmethod
    def put(self, table: Table, record: Record) -> None:
        """Store a record, or replace the one with its key."""

    @abstractmethod
    def put_unless_held(self, table: Table, record: Record, *alternatives: Condition) -> bool:
        """Store a record if there is none with its key, or one that meets one of the conditions.

        Returns whether it was stored. In a transaction of MongoDB, a refusal would end that.
        """

    @abstractmethod
    def update(self, table: Table, keys: Sequence[Key], field: str, value: Any) -> None:
        """Set a field of some records to a value that documents do not leave out."""

    @abstractmethod
    def delete(self, table: Table, keys: Sequence[Key], *conditions: Condition) -> int:
        """Delete those of the records that meet the conditions; return their number."""

    @abstractmethod
    def blocked_patterns_version(self) -> int:
        """Return a number that changes with each change of the blocked patterns."""

    @abstractmethod
    def change_blocked_patterns_version(self) -> None:
        """Change that number, unless each decision does."""


Work = Callable[[Session], T]


class Backend(Protocol):
    """A database. Every method raises Unavailable if it cannot be reached.

    `name` labels the operation in the metrics.
    """

    deletes_expired: bool
    """Whether it deletes the records of tables with `expires` by itself."""
    has_long_transactions: bool
    """Whether a transaction may make thousands of calls. If not, it has a deadline."""

    async def read(self, name: str, work: Work[T]) -> T:
        """Run reads, without waiting for writes."""

    async def write(self, name: str, work: Work[T]) -> T:
        """Run a transaction. Repeat it after conflicts."""

    async def write_one(self, name: str, work: Work[T]) -> T:
        """Run work that makes one call, which is atomic without a transaction."""
