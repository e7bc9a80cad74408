"""The table of functions: by name, the payload, the handler and the limit of each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from gateway.functions.accounts import (
    Accounts,
    ChangePassword,
    CountRecoveryCodes,
    CreateRecoveryCodes,
    RegisterUser,
    RemoveAccount,
    ResetPassword,
    VerifyUser,
)
from gateway.functions.imports import CheckImport, ImportLinks, Imports, ListImports, UndoImport
from gateway.functions.keys import CreateKey, Keys, ListKeys, RevokeKey
from gateway.functions.outcomes import Reply, outcome_of
from gateway.functions.owned_links import ChangeLink, OwnedLinks, OwnedLinksPayload, ShowLinks
from gateway.functions.owner import OwnedLinkPayload, OwnerPayload
from gateway.functions.passkeys import (
    BeginLogin,
    BeginPasskey,
    FinishLogin,
    FinishPasskey,
    ListPasskeys,
    Passkeys,
    RemovePasskey,
)
from gateway.functions.preview import Previews
from gateway.functions.profile import Profiles, ShowProfile
from gateway.functions.protocol import Payload
from gateway.functions.sessions import EndOtherSessions, EndSession, ListSessions, Sessions
from gateway.functions.short_urls import AccessLink, CreateShortLink, ReportLink, ShortUrls
from gateway.functions.statistics import LinkStatistics, ShowStatistics
from gateway.support.rate_limits import Networks, RateLimiter
from services.shared.errors import AppError

Handler = Callable[[Any, Request], Coroutine[Any, Any, Reply | AsyncGenerator[bytes, None]]]


@dataclass(frozen=True)
class Limits:
    """Rate limits per client of functions with the same cost, None for no limit."""

    creations: RateLimiter | None
    reports: RateLimiter | None
    registrations: RateLimiter | None
    logins: RateLimiter | None
    recoveries: RateLimiter | None
    """Limits password resets. Failed log-ins of the same address must not use up their limit."""
    session_checks: RateLimiter | None
    """Limits password checks within a session, and log-ins with passkeys. Log-ins with passwords
    must not use up their limit."""
    edits: RateLimiter | None
    reads: RateLimiter | None
    import_rows: RateLimiter | None
    short_codes: RateLimiter | None


@dataclass(frozen=True)
class Function:
    """A function, which is called by POST to `/<name>`."""

    payload: type[Payload]
    handler: Handler
    limit: RateLimiter | None = None
    is_read: bool = False
    """Whether it only reads and may take long. Then it is cancelled if its client disconnects."""

    def count(self, networks: Networks) -> None:
        """Count a call of a client. Raises ResourceExhausted."""
        if self.limit:
            self.limit.hit(networks)

    async def call(self, payload: Payload, request: Request) -> Reply | AsyncGenerator[bytes, None]:
        """Return the `data` of the response. Raises AppError for every error that is no outcome."""
        try:
            return await self.handler(payload, request)
        except AppError as error:
            return outcome_of(error)


def table(
    short_urls: ShortUrls,
    owned: OwnedLinks,
    profiles: Profiles,
    statistics: LinkStatistics,
    previews: Previews,
    imports: Imports,
    accounts: Accounts,
    passkeys: Passkeys,
    keys: Keys,
    sessions: Sessions,
    limits: Limits,
) -> Mapping[str, Function]:
    """Return all functions by name."""
    reads, edits, checks = limits.reads, limits.edits, limits.session_checks
    return {
        "createShortLink": Function(
            CreateShortLink, short_urls.create_short_link, limits.creations
        ),
        "accessLink": Function(AccessLink, short_urls.access_link),
        "reportLink": Function(ReportLink, short_urls.report_link, limits.reports),
        "verifyUser": Function(VerifyUser, accounts.verify_user, limits.logins),
        "registerUser": Function(RegisterUser, accounts.register_user, limits.registrations),
        "changePassword": Function(ChangePassword, accounts.change_password, checks),
        "removeAccount": Function(RemoveAccount, accounts.remove_account, checks),
        "createRecoveryCodes": Function(
            CreateRecoveryCodes, accounts.create_recovery_codes, checks
        ),
        "countRecoveryCodes": Function(CountRecoveryCodes, accounts.count_recovery_codes, reads),
        "resetPassword": Function(ResetPassword, accounts.reset_password, limits.recoveries),
        "listPasskeys": Function(ListPasskeys, passkeys.list_passkeys, reads),
        "beginPasskey": Function(BeginPasskey, passkeys.begin_passkey, checks),
        "finishPasskey": Function(FinishPasskey, passkeys.finish_passkey, edits),
        "removePasskey": Function(RemovePasskey, passkeys.remove_passkey, checks),
        "beginLogin": Function(BeginLogin, passkeys.begin_login, reads),
        "finishLogin": Function(FinishLogin, passkeys.finish_login, checks),
        "createKey": Function(CreateKey, keys.create_key, checks),
        "listKeys": Function(ListKeys, keys.list_keys, reads),
        "revokeKey": Function(RevokeKey, keys.revoke_key, edits),
        "listSessions": Function(ListSessions, sessions.list_sessions, reads),
        "endSession": Function(EndSession, sessions.end_session, edits),
        "endOtherSessions": Function(EndOtherSessions, sessions.end_other_sessions, edits),
        "showProfile": Function(ShowProfile, profiles.show_profile),
        "showLink": Function(OwnedLinkPayload, owned.show_link, reads),
        "showLinks": Function(ShowLinks, owned.show_links, reads, is_read=True),
        "changeLink": Function(ChangeLink, owned.change_link, edits),
        "removeLinks": Function(OwnedLinksPayload, owned.remove_links, edits),
        "restoreLinks": Function(OwnedLinksPayload, owned.restore_links, edits),
        "createScanCode": Function(OwnedLinkPayload, owned.create_scan_code, edits),
        "claimLinks": Function(OwnerPayload, owned.claim_links, edits),
        "showStatistics": Function(ShowStatistics, statistics.show_statistics, reads, is_read=True),
        "previewLink": Function(OwnedLinkPayload, previews.preview_link, reads),
        "checkImport": Function(CheckImport, imports.check_import, reads),
        "importLinks": Function(ImportLinks, imports.import_links, edits),
        "undoImport": Function(UndoImport, imports.undo_import, edits),
        "listImports": Function(ListImports, imports.list_imports, reads),
    }
