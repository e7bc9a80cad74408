"""The services in the test's own process, over SQLite and behind gRPC as in production."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.backends.administration import (
    AccountsAdministrationClient,
    AdministrationClients,
    LinksAdministrationClient,
)
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.redirects.resolution import ChangeFeedPage, Resolution
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch
from services.analytics.__main__ import opened as analytics_opened
from services.analytics.domain.visits import Dimension, VisitCount, VisitKind
from services.analytics.settings import AnalyticsSettings
from services.auth.__main__ import opened as auth_opened
from services.auth.settings import AuthSettings
from services.links.__main__ import STORE_FACTORIES
from services.links.__main__ import opened as links_opened
from services.links.application.ports import LinkStore
from services.links.domain.edit import Edit
from services.links.settings import LinksSettings
from services.shared import stores
from services.shared.errors import Unavailable
from services.shared.rpc.server import Listener, Opening
from tests.support import link_operations
from tests.support.product import ADMINISTRATION_SECRET

SECRET = "k3pt-n0where-and-f0r-tests-al0ne-0123456789"


@asynccontextmanager
async def auth(folder: Path, limits: str = "on", **more: object) -> AsyncIterator[AuthClient]:
    """Yield a client of an auth service with its store in `folder`."""
    async with (
        serving_auth(folder, limits, **more) as address,
        _closing(AuthClient(address)) as client,
    ):
        yield client


@asynccontextmanager
async def serving_auth(folder: Path, limits: str = "on", **more: object) -> AsyncIterator[str]:
    """Yield the address of an auth service with its store in `folder`."""
    settings = AuthSettings.model_validate(
        {
            "store": _file(folder, "auth"),
            "token_secret": SECRET,
            "administration_secret": ADMINISTRATION_SECRET,
            "limits": limits,
            "public_url": "http://localhost",
            **more,
        }
    )
    async with _served(auth_opened(settings)) as address:
        yield address


@asynccontextmanager
async def links(folder: Path, public_url: str, domains: str = "") -> AsyncIterator[LinksClient]:
    """Yield a client of a links service of a product with this public URL."""
    async with (
        serving_links(folder, public_url, domains) as address,
        _closing(LinksClient(address)) as client,
    ):
        yield client


@asynccontextmanager
async def serving_links(folder: Path, public_url: str, domains: str = "") -> AsyncIterator[str]:
    """Yield the address of a links service of a product with this public URL."""
    settings = LinksSettings.model_validate(
        {
            "store": _file(folder, "links"),
            "public_url": public_url,
            "domains": domains,
            "administration_secret": ADMINISTRATION_SECRET,
        }
    )
    async with _served(links_opened(settings)) as address:
        yield address


@asynccontextmanager
async def analytics(folder: Path) -> AsyncIterator[AnalyticsClient]:
    """Yield a client of an analytics service."""
    settings = AnalyticsSettings.model_validate({"store": _file(folder, "analytics")})
    opening = analytics_opened(settings)
    async with _served(opening) as address, _closing(AnalyticsClient(address)) as client:
        yield client


class ClientSpy:
    """A client of a service that counts calls and can simulate an outage of the service."""

    def __init__(self, client: object) -> None:
        self.away = False
        """Whether each call raises Unavailable."""
        self.failing: set[str] = set()
        """Names of calls that raise Unavailable."""
        self.calls: Counter[str] = Counter()
        """Calls by name, including those that failed."""
        self._client = client

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)
        if not callable(call):
            return call

        async def counted(*args: Any, **named: Any) -> Any:
            self._reach(name)
            return await call(*args, **named)

        return counted

    def _reach(self, call: str) -> None:
        self.calls[call] += 1
        if self.away or call in self.failing:
            raise Unavailable("The service is away.")


class LinksSpy(ClientSpy):
    """A client of links, some of whose answers tests determine."""

    def __init__(self, client: LinksClient, store: LinkStore) -> None:
        super().__init__(client)
        self._links = client
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._answers: dict[str, Resolution | None] = {}
        self._changed: list[str] = []

    def answer(self, code: str, resolution: Resolution | None) -> None:
        """Let a code resolve to this; None means that there is no link."""
        self._answers[code] = resolution
        self._changed.append(code)

    def do(self, code: str, edit: Edit) -> None:
        """Edit a link directly in the store. Do not call it in the event loop that serves."""
        call = link_operations.edit(self._store, [code], edit, datetime.now(UTC))
        asyncio.run_coroutine_threadsafe(call, self._loop).result()

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        self._reach("resolve")
        found: dict[str, Resolution | None] = {**await self._links.resolve(codes)}
        found |= {code: self._answers[code] for code in codes if code in self._answers}
        return {code: resolution for code, resolution in found.items() if resolution}

    async def changes(self, cursor: str | None) -> ChangeFeedPage:
        """Return the changes of the service and those of `answer`.

        A cursor consists of the number of earlier calls of `answer` and the service's cursor.
        """
        self._reach("changes")
        seen, _, at = (cursor or "").partition(" ")
        changes = await self._links.changes(at if cursor else None)
        changed = self._changed[int(seen) :] if cursor else []
        answers = {code: self._answers[code] for code in changed}
        return replace(
            changes,
            cursor=f"{len(self._changed)} {changes.cursor}",
            resolutions={**changes.resolutions, **{c: one for c, one in answers.items() if one}},
            gone=changes.gone | {code for code, one in answers.items() if one is None},
        )


class AnalyticsSpy(ClientSpy):
    """A client of analytics that collects the visits sent to it."""

    def __init__(self, client: AnalyticsClient) -> None:
        super().__init__(client)
        self._analytics = client
        self.visits: list[VisitCount] = []
        """All recorded visits."""
        self.visitors: dict[tuple[int, str], set[int]] = {}
        """Numbers of visitors by day and code."""

    async def record(self, batch: Batch) -> None:
        self._reach("record")
        await self._analytics.record(batch)
        for visit, count in batch.counts.items():
            known = lines.facts_of(visit.facts)._asdict()
            names = {Dimension[name.upper()]: value for name, value in known.items() if value}
            names[Dimension.REFERRER] = visit.referrer_host
            kind = VisitKind(visit.kind)
            self.visits.append(VisitCount(visit.code, visit.hour, kind, names, count))
        for place, numbers in batch.visitors.items():
            self.visitors.setdefault(place, set()).update(numbers)


@dataclass(frozen=True)
class Services:
    """The clients of a gateway."""

    auth: ClientSpy
    links: LinksSpy
    analytics: AnalyticsSpy
    administration: AdministrationClients


@asynccontextmanager
async def services(
    folder: Path, public_url: str, domains: str = "", registration: str = "open"
) -> AsyncIterator[Services]:
    """Yield clients of all services of a product, whose failed log-ins are not limited."""
    async with AsyncExitStack() as stack:
        store, _ = await stack.enter_async_context(
            stores.open_stores(_file(folder, "links"), "links", STORE_FACTORIES)
        )
        auth_address = await stack.enter_async_context(
            serving_auth(folder, limits="off", public_url=public_url, registration=registration)
        )
        links_address = await stack.enter_async_context(serving_links(folder, public_url, domains))
        auth_client, links_client = AuthClient(auth_address), LinksClient(links_address)
        administration = AdministrationClients(
            AccountsAdministrationClient(auth_address), LinksAdministrationClient(links_address)
        )
        for client in (auth_client, links_client, administration):
            await stack.enter_async_context(_closing(client))
        yield Services(
            ClientSpy(auth_client),
            LinksSpy(links_client, store),
            AnalyticsSpy(await stack.enter_async_context(analytics(folder))),
            administration,
        )


def _file(folder: Path, service: str) -> str:
    return f"sqlite:///{folder}/{service}.sqlite3"


@asynccontextmanager
async def _closing(client: Any) -> AsyncIterator[Any]:
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def _served(opening: Opening) -> AsyncIterator[str]:
    """Serve an opened service; yield its address."""
    async with opening as (servicers, store):
        await store.wait_for_schema()
        listener = Listener(servicers.calls, "127.0.0.1:0")
        await listener.start()
        await listener.set_ready(True)
        yield listener.address
        await listener.server.stop(None)
