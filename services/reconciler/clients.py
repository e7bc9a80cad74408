"""gRPC clients that implement `ports`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from atajo.analytics.v1 import analytics_pb2, analytics_pb2_grpc
from atajo.auth.v1 import auth_pb2
from atajo.links.v1 import links_pb2
from services.admin import clients
from services.reconciler.ports import ViewChanges
from services.shared.rpc.client import ServiceClient

CALL_SECONDS = 10.0
LEASE_SECONDS = 2.0
"""Short, since the lease expires soon if it cannot be renewed."""
RETURN_SECONDS = 0.5
"""Deadline for returning a lease. Shorter still, since it delays the end of the process."""


class AuthClient(clients.AuthClient):
    """Calls auth."""

    async def closed_accounts(self) -> list[str]:
        request = auth_pb2.ListClosedAccountsRequest()
        reply = await self._call(self._stub.ListClosedAccounts, request, CALL_SECONDS)
        return list(reply.account_ids)


class LinksClient(clients.MaintenanceClient):
    """Calls links."""

    async def take_lease(self, job: str, holder: str, seconds: int) -> bool:
        request = links_pb2.TakeLeaseRequest(job=job, holder=holder, seconds=seconds)
        deadline = LEASE_SECONDS if seconds else RETURN_SECONDS
        reply = await self._call(self._stub.TakeLease, request, deadline)
        return reply.held

    async def purgeable_links(self) -> list[str]:
        request = links_pb2.ListPurgeableRequest()
        reply = await self._call(self._stub.ListPurgeable, request, CALL_SECONDS)
        return list(reply.codes)

    async def codes_after(self, code: str) -> list[str]:
        request = links_pb2.ListCodesRequest(after=code)
        reply = await self._call(self._stub.ListCodes, request, CALL_SECONDS)
        return list(reply.codes)

    async def store_views(self, views: Mapping[str, int], cursor: str | None) -> None:
        request = links_pb2.RankLinksRequest(people=views, cursor=cursor)
        await self._call(self._stub.RankLinks, request, CALL_SECONDS)

    async def views_cursor(self) -> str | None:
        request = links_pb2.GetRankCursorRequest()
        reply = await self._call(self._stub.GetRankCursor, request, CALL_SECONDS)
        return reply.cursor if reply.HasField("cursor") else None


class _Totals(ServiceClient["analytics_pb2_grpc.AnalyticsServiceAsyncStub"]):
    """Calls the public port of analytics."""

    service = analytics_pb2.DESCRIPTOR.services_by_name["AnalyticsService"]
    stub_class = analytics_pb2_grpc.AnalyticsServiceStub

    async def views_of(self, codes: Sequence[str]) -> dict[str, int]:
        request = analytics_pb2.GetTotalsRequest(codes=codes)
        reply = await self._call(self._stub.GetTotals, request, CALL_SECONDS)
        return {code: totals.people for code, totals in reply.totals.items()}


class AnalyticsClient(clients.AnalyticsClient):
    """Calls both ports of analytics; `admin_address` is the operator's."""

    def __init__(self, address: str, admin_address: str) -> None:
        super().__init__(admin_address)
        self._totals = _Totals(address)

    async def view_changes(self, cursor: str | None) -> ViewChanges:
        request = analytics_pb2.ListVisitedRequest(cursor=cursor)
        reply = await self._call(self._stub.ListVisited, request, CALL_SECONDS)
        views = {code: totals.people for code, totals in reply.totals.items()}
        return ViewChanges(reply.cursor, views, reply.more, reply.truncated)

    async def views_of(self, codes: Sequence[str]) -> dict[str, int]:
        return await self._totals.views_of(codes)

    async def check(self) -> None:
        await asyncio.gather(super().check(), self._totals.check())

    async def close(self) -> None:
        await asyncio.gather(super().close(), self._totals.close())
