"""The calls at the ports that services have for the operator.

Each raises `services.shared.errors.AppError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from atajo.analytics.v1 import analytics_pb2, analytics_pb2_grpc
from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from atajo.links.v1 import links_pb2, links_pb2_grpc
from services.shared.rpc.client import ServiceClient

CALL_SECONDS = 30.0

PAGE_SIZE = 100
"""Reports or decisions in one answer."""

REASONS = {
    "phishing": links_pb2.BLOCK_REASON_PHISHING,
    "malware": links_pb2.BLOCK_REASON_MALWARE,
    "spam": links_pb2.BLOCK_REASON_SPAM,
    "illegal": links_pb2.BLOCK_REASON_ILLEGAL,
    "other": links_pb2.BLOCK_REASON_OTHER,
}
"""Why a link can be blocked, by the class that people are told."""


class AuthClient(ServiceClient["auth_pb2_grpc.AdminServiceAsyncStub"]):
    """auth as the operator sees it."""

    def __init__(self, address: str) -> None:
        service = auth_pb2.DESCRIPTOR.services_by_name["AdminService"]
        super().__init__(address, service, auth_pb2_grpc.AdminServiceStub)

    async def close_account(self, email: str) -> str:
        """Close an account; returns its identifier. Reason: NO_ACCOUNT."""
        request = auth_pb2.CloseAccountRequest(email=email)
        reply = await self._caller.unary(
            "CloseAccount", self._stub.CloseAccount, request, CALL_SECONDS
        )
        return reply.account_id

    async def remove_account(self, account: str) -> None:
        """Remove a closed account."""
        request = auth_pb2.RemoveAccountRequest(account_id=account)
        await self._caller.unary("RemoveAccount", self._stub.RemoveAccount, request, CALL_SECONDS)


class MaintenanceClient(ServiceClient["links_pb2_grpc.MaintenanceServiceAsyncStub"]):
    """links, for work on many links."""

    def __init__(self, address: str) -> None:
        service = links_pb2.DESCRIPTOR.services_by_name["MaintenanceService"]
        super().__init__(address, service, links_pb2_grpc.MaintenanceServiceStub)

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        """Withdraw up to 250 links of an account; returns how many, and whether to ask again."""
        request = links_pb2.RemoveAccountLinksRequest(account_id=account)
        reply = await self._caller.unary(
            "RemoveAccountLinks", self._stub.RemoveAccountLinks, request, CALL_SECONDS
        )
        return reply.removed, reply.more

    async def account_codes(self, account: str) -> list[str]:
        """The codes of up to 1000 links of an account, of every state; none where it has none."""
        request = links_pb2.ListAccountCodesRequest(account_id=account)
        reply = await self._caller.unary(
            "ListAccountCodes", self._stub.ListAccountCodes, request, CALL_SECONDS
        )
        return list(reply.codes)

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        """Purge links by code or scan code; returns the codes of those that are purged."""
        request = links_pb2.PurgeLinksRequest(codes=codes)
        reply = await self._caller.unary("PurgeLinks", self._stub.PurgeLinks, request, CALL_SECONDS)
        return list(reply.codes)


class ModerationClient(ServiceClient["links_pb2_grpc.ModerationServiceAsyncStub"]):
    """links, for the operator's decisions."""

    def __init__(self, address: str) -> None:
        service = links_pb2.DESCRIPTOR.services_by_name["ModerationService"]
        super().__init__(address, service, links_pb2_grpc.ModerationServiceStub)

    async def block_link(self, code: str, reason: str, cause: str) -> None:
        """Block a link for one of `REASONS`. Reasons: INVALID_CAUSE, NO_LINK."""
        request = links_pb2.BlockLinkRequest(code=code, reason=REASONS[reason], cause=cause)
        await self._caller.unary("BlockLink", self._stub.BlockLink, request, CALL_SECONDS)

    async def unblock_link(self, code: str, cause: str) -> None:
        """Take the block of a link away. Reasons: INVALID_CAUSE, NO_LINK."""
        request = links_pb2.UnblockLinkRequest(code=code, cause=cause)
        await self._caller.unary("UnblockLink", self._stub.UnblockLink, request, CALL_SECONDS)

    async def block_address(self, address: str, reason: str, cause: str) -> None:
        """Block a host or the beginning of a path for one of `REASONS`.

        Reasons: INVALID_ADDRESS, INVALID_CAUSE, TOO_MANY_ADDRESSES.
        """
        request = links_pb2.BlockAddressRequest(
            address=address, reason=REASONS[reason], cause=cause
        )
        await self._caller.unary("BlockAddress", self._stub.BlockAddress, request, CALL_SECONDS)

    async def unblock_address(self, address: str, cause: str) -> None:
        """Take the block of an address away. Reasons: INVALID_ADDRESS, INVALID_CAUSE, NO_BLOCK."""
        request = links_pb2.UnblockAddressRequest(address=address, cause=cause)
        await self._caller.unary("UnblockAddress", self._stub.UnblockAddress, request, CALL_SECONDS)

    async def reports(self, after: str) -> links_pb2.ListReportsResponse:
        """Some reports that wait, behind those of an answer before. Reasons: INVALID_CURSOR."""
        request = links_pb2.ListReportsRequest(after=after)
        return await self._caller.unary(
            "ListReports", self._stub.ListReports, request, CALL_SECONDS
        )

    async def dismiss(self, code: str, cause: str) -> int:
        """Dismiss the reports of a link; how many. Reasons: INVALID_CAUSE, NO_REPORT."""
        request = links_pb2.DismissReportsRequest(code=code, cause=cause)
        reply = await self._caller.unary(
            "DismissReports", self._stub.DismissReports, request, CALL_SECONDS
        )
        return reply.dismissed

    async def decisions(self, skip: int) -> links_pb2.ListDecisionsResponse:
        """Up to `PAGE_SIZE` decisions, newest first, behind so many of them."""
        request = links_pb2.ListDecisionsRequest(skip=skip)
        return await self._caller.unary(
            "ListDecisions", self._stub.ListDecisions, request, CALL_SECONDS
        )


class AnalyticsClient(ServiceClient["analytics_pb2_grpc.AdminServiceAsyncStub"]):
    """analytics as the operator sees it."""

    def __init__(self, address: str) -> None:
        service = analytics_pb2.DESCRIPTOR.services_by_name["AdminService"]
        super().__init__(address, service, analytics_pb2_grpc.AdminServiceStub)

    async def remove_counts(self, codes: Sequence[str]) -> None:
        """Forget the visits of at most 100 links."""
        request = analytics_pb2.RemoveCountsRequest(codes=codes)
        await self._caller.unary("RemoveCounts", self._stub.RemoveCounts, request, CALL_SECONDS)


@dataclass(frozen=True)
class Clients:
    """The services that the operator's command calls."""

    auth: AuthClient
    links: MaintenanceClient
    moderation: ModerationClient
    analytics: AnalyticsClient


@asynccontextmanager
async def connected(addresses: Mapping[str, str]) -> AsyncIterator[Clients]:
    """The services at their addresses, by name, until the end."""
    async with AsyncExitStack() as stack:
        clients = Clients(
            AuthClient(addresses["auth"]),
            MaintenanceClient(addresses["links"]),
            ModerationClient(addresses["links"]),
            AnalyticsClient(addresses["analytics"]),
        )
        for client in (clients.auth, clients.links, clients.moderation, clients.analytics):
            stack.push_async_callback(client.close)
        yield clients
