"""The services in the test's own process, behind gRPC as in theirs, over SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from services.analytics.__main__ import opened as analytics_opened
from services.analytics.settings import AnalyticsSettings
from services.auth.__main__ import opened as auth_opened
from services.auth.settings import AuthSettings
from services.links.__main__ import opened as links_opened
from services.links.settings import LinksSettings
from services.runtime.server import Listener, Opening

SECRET = "k3pt-n0where-and-f0r-tests-al0ne-0123456789"


@asynccontextmanager
async def auth(folder: Path) -> AsyncIterator[str]:
    """The address of an auth service that keeps its accounts in the folder."""
    settings = AuthSettings.model_validate({"store": _file(folder), "token_secret": SECRET})
    async with _served(auth_opened(settings)) as address:
        yield address


@asynccontextmanager
async def links(folder: Path, public_url: str) -> AsyncIterator[str]:
    """The address of a links service of a product that is reached at `public_url`."""
    settings = LinksSettings.model_validate({"store": _file(folder), "public_url": public_url})
    async with _served(links_opened(settings)) as address:
        yield address


@asynccontextmanager
async def analytics(folder: Path) -> AsyncIterator[str]:
    """The address of an analytics service."""
    settings = AnalyticsSettings.model_validate({"store": _file(folder)})
    async with _served(analytics_opened(settings)) as address:
        yield address


def _file(folder: Path) -> str:
    return f"sqlite:///{folder}/store.sqlite3"


@asynccontextmanager
async def _served(opening: Opening) -> AsyncIterator[str]:
    async with opening as (servicers, store):
        await store.prepared()
        listener = Listener([servicers.calls], "127.0.0.1:0")
        await listener.start()
        await listener.health.tell(True)
        yield listener.address
        await listener.server.stop(None)
