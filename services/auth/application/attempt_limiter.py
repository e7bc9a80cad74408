"""How often a password may be wrong, at log-in and wherever else an account asks for it.

Counted here and not by the gateway, which counts calls by address alone: an attempt that was
none must be given back, and the counts of all replicas belong in this service's own store.
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

from services.auth.application.fair_queue import Turn, WaitingRoom, household_of, share_of
from services.auth.application.ports import AttemptStore
from services.auth.domain.account import TooManyAttempts, WrongPassword


@dataclass(frozen=True, slots=True)
class Rule:
    """At most `limit` wrong passwords of one account, counted `by` what the rule names.

    `account` counts all of them, `address` those from each address, `browser` those from each
    browser that the account knows. A log-in from a known browser counts for the rule by browser
    and for no other. `session` counts those sent from each session of the account, for which no
    other rule counts.
    """

    limit: int
    by: Literal["account", "address", "browser", "session"]


class AttemptLimiter:
    """Counts attempts against each of its rules. Without rules it counts none and refuses none."""

    def __init__(
        self,
        store: AttemptStore,
        secret: str,
        rules: Sequence[Rule],
        window: timedelta,
        now: Callable[[], datetime],
        max_waiting: int,
    ) -> None:
        self._store = store
        # A key of its own, so that no row can ever be mistaken for the signature of a token.
        self._secret = hmac.digest(secret.encode(), b"atajo attempts", hashlib.sha256)
        # Those by address first: who is past one of them does not use up the account's own.
        self._rules = sorted(rules, key=lambda rule: rule.by == "account")
        self._window = window
        self._now = now
        self._room = WaitingRoom(max_waiting)
        # The keys whose turn is taken, each with those who wait for it in order of arrival.
        self._turns: dict[str, dict[Turn, None]] = {}

    @asynccontextmanager
    async def attempt(
        self,
        account_id: str,
        address: str,
        browser: str | None = None,
        session: str | None = None,
    ) -> AsyncIterator[None]:
        """Count an attempt while the body checks the password, and after it if that was wrong.

        It is counted before the body runs: however many come at once, those under way and those
        that failed are never more than the limit. If the body ends in anything but WrongPassword,
        the attempt is given back. Attempts to one account from one address (or known browser, or
        session) take turns: fifty right passwords at once would otherwise fill the count.

        `browser` is the id of a browser that the account knows, or None. `session` is the id of
        the session that sends the password, None at a log-in. Raises TooManyAttempts, LoginsBusy
        and Unavailable.
        """
        if session is not None:
            turn = self._key("session", account_id, session)
            counted = {"session": turn}
        elif browser is None:
            turn = self._key(account_id, household_of(address))
            counted = {"address": turn, "account": self._key(account_id)}
        else:
            turn = self._key("browser", account_id, browser)
            counted = {"browser": turn}
        async with self._turn(turn, share_of(address, in_session=session is not None)):
            taken: list[tuple[str, datetime]] = []
            failed = False
            try:
                for rule in self._rules:
                    if rule.by in counted:
                        taken.append(await self._take(rule, counted[rule.by]))
                yield
            except WrongPassword:
                failed = True
                raise
            finally:
                if taken and not failed:
                    # Shielded: a caller who gives up must not be charged for it.
                    await asyncio.shield(self._give_back(taken))

    @asynccontextmanager
    async def _turn(self, key: str, share: str) -> AsyncIterator[None]:
        if not self._rules:
            yield
            return
        waiting = self._turns.get(key)
        if waiting is None:
            self._turns[key] = {}
        else:
            turn: Turn = asyncio.get_running_loop().create_future()
            waiting[turn] = None
            try:
                await self._room.wait(share, turn, partial(self._pass_on, key), 0)
            finally:
                del waiting[turn]
        try:
            yield
        finally:
            self._pass_on(key)

    def _pass_on(self, key: str) -> None:
        """Give the turn of a key to the next caller that waits for it."""
        for turn in self._turns[key]:
            if not turn.done():
                turn.set_result(None)
                return
        del self._turns[key]

    async def _take(self, rule: Rule, key: str) -> tuple[str, datetime]:
        now = self._now()
        attempt = await self._store.take(key, rule.limit, self._window, now)
        if not attempt.granted:
            raise TooManyAttempts(
                "Too many failed log-ins.",
                retry_after=max(1.0, (attempt.window_ends - now).total_seconds()),
            )
        return key, attempt.window_ends

    async def _give_back(self, taken: Sequence[tuple[str, datetime]]) -> None:
        await asyncio.gather(*(self._store.give_back(key, ends) for key, ends in taken))

    def _key(self, *subject: str) -> str:
        return hmac.new(self._secret, " ".join(subject).encode(), hashlib.sha256).hexdigest()
