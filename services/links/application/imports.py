"""Imports of links: check, import, undo and list."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from services.links.application.link_creator import LinkCreator
from services.links.application.ports import MAX_BATCH, UnitOfWork
from services.links.domain.edit import removal
from services.links.domain.imports import (
    IMPORT_RETENTION,
    MAX_CHECKED_ROWS,
    MAX_IMPORTED_ROWS,
    MAX_LISTED_IMPORTS,
    MAX_ROWS_PER_DAY,
    UNLIMITED_ROWS,
    Candidate,
    Import,
    ImportRow,
    NoImport,
    RowAllowance,
    RowResult,
    StoredRow,
    TooManyRows,
    Verdict,
    check_import_id,
    check_row,
    check_row_count,
    fingerprint,
    get_day_end,
    is_unchanged,
    judge,
    list_row_codes,
    to_day,
    unique_rows,
)
from services.links.domain.link import Link, check_room
from services.links.domain.owner import Account
from services.links.metrics import IMPORTED_ROWS

MAX_ROWS_PER_SECOND = 2000
"""Maximum speed of an account's imports and undos in a process. Without it they take all that the
store's disk can write, for which the gateway's visit journal would wait, and so redirects."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of a call: the result of each row, and the links that this call created."""

    results: list[RowResult]
    links: list[Link]
    stored_rows: int
    """The number of rows that this call stored."""


@dataclass(frozen=True, slots=True)
class UndoStep:
    """The outcome of a step of an undo.

    `removed` counts the links of the import that undoing has removed so far. `next_after` is where
    the next step continues, None at the end.
    """

    removed: int
    links: list[Link]
    next_after: int | None


