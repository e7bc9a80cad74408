"""Runs a gRPC service process: opens the store, upgrades its schema, serves, drains, closes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import grpc
import uvloop
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health as grpc_health
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.shared import background, startup, supervisor
from services.shared.observability import logs, store_size, tracing
from services.shared.observability.health import Health
from services.shared.observability.monitoring_server import MonitoringServer
from services.shared.rpc.handlers import create_handler
from services.shared.settings import ServiceSettings, is_socket, split_endpoint
from services.shared.stores import Store

log = logs.get(__name__)

LIVENESS = "liveness"
"""A service name that is SERVING while the event loop runs, whether the process is ready or not."""
_HEALTH = health_pb2.HealthCheckResponse

_OPTIONS = (
    # By default a second process could listen on the same port and get half of the calls.
    ("grpc.so_reuseport", 0),
    # By default gRPC drops calls at random in a burst of more than 1000.
    ("grpc.server.max_pending_requests", 10_000),
    ("grpc.server.max_pending_requests_hard_limit", 20_000),
    # Clients reconnect this often, without interrupting calls, and so discover new replicas.
    ("grpc.max_connection_age_ms", 30_000),
)


class Servicer(Protocol):
    """Serves a gRPC service. It has a method for each call, see `create_handler`."""

    service: ServiceDescriptor


@dataclass(frozen=True)
class Servicers:
    """The services of a process: for its callers, and for the operator on a separate port."""

    calls: Sequence[Servicer]
    admin: Sequence[Servicer]


Opening = AbstractAsyncContextManager[tuple[Servicers, Store]]
"""Opens a store, yields the services over it and the store, and closes it at the end."""


def run(
    name: str, settings: ServiceSettings, opening: Opening, *, low_priority: bool = False
) -> None:
    """Serve what `opening` yields until SIGTERM or SIGINT, then drain and close it.

    With `low_priority`, other processes run first (`startup.lower_priority`).

    During a schema upgrade, only the monitoring port listens: clients skip a replica that refuses
    connections, but not one that refuses calls.

    Raises SystemExit with one line if an address is taken. Raises it with status 1 if background
    work failed, which stops the process in the same order.
    """
    logs.configure(name, settings.log_level)
    if low_priority:
        startup.lower_priority()
    tracing.start(name, settings.version)
    uvloop.run(_serve(name, settings, opening))
    background.exit_if_failed()


async def _serve(name: str, settings: ServiceSettings, opening: Opening) -> None:
    stop = supervisor.stop_event()
    background.stop_on_failure(stop)
    async with opening as (servicers, store):
        listeners: list[Listener] = []
        health = Health({"store": store.check}, needed=["store"])
        monitoring = MonitoringServer(name, settings, health)

        async def publish_readiness(is_ready: bool) -> None:
            for listener in listeners:
                await listener.set_ready(is_ready)

        await health.start()
        measuring = background.start_task(store_size.watch(store.size), "store_size")
        await _await_unless(stop, store.wait_for_schema())
        if not stop.is_set():
            listeners.append(Listener(servicers.calls, settings.listen))
            listeners.append(Listener(servicers.admin, settings.admin_listen))
            calls, admin = (listener.address for listener in listeners)
            for listener in listeners:
                await listener.start()
            await health.set_serving(publish_readiness)
            startup.finish(grpc=calls, admin=admin, metrics=monitoring.address)
            await stop.wait()
        # Become not ready first, so that clients use other replicas; then finish the running calls.
        await health.stop()
        await asyncio.gather(
            *(listener.server.stop(settings.drain_seconds) for listener in listeners)
        )
        health.close()
        measuring.cancel()
        await asyncio.wait([measuring])
        await asyncio.to_thread(monitoring.close)
        await asyncio.to_thread(tracing.stop)
    log.info("stopped")


async def _await_unless(stop: asyncio.Event, work: Awaitable[None]) -> None:
    """Wait for `work`, but cancel it once `stop` is set."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if working.done():
        await working  # Raises its error.
    else:
        working.cancel()


class Listener:
    """A server on one port, with reflection and the standard health service.

    Probes and clients in a cluster ask for the health of a service, or of the empty name.
    """

    def __init__(self, servicers: Sequence[Servicer], listen: str) -> None:
        self.server = grpc.aio.server(
            handlers=[create_handler(servicer.service, servicer) for servicer in servicers],
            interceptors=tracing.server_interceptors(),
            options=_OPTIONS,
        )
        self._names = [servicer.service.full_name for servicer in servicers]
        self._health = grpc_health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.server)
        reflection.enable_server_reflection(
            (*self._names, grpc_health.SERVICE_NAME, reflection.SERVICE_NAME), self.server
        )
        self.address = _bind(self.server, listen)

    async def start(self) -> None:
        """Accept calls, and report that the process is alive but not ready."""
        await self._health.set(LIVENESS, _HEALTH.SERVING)
        await self.set_ready(False)
        await self.server.start()

    async def set_ready(self, is_ready: bool) -> None:
        """Report from now on whether the process is ready."""
        for name in ("", *self._names):
            await self._health.set(name, _HEALTH.SERVING if is_ready else _HEALTH.NOT_SERVING)


def _bind(server: grpc.aio.Server, listen: str) -> str:
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError:
        why = (
            "its folder does not exist or cannot be written, or the path has more than 107 bytes."
            if is_socket(listen)
            else "the port is in use, or the host is not on this machine."
        )
        raise SystemExit(f"Cannot listen on {listen}: {why}") from None
    return listen if is_socket(listen) else f"{split_endpoint(listen)[0]}:{port}"
