"""What administrators do in the browser.

Each call asks auth for a pass of the session first, and the services check it by themselves: the
gateway does not decide who is an administrator.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import TypeVar

from gateway.backends.administration import (
    AdministeredAccount,
    AdministrationClients,
    Decision,
    DecisionAction,
    DecisionPage,
    Invitation,
    LinkFile,
    ReportedLink,
    Verdict,
    create_idempotency_key,
)
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.auth import AuthClient
from gateway.backends.ports import Role
from gateway.backends.view_counts import NO_VIEWS, Totals, ViewCounts
from gateway.redirects.resolution import BlockReason
from services.shared.errors import (
    DeadlineExceeded,
    InvalidArgument,
    Unavailable,
)
from services.shared.observability import logs
from services.shared.observability.health import OK
from services.shared.page_urls import invitation_url, reset_url

T = TypeVar("T")

DECISIONS_PAGE_SIZE = 50
BLOCK_SECONDS = 60.0
"""Timeout of all steps of a block of an account's links: as long as the longest other call."""
_NEWEST, _END = "newest", "end"
"""Where a list starts and ends, in the cursor of the merged list."""

log = logs.Throttled(__name__)


@dataclass(frozen=True, slots=True)
class Instance:
    """The state of the instance. A figure is None while the service that has it does not answer."""

    version: str
    links: int | None
    accounts: int | None
    visits_today: int | None
    visits_yesterday: int | None
    storage_bytes: int | None
    backup_at: datetime | None
    """The newest automatic backup of a local run; None if there is none, and elsewhere."""
    processes: Mapping[str, bool]
    """Whether each process is ready, by name."""


