"""Starts the auth service: `python -m services.auth`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from services.auth.api.servicers import servicers
from services.auth.application.accounts import AuthService
from services.auth.application.api_keys import ApiKeys
from services.auth.application.attempt_limiter import AttemptLimiter, FailureLimit
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.last_uses import LastUses
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.ports import AccountStore, ApiKeyStore, AttemptStore, SessionStore
from services.auth.application.session_tokens import SessionTokens
from services.auth.application.sessions import Sessions, SessionUses
from services.auth.metrics import CHECK_SLOTS, CHECKS_RUNNING, CHECKS_WAITING, LOGIN_SECONDS
from services.auth.settings import AuthSettings
from services.auth.storage import sqlite
from services.shared import stores
from services.shared.rpc import server

if TYPE_CHECKING:
    from services.shared import mongo

_Stores = tuple[AccountStore, AttemptStore, ApiKeyStore, SessionStore]


def _mongo() -> tuple[Callable[[mongo.Database], _Stores], mongo.Schema]:
    from services.auth.storage import mongo

    return (
        lambda database: (
            mongo.MongoAccountStore(database),
            mongo.MongoAttemptStore(database),
            mongo.MongoApiKeyStore(database),
            mongo.MongoSessionStore(database),
        ),
        mongo.SCHEMA,
    )


STORE_FACTORIES = stores.StoreFactories[_Stores](
    lambda database: (
        sqlite.SqliteAccountStore(database),
        sqlite.SqliteAttemptStore(database),
        sqlite.SqliteApiKeyStore(database),
        sqlite.SqliteSessionStore(database),
    ),
    sqlite.MIGRATIONS,
    _mongo,
)


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
    secret = settings.token_secret.get_secret_value()
    async with stores.open_stores(settings.store, "auth", STORE_FACTORIES) as (
        (accounts, attempt_store, key_store, session_store),
        database,
    ):
        passwords = PasswordVerifier(settings.bcrypt_threads, settings.logins_waiting)
        export_load(passwords)
        attempts = AttemptLimiter(
            attempt_store,
            secret,
            failure_limits(settings),
            timedelta(seconds=settings.login_failures_window_seconds),
            _now,
            settings.logins_waiting,
        )
        try:
            key_uses = LastUses[bytes]("key_uses", key_store.record_uses)
            session_uses = SessionUses("session_uses", session_store.record_uses)
            sessions = Sessions(
                accounts, session_store, session_uses, SessionTokens(secret, _now), _now
            )
            service = AuthService(
                accounts, attempts, passwords, sessions, DeviceTokens(secret, _now), _now
            )
            keys = ApiKeys(key_store, key_uses, sessions, _now)
            async with key_uses.running(), session_uses.running():
                yield servicers(service, keys, sessions), database
        finally:
            await passwords.close()


def main() -> None:
    settings = AuthSettings.load()
    server.run("auth", settings, opened(settings))


if __name__ == "__main__":
    main()
