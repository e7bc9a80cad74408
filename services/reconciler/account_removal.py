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
from collections.abc import Awaitable, Callable, Sequence
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
        new = [account for account, own in self._progress.items() if own.withdrawn_at is None]
        due = self._due_for_a_sweep()
        refused = await self._for_each(new, self._withdraw)
        refused += await self._for_each(due, self._withdraw)
        delete = partial(self._delete, self._clock() + DELETE_SECONDS)
        refused += await self._for_each(list(self._progress), delete)
        if refused:
            raise refused[0]
        return any(own.is_settled or own.withdrawn_at is None for own in self._progress.values())

    def _due_for_a_sweep(self) -> Sequence[str]:
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

    async def _for_each(
        self, accounts: Sequence[str], step: Callable[[str], Awaitable[None]]
    ) -> list[AppError]:
        """Run a step for each account, several at a time. Return the errors of refused calls.

        Raises Unavailable and DeadlineExceeded, once all running steps have ended.
        """
        waiting = iter(accounts)
        refused: list[AppError] = []

        async def take_steps() -> None:
            for account in waiting:
                try:
                    await step(account)
                except (Unavailable, DeadlineExceeded):
                    raise
                except AppError as error:
                    refused.append(error)

        workers = (take_steps() for _ in range(MAX_CONCURRENT))
        for ended in await asyncio.gather(*workers, return_exceptions=True):
            if ended is not None:
                raise ended
        return refused

    async def _withdraw(self, account: str) -> None:
        """Withdraw some links of an account, if there are any that were not withdrawn yet."""
        progress = self._progress[account]
        began = progress.swept_at = self._clock()
        removed, more = await self._services.links.remove_account_links(account)
        if more:
            progress.withdrawn_at = None
        elif removed or progress.withdrawn_at is None:
            progress.withdrawn_at = self._clock()
        else:
            progress.is_settled = began - progress.withdrawn_at >= removal.SETTLE_SECONDS

    async def _delete(self, deadline: float, account: str) -> None:
        """Delete links of an account that settled until the deadline, and at last the account."""
        progress = self._progress[account]
        while progress.is_settled and self._clock() < deadline:
            purged = await removal.purge_some_of(self._services, account)
            LINKS_PURGED.labels("account").inc(purged)
            if not purged:
                await self._services.auth.remove_account(account)
                ACCOUNTS_REMOVED.inc()
                del self._progress[account]
                return