@dataclass(frozen=True)
class Administration:
    """Use cases of administrators. Raises what the clients raise.

    `token` is a session token. Every method raises AppError with the reasons INVALID_TOKEN,
    NOT_ADMINISTRATOR and CONFIRMATION_NEEDED.
    """

    auth: AuthClient
    clients: AdministrationClients
    analytics: AnalyticsClient
    views: ViewCounts
    origin: str
    version: str
    states: Callable[[], Mapping[str, str]]
    """Returns the state of each dependency (`Health.dependencies`)."""
    find_backup: Callable[[], datetime | None]
    """Returns when the last backup was made; None if none is known. Reads a folder."""

    async def reported_links(
        self, token: str, cursor: str
    ) -> tuple[list[ReportedLink], Mapping[str, Totals] | None, str]:
        """Return links with pending reports, their views by code, and the next cursor.

        The views are None while analytics is unavailable.
        """
        administrator_pass = await self.auth.issue_pass(token)
        found, following = await self.clients.links.reported_links(administrator_pass, cursor)
        codes = [reported.link.code for reported in found]
        views = await self.views.totals(codes) if codes else {}
        if views is not None:
            views = {code: views.get(code, NO_VIEWS) for code in codes}
        return found, views, following

    async def link_file(self, token: str, code: str) -> LinkFile:
        """Return what is known about a link. Reason: NO_LINK."""
        return await self.clients.links.link_file(await self.auth.issue_pass(token), code)

    async def decide(
        self,
        token: str,
        subject: str,
        action: DecisionAction,
        reason: BlockReason | None,
        comment: str,
    ) -> str:
        """Make a decision; return its id. Reasons: NO_LINK, NO_BLOCK, NO_REPORT, INVALID_*."""
        administrator_pass = await self.auth.issue_pass(token)
        decision = await self.clients.links.decide(
            administrator_pass, subject, action, reason, comment
        )
        return decision.id

    async def explain(self, token: str, subject: str) -> Verdict:
        """Explain whether a subject is blocked. Reasons: NO_LINK, INVALID_ADDRESS."""
        return await self.clients.links.explain(await self.auth.issue_pass(token), subject)

    async def decisions(self, token: str, text: str, cursor: str) -> tuple[list[Decision], str]:
        """Return decisions of both services, newest first, and the next cursor, empty at the end.

        The cursor has the cursors of both lists, separated by a comma. Reasons: INVALID_*.
        """
        administrator_pass = await self.auth.issue_pass(token)
        starts = cursor.split(",") if cursor else [_NEWEST, _NEWEST]
        if len(starts) != 2:
            raise InvalidArgument("This is not a cursor of a list of decisions.", "INVALID_CURSOR")
        links, accounts = starts
        pages = await asyncio.gather(
            _read(self.clients.links.decisions, administrator_pass, text, links),
            _read(self.clients.accounts.decisions, administrator_pass, text, accounts),
        )
        merged = merge(
            *(
                [(decision, number) for decision in page.decisions]
                for number, page in enumerate(pages)
            ),
            key=lambda item: item[0].at,
            reverse=True,
        )
        taken = list(islice(merged, DECISIONS_PAGE_SIZE))
        counts = Counter(number for _, number in taken)
        following = [
            _find_next(page, start, counts[number])
            for number, (page, start) in enumerate(zip(pages, starts, strict=True))
        ]
        is_end = all(start == _END for start in following)
        return [decision for decision, _ in taken], "" if is_end else ",".join(following)

    async def accounts(
        self, token: str, query: str, cursor: str
    ) -> tuple[list[AdministeredAccount], Mapping[str, int] | None, str]:
        """Return accounts, newest first, their numbers of links by id, and the next cursor.

        The numbers are None while links is unavailable. Reasons: INVALID_QUERY, INVALID_CURSOR.
        """
        administrator_pass = await self.auth.issue_pass(token)
        found, following = await self.clients.accounts.accounts(administrator_pass, query, cursor)
        return found, await self._count_links(administrator_pass, found), following

    async def change_account(
        self, token: str, account_id: str, suspended: bool | None, role: Role | None
    ) -> tuple[AdministeredAccount, Mapping[str, int] | None]:
        """Change an account; return it with its number of links, as `accounts` does.

        Reasons: NO_ACCOUNT, LAST_ADMINISTRATOR.
        """
        administrator_pass = await self.auth.issue_pass(token)
        changed = await self.clients.accounts.change(
            administrator_pass, account_id, suspended, role
        )
        return changed, await self._count_links(administrator_pass, [changed])

    async def block_account_links(
        self, token: str, account_id: str, reason: BlockReason, comment: str
    ) -> int:
        """Block all links of an account with one decision; return how many it blocked.

        After an error, the next call blocks the rest. Each step has a pass of its own. Raises
        DeadlineExceeded. Reasons: INVALID_CAUSE, INVALID_OWNER.
        """
        blocked, cursor, key = 0, "", create_idempotency_key()
        try:
            async with asyncio.timeout(BLOCK_SECONDS):
                while True:
                    step = await self.clients.links.block_account_links(
                        await self.auth.issue_pass(token), account_id, reason, comment, cursor, key
                    )
                    blocked, cursor = blocked + step.blocked, step.next
                    if not cursor:
                        return blocked
        except TimeoutError:
            raise DeadlineExceeded("The account has many links. Repeat the call.") from None

    async def end_sessions(self, token: str, account_id: str) -> None:
        """End all sessions of an account. Reason: NO_ACCOUNT."""
        await self.clients.accounts.end_sessions(await self.auth.issue_pass(token), account_id)

    async def create_reset_link(self, token: str, account_id: str) -> str:
        """Return a URL with which the owner of an account sets a password. Reason: NO_ACCOUNT."""
        administrator_pass = await self.auth.issue_pass(token)
        email, code = await self.clients.accounts.create_reset_code(administrator_pass, account_id)
        return reset_url(self.origin, email, code)

    async def invite(self, token: str, email: str, role: Role) -> tuple[str, str]:
        """Create an invitation, for anyone if `email` is empty; return its id and its URL.

        Reasons: INVALID_EMAIL, TOO_MANY_INVITATIONS.
        """
        administrator_pass = await self.auth.issue_pass(token)
        invitation, secret = await self.clients.accounts.invite(administrator_pass, email, role)
        return invitation, invitation_url(self.origin, secret)

    async def invitations(self, token: str) -> list[Invitation]:
        """Return the invitations that are neither used nor expired, newest first."""
        return await self.clients.accounts.invitations(await self.auth.issue_pass(token))

    async def revoke_invitation(self, token: str, invitation_id: str) -> None:
        """Revoke an invitation. May be repeated."""
        await self.clients.accounts.revoke_invitation(
            await self.auth.issue_pass(token), invitation_id
        )

    async def instance(self, token: str) -> Instance:
        """Return the state of the instance."""
        administrator_pass = await self.auth.issue_pass(token)
        usage, accounts, visits = await asyncio.gather(
            _unless_unavailable(self.clients.links.usage(administrator_pass)),
            _unless_unavailable(self.clients.accounts.usage(administrator_pass)),
            _unless_unavailable(self.analytics.usage()),
        )
        states = self.states()
        sizes = (
            usage.store_bytes if usage else None,
            accounts[1] if accounts else None,
            visits.store_bytes if visits else None,
        )
        known = [size for size in sizes if size is not None]
        return Instance(
            version=self.version,
            links=usage.links if usage else None,
            accounts=accounts[0] if accounts else None,
            visits_today=visits.today if visits else None,
            visits_yesterday=visits.yesterday if visits else None,
            storage_bytes=sum(known) if len(known) == len(sizes) else None,
            backup_at=await asyncio.to_thread(self.find_backup),
            processes={
                **{name: states.get(name) == OK for name in ("auth", "links", "analytics")},
                "gateway": True,
                "reconciler": usage is not None and usage.reconciler_works,
            },
        )

    async def _count_links(
        self, administrator_pass: str, accounts: Sequence[AdministeredAccount]
    ) -> Mapping[str, int] | None:
        ids = [account.id for account in accounts]
        return (
            await _unless_unavailable(self.clients.links.count(administrator_pass, ids))
            if ids
            else {}
        )


async def _read(
    read: Callable[[str, str, str], Awaitable[DecisionPage]],
    administrator_pass: str,
    text: str,
    start: str,
) -> DecisionPage:
    """Return the page of one service's decisions that starts somewhere."""
    if start == _END:
        return DecisionPage([], "")
    return await read(administrator_pass, text, "" if start == _NEWEST else start)


def _find_next(page: DecisionPage, start: str, taken: int) -> str:
    """Return where a list continues of whose page, which starts somewhere, some were taken."""
    if taken == len(page.decisions):
        return page.cursor or _END
    return page.decisions[taken - 1].cursor if taken else start


async def _unless_unavailable(reading: Awaitable[T]) -> T | None:
    """Return what a service answers, or None while it does not."""
    try:
        return await reading
    except (Unavailable, DeadlineExceeded) as error:
        log.warning("figures_unavailable", reason=error.reason, call=error.call)
        return None
