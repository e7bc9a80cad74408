"""Starts the auth service: `python -m services.auth`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from services.auth.api.servicers import servicers
from services.auth.application.accounts import AuthService
from services.auth.application.attempt_limiter import AttemptLimiter, Rule
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.password_hasher import Hasher
from services.auth.application.ports import AccountStore, AttemptStore
from services.auth.application.session_tokens import Tokens
from services.auth.metrics import CHECK_SLOTS, CHECKS_RUNNING, CHECKS_WAITING, LOGIN_SECONDS
from services.auth.settings import AuthSettings
from services.auth.storage import sqlite
from services.shared import stores
from services.shared.rpc import server

if TYPE_CHECKING:
    from services.shared import mongo

_Stores = tuple[AccountStore, AttemptStore]


def _mongo() -> tuple[Callable[[mongo.Database], _Stores], mongo.Schema]:
    from services.auth.storage import mongo

    return (
        lambda base: (mongo.MongoAccountStore(base), mongo.MongoAttemptStore(base)),
        mongo.SCHEMA,
    )


ADAPTERS = stores.Adapters[_Stores](
    lambda file: (sqlite.SqliteAccountStore(file), sqlite.SqliteAttemptStore(file)),
    sqlite.MIGRATIONS,
    _mongo,
)


def _now() -> datetime:
    return datetime.now(UTC)


def rules_of(settings: AuthSettings) -> list[Rule]:
    """The limits of failed log-ins that the settings ask for."""
    if settings.limits == "off":
        return []
    return [
        Rule(settings.login_failures_by_address, "address"),
        Rule(settings.login_failures_by_account, "account"),
        Rule(settings.login_failures_by_browser, "browser"),
        Rule(settings.login_failures_by_session, "session"),
    ]


def show_password_checks(hasher: Hasher) -> None:
    """Let the gauges say how busy the hasher is whenever they are read."""
    for lane, slots in hasher.slots.items():
        CHECK_SLOTS.labels(lane).set(slots)
        CHECKS_WAITING.labels(lane).set_function(partial(hasher.waiting, lane))
        CHECKS_RUNNING.labels(lane).set_function(partial(hasher.running, lane))
        LOGIN_SECONDS.labels(lane)  # There from the start: a rate over a series needs its zero.


@asynccontextmanager
async def opened(settings: AuthSettings) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """The service over its opened store, closed at the end."""
    secret = settings.token_secret.get_secret_value()
    async with stores.opened(settings.store, "auth", ADAPTERS) as ((accounts, counts), database):
        hasher = Hasher(settings.bcrypt_threads, settings.logins_waiting)
        show_password_checks(hasher)
        attempts = AttemptLimiter(
            counts,
            secret,
            rules_of(settings),
            timedelta(seconds=settings.login_failures_window_seconds),
            _now,
            settings.logins_waiting,
        )
        try:
            tokens, device_tokens = Tokens(secret, _now), DeviceTokens(secret, _now)
            service = AuthService(accounts, attempts, hasher, tokens, device_tokens, _now)
            yield servicers(service), database
        finally:
            await hasher.close()


def main() -> None:
    settings = AuthSettings.load()
    server.run("auth", settings, opened(settings))


if __name__ == "__main__":
    main()
