"""Starts the links service: `python -m services.links`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from services.links.api.administration import AdministrationServicer
from services.links.api.links import LinksServicer
from services.links.api.maintenance import MaintenanceServicer
from services.links.api.moderation import ModerationServicer
from services.links.application.account_sizes import AccountSizes
from services.links.application.administration import Administration
from services.links.application.commands import LinkCommands
from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.creations import Creations
from services.links.application.imports import Imports
from services.links.application.maintenance import Maintenance
from services.links.application.moderation import Moderation
from services.links.application.ports import LinkStore
from services.links.application.queries import LinkQueries
from services.links.application.reporting import Reporting
from services.links.application.rescan import Rescanner
from services.links.application.time_slices import TimeSlices
from services.links.domain.url import UrlPolicy
from services.links.settings import LinksSettings
from services.links.storage import sqlite
from services.links.storage.blocklists.folder import BlocklistFolder
from services.shared import stores
from services.shared.rpc import server


def _mongo() -> stores.MongoFactory[LinkStore]:
    from services.links.storage import mongo

    return mongo.open_store, mongo.SCHEMA


STORE_FACTORIES = stores.StoreFactories[LinkStore](sqlite.open_store, sqlite.MIGRATIONS, _mongo)


def _open_blocklists(settings: LinksSettings) -> BlocklistFolder | None:
    """Return the blocklists, if there is a folder. Raises SystemExit if it cannot be read."""
    folder = settings.blocklist_dir
    if folder is None:
        return None
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise SystemExit(
            f"Cannot read the blocklists in {folder}: {error.strerror}. Correct "
            "ATAJO_BLOCKLIST_DIR, or unset it: without lists, every URL can be shortened."
        ) from None
    return BlocklistFolder(folder)


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def opened(settings: LinksSettings) -> AsyncIterator[tuple[server.Servicers, stores.Store]]:
    """Open the store and yield the servicers over it; close it at the end."""
    async with AsyncExitStack() as exit_stack:
        files = _open_blocklists(settings)
        if files:
            await exit_stack.enter_async_context(files.running())
        opening = stores.open_stores(settings.store, "links", STORE_FACTORIES)
        store, database = await exit_stack.enter_async_context(opening)
        blocklist = CompositeBlocklist(files, store.decisions)
        await exit_stack.enter_async_context(blocklist.running())
        slices = TimeSlices()
        rescanner = Rescanner(store, blocklist, _now, slices=slices)
        await exit_stack.enter_async_context(rescanner.running())
        maintenance = Maintenance(store, _now)
        await exit_stack.enter_async_context(maintenance.running())
        urls = UrlPolicy(settings.origins.public, blocklist, settings.origins.further)
        accounts = AccountSizes(store, _now)
        calls = LinksServicer(
            LinkCommands(store, urls, _now, accounts, slices),
            LinkQueries(store, _now),
            Reporting(store, _now),
            Imports(store, urls, _now, accounts, slices),
            Creations(store, urls, _now, accounts, slices),
            _now,
        )
        moderation = Moderation(store, blocklist, urls, _now, slices=slices)
        administration = AdministrationServicer(
            Administration(store, moderation, settings.origins.all, _now),
            settings.administration_secret.get_secret_value(),
            database.size,
            _now,
        )
        admin = (ModerationServicer(moderation, _now), MaintenanceServicer(maintenance))
        yield server.Servicers([calls, administration], admin), database


def main() -> None:
    settings = LinksSettings.load()
    server.run("links", settings, opened(settings))


if __name__ == "__main__":
    main()
