"""Composes the gateway from its settings and the clients of the three services.

`python -m gateway` passes gRPC clients; tests may pass services in their own process.
`gateway/__main__.py` adds what belongs to a process: socket, signals, server, observation port.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from prometheus_client.registry import Collector

from gateway.api.app import RestApi
from gateway.api.authentication import KeyVerifier
from gateway.api.limits import LOOKUP_FACTOR, Gate
from gateway.api.requests import Services
from gateway.app import Dispatcher, create_functions_app
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.backends.view_counts import ViewCounts
from gateway.functions.accounts import Accounts
from gateway.functions.imports import Imports
from gateway.functions.keys import Keys
from gateway.functions.owned_links import OwnedLinks
from gateway.functions.passkeys import Passkeys
from gateway.functions.preview import Previews
from gateway.functions.profile import Profiles
from gateway.functions.rejected_reads import RejectedReads
from gateway.functions.sessions import Sessions
from gateway.functions.short_urls import ShortUrls
from gateway.functions.statistics import LinkStatistics
from gateway.functions.table import Function, Limits, table
from gateway.pages.files import Site
from gateway.pages.html import PageSettings
from gateway.pages.status import StatusPage
from gateway.redirects.handler import Redirects
from gateway.redirects.invalidation import ChangeFollower
from gateway.redirects.link_pages import LinkPages
from gateway.redirects.metrics import RedirectCollector, RedirectMetrics
from gateway.redirects.resolver import Resolver
from gateway.settings import GatewaySettings
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
from gateway.use_cases.creation_limits import CreationLimits
from gateway.use_cases.links import LinkEditor, LinkPresenter
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
from services.shared.observability.health import Health

_UNVERIFIED = "Too many requests without a valid key from this address."
_NO_LIMIT = Rate(999_999_999, 60)
"""A rate that nobody reaches. Responses of the REST API name it."""
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
    settings: GatewaySettings, auth: AuthClient, links: LinksClient, analytics: AnalyticsClient
) -> Gateway:
    """Compose a gateway over three services, for the running event loop. Opens its journal.

    Raises SystemExit with a one-line message if the journal or the pages cannot be used.
    """
    edge = Edge.load(https=settings.public_url.scheme == "https")
    site = _read_site(settings, edge)
    clients = ClientIpFinder(settings.trusted_proxies, settings.trusted_hops)
    visitors = Visitors(clients.find, _countries(settings))
    visits = VisitPipeline(_open_journal(settings), analytics, visitors, own_url=settings.origin)
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
    services = Services(
        links,
        LinkEditor(links, resolver),
        LinkPresenter(views, settings.origin),
        StatisticsReader(links, analytics),
    )
    running = CallLimiter(by_network=settings.limits == "on")
    limits = _limits(settings)
    creation_limits = CreationLimits(limits.creations, limits.import_rows, limits.short_codes)
    functions = _functions(
        settings,
        auth,
        services,
        views,
        resolver,
        visits,
        clients,
        running,
        limits,
        creation_limits,
    )
    gate = _gate(settings, auth, clients)
    api = RestApi(services, gate, edge, running, creation_limits, limits.edits)
    origins = [settings.origin, *settings.cors_origins]
    rejected = RejectedReads()
    status_page = StatusPage(
        edge, lambda: health.dependencies, lambda: visits.lag_seconds, rejected.is_recent
    )
    dispatcher = Dispatcher(
        create_functions_app(functions, edge, origins, rejected, clients, running),
        api,
        site,
        LinkPages(edge, resolver, site),
        status_page,
        edge,
    )
    redirect_metrics = RedirectMetrics()
    app = Redirects(dispatcher, edge, resolver, visits, site, redirect_metrics)
    collectors = (
        RedirectCollector(redirect_metrics, resolver, changes),
        VisitCollector(visits, keys),
    )
    return Gateway(app, health, collectors, resolver, changes, visits, keys)


def _functions(
    settings: GatewaySettings,
    auth: AuthClient,
    services: Services,
    views: ViewCounts,
    resolver: Resolver,
    visits: VisitPipeline,
    clients: ClientIpFinder,
    running: CallLimiter,
    limits: Limits,
    creation_limits: CreationLimits,
) -> Mapping[str, Function]:
    links, editor = services.links, services.editor
    by_network = settings.limits == "on"
    profile_limit = ClientConcurrencyLimiter("profile", PROFILES, by_network)
    return table(
        ShortUrls(auth, links, editor, resolver, visits, clients, creation_limits),
        OwnedLinks(auth, links, editor, services.presenter),
        Profiles(auth, links, views, clients, profile_limit),
        LinkStatistics(auth, services.statistics),
        Previews(links),
        Imports(auth, links, editor, resolver, running, clients, creation_limits),
        Accounts(auth, clients),
        Passkeys(auth, clients),
        Keys(auth, clients),
        Sessions(auth),
        limits,
    )


def _gate(settings: GatewaySettings, auth: AuthClient, clients: ClientIpFinder) -> Gate:
    def limiter(name: str, rate: Rate, message: str) -> RateLimiter:
        return RateLimiter(name, rate if settings.limits == "on" else _NO_LIMIT, message=message)

    unverified = settings.api_unverified
    return Gate(
        KeyVerifier(auth),
        clients,
        limiter("api", settings.api, "Too many requests of this account."),
        limiter("api_unverified", unverified, _UNVERIFIED),
        limiter(
            "api_lookup", Rate(unverified.amount * LOOKUP_FACTOR, unverified.seconds), _UNVERIFIED
        ),
    )


def _limits(settings: GatewaySettings) -> Limits:
    def limit(name: str, rate: Rate) -> RateLimiter | None:
        return RateLimiter(name, rate) if settings.limits == "on" else None

    def daily(name: str, rate: Rate, message: str, reason: str) -> RateLimiter | None:
        if settings.limits == "off":
            return None
        return CalendarRateLimiter(name, rate, message, reason)

    return Limits(
        creations=limit("create", settings.creations),
        reports=limit("report", settings.reports),
        registrations=limit("register", settings.registrations),
        logins=limit("login", settings.logins),
        recoveries=limit("recovery", settings.logins),
        session_checks=limit("session_check", settings.logins),
        edits=limit("edit", settings.edits),
        reads=limit("read", settings.reads),
        import_rows=daily(
            "import_rows",
            settings.import_rows,
            "This address imported too many rows.",
            "TOO_MANY_ROWS",
        ),
        short_codes=daily(
            "short_codes",
            settings.short_codes,
            f"This address chose too many endings of {link_codes.MIN_LENGTH} characters.",
            "TOO_MANY_SHORT_CODES",
        ),
    )


def _countries(settings: GatewaySettings) -> CountryOf:
    if settings.countries_file is None:
        return registry_country
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
            edge,
            settings.web_dir,
            PageSettings(settings.origin, settings.contact_address, settings.service_worker),
        )
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"Cannot read the pages in {settings.web_dir}: {error}") from None
