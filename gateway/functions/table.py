"""The table of the functions: by name, what each of them takes and who does it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from gateway.functions import accounts as a
from gateway.functions import links as s
from gateway.functions import owned_links as o
from gateway.functions import preview as p
from gateway.functions import profile as f
from gateway.functions import statistics as t
from gateway.functions.outcomes import Reply, outcome_of
from gateway.functions.owner import OneOwned, Owned
from gateway.functions.protocol import Payload
from gateway.functions.rate_limits import ClientAddresses, Limit
from services.shared.errors import AppError

Handler = Callable[[Any, Request], Coroutine[Any, Any, Reply | AsyncGenerator[bytes, None]]]


@dataclass(frozen=True)
class Limits:
    """How often one address may call functions that cost the same; None for no limit."""

    creations: Limit | None
    reports: Limit | None
    registrations: Limit | None
    logins: Limit | None
    session_checks: Limit | None
    """Limits password checks sent from a session, which log-ins must not use up."""
    edits: Limit | None
    reads: Limit | None


@dataclass(frozen=True)
class Function:
    """What is called by POST to `/<name>`."""

    payload: type[Payload]
    handler: Handler
    limit: Limit | None = None
    is_read: bool = False
    """Whether it only reads and may take long: then it ends when its client has gone."""

    async def call(
        self, payload: Payload, request: Request, clients: ClientAddresses
    ) -> Reply | AsyncGenerator[bytes, None]:
        """What stands under `data`. Raises AppError for what is no outcome to branch on."""
        if self.limit:
            self.limit.hit(clients.networks_of(request))
        try:
            return await self.handler(payload, request)
        except AppError as error:
            return outcome_of(error)


def table(
    addresses: s.ShortAddresses,
    owned: o.OwnedLinks,
    profiles: f.Profiles,
    statistics: t.LinkStatistics,
    previews: p.Previews,
    accounts: a.Accounts,
    limits: Limits,
) -> Mapping[str, Function]:
    """All functions by name."""
    reads, edits, checks = limits.reads, limits.edits, limits.session_checks
    return {
        "createShortLink": Function(
            s.CreateShortLink, addresses.create_short_link, limits.creations
        ),
        "accessLink": Function(s.AccessLink, addresses.access_link),
        "reportLink": Function(s.ReportLink, addresses.report_link, limits.reports),
        "verifyUser": Function(a.VerifyUser, accounts.verify_user, limits.logins),
        "registerUser": Function(a.RegisterUser, accounts.register_user, limits.registrations),
        "changePassword": Function(a.ChangePassword, accounts.change_password, checks),
        "removeAccount": Function(a.RemoveAccount, accounts.remove_account, checks),
        "showProfile": Function(f.ShowProfile, profiles.show_profile),
        "showLink": Function(OneOwned, owned.show_link, reads),
        "showLinks": Function(o.ShowLinks, owned.show_links, reads, is_read=True),
        "changeLink": Function(o.ChangeLink, owned.change_link, edits),
        "removeLinks": Function(o.ManyOwned, owned.remove_links, edits),
        "restoreLinks": Function(o.ManyOwned, owned.restore_links, edits),
        "createScanCode": Function(OneOwned, owned.create_scan_code, edits),
        "claimLinks": Function(Owned, owned.claim_links, edits),
        "showStatistics": Function(
            t.ShowStatistics, statistics.show_statistics, reads, is_read=True
        ),
        "previewLink": Function(OneOwned, previews.preview_link, reads),
    }
