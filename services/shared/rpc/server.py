"""The life of a gRPC service process: open, bring the store up to date, serve, drain, close."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import grpc
import uvloop
from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from services.shared import background, supervision
from services.shared.observability import logs, store_size, tracing
from services.shared.observability.health import Health
from services.shared.observability.monitoring_server import ObservationServer
from services.shared.rpc.grpc_health import GrpcHealth
from services.shared.rpc.interceptors import CallInterceptor
from services.shared.settings import ServiceSettings, split_address
from services.shared.stores import Store

log = logs.get(__name__)

Handlers = TypeVar("Handlers")

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
class Servicer:
    """A gRPC service as a server takes it in."""

    descriptor: ServiceDescriptor
    add_to: Callable[[grpc.aio.Server], None]

    @classmethod
    def of(
        cls,
        file: FileDescriptor,
        name: str,
        add_to_server: Callable[[Handlers, grpc.aio.Server], None],
        handlers: Handlers,
    ) -> Servicer:
        """The service of that name in a proto file: what gRPC generated for it, and handlers."""
        return cls(file.services_by_name[name], partial(add_to_server, handlers))


@dataclass(frozen=True)
class Servicers:
    """What a process serves: to its callers, and on a port of its own to the operator."""

    calls: Servicer
    admin: Sequence[Servicer]


Opening = AbstractAsyncContextManager[tuple[Servicers, Store]]
"""Opens a store; gives what is served over it, and the store. Closes it at the end."""


def run(name: str, settings: ServiceSettings, opening: Opening, *, gives_way: bool = False) -> None:
    """Serve what `opening` gives until SIGTERM or SIGINT, then drain and close it.

    With `gives_way` it lets other processes go first (`background.give_way`).

    While its store is brought up to date, only the observation port listens: callers pass over a
    replica that refuses their connection, but not over one that refuses their calls.

    Raises SystemExit: with one line when the address is taken, with status 1 when work in the
    background broke, which stops the process in the same order.
    """
    logs.configure(name, settings.log_level)
    if gives_way:
        background.give_way()
    tracing.start(name, settings.version)
    uvloop.run(_serve(name, settings, opening))
    background.exit_if_failed()


async def _serve(name: str, settings: ServiceSettings, opening: Opening) -> None:
    stop = supervision.stop_requested()
    background.stop_on_failure(stop)
    async with opening as (servicers, store):
        listeners: list[Listener] = []
        process = Health({"store": store.check}, needed=["store"])
        observation = ObservationServer(name, settings, process)

        async def tell(is_ready: bool) -> None:
            for listener in listeners:
                await listener.health.tell(is_ready)

        await process.start()
        measuring = background.run(store_size.watch(store), "store_size")
        await _await_unless(stop, store.prepared())
        if not stop.is_set():
            listeners.append(Listener([servicers.calls], settings.listen))
            listeners.append(Listener(servicers.admin, settings.admin_listen))
            calls, admin = (listener.address for listener in listeners)
            for listener in listeners:
                await listener.start()
            await process.serve(tell)
            supervision.announce({"grpc": calls, "admin": admin, "metrics": observation.address})
            log.info("serving", listen=calls, admin=admin, metrics=observation.address)
            await stop.wait()
        # Not ready first, so that callers go elsewhere; then finish what runs; then stop.
        await process.stop()
        await asyncio.gather(*(each.server.stop(settings.drain_seconds) for each in listeners))
        process.close()
        measuring.cancel()
        await asyncio.wait([measuring])
        await asyncio.to_thread(observation.close)
        await asyncio.to_thread(tracing.stop)
    log.info("stopped")


async def _await_unless(stop: asyncio.Event, work: Awaitable[None]) -> None:
    """Wait until `work` has ended, or `stop` is set: then it is cancelled."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if working.done():
        await working  # Raises what it raised.
    else:
        working.cancel()


class Listener:
    """A port and what is served there, with health and reflection."""

    def __init__(self, servicers: Sequence[Servicer], listen: str) -> None:
        interceptors = [*tracing.server_interceptors(), CallInterceptor()]
        self.server = grpc.aio.server(interceptors=interceptors, options=_OPTIONS)
        for servicer in servicers:
            servicer.add_to(self.server)
        names = [servicer.descriptor.full_name for servicer in servicers]
        self.health = GrpcHealth(self.server, names)
        reflection.enable_server_reflection(
            (*names, health.SERVICE_NAME, reflection.SERVICE_NAME), self.server
        )
        self.address = _bind(self.server, listen)

    async def start(self) -> None:
        """Take calls, and say in health that the process is not ready yet."""
        await self.health.start()
        await self.server.start()


def _bind(server: grpc.aio.Server, listen: str) -> str:
    host, _ = split_address(listen)
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError:
        raise SystemExit(
            f"Cannot listen on {listen}: the port is taken, or the host is not this machine's."
        ) from None
    return f"{host}:{port}"
