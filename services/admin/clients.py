"""Clients of the services' operator ports. Every call raises `services.shared.errors.AppError`."""

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
"""Reports or decisions on a page."""

CLASSES = {
    "phishing": links_pb2.BLOCK_REASON_PHISHING,
    "malware": links_pb2.BLOCK_REASON_MALWARE,
    "spam": links_pb2.BLOCK_REASON_SPAM,
    "illegal": links_pb2.BLOCK_REASON_ILLEGAL,
    "other": links_pb2.BLOCK_REASON_OTHER,
}
"""The classes of blocks and reports."""


class AuthClient(ServiceClient["auth_pb2_grpc.AdminServiceAsyncStub"]):
    """auth's operations for the operator."""

    def __init__(self, endpoint: str) -> None:
        service = auth_pb2.DESCRIPTOR.services_by_name["AdminService"]
        super().__init__(endpoint, service, auth_pb2_grpc.AdminServiceStub)

    async def close_account(self, email: str) -> str:
        """Close an account; return its id. Reason: NO_ACCOUNT."""
        request = auth_pb2.CloseAccountRequest(email=email)
        reply = await self._call(self._stub.CloseAccount, request, CALL_SECONDS)
        return reply.account_id

    async def find_account(self, email: str) -> str:
        """Return the id of an open account. Reason: NO_ACCOUNT."""
        request = auth_pb2.FindAccountRequest(email=email)
        reply = await self._call(self._stub.FindAccount, request, CALL_SECONDS)
        return reply.account_id

    async def create_reset_code(self, email: str) -> auth_pb2.CreateResetCodeResponse:
        """Return a code that sets the password of an account. Reason: NO_ACCOUNT."""
        request = auth_pb2.CreateResetCodeRequest(email=email)
        return await self._call(self._stub.CreateResetCode, request, CALL_SECONDS)

    async def remove_account(self, account: str) -> None:
        """Remove a closed account."""
        request = auth_pb2.RemoveAccountRequest(account_id=account)
        await self._call(self._stub.RemoveAccount, request, CALL_SECONDS)


class MaintenanceClient(ServiceClient["links_pb2_grpc.MaintenanceServiceAsyncStub"]):
    """links' operations on many links."""

    def __init__(self, endpoint: str) -> None:
        service = links_pb2.DESCRIPTOR.services_by_name["MaintenanceService"]
        super().__init__(endpoint, service, links_pb2_grpc.MaintenanceServiceStub)

    async def withdraw_link(self, code: str) -> str:
        """Withdraw a link by code or scan code; return its link code, empty if there is none."""
        request = links_pb2.WithdrawLinkRequest(code=code)
        reply = await self._call(self._stub.WithdrawLink, request, CALL_SECONDS)
        return reply.code

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        """Withdraw up to 250 links of an account; return their number, and whether to repeat."""
        request = links_pb2.RemoveAccountLinksRequest(account_id=account)
        reply = await self._call(self._stub.RemoveAccountLinks, request, CALL_SECONDS)
        return reply.removed, reply.more

    async def account_codes(self, account: str) -> list[str]:
        """Return the codes of up to 1000 links of an account, in every state."""
        request = links_pb2.ListAccountCodesRequest(account_id=account)
        reply = await self._call(self._stub.ListAccountCodes, request, CALL_SECONDS)
        return list(reply.codes)

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        """Purge links by code or scan code; return the codes that are purged now."""
        request = links_pb2.PurgeLinksRequest(codes=codes)
        reply = await self._call(self._stub.PurgeLinks, request, CALL_SECONDS)
        return list(reply.codes)


