"""Puts the gateway together from settings and the three ports.

`python -m gateway` calls `bootstrap` with clients of other processes, tests call it with clients of
services in their own process. The gateway is the same in both. What belongs to a process (socket,
signals, the server, the observation port) is in `gateway/__main__.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from gateway.app import Requests, create_functions_app
from gateway.backends.ports import Analytics, Auth, Links
from gateway.backends.view_counts import Views
from gateway.functions.accounts import Accounts
from gateway.functions.links import ShortAddresses
from gateway.functions.owned_links import OwnedLinks
from gateway.functions.preview import Previews
from gateway.functions.profile import Profiles
from gateway.functions.rate_limits import ClientAddresses, ConcurrencyLimit, Limit, Rate
from gateway.functions.rejected_reads import RejectedReads
from gateway.functions.statistics import LinkStatistics
from gateway.functions.table import Function, Limits, table
from gateway.metrics import GatewayCollector, RedirectMetrics
from gateway.pages.files import Site
from gateway.pages.status import StatusPage
from gateway.redirects.handler import Redirects
from gateway.redirects.invalidation import ChangeFollower
from gateway.redirects.link_pages import LookedUpPages
from gateway.redirects.resolver import Resolver
from gateway.settings import GatewaySettings
from gateway.support.edge import Edge
from gateway.visits.enrichment.countries import (
    CountriesFile,
    CountryOf,
    InvalidCountriesError,
    registered,
)
from gateway.visits.enrichment.visitor_key import VisitorKeys
from gateway.visits.enrichment.visitors import Visitors
from gateway.visits.journal.folder import JournalInUseError
from gateway.visits.journal.journal import Journal, JournalFullError
from gateway.visits.pipeline import VisitPipeline
from services.shared.observability.health import Health

FLUSH_SECONDS = 1.0
"""How long the last visits may take to reach analytics. The rest stays in the journal."""


@dataclass(frozen=True)
class Gateway:
    """The gateway, put together. `app` answers from the start; `at_work` runs what is behind it."""

    app: Redirects
    """The ASGI application, and the fast path that `protocol_class` takes."""
    health: Health
    """Starts with the server and stops ahead of it; whoever does so closes it last."""
    metrics: GatewayCollector
    """Counts of redirects, cache and visits, to be registered with Prometheus."""
    resolver: Resolver
    changes: ChangeFollower
    visits: VisitPipeline
    keys: VisitorKeys

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Follow changes and the day's key, and send visits, for as long as the block runs.

        At its end the visits that are left are sent, for at most `FLUSH_SECONDS`, and look-ups in
        flight end.
        """
        async with AsyncExitStack() as ending:  # What is pushed last ends first.
            ending.push_async_callback(self.resolver.close)
            await self.changes.start()
            ending.push_async_callback(self.changes.stop)
            await self.keys.start()
            ending.push_async_callback(self.keys.stop)
            self.visits.start()
            ending.push_async_callback(self.visits.stop, FLUSH_SECONDS)
            yield


def bootstrap(settings: GatewaySettings, auth: Auth, links: Links, analytics: Analytics) -> Gateway:
    """The gateway over three services. It belongs to the running loop, and has its journal open.

    Raises SystemExit with one line where the journal or the pages cannot be used.
    """
    edge = Edge.load(https=settings.public_url.scheme == "https")
    site = _read_site(settings, edge)
    clients = ClientAddresses(settings.trusted_proxies, settings.trusted_hops)
    visitors = Visitors(clients.find, _countries(settings))
    visits = VisitPipeline(_open_journal(settings), analytics, visitors, own_url=settings.origin)
    keys = VisitorKeys(analytics, visitors)
    resolver = Resolver(
        links,
        settings.cache_bytes,
        fresh=settings.cache_fresh_seconds,
        stale=settings.cache_stale_seconds,
    )
    changes = ChangeFollower(links, resolver)
    # None is needed: with all services away, links in memory are still followed.
    health = Health(
        {
            "auth": auth.check,
            "links": links.check,
            "analytics": analytics.check,
            "journal": visits.check_journal,
        },
        needed=(),
    )
    functions = _functions(settings, auth, links, analytics, resolver, visits, clients)
    origins = [settings.origin, *settings.cors_origins]
    rejected = RejectedReads()
    status_page = StatusPage(
        edge, lambda: health.dependencies, lambda: visits.lag_seconds, rejected.is_recent
    )
    requests = Requests(
        create_functions_app(functions, edge, origins, rejected, clients),
        site,
        LookedUpPages(edge, resolver, site),
        status_page,
        edge,
    )
    redirect_metrics = RedirectMetrics()
    app = Redirects(requests, edge, resolver, visits, site, redirect_metrics)
    metrics = GatewayCollector(redirect_metrics, resolver, changes, visits, keys)
    return Gateway(app, health, metrics, resolver, changes, visits, keys)


def _functions(
    settings: GatewaySettings,
    auth: Auth,
    links: Links,
    analytics: Analytics,
    resolver: Resolver,
    visits: VisitPipeline,
    clients: ClientAddresses,
) -> Mapping[str, Function]:
    views = Views(analytics)
    profile_limit = ConcurrencyLimit("profile", by_network=settings.limits == "on")
    return table(
        ShortAddresses(auth, links, resolver, visits),
        OwnedLinks(auth, links, views, resolver),
        Profiles(auth, links, views, clients, profile_limit),
        LinkStatistics(auth, links, analytics),
        Previews(links),
        Accounts(auth, clients),
        _limits(settings),
    )


def _limits(settings: GatewaySettings) -> Limits:
    def limit(name: str, rate: Rate) -> Limit | None:
        return Limit(name, rate) if settings.limits == "on" else None

    return Limits(
        creations=limit("create", settings.creations),
        reports=limit("report", settings.reports),
        registrations=limit("register", settings.registrations),
        logins=limit("login", settings.logins),
        session_checks=limit("session_check", settings.logins),
        edits=limit("edit", settings.edits),
        reads=limit("read", settings.reads),
    )


def _countries(settings: GatewaySettings) -> CountryOf:
    if settings.countries_file is None:
        return registered
    try:
        return CountriesFile(settings.countries_file)
    except (OSError, InvalidCountriesError) as error:
        raise SystemExit(
            f"Cannot use the countries in {settings.countries_file}: {error}"
        ) from None


def _open_journal(settings: GatewaySettings) -> Journal:
    try:
        return Journal(settings.journal_dir, settings.journal_bytes)
    except JournalInUseError as error:
        raise SystemExit(str(error)) from None
    except (JournalFullError, OSError) as error:
        raise SystemExit(f"Cannot use the journal in {settings.journal_dir}: {error}") from None


def _read_site(settings: GatewaySettings, edge: Edge) -> Site:
    try:
        return Site(
            edge, settings.web_dir, public_url=settings.origin, contact=settings.contact_address
        )
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"Cannot read the pages in {settings.web_dir}: {error}") from None
