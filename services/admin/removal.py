"""Removing links and accounts over services that share no transaction.

Every step may be repeated and what leads to the rest goes last: whatever a removal broke off at,
repeating it goes on from there. Visits that a gateway answers from memory after its link was
removed are still counted under the code, where no list shows them: the code is never given out
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol

SETTLE_SECONDS = 10.0
"""A creation whose token was checked before the account was closed has ended by then: the gateway
gives the check and the creation 5 s each."""
COUNTS_A_CALL = 100
"""Codes whose visits are forgotten in one call: analytics takes no more."""


class Services(Protocol):
    """What a removal asks of the services."""

    async def close_account(self, email: str) -> str: ...

    async def remove_account(self, account: str) -> None: ...

    def codes_of(self, account: str) -> AsyncIterator[list[str]]: ...

    async def purge_links(self, codes: Sequence[str]) -> list[str]: ...

    async def remove_counts(self, codes: Sequence[str]) -> None: ...


async def remove_link(services: Services, code: str) -> bool:
    """Remove a link and its counts; False when there never was one. Raises AppError."""
    if not await services.purge_links([code]):
        return False
    await services.remove_counts([code])
    return True


async def remove_account(
    services: Services, email: str, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> int:
    """Remove an account, its links and their counts; returns how many links there were to remove.

    Raises AppError; its reason is NO_ACCOUNT when there is none.
    """
    account = await services.close_account(email)
    links = await _purge_links_of(services, account)
    await sleep(SETTLE_SECONDS)
    links += await _purge_links_of(services, account)
    await services.remove_account(account)
    return links


async def _purge_links_of(services: Services, account: str) -> int:
    removed = 0
    async for codes in services.codes_of(account):
        # Counts first: once its link is gone, nothing leads to them any more.
        for start in range(0, len(codes), COUNTS_A_CALL):
            await services.remove_counts(codes[start : start + COUNTS_A_CALL])
        await services.purge_links(codes)
        removed += len(codes)
    return removed
