"""The table of functions: by name, the handler and the limit of each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from starlette.requests import Request

from gateway.functions import (
    accounts,
    administration,
    imports,
    keys,
    oidc,
    owned_links,
    passkeys,
    preview,
    sessions,
    short_urls,
    statistics,
)
from gateway.functions.owner import NoOwner
from gateway.functions.protocol import Payload, Reply
from gateway.support.rate_limits import RateLimiter
from gateway.use_cases.limits import Limits
from gateway.use_cases.policy import AccountNeeded
from gateway.use_cases.services import Services
from services.shared.errors import AppError

Stream = AsyncGenerator[bytes, None]
"""The whole `data` of a response, with `success`, in pieces of JSON, to be sent as they come."""
Handler = Callable[[Services, Any, Request], Coroutine[Any, Any, Reply | Stream | None]]
"""Returns the `data` of the response beside `success`. The type of its payload is annotated."""

_OUTCOMES = {
    "EMAIL_TAKEN": "exist",
    "NO_ACCOUNT": "no exist",
    "NO_BLOCK": "no exist",
    "NO_IMPORT": "no exist",
    "NO_LINK": "no exist",
    "NO_PASSKEY": "no exist",
    "NO_REPORT": "no exist",
    "WRONG_PASSKEY": "incorrect",
    "WRONG_PASSWORD": "incorrect",
    "WRONG_RECOVERY_CODE": "incorrect",
    "INVALID_TOKEN": "invalid token",
    "NO_PROVIDER": "off",
    "PROVIDER_UNAVAILABLE": "unavailable",
    "PROVIDER_REFUSED": "refused",
    "EMAIL_UNVERIFIED": "unverified",
    "LAST_LOGIN": "last login",
    AccountNeeded.default_reason: "no logged",
    "REGISTRATION_CLOSED": "closed",
    "INVITATION_INVALID": "invitation",
    "ACCOUNT_SUSPENDED": "suspended",
    "LAST_ADMINISTRATOR": "last administrator",
    "NOT_ADMINISTRATOR": "not allowed",
    "CONFIRMATION_NEEDED": "confirm",
    NoOwner.default_reason: "no logged",
}
"""Reasons of errors that callers branch on, which are returned as data, and their names there.
All others are callable errors."""


@dataclass(frozen=True)
class Function:
    """A function, which is called by POST to `/<name>`."""

    handler: Handler
    limit: RateLimiter | None = None
    """Counts its calls by client, if they are limited."""
    is_read: bool = False
    """Whether it only reads and may take long. Then it is cancelled if its client disconnects."""

    @property
    def payload(self) -> type[Payload]:
        """The type of its payload."""
        payload: type[Payload] = get_type_hints(self.handler)["payload"]
        return payload

    async def call(self, services: Services, payload: Payload, request: Request) -> Reply | Stream:
        """Return the `data` of the response. Raises AppError for every error that is no outcome."""
        try:
            data = await self.handler(services, payload, request)
        except AppError as error:
            if error.reason not in _OUTCOMES:
                raise
            return {"success": False, "error": _OUTCOMES[error.reason]}
        return data if isinstance(data, AsyncGenerator) else {"success": True, **(data or {})}


def table(limits: Limits) -> Mapping[str, Function]:
    """Return all functions by name."""
    reads, edits, checks = limits.reads, limits.edits, limits.session_checks
    return {
        "createShortLink": Function(short_urls.create_short_link, limits.creations),
        "accessLink": Function(short_urls.access_link),
        "reportLink": Function(short_urls.report_link, limits.reports),
        "verifyUser": Function(accounts.verify_user, limits.logins),
        "registerUser": Function(accounts.register_user, limits.registrations),
        "confirmSession": Function(accounts.confirm_session, checks),
        "changePassword": Function(accounts.change_password, checks),
        "removeAccount": Function(accounts.remove_account, checks),
        "createRecoveryCodes": Function(accounts.create_recovery_codes, checks),
        "countRecoveryCodes": Function(accounts.count_recovery_codes, reads),
        "resetPassword": Function(accounts.reset_password, limits.recoveries),
        "listPasskeys": Function(passkeys.list_passkeys, reads),
        "beginPasskey": Function(passkeys.begin_passkey, checks),
        "finishPasskey": Function(passkeys.finish_passkey, edits),
        "removePasskey": Function(passkeys.remove_passkey, checks),
        "beginLogin": Function(passkeys.begin_login, reads),
        "finishLogin": Function(passkeys.finish_login, checks),
        "beginOidc": Function(oidc.begin_oidc, reads),
        "finishOidc": Function(oidc.finish_oidc, checks),
        "linkOidc": Function(oidc.link_oidc, checks),
        "listConnections": Function(oidc.list_connections, reads),
        "removeConnection": Function(oidc.remove_connection, checks),
        "createKey": Function(keys.create_key, checks),
        "listKeys": Function(keys.list_keys, reads),
        "revokeKey": Function(keys.revoke_key, edits),
        "listSessions": Function(sessions.list_sessions, reads),
        "endSession": Function(sessions.end_session, edits),
        "endOtherSessions": Function(sessions.end_other_sessions, edits),
        "showProfile": Function(owned_links.show_profile),
        "showLink": Function(owned_links.show_link, reads),
        "showLinks": Function(owned_links.show_links, reads, is_read=True),
        "changeLink": Function(owned_links.change_link, edits),
        "removeLinks": Function(owned_links.remove_links, edits),
        "restoreLinks": Function(owned_links.restore_links, edits),
        "createScanCode": Function(owned_links.create_scan_code, edits),
        "claimLinks": Function(owned_links.claim_links, edits),
        "showStatistics": Function(statistics.show_statistics, reads, is_read=True),
        "previewLink": Function(preview.preview_link, reads),
        "checkImport": Function(imports.check_import, reads),
        "importLinks": Function(imports.import_links, edits),
        "undoImport": Function(imports.undo_import, edits),
        "listImports": Function(imports.list_imports, reads),
        "listReports": Function(administration.list_reports, reads),
        "showReports": Function(administration.show_reports, reads),
        "decide": Function(administration.decide, edits),
        "explainBlock": Function(administration.explain_block, reads),
        "listDecisions": Function(administration.list_decisions, reads),
        "listAccounts": Function(administration.list_accounts, reads),
        "changeAccount": Function(administration.change_account, edits),
        "blockAccountLinks": Function(administration.block_account_links, edits),
        "endAccountSessions": Function(administration.end_account_sessions, edits),
        "createResetLink": Function(administration.create_reset_link, edits),
        "createInvitation": Function(administration.create_invitation, edits),
        "listInvitations": Function(administration.list_invitations, reads),
        "revokeInvitation": Function(administration.revoke_invitation, edits),
        "showInstance": Function(administration.show_instance, reads),
    }
