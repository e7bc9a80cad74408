"""Starts the gateway: `python -m gateway`."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
import uvloop
from prometheus_client import REGISTRY

from gateway.app import Requests, create_functions_app
from gateway.clients import AnalyticsClient, AuthClient, LinksClient
from gateway.edge import Edge
from gateway.functions import Functions
from gateway.http import protocol_with
from gateway.limits import ClientAddresses, Limit, NoLimit
from gateway.metrics import GatewayCollector, RedirectMetrics
from gateway.profiles import Profiles
from gateway.redirect import Redirects
from gateway.resolver import Resolver
from gateway.settings import GatewaySettings
from gateway.site import Site
from gateway.status import StatusPage
from gateway.visits.journal import Journal, JournalFullError, JournalInUseError
from gateway.visits.pipeline import VisitPipeline
from services.runtime import background, logs, ready, tracing
from services.runtime.health import Health
from services.runtime.observation import ObservationServer
from services.runtime.settings import split_address

log = logs.get(__name__)

BACKLOG = 2048
FLUSH_SECONDS = 1.0
"""How long the last visits may take to reach analytics at the end; others wait on file."""


class _Server(uvicorn.Server):
    """Says when it serves. Signals are ours: the process has more to end than this server."""

    def __init__(self, config: uvicorn.Config, addresses: dict[str, str], health: Health) -> None:
        super().__init__(config)
        self._addresses = addresses
        self._health = health

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._health.start()
        await self._health.serve()
        ready.announce(self._addresses)
        log.info("serving", **self._addresses)


async def _serve(settings: GatewaySettings, listening: socket.socket) -> None:
    stop = ready.stop_requested()
    background.stop_on_failure(stop)
    edge = Edge.load()
    journal = _open_journal(settings)
    auth = AuthClient(settings.auth_address)
    links = LinksClient(settings.links_address)
    analytics = AnalyticsClient(settings.analytics_address)
    visits = VisitPipeline(journal, analytics)
    resolver = Resolver(
        links,
        settings.cache_bytes,
        fresh=settings.cache_fresh_seconds,
        stale=settings.cache_stale_seconds,
    )
    site = _read_site(settings, edge)
    limited = settings.limits == "on"
    functions = Functions(
        auth=auth,
        links=links,
        profiles=(
            Profiles(links, analytics)
            if limited
            else Profiles(links, analytics, most_by_network=())
        ),
        resolver=resolver,
        visits=visits,
        addresses=ClientAddresses(settings.trusted_proxies),
        creations=Limit("create", settings.creations) if limited else NoLimit(),
        registrations=Limit("register", settings.registrations) if limited else NoLimit(),
        logins=Limit("login", settings.logins) if limited else NoLimit(),
    )
    origins = [settings.origin, *settings.cors_origins]
    # None is needed: with all services away, codes in memory are still answered.
    health = Health(
        {
            "auth": auth.answers,
            "links": links.answers,
            "analytics": analytics.answers,
            "journal": visits.check_journal,
        },
        needed=(),
    )
    status_page = StatusPage(edge, lambda: health.dependencies, lambda: visits.lag_seconds)
    requests = Requests(create_functions_app(functions, edge, origins), site, status_page, edge)
    redirect_metrics = RedirectMetrics()
    app = Redirects(requests, edge, resolver, visits, site, redirect_metrics)
    REGISTRY.register(GatewayCollector(redirect_metrics, resolver, visits))

    observation = ObservationServer("gateway", settings, health)
    host, port = listening.getsockname()[:2]
    config = uvicorn.Config(
        app,
        http=protocol_with(app),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Its type says whole seconds; it is handed to `asyncio.wait_for` as it is.
        timeout_graceful_shutdown=settings.drain_seconds,  # type: ignore[arg-type]
    )
    server = _Server(config, {"http": f"{host}:{port}", "metrics": observation.address}, health)

    async def stop_server() -> None:
        await stop.wait()
        await health.stop()
        server.should_exit = True

    stopper = background.run(stop_server(), "stop")
    visits.start()
    await server.serve([listening])
    stopper.cancel()
    await visits.stop(FLUSH_SECONDS)
    await resolver.close()
    await asyncio.gather(auth.close(), links.close(), analytics.close())
    health.close()
    await asyncio.to_thread(observation.close)
    await asyncio.to_thread(tracing.stop)
    log.info("stopped")


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


def _listen(address: str) -> socket.socket:
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, UnicodeError) as error:  # The latter for what cannot be a host's name.
        why = error.strerror if isinstance(error, OSError) else "this is no host"
        raise SystemExit(f"Cannot listen on {address}: {why}") from None
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def main() -> None:
    settings = GatewaySettings.load()
    logs.configure("gateway", settings.log_level)
    tracing.start("gateway", settings.version, outermost=True)
    uvloop.run(_serve(settings, _listen(settings.listen)))
    background.exit_if_failed()


if __name__ == "__main__":
    main()
