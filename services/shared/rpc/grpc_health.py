"""The standard gRPC health of a server: what probes and clients of a cluster ask."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

LIVENESS = "liveness"
"""A name beside the service's own: it is serving while the process turns, ready or not."""

_STATUS = health_pb2.HealthCheckResponse


class GrpcHealth:
    """Reports whether the process is ready, under its services' full names and the empty one."""

    def __init__(self, server: grpc.aio.Server, full_names: Sequence[str]) -> None:
        self._servicer = health.aio.HealthServicer()
        self._names = ("", *full_names)
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def start(self) -> None:
        """The process turns, and is not ready yet."""
        await self._servicer.set(LIVENESS, _STATUS.SERVING)
        await self.tell(False)

    async def tell(self, is_ready: bool) -> None:
        """From here on the process is ready, or is not."""
        for name in self._names:
            await self._servicer.set(name, _STATUS.SERVING if is_ready else _STATUS.NOT_SERVING)
