"""Starts the analytics service: `python -m services.analytics`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

from services.analytics.api.servicers import AdminServicer, AnalyticsServicer
from services.analytics.application import maintenance
from services.analytics.application.ingest import Ingest
from services.analytics.application.maintenance import Maintenance
from services.analytics.application.query import Queries
from services.analytics.application.store import AnalyticsStore
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.settings import AnalyticsSettings
from services.analytics.storage.sqlite.schema import MIGRATIONS
from services.analytics.storage.sqlite.store import SqliteStore
from services.shared import background, stores
from services.shared.rpc import server


def _mongo() -> stores.MongoFactory[AnalyticsStore]:
    from services.analytics.storage.mongo.store import SCHEMA, MongoStore

    return MongoStore, SCHEMA


STORE_FACTORIES = stores.StoreFactories[AnalyticsStore](SqliteStore, MIGRATIONS, _mongo)


@asynccontextmanager
async def opened(
    settings: AnalyticsSettings,
) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """Open the service and its store. Close both on exit."""
    now, retention_days = partial(datetime.now, UTC), settings.statistics_days
    opening = stores.open_stores(settings.store, "analytics", STORE_FACTORIES)
    async with opening as (store, database):
        keys = VisitorKeys(store, now)
        ingest, queries = Ingest(store, now), Queries(store, now, retention_days)
        calls = AnalyticsServicer(ingest, queries, keys, database.size)
        admin = AdminServicer(ingest, queries)
        work = maintenance.run(keys, Maintenance(store, now, retention_days), now)
        async with background.running(work, "maintenance"):
            yield server.Servicers([calls], [admin]), database


def main() -> None:
    settings = AnalyticsSettings.load()
    server.run("analytics", settings, opened(settings), low_priority=True)


if __name__ == "__main__":
    main()
