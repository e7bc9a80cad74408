"""Composes the gateway from its settings and the clients of the three services.

`python -m gateway` passes gRPC clients; tests may pass services in their own process.
`gateway/__main__.py` adds what belongs to a process: socket, signals, server, observation port.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from prometheus_client.registry import Collector

from gateway.api.app import RestApi
from gateway.api.authentication import KeyVerifier
from gateway.api.limits import LOOKUP_FACTOR, Gate
from gateway.app import Dispatcher, create_functions_app
from gateway.backends.administration import AdministrationClients
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.backends.view_counts import ViewCounts
from gateway.functions.rejected_reads import RejectedReads
from gateway.functions.table import table
from gateway.pages.files import Site
from gateway.pages.html import PageSettings
from gateway.pages.status import StatusPage
from gateway.redirects.further_origins import FurtherOrigins
from gateway.redirects.handler import Redirects
from gateway.redirects.invalidation import ChangeFollower
from gateway.redirects.link_pages import LinkPages
from gateway.redirects.metrics import RedirectCollector, RedirectMetrics
from gateway.redirects.resolver import Resolver
from gateway.settings import GatewaySettings
from gateway.support.backups import BackupCollector
from gateway.support.client_ip import ClientIpFinder
from gateway.support.edge import Edge
from gateway.support.rate_limits import (
    PROFILES,
    CalendarRateLimiter,
    CallLimiter,
    ClientConcurrencyLimiter,
    Rate,
    RateLimiter,
)
from gateway.use_cases.administration import Administration
from gateway.use_cases.limits import Limits
from gateway.use_cases.links import LinkEditor, LinkPresenter
from gateway.use_cases.policy import Policy
from gateway.use_cases.profiles import Profiles
from gateway.use_cases.services import Services
from gateway.use_cases.statistics import StatisticsReader
from gateway.visits.enrichment.countries import (
    CountriesFile,
    CountryOf,
    InvalidCountriesError,
    registry_country,
)
from gateway.visits.enrichment.visitor_key import VisitorKeys
from gateway.visits.enrichment.visitors import Visitors
from gateway.visits.journal.folder import JournalInUseError
from gateway.visits.journal.journal import Journal, JournalFullError
from gateway.visits.metrics import VisitCollector
from gateway.visits.pipeline import VisitPipeline
from services.shared import link_codes
from services.shared.backups import find_last_backup
from services.shared.observability.health import Health

FLUSH_SECONDS = 1.0
"""How long a shutdown sends visits to analytics. The rest stays in the journal."""


@dataclass(frozen=True)
class Gateway:
    """The composed gateway. `app` answers at once; `running` runs its background work."""

    app: Redirects
    """The ASGI application, and the fast path for `protocol_class`."""
    health: Health
    """To be started with the server, stopped before it, and closed last."""
    collectors: tuple[Collector, ...]
    """Metrics to register with Prometheus."""
    resolver: Resolver
    changes: ChangeFollower
    visits: VisitPipeline
    keys: VisitorKeys

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow changes and the day's visitor key, and send visits, while the block runs.

        At its end, send remaining visits for at most `FLUSH_SECONDS`, and end lookups in flight.
        """
        async with AsyncExitStack() as exit_stack:  # Callbacks run in reverse order.
            exit_stack.push_async_callback(self.resolver.close)
            await self.changes.start()
            exit_stack.push_async_callback(self.changes.stop)
            await self.keys.start()
            exit_stack.push_async_callback(self.keys.stop)
            self.visits.start()
            exit_stack.push_async_callback(self.visits.stop, FLUSH_SECONDS)
            yield


