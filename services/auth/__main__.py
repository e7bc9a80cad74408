"""Starts the auth service: `python -m services.auth`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from services.auth.api.servicers import AdminServicer, AuthServicer
from services.auth.application.accounts import AuthService
from services.auth.application.api_keys import ApiKeys
from services.auth.application.attempt_limiter import AttemptLimiter, FailureLimit
from services.auth.application.challenges import Challenges
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.last_uses import LastUses
from services.auth.application.passkeys import Passkeys
from services.auth.application.password_check import PasswordCheck
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.ports import Stores
from services.auth.application.recovery import Recovery
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.sessions import Sessions, SessionUses
from services.auth.application.web_authn import WebAuthn
from services.auth.metrics import CHECK_SLOTS, CHECKS_RUNNING, CHECKS_WAITING, LOGIN_SECONDS
from services.auth.settings import AuthSettings
from services.auth.storage.sqlite import store as sqlite_store
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.shared import stores
from services.shared.rpc import server
from services.shared.settings import origin_of

if TYPE_CHECKING:
    from services.shared import mongo


def _mongo() -> tuple[Callable[[mongo.Database], Stores], mongo.Schema]:
    from services.auth.storage.mongo.schema import SCHEMA
    from services.auth.storage.mongo.store import open_stores

    return open_stores, SCHEMA


STORE_FACTORIES = stores.StoreFactories[Stores](sqlite_store.open_stores, MIGRATIONS, _mongo)


def _now() -> datetime:
    return datetime.now(UTC)


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


@asynccontextmanager
async def opened(settings: AuthSettings) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """Open the service and its store. Close both on exit."""
    async with stores.open_stores(settings.store, "auth", STORE_FACTORIES) as (opened, database):
        verifier = PasswordVerifier(settings.bcrypt_threads, settings.logins_waiting)
        export_load(verifier)
        key_uses = LastUses[bytes]("key_uses", opened.keys.record_uses)
        session_uses = SessionUses("session_uses", opened.sessions.record_uses)
        try:
            async with key_uses.running(), session_uses.running():
                yield _wired(settings, opened, verifier, key_uses, session_uses), database
        finally:
            await verifier.close()


def _wired(
    settings: AuthSettings,
    stores: Stores,
    verifier: PasswordVerifier,
    key_uses: LastUses[bytes],
    session_uses: SessionUses,
) -> server.Servicers:
    """Return the servicers with all that they need."""
    secret, now = settings.token_secret.get_secret_value(), _now
    attempts = AttemptLimiter(
        stores.attempts,
        secret,
        failure_limits(settings),
        timedelta(seconds=settings.login_failures_window_seconds),
        now,
        settings.logins_waiting,
    )
    devices = DeviceTokens(secret, now)
    sessions = Sessions(
        stores.accounts, stores.sessions, session_uses, SessionTokens(secret, now), devices, now
    )
    passwords = PasswordCheck(attempts, verifier)
    challenges = Challenges(secret, stores.attempts, now)
    rp_id = str(settings.public_url.host)
    web_authn = WebAuthn(rp_id, origin_of(settings.public_url), challenges)
    service = AuthService(stores.accounts, passwords, sessions, devices, now)
    recovery = Recovery(
        stores.accounts,
        stores.recovery_codes,
        attempts,
        verifier,
        passwords,
        sessions,
        devices,
        now,
    )
    passkeys = Passkeys(stores.passkeys, web_authn, challenges, passwords, sessions, now)
    keys = ApiKeys(stores.keys, key_uses, passwords, sessions, now)
    return server.Servicers(
        AuthServicer(service, recovery, passkeys, keys, sessions),
        [AdminServicer(service, recovery)],
    )


def main() -> None:
    settings = AuthSettings.load()
    server.run("auth", settings, opened(settings))


if __name__ == "__main__":
    main()
