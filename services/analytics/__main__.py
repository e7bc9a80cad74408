"""Starts the analytics service: `python -m services.analytics`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from services.analytics import store_sqlite
from services.analytics.grpc_api import servicers
from services.analytics.service import AnalyticsService
from services.analytics.settings import AnalyticsSettings
from services.analytics.store import AnalyticsStore
from services.analytics.upkeep import keep_up
from services.runtime import background, server, stores

if TYPE_CHECKING:
    from services.runtime import mongo


def _mongo() -> tuple[Callable[[mongo.Database], AnalyticsStore], mongo.Schema]:
    from services.analytics import store_mongo

    return store_mongo.MongoAnalyticsStore, store_mongo.SCHEMA


ADAPTERS = stores.Adapters[AnalyticsStore](
    store_sqlite.SqliteAnalyticsStore,
    store_sqlite.MIGRATIONS,
    _mongo,
)


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def opened(
    settings: AnalyticsSettings,
) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """The service over its opened store, closed at the end."""
    async with stores.opened(settings.store, "analytics", ADAPTERS) as (store, database):
        service = AnalyticsService(store, _now, settings.statistics_days)
        upkeep = background.run(keep_up(service, _now), "upkeep")
        try:
            yield servicers(service), database
        finally:
            upkeep.cancel()
            await asyncio.wait([upkeep])


def main() -> None:
    settings = AnalyticsSettings.load()
    server.run("analytics", settings, opened(settings), gives_way=True)


if __name__ == "__main__":
    main()
