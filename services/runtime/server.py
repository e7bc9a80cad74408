"""The life of a gRPC service process: open, serve, drain, close."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import grpc
import uvloop
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from services.runtime import background, logs, ready, tracing
from services.runtime.grpc_health import GrpcHealth
from services.runtime.health import Check, Health
from services.runtime.interceptors import CallInterceptor
from services.runtime.observation import ObservationServer
from services.runtime.settings import ServiceSettings, split_address

log = logs.get(__name__)

_OPTIONS = (
    # Left at 1, a second process shares the port in silence, and half of the calls.
    ("grpc.so_reuseport", 0),
    # From a burst of more than 1000 calls gRPC drops some at random, where these are not set.
    ("grpc.server.max_pending_requests", 10_000),
    ("grpc.server.max_pending_requests_hard_limit", 20_000),
    # Calls under way finish. For the next ones a caller looks up who is there: a new replica too.
    ("grpc.max_connection_age_ms", 30_000),
)


@dataclass(frozen=True)
class Served:
    """A servicer as a server takes it in."""

    descriptor: ServiceDescriptor
    add_to: Callable[[grpc.aio.Server], None]


Opened = AbstractAsyncContextManager[tuple[Served, Check]]
"""What is served over an opened store, and whether that store answers."""


def run(name: str, settings: ServiceSettings, opened: Opened) -> None:
    """Serve what `opened` gives until SIGTERM or SIGINT, then drain and close it.

    Raises SystemExit: with one line when the address is taken, with status 1 when work in the
    background broke, which stops the process in the same order.
    """
    logs.configure(name, settings.log_level)
    tracing.start(name, settings.version)
    uvloop.run(_serve(name, settings, opened))
    background.exit_if_failed()


async def _serve(name: str, settings: ServiceSettings, opened: Opened) -> None:
    stop = ready.stop_requested()
    background.stop_on_failure(stop)
    async with opened as (served, store_answers):
        interceptors = [*tracing.server_interceptors(), CallInterceptor()]
        server = grpc.aio.server(interceptors=interceptors, options=_OPTIONS)
        served.add_to(server)
        full_name = served.descriptor.full_name
        grpc_health = GrpcHealth(server, full_name)
        reflection.enable_server_reflection(
            (full_name, health.SERVICE_NAME, reflection.SERVICE_NAME), server
        )
        address = _bind(server, settings.listen)
        process = Health({"store": store_answers}, needed=["store"])
        observation = ObservationServer(name, settings, process)
        await grpc_health.start()
        await server.start()
        await process.start(grpc_health.tell)
        ready.announce({"grpc": address, "metrics": observation.address})
        log.info("serving", listen=address, metrics=observation.address)
        await stop.wait()
        # Not ready first, so that callers go elsewhere; then finish what runs; then stop.
        await process.stop()
        await server.stop(settings.drain_seconds)
        process.close()
        await asyncio.to_thread(observation.close)
        await asyncio.to_thread(tracing.stop)
    log.info("stopped")


def _bind(server: grpc.aio.Server, listen: str) -> str:
    host, _ = split_address(listen)
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError:
        raise SystemExit(
            f"Cannot listen on {listen}: the port is taken, or the host is not this machine's."
        ) from None
    return f"{host}:{port}"
