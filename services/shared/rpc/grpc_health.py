"""The standard gRPC health service, which probes and clients in a cluster call."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

LIVENESS = "liveness"
"""A service name that is SERVING while the event loop runs, whether the process is ready or not."""

_STATUS = health_pb2.HealthCheckResponse


class GrpcHealth:
    """Reports readiness under the full names of the server's services and the empty name."""

    def __init__(self, server: grpc.aio.Server, full_names: Sequence[str]) -> None:
        self._servicer = health.aio.HealthServicer()
        self._names = ("", *full_names)
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def start(self) -> None:
        """Report that the process is alive but not ready."""
        await self._servicer.set(LIVENESS, _STATUS.SERVING)
        await self.set_ready(False)

    async def set_ready(self, is_ready: bool) -> None:
        """Report from now on whether the process is ready."""
        for name in self._names:
            await self._servicer.set(name, _STATUS.SERVING if is_ready else _STATUS.NOT_SERVING)
