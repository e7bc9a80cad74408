"""Starts the gateway: `python -m gateway`.

Owns what belongs to a process: socket, server, signals and observation port, and the order in which
they start and stop. `gateway/bootstrap.py` composes the gateway itself.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack

import uvicorn
import uvloop
from prometheus_client import REGISTRY

from gateway.backends.administration import (
    AccountsAdministrationClient,
    AdministrationClients,
    LinksAdministrationClient,
)
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.bootstrap import Gateway, bootstrap
from gateway.http.fast_path import protocol_class
from gateway.settings import GatewaySettings
from services.shared import background, startup, supervisor
from services.shared.observability import logs, tracing
from services.shared.observability.health import Health
from services.shared.observability.monitoring_server import MonitoringServer
from services.shared.settings import split_endpoint

log = logs.get(__name__)

BACKLOG = 2048
ACCEPTS = 16
"""How many connections the event loop accepts in one iteration. A new connection costs 60 us of a
core instead of 30, because each copy of the socket is asked for one."""
_CANCELLED_SECONDS = 0.2
"""How long a cancelled call may take to respond."""


class _Server(uvicorn.Server):
    """Announces when it serves. Leaves signals to `_serve`, which stops more than this server."""

    def __init__(self, config: uvicorn.Config, addresses: dict[str, str], health: Health) -> None:
        super().__init__(config)
        self._addresses = addresses
        self._health = health

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._health.start()
        await self._health.set_serving()
        startup.finish(**self._addresses)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close every connection: visits of later requests would not be counted.

        uvicorn leaves open a connection that is accepted while it shuts down the others.
        """
        await super().shutdown(sockets)
        if self.server_state.tasks:  # They were cancelled, and tell their clients.
            await asyncio.wait(self.server_state.tasks, timeout=_CANCELLED_SECONDS)
        for connection in list(self.server_state.connections):
            connection.transport.close()


def server_config(gateway: Gateway, settings: GatewaySettings) -> uvicorn.Config:
    """Return the uvicorn configuration of a gateway."""
    return uvicorn.Config(
        gateway.app,
        http=protocol_class(gateway.app),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Typed as int, but passed to `asyncio.wait_for` as it is.
        timeout_graceful_shutdown=settings.drain_seconds,  # type: ignore[arg-type]
    )


async def _serve(settings: GatewaySettings, listening: socket.socket) -> None:
    stop = supervisor.stop_event()
    background.stop_on_failure(stop)
    async with AsyncExitStack() as exit_stack:  # Callbacks run in reverse order.
        exit_stack.push_async_callback(asyncio.to_thread, tracing.stop)
        auth = AuthClient(settings.auth_address)
        links = LinksClient(settings.links_address)
        analytics = AnalyticsClient(settings.analytics_address)
        administration = AdministrationClients(
            AccountsAdministrationClient(settings.auth_address),
            LinksAdministrationClient(settings.links_address),
        )
        gateway = bootstrap(settings, auth, links, analytics, administration)
        for collector in gateway.collectors:
            REGISTRY.register(collector)
        observation = MonitoringServer("gateway", settings, gateway.health)
        exit_stack.push_async_callback(asyncio.to_thread, observation.close)
        exit_stack.callback(gateway.health.close)
        for client in (auth, links, analytics, administration):
            exit_stack.push_async_callback(client.close)
        await exit_stack.enter_async_context(gateway.running())

        host, port = listening.getsockname()[:2]
        addresses = {"http": f"{host}:{port}", "metrics": observation.address}
        server = _Server(server_config(gateway, settings), addresses, gateway.health)

        async def stop_server() -> None:
            await stop.wait()
            # Report not ready first, so that requests go elsewhere. Then finish the running ones.
            await gateway.health.stop()
            server.should_exit = True

        stopping = background.start_task(stop_server(), "stop")
        exit_stack.callback(stopping.cancel)
        await server.serve(duplicate(listening))
    log.info("stopped")


def _listen(address: str) -> socket.socket:
    host, port = split_endpoint(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, UnicodeError) as error:  # UnicodeError: not a valid host name.
        why = error.strerror if isinstance(error, OSError) else "not a valid host name"
        raise SystemExit(f"Cannot listen on {address}: {why}") from None
    listening.listen(BACKLOG)
    listening.setblocking(False)
    return listening


def duplicate(listening: socket.socket) -> list[socket.socket]:
    """Return a listening socket and copies of it, each of which the event loop watches by itself.

    libuv accepts one connection per watched socket and iteration (since 1.45). While large bodies
    arrive on hundreds of connections, an iteration takes 50 ms. A new connection then waited up to
    nine seconds behind those of one client, and at most one with copies.
    """
    return [listening, *(listening.dup() for _ in range(ACCEPTS - 1))]


def main() -> None:
    settings = GatewaySettings.load()
    logs.configure("gateway", settings.log_level)
    tracing.start("gateway", settings.version, outermost=True)
    uvloop.run(_serve(settings, _listen(settings.listen)))
    background.exit_if_failed()


if __name__ == "__main__":
    main()
