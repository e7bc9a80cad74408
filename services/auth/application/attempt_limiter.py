"""Limits how often a wrong password or recovery code may be sent for an account.

The limits are here and not in the gateway, which limits calls by client IP address alone. An
attempt that did not fail must be released, and all replicas must share the counts in this service's
store.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from services.auth.application.client_networks import capacity_network, limit_network
from services.auth.application.login_queue import create_login_queue
from services.auth.application.ports import AttemptStore
from services.auth.domain.errors import TooManyAttempts, WrongSecret
from services.shared.fair_queue import Waiter
from services.shared.signing import derive_key


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """At most `max_failures` wrong secrets per window for one account, counted by `scope`.

    - `account`: all log-ins to the account.
    - `address`: log-ins from one client network.
    - `browser`: log-ins from one browser that logged in to the account before. These count for
      this scope only.
    - `session`: passwords sent in one session of the account. These count for this scope only.

    Recovery codes have counters of their own by address and browser. No limit counts them for all
    clients together: strangers could use it up to keep the owner out, and codes of 60 bits need
    none.
    """

    max_failures: int
    scope: Literal["account", "address", "browser", "session"]


class AttemptLimiter:
    """Counts attempts against each limit. Without limits, it allows all attempts."""

    def __init__(
        self,
        store: AttemptStore,
        secret: str,
        limits: Sequence[FailureLimit],
        window: timedelta,
        now: Callable[[], datetime],
        max_waiting: int,
    ) -> None:
        self._store = store
        self._key = derive_key(secret, "atajo attempts")
        # The account's limit is last: a client that exceeds another one does not use it up.
        self._limits = sorted(limits, key=lambda limit: limit.scope == "account")
        self._window = window
        self._now = now
        self._queue = create_login_queue(max_waiting)
        # The attempts that wait for a running one, by its counter and in order of arrival.
        self._waiters: dict[str, dict[Waiter, None]] = {}

    @asynccontextmanager
    async def attempt(
        self,
        account_id: str,
        client_ip: str,
        browser: str | None = None,
        session: str | None = None,
        is_recovery: bool = False,
    ) -> AsyncIterator[None]:
        """Count an attempt, run the body, and release the attempt unless WrongSecret is raised.

        Counting comes first: running and failed attempts together never exceed a limit, however
        many arrive at once. Attempts for one account from one client network (or known browser, or
        session) run one at a time. Otherwise fifty concurrent attempts with the right password
        would reach the limit.

        `browser` is the id of a browser that the account knows. `session` is the id of the session
        that sends the password, and None for a log-in. `is_recovery` is whether a recovery code is
        sent instead.

        Raises TooManyAttempts, LoginsBusy and Unavailable.
        """
        purpose = ["recovery"] if is_recovery else []
        if session is not None:
            counter = self._counter("session", account_id, session)
            counters = {"session": counter}
        elif browser is None:
            counter = self._counter(*purpose, account_id, limit_network(client_ip))
            counters = {"address": counter}
            if not is_recovery:
                counters["account"] = self._counter(account_id)
        else:
            counter = self._counter(*purpose, "browser", account_id, browser)
            counters = {"browser": counter}
        network = capacity_network(client_ip, in_session=session is not None)
        async with self._exclusive(counter, network):
            acquired: list[tuple[str, datetime]] = []
            failed = False
            try:
                for limit in self._limits:
                    if limit.scope in counters:
                        acquired.append(await self._acquire(limit, counters[limit.scope]))
                yield
            except WrongSecret:
                failed = True
                raise
            finally:
                if acquired and not failed:
                    # Shielded: a cancelled attempt must not stay counted.
                    await asyncio.shield(self._release(acquired))

    @asynccontextmanager
    async def _exclusive(self, counter: str, network: str) -> AsyncIterator[None]:
        """Run the body alone among the attempts with this counter."""
        if not self._limits:
            yield
            return
        waiters = self._waiters.get(counter)
        if waiters is None:
            self._waiters[counter] = {}
        else:
            waiter: Waiter = asyncio.get_running_loop().create_future()
            waiters[waiter] = None
            try:
                await self._queue.wait(network, waiter, partial(self._wake_next, counter))
            finally:
                del waiters[waiter]
        try:
            yield
        finally:
            self._wake_next(counter)

    def _wake_next(self, counter: str) -> None:
        """Let the next attempt that waits for this counter run."""
        for waiter in self._waiters[counter]:
            if not waiter.done():
                waiter.set_result(None)
                return
        del self._waiters[counter]

    async def _acquire(self, limit: FailureLimit, counter: str) -> tuple[str, datetime]:
        """Count an attempt. Return its counter and the end of its window."""
        now = self._now()
        result = await self._store.acquire(counter, limit.max_failures, self._window, now)
        if not result.granted:
            raise TooManyAttempts(
                "Too many failed attempts.",
                retry_after=max(1.0, (result.window_ends - now).total_seconds()),
            )
        return counter, result.window_ends

    async def _release(self, acquired: Sequence[tuple[str, datetime]]) -> None:
        await asyncio.gather(*(self._store.release(*attempt) for attempt in acquired))

    def _counter(self, *subject: str) -> str:
        """Return the name of a counter in the store: a keyed hash of what it counts."""
        return hmac.new(self._key, " ".join(subject).encode(), hashlib.sha256).hexdigest()
