"""Starts the links service: `python -m services.links`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from services.links.domain import UrlPolicy
from services.links.grpc_api import served
from services.links.service import LinksService
from services.links.settings import LinksSettings
from services.links.store_sqlite import MIGRATIONS, SqliteLinkStore
from services.runtime import server, sqlite


@asynccontextmanager
async def opened(settings: LinksSettings) -> AsyncIterator[server.Served]:
    """The service over its opened store, closed at the end."""
    async with sqlite.opened(settings.store, MIGRATIONS) as database:
        service = LinksService(
            SqliteLinkStore(database),
            UrlPolicy(str(settings.public_url)),
            lambda: datetime.now(UTC),
        )
        yield served(service)


def main() -> None:
    settings = LinksSettings.load()
    server.run("links", settings, opened(settings))


if __name__ == "__main__":
    main()
