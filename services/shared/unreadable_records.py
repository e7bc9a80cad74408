"""Decodes stored records one by one, so that one that cannot be read does not stop the others.

A record may be damaged, changed by hand, or written by a later version. A loop over stored records
decodes each through `decode_each`: an unreadable record is counted, logged with its key, and left
out. Runbook: docs/operations/runbooks/records-unreadable.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from prometheus_client import Counter

from services.shared.errors import Unavailable
from services.shared.observability import logs

Row = TypeVar("Row")
T = TypeVar("T")

UNREADABLE = Counter(
    "atajo_unreadable_records",
    "How often a stored record could not be read and was left out, by kind of record.",
    ["record"],
)
_MAX_LINES = 10
"""Maximum lines in the log per kind of record and minute."""
MAX_UNREADABLE = 10_000
"""Maximum unreadable records that a page passes over, which take some 10 MB."""

log = logs.Throttled(__name__, max_lines=_MAX_LINES)


def expect(*records: str) -> None:
    """Export the initial zero of kinds of records: an alert on an increase needs it."""
    for record in records:
        UNREADABLE.labels(record)


def report(record: str, key: str, error: Exception) -> None:
    """Count and log a record of one of the expected kinds."""
    UNREADABLE.labels(record).inc()
    log.error("record_unreadable", reason=record, key=key, error=type(error).__name__)


def decode_each(
    record: str,
    rows: Iterable[Row],
    decode: Callable[[Row], T],
    key_of: Callable[[Row], object],
    unreadable: set[str] | None = None,
) -> Iterator[T]:
    """Yield the decoded rows, without those that cannot be decoded.

    Adds their keys to `unreadable`.
    """
    for row in rows:
        try:
            decoded = decode(row)
        except Exception as error:
            key = str(key_of(row))
            report(record, key, error)
            if unreadable is not None:
                unreadable.add(key)
        else:
            yield decoded


def decode_page(
    record: str,
    read: Callable[[int], Sequence[Row]],
    limit: int,
    decode: Callable[[Row], T],
    key_of: Callable[[Row], object],
) -> list[T]:
    """Return a page of `limit` decoded rows; a shorter one is the last.

    `read` returns the first rows of a query, at most as many as it is asked for. More are read for
    those that cannot be decoded: callers take a short page for the end. Raises Unavailable if a
    page would pass over more than `MAX_UNREADABLE` records.
    """
    for wanted in _page_sizes(limit):
        rows = read(wanted)
        page = list(decode_each(record, rows, decode, key_of))
        if len(page) >= limit or len(rows) < wanted:
            return page[:limit]
    raise _too_many()


async def decode_page_async(
    record: str,
    read: Callable[[int], Awaitable[Sequence[Row]]],
    limit: int,
    decode: Callable[[Row], T],
    key_of: Callable[[Row], object],
) -> list[T]:
    """Do what `decode_page` does with an asynchronous `read`."""
    for wanted in _page_sizes(limit):
        rows = await read(wanted)
        page = list(decode_each(record, rows, decode, key_of))
        if len(page) >= limit or len(rows) < wanted:
            return page[:limit]
    raise _too_many()


def _page_sizes(limit: int) -> Iterator[int]:
    """Yield how many rows to read, again and again, until enough of them can be decoded."""
    max_rows = limit + MAX_UNREADABLE
    wanted = limit
    while wanted < max_rows:
        yield wanted
        wanted *= 2
    yield max_rows


def _too_many() -> Unavailable:
    return Unavailable("Too many records of a page cannot be read.", "STORE_UNAVAILABLE")
