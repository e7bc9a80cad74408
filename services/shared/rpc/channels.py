"""Channels to all replicas of a service: load balancing, retries and health checks.

Only methods whose `idempotency_level` is set in the proto are retried.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.shared.errors import Unavailable
from services.shared.observability import tracing
from services.shared.rpc import status

_RETRY = {
    "maxAttempts": 3,
    "initialBackoff": "0.05s",
    "maxBackoff": "0.5s",
    "backoffMultiplier": 3,
    # A server that stops drops calls it has received but not handled. They end as CANCELLED.
    "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
}

KEEPALIVE_MS = 20_000
"""How long a connection with running calls may be silent before a keepalive ping."""
KEEPALIVE_TIMEOUT_MS = 5_000
"""Timeout of a keepalive ping, after which the calls fail and the channel reconnects."""

_CHECKED_REPLICAS = 3
"""Number of replicas that are asked for their health at once, if there are so many."""


def service_config(service: ServiceDescriptor) -> dict[str, Any]:
    """Return the gRPC service config: round robin, and retries of the idempotent methods."""
    idempotent = [
        {"service": service.full_name, "method": method.name}
        for method in service.methods
        if method.GetOptions().idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN
    ]
    return {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": idempotent, "retryPolicy": _RETRY}] if idempotent else [],
    }


def open_channel(target: str, service: ServiceDescriptor) -> grpc.aio.Channel:
    """Open a channel to all replicas behind `target` (`host:port` or `dns:///host:port`)."""
    return grpc.aio.insecure_channel(
        target,
        options=[
            ("grpc.service_config", json.dumps(service_config(service))),
            # Reconnect to a replica that is back within a second. The default is two minutes.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1000),
            # Resolve the name again that soon after a connection ended.
            ("grpc.dns_min_time_between_resolutions_ms", 1000),
            ("grpc.keepalive_time_ms", KEEPALIVE_MS),
            ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_MS),
            # Overrides the keepalive timeout, and is a minute by default.
            ("grpc.http2.ping_timeout_ms", KEEPALIVE_TIMEOUT_MS),
            # By default, a channel starts with the connection state of other channels to the same
            # address, including closed ones. For a second it would report a process as away whose
            # successor already serves.
            ("grpc.use_local_subchannel_pool", 1),
            # Internal calls never go through a proxy that the environment names.
            ("grpc.enable_http_proxy", 0),
        ],
        interceptors=tracing.client_interceptors(),
    )


async def check_serving(channel: grpc.aio.Channel, seconds: float = 1.0) -> None:
    """Return if the service behind a channel is ready. Raises AppError if it is not.

    Asks several replicas at once; one that is ready is enough. (With one question at a time, other
    calls on the channel would determine which replica round robin picks.)
    """
    checks = [asyncio.create_task(_check_one(channel, seconds)) for _ in range(_CHECKED_REPLICAS)]
    waiting = set(checks)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if any(check.exception() is None for check in done):
                return
        checks[0].result()
    finally:
        for check in waiting:
            check.cancel()
        await asyncio.gather(*checks, return_exceptions=True)


async def _check_one(channel: grpc.aio.Channel, seconds: float) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)  # Its types do not know asynchronous channels.
    try:
        reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
    except grpc.aio.AioRpcError as error:
        raise status.from_rpc_error(error) from error
    if reply.status != health_pb2.HealthCheckResponse.SERVING:
        raise Unavailable("The service is not ready.", "NOT_READY")
