"""Starts the auth service: `python -m services.auth`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from services.auth import store_sqlite
from services.auth.attempts import AttemptLimiter, Rule
from services.auth.device_tokens import DeviceTokens
from services.auth.grpc_api import servicers
from services.auth.hasher import Hasher
from services.auth.metrics import CHECK_SLOTS, CHECKS_RUNNING, CHECKS_WAITING, LOGIN_SECONDS
from services.auth.service import AuthService
from services.auth.settings import AuthSettings
from services.auth.store import AccountStore, AttemptStore
from services.auth.tokens import Tokens
from services.runtime import server, stores

if TYPE_CHECKING:
    from services.runtime import mongo

_Stores = tuple[AccountStore, AttemptStore]


def _mongo() -> tuple[Callable[[mongo.Database], _Stores], mongo.Schema]:
    from services.auth import store_mongo

    return (
        lambda base: (store_mongo.MongoAccountStore(base), store_mongo.MongoAttemptStore(base)),
        store_mongo.SCHEMA,
    )


ADAPTERS = stores.Adapters[_Stores](
    lambda file: (store_sqlite.SqliteAccountStore(file), store_sqlite.SqliteAttemptStore(file)),
    store_sqlite.MIGRATIONS,
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
