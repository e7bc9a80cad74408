"""Starts the analytics service: `python -m services.analytics`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from services.analytics.grpc_api import served
from services.analytics.service import AnalyticsService
from services.analytics.settings import AnalyticsSettings
from services.analytics.store_sqlite import MIGRATIONS, SqliteAnalyticsStore
from services.runtime import server, sqlite


@asynccontextmanager
async def opened(settings: AnalyticsSettings) -> AsyncIterator[server.Served]:
    """The service over its opened store, closed at the end."""
    async with sqlite.opened(settings.store, MIGRATIONS) as database:
        service = AnalyticsService(SqliteAnalyticsStore(database), lambda: datetime.now(UTC))
        yield served(service)


def main() -> None:
    settings = AnalyticsSettings.load()
    server.run("analytics", settings, opened(settings))


if __name__ == "__main__":
    main()
