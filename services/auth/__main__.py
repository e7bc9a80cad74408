"""Starts the auth service: `python -m services.auth`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from services.auth.api.servicers import AdministrationServicer, AdminServicer, AuthServicer
from services.auth.application.accounts import AuthService
from services.auth.application.administration import Administration
from services.auth.application.api_keys import ApiKeys
from services.auth.application.attempt_limiter import AttemptLimiter, FailureLimit
from services.auth.application.challenges import Challenges
from services.auth.application.confirmations import Confirmations
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.first_account import invite_first_account
from services.auth.application.identities import Provider
from services.auth.application.invitations import Invitations
from services.auth.application.last_uses import LastUses
from services.auth.application.oidc import OidcLogins
from services.auth.application.passkeys import Passkeys
from services.auth.application.password_check import PasswordCheck
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.recovery import Recovery
from services.auth.application.registrations import Registrations
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.sessions import Sessions, SessionUses
from services.auth.application.stores import Stores
from services.auth.metrics import CHECK_SLOTS, CHECKS_RUNNING, CHECKS_WAITING, LOGIN_SECONDS
from services.auth.settings import AuthSettings
from services.auth.storage.sqlite import store as sqlite_store
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.shared import background, edge_table, stores
from services.shared.rpc import server
from services.shared.settings import format_origin

if TYPE_CHECKING:
    from services.auth.application.web_authn import WebAuthn

CALLBACK: str = edge_table.read()["pages"]["oidcCallback"]["path"]
"""Path of the page to which the provider returns."""


def _mongo() -> stores.MongoFactory[Stores]:
    from services.auth.storage.mongo.schema import SCHEMA
    from services.auth.storage.mongo.store import open_stores

    return open_stores, SCHEMA


STORE_FACTORIES = stores.StoreFactories[Stores](sqlite_store.open_stores, MIGRATIONS, _mongo)


def failure_limits(settings: AuthSettings) -> list[FailureLimit]:
    """Return the limits of failed log-ins that the settings define."""
    if settings.limits == "off":
        return []
    return [
        FailureLimit(settings.login_failures_by_address, "address"),
        FailureLimit(settings.login_failures_by_account, "account"),
        FailureLimit(settings.login_failures_by_browser, "browser"),
        FailureLimit(settings.login_failures_by_session, "session"),
    ]


def export_load(passwords: PasswordVerifier) -> None:
    """Export the number of running and waiting password checks as metrics."""
    for lane, slots in passwords.slots.items():
        CHECK_SLOTS.labels(lane).set(slots)
        CHECKS_WAITING.labels(lane).set_function(partial(passwords.waiting, lane))
        CHECKS_RUNNING.labels(lane).set_function(partial(passwords.running, lane))
        LOGIN_SECONDS.labels(lane)  # A rate needs the initial zero.


def open_provider(settings: AuthSettings, now: Callable[[], datetime]) -> Provider | None:
    """Return the OpenID Connect provider, None if there is none: then nothing of it is imported."""
    if not settings.oidc_issuer:
        return None
    from services.auth.provider.client import Client, OidcProvider

    client = Client(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret.get_secret_value(),
        f"{format_origin(settings.public_url)}{CALLBACK}",
    )
    return OidcProvider(client, now)


async def open_web_authn(rp_id: str, origin: str, challenges: Challenges) -> WebAuthn:
    """Return the relying party. The first call imports it, in a thread: it takes 0.2 s."""

    def load() -> type[WebAuthn]:
        from services.auth.application.web_authn import WebAuthn

        return WebAuthn

    return (await asyncio.to_thread(load))(rp_id, origin, challenges)


@asynccontextmanager
async def opened(settings: AuthSettings) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """Open the service and its store. Close both on exit."""
    secret, now = settings.token_secret.get_secret_value(), partial(datetime.now, UTC)
    async with stores.open_stores(settings.store, "auth", STORE_FACTORIES) as (opened, database):
        verifier = PasswordVerifier(settings.bcrypt_threads, settings.logins_waiting)
        export_load(verifier)
        key_uses = LastUses[bytes]("key_uses", opened.keys.record_uses)
        session_uses = SessionUses("session_uses", opened.sessions.record_uses)
        window = timedelta(seconds=settings.login_failures_window_seconds)
        attempts = AttemptLimiter(
            opened.attempts, secret, failure_limits(settings), window, now, settings.logins_waiting
        )
        passwords = PasswordCheck(attempts, verifier, now)
        accounts, codes = opened.accounts, opened.recovery_codes
        devices, tokens = DeviceTokens(secret, now), SessionTokens(secret, now)
        sessions = Sessions(accounts, opened.sessions, session_uses, tokens, devices, now)
        challenges = Challenges(secret, opened.attempts, now)
        origin = format_origin(settings.public_url)
        registrations = Registrations(
            accounts, settings.registration, settings.oidc_registration == "on", now
        )
        service = AuthService(accounts, passwords, sessions, devices, now)
        recovery = Recovery(accounts, codes, attempts, verifier, passwords, sessions, devices, now)
        passkeys = Passkeys(
            opened.passkeys,
            partial(open_web_authn, str(settings.public_url.host), origin, challenges),
            challenges,
            passwords,
            attempts,
            sessions,
            now,
        )
        keys = ApiKeys(opened.keys, key_uses, passwords, sessions, now)
        administration_secret = settings.administration_secret.get_secret_value()
        confirmations = Confirmations(passwords, passkeys, sessions, administration_secret, now)
        administration = Administration(
            accounts, opened.sessions, opened.decisions, administration_secret, now
        )
        invitations = Invitations(opened.invitations, now)
        provider = open_provider(settings, now)
        oidc = OidcLogins(
            provider,
            secret,
            accounts,
            opened.connections,
            registrations,
            challenges,
            passwords,
            sessions,
            now,
        )
        calls: list[server.Servicer] = [
            AuthServicer(
                registrations, service, recovery, passkeys, keys, sessions, confirmations, oidc
            ),
            AdministrationServicer(administration, invitations, recovery, database),
        ]
        admin = AdminServicer(service, recovery, administration, invitations)
        inviting = invite_first_account(invitations, settings.registration, origin, database)
        try:
            async with (
                key_uses.running(),
                session_uses.running(),
                background.running(inviting, "first_account"),
            ):
                yield server.Servicers(calls, [admin]), database
        finally:
            if provider is not None:
                await provider.close()
            await verifier.close()


def main() -> None:
    settings = AuthSettings.load()
    server.run("auth", settings, opened(settings))


if __name__ == "__main__":
    main()
