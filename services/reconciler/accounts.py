"""Finishes the removal of closed accounts.

Of each account first the links are withdrawn, since that is what people wait for: they lead
nowhere, and nobody is shown where they led. Then whatever was on its way comes in
(`removal.SETTLE_SECONDS`). Then links and counts are deleted for good, a page at a time, and last
the account itself. What is known of a removal under way is in memory alone: who begins anew settles
anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from services.admin import removal
from services.reconciler.metrics import ACCOUNTS_CLOSED, ACCOUNTS_REMOVED, LINKS_PURGED
from services.reconciler.ports import Services
from services.shared.errors import AppError, DeadlineExceeded, Unavailable

SLICE_SECONDS = 1.0
"""How long links are deleted until the next look at which accounts were closed: theirs stop within
seconds."""
MAX_CONCURRENT = 8
"""How many accounts take a step at the same time."""


@dataclass
class _Removal:
    """How far the removal of an account is."""

    quiet_since: float | None = None
    """When no link of it was left that leads anywhere; None while there may be one."""
    settled: bool = False
    """Whether no other came in for `removal.SETTLE_SECONDS` since then."""


class Accounts:
    """The job. `clock` counts seconds."""

    name = "accounts"
    every = 0.5

    def __init__(self, services: Services, clock: Callable[[], float] = time.monotonic) -> None:
        self._services = services
        self._clock = clock
        self._removals: dict[str, _Removal] = {}

    def begin(self) -> None:
        """Settle anew what was under way."""
        self._removals = {}

    async def run(self) -> bool:
        """Take a step with each closed account, a few pages with those that settled.

        An account of which a service refuses something holds no other up. Raises AppError.
        """
        closed = await self._services.auth.closed_accounts()
        ACCOUNTS_CLOSED.set(len(closed))
        self._removals = {account: self._removals.get(account, _Removal()) for account in closed}
        refused = await self._with_each(self._stop)
        refused += await self._with_each(partial(self._delete, self._clock() + SLICE_SECONDS))
        if refused:
            raise refused[0]
        return any(state.settled or state.quiet_since is None for state in self._removals.values())

    async def _with_each(self, step: Callable[[str, _Removal], Awaitable[None]]) -> list[AppError]:
        """Take a step with each account, some at a time; returns what services refused.

        Raises Unavailable and DeadlineExceeded once no step is under way any more.
        """
        waiting = iter(list(self._removals.items()))
        refused: list[AppError] = []

        async def take_steps() -> None:
            for account, state in waiting:
                try:
                    await step(account, state)
                except (Unavailable, DeadlineExceeded):
                    raise
                except AppError as error:
                    refused.append(error)

        workers = (take_steps() for _ in range(MAX_CONCURRENT))
        for ended in await asyncio.gather(*workers, return_exceptions=True):
            if ended is not None:
                raise ended
        return refused

    async def _stop(self, account: str, state: _Removal) -> None:
        """Withdraw an account's links until none came in for long enough."""
        began = self._clock()
        if state.settled or (
            state.quiet_since is not None and began - state.quiet_since < removal.SETTLE_SECONDS
        ):
            return
        removed, more = await self._services.links.remove_account_links(account)
        state.settled = state.quiet_since is not None and not (removed or more)
        state.quiet_since = None if more else self._clock()

    async def _delete(self, deadline: float, account: str, state: _Removal) -> None:
        """Delete what is left of an account that settled, until the deadline."""
        while state.settled and self._clock() < deadline:
            purged = await removal.purge_some_of(self._services, account)
            LINKS_PURGED.labels("account").inc(purged)
            if not purged:
                await self._services.auth.remove_account(account)
                ACCOUNTS_REMOVED.inc()
                del self._removals[account]
                return