def bootstrap(
    settings: GatewaySettings,
    auth: AuthClient,
    links: LinksClient,
    analytics: AnalyticsClient,
    administration: AdministrationClients,
) -> Gateway:
    """Compose a gateway over three services, for the running event loop. Opens its journal.

    Raises SystemExit with a one-line message if the journal or the pages cannot be used.
    """
    edge = Edge.load(https=settings.public_url.scheme == "https")
    site = _read_site(settings, edge)
    clients = ClientIpFinder(settings.trusted_proxies, settings.trusted_hops)
    visitors = Visitors(clients.find, _countries(settings))
    visits = VisitPipeline(
        _open_journal(settings, analytics), analytics, visitors, own_urls=settings.origins.all
    )
    keys = VisitorKeys(analytics, visitors)
    resolver = Resolver(
        links,
        settings.cache_bytes,
        fresh_seconds=settings.cache_fresh_seconds,
        stale_seconds=settings.cache_stale_seconds,
    )
    changes = ChangeFollower(links, resolver)
    # None is required: while all services are unavailable, cached links still redirect.
    health = Health(
        {
            "auth": auth.check,
            "links": links.check,
            "analytics": analytics.check,
            "journal": visits.check_journal,
        },
        needed=(),
    )
    views = ViewCounts(analytics)
    by_network = settings.limits == "on"
    services = Services(
        auth,
        links,
        Administration(
            auth,
            administration,
            analytics,
            views,
            settings.origin,
            settings.version,
            lambda: health.dependencies,
            partial(_find_backup, settings.backup_dir),
        ),
        LinkEditor(links, resolver),
        LinkPresenter(views, settings.origins),
        StatisticsReader(links, analytics),
        Profiles(links, views, ClientConcurrencyLimiter("profile", PROFILES, by_network)),
        resolver,
        visits,
        clients,
        CallLimiter(by_network),
        _limits(settings),
        Policy(settings.registration, settings.guest_links == "on", settings.admin_pages == "on"),
    )
    origins = [settings.origin, *settings.cors_origins]
    rejected = RejectedReads()
    status_page = StatusPage(
        edge, lambda: health.dependencies, lambda: visits.lag_seconds, rejected.is_recent
    )
    further = FurtherOrigins(settings.origins, edge, settings.contact_address)
    dispatcher = Dispatcher(
        create_functions_app(table(services.limits), services, edge, origins, rejected),
        RestApi(services, _gate(settings, auth, clients), edge),
        site,
        LinkPages(edge, resolver, site),
        status_page,
        further,
        edge,
    )
    redirect_metrics = RedirectMetrics()
    app = Redirects(dispatcher, edge, resolver, visits, site, further, redirect_metrics)
    collectors: list[Collector] = [
        RedirectCollector(redirect_metrics, resolver, changes),
        VisitCollector(visits, keys),
    ]
    if settings.backup_dir and settings.backup_hours:
        collectors.append(BackupCollector(settings.backup_dir, settings.backup_hours))
    return Gateway(app, health, tuple(collectors), resolver, changes, visits, keys)


def _gate(settings: GatewaySettings, auth: AuthClient, clients: ClientIpFinder) -> Gate:
    unverified = settings.limit_api_unverified
    lookups = Rate(unverified.amount * LOOKUP_FACTOR, unverified.seconds)
    message = "Too many requests without a valid key from this address."
    return Gate(
        KeyVerifier(auth),
        clients,
        RateLimiter("api", settings.limit_api, message="Too many requests of this account."),
        RateLimiter("api_unverified", unverified, message=message),
        RateLimiter("api_lookup", lookups, message=message),
    )


def _limits(settings: GatewaySettings) -> Limits:
    return Limits(
        creations=RateLimiter("create", settings.limit_creations),
        reports=RateLimiter("report", settings.limit_reports),
        registrations=RateLimiter("register", settings.limit_registrations),
        logins=RateLimiter("login", settings.limit_logins),
        recoveries=RateLimiter("recovery", settings.limit_logins),
        session_checks=RateLimiter("session_check", settings.limit_logins),
        edits=RateLimiter("edit", settings.limit_edits),
        reads=RateLimiter("read", settings.limit_reads),
        import_rows=CalendarRateLimiter(
            "import_rows",
            settings.limit_import_rows,
            "This address imported too many rows.",
            "TOO_MANY_ROWS",
        ),
        short_codes=CalendarRateLimiter(
            "short_codes",
            settings.limit_short_codes,
            f"This address chose too many endings of {link_codes.MIN_LENGTH} characters.",
            "TOO_MANY_SHORT_CODES",
        ),
    )


def _find_backup(folder: Path | None) -> datetime | None:
    """Return when the newest automatic backup of a local run was made; None elsewhere."""
    return find_last_backup(folder) if folder else None


def _countries(settings: GatewaySettings) -> CountryOf:
    if settings.countries_file is None:
        return registry_country
    try:
        return CountriesFile(settings.countries_file)
    except (OSError, InvalidCountriesError) as error:
        raise SystemExit(
            f"Cannot use the countries in {settings.countries_file}: {error}"
        ) from None


def _open_journal(settings: GatewaySettings, analytics: AnalyticsClient) -> Journal:
    try:
        return Journal(
            settings.journal_dir, settings.journal_bytes, divides=lambda: analytics.divides
        )
    except JournalInUseError as error:
        raise SystemExit(str(error)) from None
    except (JournalFullError, OSError) as error:
        raise SystemExit(f"Cannot use the journal in {settings.journal_dir}: {error}") from None


def _read_site(settings: GatewaySettings, edge: Edge) -> Site:
    try:
        return Site(
            edge,
            settings.web_dir,
            PageSettings(
                settings.origin,
                settings.contact_address,
                settings.service_worker,
                settings.registration,
                settings.guest_links,
                settings.admin_pages,
                " ".join(settings.origins.further),
                settings.oidc_name.strip(),
            ),
        )
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"Cannot read the pages in {settings.web_dir}: {error}") from None
