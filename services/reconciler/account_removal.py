"""Completes the removal of closed accounts.

The job first withdraws the links of an account, so that they stop redirecting and disclose no
destination. In each run it withdraws links that arrived meanwhile, until none did for as long as
calls in progress may take (`removal.SETTLE_SECONDS`). Then it deletes links and statistics, page by
page, and finally the account. The progress is kept in memory only: after a restart, the waiting
starts again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial

from services.admin import removal
from services.reconciler.metrics import ACCOUNTS_CLOSED, ACCOUNTS_REMOVED, LINKS_PURGED
from services.reconciler.ports import Services
from services.shared.errors import AppError, DeadlineExceeded, Unavailable

DELETE_SECONDS = 1.0
"""How long a run deletes links. The next run withdraws the links of accounts closed meanwhile,
which must stop redirecting within seconds."""
MAX_SWEPT = 16
"""Maximum accounts in a run whose links were withdrawn and that are searched for further ones. So
many accounts closed at once do not delay withdrawing the links of the next."""
MAX_CONCURRENT = 8
"""Maximum accounts processed at the same time."""


@dataclass
class _Progress:
    """The progress of the removal of an account."""

    withdrawn_at: float | None = None
    """When the last links were withdrawn; None while some may be left."""
    swept_at: float = 0.0
    """When links of the account were searched for last."""
    is_settled: bool = False
    """Whether no further links arrived for `removal.SETTLE_SECONDS` after that."""


class AccountRemoval:
    """A job. `clock` returns seconds."""

    name = "accounts"
    interval_seconds = 0.5

    def __init__(self, services: Services, clock: Callable[[], float] = time.monotonic) -> None:
        self._services = services
        self._clock = clock
        self._progress: dict[str, _Progress] = {}

    def reset(self) -> None:
        """Forget the progress."""
        self._progress = {}

    async def run(self) -> bool:
        """Withdraw links of closed accounts, and delete some pages of accounts that settled.

        An account for which a service refuses a call does not delay others. Returns whether there
        is more to do at once. Raises AppError.
        """
        closed = await self._services.auth.closed_accounts()
        ACCOUNTS_CLOSED.set(len(closed))
        self._progress = {account: self._progress.get(account, _Progress()) for account in closed}
        due = self._due_for_a_sweep()
        refused = await self._for_each(self._withdraw)
        refused += await self._for_each(partial(self._sweep, due))
        refused += await self._for_each(partial(self._delete, self._clock() + DELETE_SECONDS))
        if refused:
            raise refused[0]
        return any(one.is_settled or one.withdrawn_at is None for one in self._progress.values())

    def _due_for_a_sweep(self) -> Collection[str]:
        """Return accounts that have not settled since their links were withdrawn.

        The accounts are in the order of their last sweep, the oldest sweep first.
        """
        due = [
            account
            for account, progress in self._progress.items()
            if progress.withdrawn_at is not None and not progress.is_settled
        ]
        due.sort(key=lambda account: self._progress[account].swept_at)
        return due[:MAX_SWEPT]

    async def _for_each(self, step: Callable[[str, _Progress], Awaitable[None]]) -> list[AppError]:
        """Run a step for each account, several at a time. Return the errors of refused calls.

        Raises Unavailable and DeadlineExceeded, once all running steps have ended.
        """
        waiting = iter(list(self._progress.items()))
        refused: list[AppError] = []

        async def take_steps() -> None:
            for account, progress in waiting:
                try:
                    await step(account, progress)
                except (Unavailable, DeadlineExceeded):
                    raise
                except AppError as error:
                    refused.append(error)

        workers = (take_steps() for _ in range(MAX_CONCURRENT))
        for ended in await asyncio.gather(*workers, return_exceptions=True):
            if ended is not None:
                raise ended
        return refused

    async def _withdraw(self, account: str, progress: _Progress) -> None:
        """Withdraw some links of an account, unless all known ones were."""
        if progress.withdrawn_at is None:
            await self._search(account, progress)

    async def _sweep(self, due: Collection[str], account: str, progress: _Progress) -> None:
        """Withdraw links that arrived since an earlier run withdrew all."""
        if account in due:
            await self._search(account, progress)

    async def _search(self, account: str, progress: _Progress) -> None:
        began = progress.swept_at = self._clock()
        removed, more = await self._services.links.remove_account_links(account)
        if more:
            progress.withdrawn_at = None
        elif removed or progress.withdrawn_at is None:
            progress.withdrawn_at = self._clock()
        else:
            progress.is_settled = began - progress.withdrawn_at >= removal.SETTLE_SECONDS

    async def _delete(self, deadline: float, account: str, progress: _Progress) -> None:
        """Delete links of an account that settled until the deadline, and at last the account."""
        while progress.is_settled and self._clock() < deadline:
            purged = await removal.purge_some_of(self._services, account)
            LINKS_PURGED.labels("account").inc(purged)
            if not purged:
                await self._services.auth.remove_account(account)
                ACCOUNTS_REMOVED.inc()
                del self._progress[account]
                return
