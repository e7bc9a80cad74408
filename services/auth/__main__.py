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
from services.auth.application.key_uses import KeyUses
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.application.ports import AccountStore, ApiKeyStore, AttemptStore
from services.auth.application.session_tokens import SessionTokens
from services.auth.metrics import CHECK_SLOTS, CHECKS_RUNNING, CHECKS_WAITING, LOGIN_SECONDS
from services.auth.settings import AuthSettings
from services.auth.storage import sqlite
from services.shared import stores
from services.shared.rpc import server

if TYPE_CHECKING:
    from services.shared import mongo

_Stores = tuple[AccountStore, AttemptStore, ApiKeyStore]


def _mongo() -> tuple[Callable[[mongo.Database], _Stores], mongo.Schema]:
    from services.auth.storage import mongo

    return (
        lambda database: (
            mongo.MongoAccountStore(database),
            mongo.MongoAttemptStore(database),
            mongo.MongoApiKeyStore(database),
        ),
        mongo.SCHEMA,
    )


STORE_FACTORIES = stores.StoreFactories[_Stores](
    lambda database: (
        sqlite.SqliteAccountStore(database),
        sqlite.SqliteAttemptStore(database),
        sqlite.SqliteApiKeyStore(database),
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
        (accounts, attempt_store, key_store),
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
            session_tokens, device_tokens = SessionTokens(secret, _now), DeviceTokens(secret, _now)
            service = AuthService(
                accounts, attempts, passwords, session_tokens, device_tokens, _now
            )
            uses = KeyUses(key_store)
            async with uses.running():
                keys = ApiKeys(key_store, uses, service, _now)
                yield servicers(service, keys), database
        finally:
            await passwords.close()


def main() -> None:
    settings = AuthSettings.load()
    server.run("auth", settings, opened(settings))


if __name__ == "__main__":
    main()
