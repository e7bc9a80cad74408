"""Decodes stored records one by one, so that one that cannot be read does not stop the others.

A record may be damaged, changed by hand, or written by a later version. A loop over stored records
decodes each through `decode_each`: an unreadable record is counted, logged with its key, and left
out. Runbook: docs/operations/runbooks/records-unreadable.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Sized
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
    wanted = limit
    while True:
        rows = read(wanted)
        page = list(decode_each(record, rows, decode, key_of))
        if _is_page(page, rows, limit, wanted):
            return page[:limit]
        wanted = _next_size(wanted, limit)


async def decode_page_async(
    record: str,
    read: Callable[[int], Awaitable[Sequence[Row]]],
    limit: int,
    decode: Callable[[Row], T],
    key_of: Callable[[Row], object],
) -> list[T]:
    """Do what `decode_page` does with an asynchronous `read`."""
    wanted = limit
    while True:
        rows = await read(wanted)
        page = list(decode_each(record, rows, decode, key_of))
        if _is_page(page, rows, limit, wanted):
            return page[:limit]
        wanted = _next_size(wanted, limit)


def _is_page(page: Sized, rows: Sized, limit: int, wanted: int) -> bool:
    return len(page) >= limit or len(rows) < wanted


def _next_size(wanted: int, limit: int) -> int:
    """Return how many rows to read after too few of the first `wanted` could be decoded."""
    if wanted >= limit + MAX_UNREADABLE:
        raise Unavailable("Too many records of a page cannot be read.", "STORE_UNAVAILABLE")
    return min(2 * wanted, limit + MAX_UNREADABLE)
