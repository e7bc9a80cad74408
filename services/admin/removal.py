"""Removing links and accounts over services that share no transaction.

Every step may be repeated, by several at once, and what leads to the rest goes last: whatever a
removal broke off at, repeating it goes on from there. Visits that a gateway answers from memory
after its link was removed are still counted under the code, where no list shows them: the code is
never given out again.

The operator's command takes all steps of a removal one after the other; the reconciler takes them
as it comes to them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

SETTLE_SECONDS = 10.0
"""A creation whose token was checked before the account was closed has ended by then: the gateway
gives the check and the creation 5 s each. No gateway answers for the links any more, either."""
COUNTS_A_CALL = 100
"""Codes whose visits are forgotten in one call: analytics takes no more."""
_MOST_SETTLES = 20
"""How often links may still come in: an account that is being given many takes a while."""


class Auth(Protocol):
    """What a removal asks of auth."""

    async def close_account(self, email: str) -> str: ...

    async def remove_account(self, account: str) -> None: ...


class Links(Protocol):
    """What a removal asks of links."""

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        """Withdraw some of an account's links; returns how many, and whether there may be others.

        Withdrawn links lead nowhere and are shown to nobody.
        """
        ...

    async def account_codes(self, account: str) -> list[str]:
        """The codes of up to 1000 links of an account, of every state; none where it has none."""
        ...

    async def purge_links(self, codes: Sequence[str]) -> list[str]: ...


class Analytics(Protocol):
    """What a removal asks of analytics."""

    async def remove_counts(self, codes: Sequence[str]) -> None: ...


@dataclass(frozen=True)
class Services:
    """The services as a removal needs them."""

    auth: Auth
    links: Links
    analytics: Analytics


async def remove_link(services: Services, code: str) -> bool:
    """Remove the link of a code or scan code, and its counts; False when there never was one.

    Raises AppError.
    """
    purged = await services.links.purge_links([code])
    if not purged:
        return False
    await services.analytics.remove_counts(purged)
    return True


async def remove_account(
    services: Services, email: str, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> int:
    """Remove an account, its links and their counts; returns how many links were purged.

    Raises AppError; its reason is NO_ACCOUNT when there is none.
    """
    account = await services.auth.close_account(email)
    await _stop_links(services.links, account)
    for _ in range(_MOST_SETTLES):
        await sleep(SETTLE_SECONDS)
        if not await _stop_links(services.links, account):
            break
    links = 0
    while purged := await purge_some_of(services, account):
        links += purged
    await services.auth.remove_account(account)
    return links


async def purge_some_of(services: Services, account: str) -> int:
    """Purge up to 1000 links of an account with their counts; returns how many there were.

    Raises AppError.
    """
    codes = await services.links.account_codes(account)
    if codes:
        await purge(services, codes)
    return len(codes)


async def purge(services: Services, codes: Sequence[str]) -> None:
    """Purge at most 1000 links with their counts. Raises AppError."""
    # Counts first: once its link is gone, nothing leads to them any more.
    for start in range(0, len(codes), COUNTS_A_CALL):
        await services.analytics.remove_counts(codes[start : start + COUNTS_A_CALL])
    await services.links.purge_links(codes)


async def _stop_links(links: Links, account: str) -> int:
    """Withdraw an account's links; returns how many."""
    stopped, more = 0, True
    while more:
        removed, more = await links.remove_account_links(account)
        stopped += removed
    return stopped