class ModerationClient(ServiceClient["links_pb2_grpc.ModerationServiceAsyncStub"]):
    """links' operations for the operator's decisions."""

    def __init__(self, endpoint: str) -> None:
        service = links_pb2.DESCRIPTOR.services_by_name["ModerationService"]
        super().__init__(endpoint, service, links_pb2_grpc.ModerationServiceStub)

    async def block_link(self, code: str, class_name: str, comment: str) -> None:
        """Block a link as one of `CLASSES`. Reasons: INVALID_CAUSE, NO_LINK."""
        request = links_pb2.BlockLinkRequest(code=code, reason=CLASSES[class_name], cause=comment)
        await self._call(self._stub.BlockLink, request, CALL_SECONDS)

    async def unblock_link(self, code: str, comment: str) -> None:
        """Remove the block of a link. Reasons: INVALID_CAUSE, NO_LINK."""
        request = links_pb2.UnblockLinkRequest(code=code, cause=comment)
        await self._call(self._stub.UnblockLink, request, CALL_SECONDS)

    async def record_reset_link(self, account_id: str) -> None:
        """Record that a reset link was created for an account."""
        request = links_pb2.RecordResetLinkRequest(account_id=account_id)
        await self._call(self._stub.RecordResetLink, request, CALL_SECONDS)

    async def block_pattern(self, pattern: str, class_name: str, comment: str) -> None:
        """Block a host or a path prefix as one of `CLASSES`.

        Reasons: INVALID_ADDRESS, INVALID_CAUSE, TOO_MANY_ADDRESSES.
        """
        request = links_pb2.BlockAddressRequest(
            address=pattern, reason=CLASSES[class_name], cause=comment
        )
        await self._call(self._stub.BlockAddress, request, CALL_SECONDS)

    async def unblock_pattern(self, pattern: str, comment: str) -> None:
        """Remove the block of a pattern. Reasons: INVALID_ADDRESS, INVALID_CAUSE, NO_BLOCK."""
        request = links_pb2.UnblockAddressRequest(address=pattern, cause=comment)
        await self._call(self._stub.UnblockAddress, request, CALL_SECONDS)

    async def reports(self, after: str) -> links_pb2.ListReportsResponse:
        """Return a page of pending reports, after that of a previous answer.

        Reasons: INVALID_CURSOR.
        """
        request = links_pb2.ListReportsRequest(after=after)
        return await self._call(self._stub.ListReports, request, CALL_SECONDS)

    async def dismiss(self, code: str, comment: str) -> int:
        """Dismiss the reports of a link; return their number. Reasons: INVALID_CAUSE, NO_REPORT."""
        request = links_pb2.DismissReportsRequest(code=code, cause=comment)
        reply = await self._call(self._stub.DismissReports, request, CALL_SECONDS)
        return reply.dismissed

    async def decisions(self, skip: int, text: str) -> links_pb2.ListDecisionsResponse:
        """Return up to `PAGE_SIZE` decisions that contain a text, newest first.

        Reasons: INVALID_QUERY.
        """
        request = links_pb2.ListDecisionsRequest(skip=skip, text=text)
        return await self._call(self._stub.ListDecisions, request, CALL_SECONDS)

    async def explain_link(self, code: str) -> links_pb2.ExplainBlockResponse:
        """Explain why a link is blocked, or not. Reasons: NO_LINK."""
        return await self._explain(links_pb2.ExplainBlockRequest(code=code))

    async def explain_url(self, url: str) -> links_pb2.ExplainBlockResponse:
        """Explain why a host or URL is blocked, or not. Reasons: INVALID_ADDRESS."""
        return await self._explain(links_pb2.ExplainBlockRequest(address=url))

    async def _explain(
        self, request: links_pb2.ExplainBlockRequest
    ) -> links_pb2.ExplainBlockResponse:
        return await self._call(self._stub.ExplainBlock, request, CALL_SECONDS)


class AnalyticsClient(ServiceClient["analytics_pb2_grpc.AdminServiceAsyncStub"]):
    """analytics' operations for the operator."""

    def __init__(self, endpoint: str) -> None:
        service = analytics_pb2.DESCRIPTOR.services_by_name["AdminService"]
        super().__init__(endpoint, service, analytics_pb2_grpc.AdminServiceStub)

    async def remove_counts(self, codes: Sequence[str]) -> None:
        """Delete the counts of at most 100 links."""
        request = analytics_pb2.RemoveCountsRequest(codes=codes)
        await self._call(self._stub.RemoveCounts, request, CALL_SECONDS)


@dataclass(frozen=True)
class Clients:
    """The clients of the operator's command."""

    auth: AuthClient
    links: MaintenanceClient
    moderation: ModerationClient
    analytics: AnalyticsClient


@asynccontextmanager
async def connected(endpoints: Mapping[str, str]) -> AsyncIterator[Clients]:
    """Yield clients of the services at their endpoints, by name; close them at the end."""
    async with AsyncExitStack() as stack:
        clients = Clients(
            AuthClient(endpoints["auth"]),
            MaintenanceClient(endpoints["links"]),
            ModerationClient(endpoints["links"]),
            AnalyticsClient(endpoints["analytics"]),
        )
        for client in (clients.auth, clients.links, clients.moderation, clients.analytics):
            stack.push_async_callback(client.close)
        yield clients
