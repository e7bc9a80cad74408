"""Starts the analytics service: `python -m services.analytics`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from services.analytics.api.servicers import AdminServicer, AnalyticsServicer
from services.analytics.application import maintenance
from services.analytics.application.ingest import Ingest
from services.analytics.application.maintenance import Maintenance
from services.analytics.application.ports import AnalyticsStore
from services.analytics.application.query import Queries
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.settings import AnalyticsSettings
from services.analytics.storage.sqlite import store as sqlite_store
from services.analytics.storage.sqlite.schema import MIGRATIONS
from services.shared import background, stores
from services.shared.rpc import server

if TYPE_CHECKING:
    from services.shared import mongo


def _mongo() -> tuple[Callable[[mongo.Database], AnalyticsStore], mongo.Schema]:
    from services.analytics.storage.mongo import store as mongo_store

    return mongo_store.open_store, mongo_store.SCHEMA


STORE_FACTORIES = stores.StoreFactories[AnalyticsStore](sqlite_store.open_store, MIGRATIONS, _mongo)


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def opened(
    settings: AnalyticsSettings,
) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """Open the service and its store. Close both on exit."""
    async with stores.open_stores(settings.store, "analytics", STORE_FACTORIES) as (
        store,
        database,
    ):
        retention_days = settings.statistics_days
        keys = VisitorKeys(store, _now)
        ingest, queries = Ingest(store, _now), Queries(store, _now, retention_days)
        admin = AdminServicer(ingest, queries)
        work = maintenance.run(keys, Maintenance(store, _now, retention_days), _now)
        task = background.start_task(work, "maintenance")
        try:
            yield server.Servicers(AnalyticsServicer(ingest, queries, keys), [admin]), database
        finally:
            task.cancel()
            await asyncio.wait([task])


def main() -> None:
    settings = AnalyticsSettings.load()
    server.run("analytics", settings, opened(settings), low_priority=True)


if __name__ == "__main__":
    main()
