"""The calling side of a gRPC service: spread over its replicas, with deadlines, bounded retries.

Which calls may be retried is said once, in the proto: those whose `idempotency_level` is set.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.shared.errors import AppError, Unavailable
from services.shared.observability import metrics, request_id, tracing
from services.shared.rpc import status

Request = TypeVar("Request")
Response = TypeVar("Response")
Stub = TypeVar("Stub")

_RETRY = {
    "maxAttempts": 3,
    "initialBackoff": "0.05s",
    "maxBackoff": "0.5s",
    "backoffMultiplier": 3,
    "retryableStatusCodes": ["UNAVAILABLE"],
}

KEEPALIVE_MS = 20_000
"""How long a connection with calls under way may be silent before it is asked for a sign."""
KEEPALIVE_TIMEOUT_MS = 5_000
"""How soon the sign must come; else the calls fail and a new connection is made."""

ANEW_SECONDS = 5.0
"""For how long a channel may lead nowhere. By then it has looked the name up four times."""
_LEAVE_SECONDS = 60.0
"""How long calls under way may take on a channel that was replaced."""

_REPLICAS = 3
"""How many are asked at a time whether they are ready: fewer are asked where fewer are there."""


def service_config(service: ServiceDescriptor) -> dict[str, Any]:
    """The gRPC service config: round robin, and retries for the idempotent methods only."""
    repeatable = [
        {"service": service.full_name, "method": method.name}
        for method in service.methods
        if method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN
    ]
    return {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": repeatable, "retryPolicy": _RETRY}] if repeatable else [],
    }


def open_channel(target: str, service: ServiceDescriptor) -> grpc.aio.Channel:
    """A channel to every replica behind `target` (`host:port` or `dns:///host:port`)."""
    return grpc.aio.insecure_channel(
        target,
        options=[
            ("grpc.service_config", json.dumps(service_config(service))),
            # A replica that comes back is tried again within a second, not within two minutes.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1000),
            # And where a connection ended, its name is looked up again that soon.
            ("grpc.dns_min_time_between_resolutions_ms", 1000),
            ("grpc.keepalive_time_ms", KEEPALIVE_MS),
            ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_MS),
            # Without it the line above is for nothing: a ping of its own waits for a minute.
            ("grpc.http2.ping_timeout_ms", KEEPALIVE_TIMEOUT_MS),
            # Else it would begin with what other channels to the address found, closed ones, too:
            # for a second it would say that a process is away whose successor serves already.
            ("grpc.use_local_subchannel_pool", 1),
            # Inside calls go straight to their service, whatever proxy the environment names.
            ("grpc.enable_http_proxy", 0),
        ],
        interceptors=tracing.client_interceptors(),
    )


async def check_serving(channel: grpc.aio.Channel, seconds: float = 1.0) -> None:
    """Ask the service behind a channel whether it is ready. Raises AppError if it is not.

    Several replicas are asked at once, and one that is ready is enough. (Asked one after the other,
    round robin would send the question to whichever replica the calls in between had left over.)
    """
    asked = [asyncio.create_task(_check_one(channel, seconds)) for _ in range(_REPLICAS)]
    waiting = set(asked)
    try:
        while waiting:
            answered, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if any(one.exception() is None for one in answered):
                return
        asked[0].result()
    finally:
        for one in waiting:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


async def _check_one(channel: grpc.aio.Channel, seconds: float) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)  # Its types know no asynchronous channels.
    try:
        reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
    except grpc.aio.AioRpcError as error:
        raise status.from_rpc_error(error) from error
    if reply.status != health_pb2.HealthCheckResponse.SERVING:
        raise Unavailable("The service is not ready.", "NOT_READY")


class Caller:
    """Makes the calls of one service.

    It sends the request's id along, measures the time and turns a status into the error it stands
    for.
    """

    def __init__(self, service: ServiceDescriptor) -> None:
        self._service = service.full_name

    async def unary(
        self,
        method: str,
        stub: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        seconds: float,
    ) -> Response:
        """Call and wait for the answer, for at most `seconds`. Raises AppError."""
        with self._observed(method):
            return await stub(request, timeout=seconds, metadata=_metadata())

    async def stream(
        self,
        method: str,
        stub: grpc.aio.UnaryStreamMultiCallable[Request, Response],
        request: Request,
        seconds: float,
    ) -> AsyncGenerator[Response, None]:
        """Call and yield the answers, all within `seconds`. Raises AppError.

        Who leaves ahead of the last answer ends the call, too: the service would go on.
        """
        with self._observed(method):
            call = stub(request, timeout=seconds, metadata=_metadata())
            try:
                async for response in call:
                    yield response
            finally:
                call.cancel()

    def failure(self, method: str, number: int, message: str, reason: str) -> AppError:
        """The error that a part of a call ended with, by the number of its status."""
        return self._of(method, status.from_parts(number, message, reason))

    def _of(self, method: str, failure: AppError) -> AppError:
        failure.call = f"{self._service}/{method}"
        return failure

    @contextmanager
    def _observed(self, method: str) -> Iterator[None]:
        started = time.perf_counter()
        code = "CANCELLED"
        try:
            yield
            code = "OK"
        except grpc.aio.AioRpcError as error:
            code = error.code().name
            raise self._of(method, status.from_rpc_error(error)) from error
        finally:
            metrics.CLIENT_SECONDS.labels(self._service, method, code).observe(
                time.perf_counter() - started
            )


class ServiceClient(Generic[Stub]):
    """A channel to one service, whose replacement and end are seen to here for all clients."""

    def __init__(
        self, address: str, service: ServiceDescriptor, stub: Callable[[grpc.aio.Channel], Stub]
    ) -> None:
        self._address = address
        self._service = service
        self._make_stub = stub
        self._caller = Caller(service)
        self._away_since: float | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._open()

    async def check(self) -> None:
        """Return if the service says that it is ready. Raises AppError, whose reason says why not.

        To be called once a second, since it also looks after the channel. gRPC looks a name that
        does not exist up less and less often, in the end every two minutes. So a channel that led
        nowhere for `ANEW_SECONDS` is replaced by a new one, which begins with frequent look-ups.
        """
        away = False
        try:
            await check_serving(self._channel)
        except AppError as error:
            away = error.reason == "UNAVAILABLE"
            raise
        finally:
            self._note(away)

    async def close(self) -> None:
        """Close the channel; calls under way end with an error."""
        for leaving in self._leaving:
            leaving.cancel()
        await self._channel.close()

    async def _call(
        self,
        stub: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        seconds: float,
    ) -> Response:
        """Make the call that the type of `request` names: `GetLinkRequest` that of `GetLink`.

        Raises AppError.
        """
        method = type(request).__name__.removesuffix("Request")
        return await self._caller.unary(method, stub, request, seconds)

    def _open(self) -> None:
        self._channel = open_channel(self._address, self._service)
        self._stub = self._make_stub(self._channel)

    def _note(self, away: bool) -> None:
        now = time.monotonic()
        if not away:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = now
        elif now - self._away_since >= ANEW_SECONDS:
            self._away_since = now
            leaving = asyncio.create_task(self._channel.close(_LEAVE_SECONDS))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            self._open()


def _metadata() -> tuple[tuple[str, str], ...]:
    current = request_id.current()
    return ((request_id.HEADER, current),) if current else ()
