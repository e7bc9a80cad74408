"""Removal of links and accounts across services without a common transaction.

Every step is idempotent, also when run concurrently, and the record that leads to the rest is
deleted last: repeating an interrupted removal completes it. Visits that a gateway serves from its
cache after the removal are still counted under the code, but no list shows them, since the code is
never reused.

The operator's command runs all steps of a removal in order. The reconciler runs them one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

SETTLE_SECONDS = 10.0
"""After this time, creations whose token was checked before the account was closed have ended: the
gateway's deadlines are 5 s each for the check and the creation. Also, no gateway serves the links
from its cache any more."""
COUNTS_A_CALL = 100
"""Codes per call to delete counts: analytics' limit."""
_MAX_ROUNDS = 20
"""Maximum rounds of withdrawing links that still arrive, such as claimed ones."""


class Auth(Protocol):
    """auth, as a removal needs it."""

    async def close_account(self, email: str) -> str: ...

    async def remove_account(self, account: str) -> None: ...


class Links(Protocol):
    """links, as a removal needs it."""

    async def withdraw_link(self, code: str) -> str:
        """Withdraw a link by code or scan code; return its link code, empty if there never was one.

        A code whose link was purged before is returned as given.
        """

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        """Withdraw some of an account's links; return their number and whether there may be more.

        Withdrawn links lead nowhere and are in no list.
        """

    async def account_codes(self, account: str) -> list[str]:
        """Return the codes of up to 1000 links of an account, in every state."""

    async def purge_links(self, codes: Sequence[str]) -> list[str]: ...


class Analytics(Protocol):
    """analytics, as a removal needs it."""

    async def remove_counts(self, codes: Sequence[str]) -> None: ...


@dataclass(frozen=True)
class Services:
    """The services that a removal calls."""

    auth: Auth
    links: Links
    analytics: Analytics


async def remove_link(services: Services, code: str) -> bool:
    """Remove the link of a code or scan code and its counts; return False if there never was one.

    Raises AppError.
    """
    # A scan code leads to the counts only as long as the link exists.
    link_code = await services.links.withdraw_link(code)
    if not link_code:
        return False
    await purge(services, [link_code])
    return True


async def remove_account(
    services: Services, email: str, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> int:
    """Remove an account, its links and their counts; return how many links were purged.

    Raises AppError, with reason NO_ACCOUNT if there is no such account.
    """
    account = await services.auth.close_account(email)
    await _stop_links(services.links, account)
    for _ in range(_MAX_ROUNDS):
        await sleep(SETTLE_SECONDS)
        if not await _stop_links(services.links, account):
            break
    links = 0
    while purged := await purge_some_of(services, account):
        links += purged
    await services.auth.remove_account(account)
    return links


async def purge_some_of(services: Services, account: str) -> int:
    """Purge up to 1000 links of an account with their counts; return their number.

    Raises AppError.
    """
    codes = await services.links.account_codes(account)
    if codes:
        await purge(services, codes)
    return len(codes)


async def purge(services: Services, codes: Sequence[str]) -> None:
    """Purge at most 1000 links with their counts. Raises AppError."""
    # Counts first: after the link is gone, nothing refers to them.
    for start in range(0, len(codes), COUNTS_A_CALL):
        await services.analytics.remove_counts(codes[start : start + COUNTS_A_CALL])
    await services.links.purge_links(codes)


async def _stop_links(links: Links, account: str) -> int:
    """Withdraw all links of an account; return their number."""
    stopped, more = 0, True
    while more:
        removed, more = await links.remove_account_links(account)
        stopped += removed
    return stopped
