"""The table of the functions: by name, what each of them takes and who does it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from gateway.callable import Payload
from gateway.functions import accounts as a
from gateway.functions import addresses as s
from gateway.functions import owned as o
from gateway.functions import preview as p
from gateway.functions import profile as f
from gateway.functions import statistics as t
from gateway.functions.outcomes import Reply, outcome_of
from gateway.functions.owner import Owned
from services.runtime.errors import AppError

Handler = Callable[[Any, Request], Coroutine[Any, Any, Reply | AsyncGenerator[bytes, None]]]


@dataclass(frozen=True)
class Function:
    """What is called by POST to `/<name>`."""

    payload: type[Payload]
    handler: Handler
    is_read: bool = False
    """Whether it only reads and may take long: then it ends when its client has gone."""

    async def call(self, payload: Payload, request: Request) -> Reply | AsyncGenerator[bytes, None]:
        """What stands under `data`. Raises AppError for what is no outcome to branch on."""
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
) -> Mapping[str, Function]:
    """All functions by name."""
    return {
        "createShortLink": Function(s.CreateShortLink, addresses.create_short_link),
        "accessLink": Function(s.AccessLink, addresses.access_link),
        "reportLink": Function(s.ReportLink, addresses.report_link),
        "verifyUser": Function(a.VerifyUser, accounts.verify_user),
        "registerUser": Function(a.RegisterUser, accounts.register_user),
        "changePassword": Function(a.ChangePassword, accounts.change_password),
        "removeAccount": Function(a.RemoveAccount, accounts.remove_account),
        "showProfile": Function(f.ShowProfile, profiles.show_profile),
        "showLink": Function(o.OneOwned, owned.show_link),
        "showLinks": Function(o.ShowLinks, owned.show_links, is_read=True),
        "changeLink": Function(o.ChangeLink, owned.change_link),
        "removeLinks": Function(o.ManyOwned, owned.remove_links),
        "restoreLinks": Function(o.ManyOwned, owned.restore_links),
        "createScanCode": Function(o.OneOwned, owned.create_scan_code),
        "claimLinks": Function(Owned, owned.claim_links),
        "showStatistics": Function(t.ShowStatistics, statistics.show_statistics, is_read=True),
        "previewLink": Function(p.PreviewLink, previews.preview_link),
    }
