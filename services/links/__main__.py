"""Starts the links service: `python -m services.links`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from services.links import schema_sqlite, store_sqlite
from services.links.blocklists import Blocklists
from services.links.gate import Gate
from services.links.grpc_api import servicers
from services.links.moderation import Moderation
from services.links.service import LinksService
from services.links.settings import LinksSettings
from services.links.store import LinkStore
from services.links.sweep import Sweeper
from services.links.upkeep import keep_up
from services.links.urls import UrlPolicy
from services.runtime import server, stores

if TYPE_CHECKING:
    from services.runtime import mongo


def _mongo() -> tuple[Callable[[mongo.Database], LinkStore], mongo.Schema]:
    from services.links import schema_mongo, store_mongo

    return store_mongo.MongoLinkStore, schema_mongo.SCHEMA


ADAPTERS = stores.Adapters[LinkStore](
    store_sqlite.SqliteLinkStore,
    schema_sqlite.MIGRATIONS,
    _mongo,
)


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def opened(settings: LinksSettings) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """The service over its opened store, closed at the end."""
    async with AsyncExitStack() as ending:
        blocklists = Blocklists(settings.blocklist_dir) if settings.blocklist_dir else None
        if blocklists:
            await ending.enter_async_context(blocklists.kept())
        opening = stores.opened(settings.store, "links", ADAPTERS)
        store, database = await ending.enter_async_context(opening)
        gate = Gate(blocklists, store)
        await ending.enter_async_context(gate.kept())
        await ending.enter_async_context(Sweeper(store, gate, _now).kept())
        urls = UrlPolicy(str(settings.public_url), gate)
        service = LinksService(store, urls, _now)
        await ending.enter_async_context(keep_up(service))
        yield servicers(service, Moderation(store, gate, urls, _now)), database


def main() -> None:
    settings = LinksSettings.load()
    server.run("links", settings, opened(settings))


if __name__ == "__main__":
    main()