class Imports(LinkCreator):
    """What accounts do with imports."""

    async def check(self, account: Account, rows: Sequence[ImportRow]) -> list[RowResult]:
        """Return the results that a new import of the rows would have now. Changes nothing.

        Raises InvalidImport, Unavailable.
        """
        check_row_count(rows, MAX_CHECKED_ROWS)
        candidates = await self._candidates(rows)
        holders = await self._store.links.holders(list_row_codes(candidates))
        return _in_order(rows, judge(candidates, account, holders))

    async def run(
        self,
        account: Account,
        import_id: str,
        rows: Sequence[ImportRow],
        allowance: RowAllowance = UNLIMITED_ROWS,
    ) -> Imported:
        """Import rows: store the links of those that are NEW, and the results of all.

        A row that was imported before has its first result, whatever it contains now.

        Raises InvalidImport, TooManyRows, ClientLimit, AccountFull, Unavailable.
        """
        check_import_id(import_id)
        check_row_count(rows, MAX_IMPORTED_ROWS)
        async with self._turn(account, len(rows)):
            candidates = await self._candidates(rows)
            return await self._run(account, import_id, rows, candidates, allowance)

    async def undo(self, account: Account, import_id: str, after: int | None) -> UndoStep:
        """Remove links that an import created and that are unchanged, as their owner does.

        Continues after a row number, if one is given. Removes each link once: one that its owner
        restored stays.

        Raises InvalidImport, NoImport, Unavailable.
        """
        check_import_id(import_id)
        now = self._now()

        def work(unit: UnitOfWork) -> UndoStep:
            found = unit.imports.find(account, import_id)
            if found is None or found.is_over_at(now):
                raise NoImport("There is no such import.")
            rows = unit.imports.created_rows(
                account, import_id, -1 if after is None else after, MAX_BATCH
            )
            code_of = {row.result.number: row.result.code or "" for row in rows}
            links = unit.links.get(list(code_of.values()))
            unchanged = [
                row.result.number
                for row in rows
                if (link := links.get(code_of[row.result.number])) and is_unchanged(link, row)
            ]
            removed: list[Link] = []
            if unchanged:
                codes = [code_of[number] for number in unchanged]
                removed = unit.edit(links, codes, removal(now), now)
                unit.imports.mark_undone(account, import_id, unchanged)
                found = replace(found, removed=found.removed + len(removed))
                unit.imports.save(found)
            has_more = len(rows) == MAX_BATCH
            return UndoStep(found.removed, removed, rows[-1].result.number if has_more else None)

        async with self._turn(account, MAX_BATCH):
            return await self._store.transactions.run("links_import_undo", work)

    async def newest(self, account: Account) -> list[Import]:
        """Return an account's imports that can be undone, newest first. Raises Unavailable."""
        since = self._now() - IMPORT_RETENTION
        return await self._store.imports.newest(account, since, MAX_LISTED_IMPORTS)

    async def _run(
        self,
        account: Account,
        import_id: str,
        rows: Sequence[ImportRow],
        candidates: Sequence[Candidate],
        allowance: RowAllowance,
    ) -> Imported:
        now = self._now()
        numbers = [candidate.row.number for candidate in candidates]

        def work(unit: UnitOfWork) -> tuple[list[RowResult], list[StoredRow], list[Link]]:
            known = unit.imports.results(account, import_id, numbers)
            stored = {result.number for result in known}
            fresh = [candidate for candidate in candidates if candidate.row.number not in stored]
            if not fresh:
                return known, [], []
            allowance.check_rows(len(fresh))
            _count_rows(unit, account, len(fresh), now)
            results = _judge_in(unit, account, import_id, fresh)
            links = {
                result.number: candidate.link(account, now)
                for candidate, result in zip(fresh, results, strict=True)
                if result.verdict is Verdict.NEW
            }
            allowance.check_links(links.values())
            check_room(reservation.links, len(links))
            if links:
                unit.links.add_all(list(links.values()), now)
            new = [
                StoredRow(
                    result, fingerprint(links[result.number]) if result.number in links else b""
                )
                for result in results
            ]
            unit.imports.add_rows(account, import_id, new)
            found = unit.imports.find(account, import_id) or Import(account, import_id, now)
            unit.imports.save(replace(found, links=found.links + len(links)))
            return known + results, new, list(links.values())

        async with self._accounts.reserve(account, len(candidates)) as reservation:
            results, new, links = await self._store.transactions.run("links_import", work)
            reservation.stored = len(links)
        self._count(candidates, new)
        return Imported(_in_order(rows, results), links, len(new))

    async def _candidates(self, rows: Sequence[ImportRow]) -> list[Candidate]:
        return await self._slices.map(lambda row: check_row(row, self._urls), unique_rows(rows))

    def _count(self, candidates: Sequence[Candidate], new: Sequence[StoredRow]) -> None:
        """Count new results and the refusals among them."""
        for verdict, count in Counter(row.result.verdict for row in new).items():
            IMPORTED_ROWS.labels(verdict.value).inc(count)
        numbers = {row.result.number for row in new}
        for candidate in candidates:
            if candidate.refusal is not None and candidate.row.number in numbers:
                self._record_refusal(candidate.refusal)

    @asynccontextmanager
    async def _turn(self, account: Account, rows: int) -> AsyncIterator[None]:
        """Run the body when the account's previous calls are over.

        Calls of one account write the same documents, so without turns they would conflict. The
        next turn starts as late as `MAX_ROWS_PER_SECOND` requires.
        """
        loop = asyncio.get_running_loop()
        lock = self._locks.setdefault(account, asyncio.Lock())
        await lock.acquire()
        ends_at = loop.time() + rows / MAX_ROWS_PER_SECOND
        try:
            yield
        finally:
            loop.call_at(ends_at, lock.release)


def _judge_in(
    unit: UnitOfWork, account: Account, import_id: str, candidates: Sequence[Candidate]
) -> list[RowResult]:
    """Judge rows by what holds their codes in the transaction."""
    holders = unit.links.holders(list_row_codes(candidates))
    owned = [code for code, link in holders.links.items() if link.owner == account]
    if owned:
        imported = unit.imports.created_codes(account, import_id, owned)
        holders = replace(holders, imported=imported)
    return judge(candidates, account, holders)


def _count_rows(unit: UnitOfWork, account: Account, count: int, now: datetime) -> None:
    """Count rows against the limit of the day. Raises TooManyRows."""
    day = to_day(now)
    total = unit.imports.rows_on(account, day) + count
    if total > MAX_ROWS_PER_DAY:
        raise TooManyRows(
            f"An account can import {MAX_ROWS_PER_DAY} rows a day.",
            retry_after=(get_day_end(day) - now).total_seconds(),
        )
    unit.imports.save_rows_on(account, day, total)


def _in_order(rows: Sequence[ImportRow], results: Sequence[RowResult]) -> list[RowResult]:
    """Return the result of each row. Rows with the same number share one."""
    by_number = {result.number: result for result in results}
    return [by_number[row.number] for row in rows]
