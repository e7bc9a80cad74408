"""Clients of the services' operator ports. Every call raises `services.shared.errors.AppError`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from atajo.analytics.v1 import analytics_pb2, analytics_pb2_grpc
from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from atajo.links.v1 import links_pb2, links_pb2_grpc
from services.shared.rpc.client import ServiceClient

_CALL_SECONDS = 30.0

PAGE_SIZE = 100
"""Reports or decisions on a page."""

CLASSES = {
    name.removeprefix("BLOCK_REASON_").lower(): number
    for name, number in links_pb2.BlockReason.items()
    if number
}
"""The classes of blocks and reports."""
ROLES = {
    name.removeprefix("ROLE_").lower(): number for name, number in auth_pb2.Role.items() if number
}
"""The roles of accounts."""


class AuthClient(ServiceClient["auth_pb2_grpc.AdminServiceAsyncStub"]):
    """auth's operations for the operator."""

    service = auth_pb2.DESCRIPTOR.services_by_name["AdminService"]
    stub_class = auth_pb2_grpc.AdminServiceStub
    call_seconds = _CALL_SECONDS

    async def close_account(self, email: str) -> str:
        """Close an account; return its id. Reasons: NO_ACCOUNT, LAST_ADMINISTRATOR."""
        reply = await self._call(self._stub.CloseAccount, auth_pb2.CloseAccountRequest(email=email))
        return reply.account_id

    async def find_account(self, email: str) -> str:
        """Return the id of an open account. Reason: NO_ACCOUNT."""
        reply = await self._call(self._stub.FindAccount, auth_pb2.FindAccountRequest(email=email))
        return reply.account_id

    async def create_reset_code(self, email: str) -> auth_pb2.CreateResetCodeResponse:
        """Return a code that sets the password of an account. Reason: NO_ACCOUNT."""
        request = auth_pb2.CreateResetCodeRequest(email=email)
        return await self._call(self._stub.CreateResetCode, request)

    async def set_role(self, email: str, role: str) -> None:
        """Set the role of an account, one of `ROLES`. Reasons: NO_ACCOUNT, LAST_ADMINISTRATOR."""
        request = auth_pb2.SetRoleRequest(email=email, role=ROLES[role])
        await self._call(self._stub.SetRole, request)

    async def invite(self, email: str) -> auth_pb2.InviteResponse:
        """Return an invitation for an e-mail address, or for anyone if it is empty.

        Reasons: INVALID_EMAIL, TOO_MANY_INVITATIONS.
        """
        return await self._call(self._stub.Invite, auth_pb2.InviteRequest(email=email))

    async def remove_account(self, account: str) -> None:
        """Remove a closed account."""
        request = auth_pb2.RemoveAccountRequest(account_id=account)
        await self._call(self._stub.RemoveAccount, request)


class MaintenanceClient(ServiceClient["links_pb2_grpc.MaintenanceServiceAsyncStub"]):
    """links' operations on many links."""

    service = links_pb2.DESCRIPTOR.services_by_name["MaintenanceService"]
    stub_class = links_pb2_grpc.MaintenanceServiceStub
    call_seconds = _CALL_SECONDS

    async def withdraw_link(self, code: str) -> str:
        """Withdraw a link by code or scan code; return its link code, empty if there is none."""
        reply = await self._call(self._stub.WithdrawLink, links_pb2.WithdrawLinkRequest(code=code))
        return reply.code

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        """Withdraw up to 250 links of an account; return their number, and whether to repeat."""
        request = links_pb2.RemoveAccountLinksRequest(account_id=account)
        reply = await self._call(self._stub.RemoveAccountLinks, request)
        return reply.removed, reply.more

    async def account_codes(self, account: str) -> list[str]:
        """Return the codes of up to 1000 links of an account, in every state."""
        request = links_pb2.ListAccountCodesRequest(account_id=account)
        reply = await self._call(self._stub.ListAccountCodes, request)
        return list(reply.codes)

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        """Purge links by code or scan code; return the codes that are purged now."""
        reply = await self._call(self._stub.PurgeLinks, links_pb2.PurgeLinksRequest(codes=codes))
        return list(reply.codes)


class ModerationClient(ServiceClient["links_pb2_grpc.ModerationServiceAsyncStub"]):
    """links' operations for the operator's decisions."""

    service = links_pb2.DESCRIPTOR.services_by_name["ModerationService"]
    stub_class = links_pb2_grpc.ModerationServiceStub
    call_seconds = _CALL_SECONDS

    async def block_link(self, code: str, class_name: str, comment: str) -> None:
        """Block a link as one of `CLASSES`. Reasons: INVALID_CAUSE, NO_LINK."""
        request = links_pb2.BlockLinkRequest(code=code, reason=CLASSES[class_name], cause=comment)
        await self._call(self._stub.BlockLink, request)

    async def unblock_link(self, code: str, comment: str) -> None:
        """Remove the block of a link. Reasons: INVALID_CAUSE, NO_LINK."""
        request = links_pb2.UnblockLinkRequest(code=code, cause=comment)
        await self._call(self._stub.UnblockLink, request)

    async def record_reset_link(self, account_id: str) -> None:
        """Record that a reset link was created for an account."""
        request = links_pb2.RecordResetLinkRequest(account_id=account_id)
        await self._call(self._stub.RecordResetLink, request)

    async def block_pattern(self, pattern: str, class_name: str, comment: str) -> None:
        """Block a host or a path prefix as one of `CLASSES`.

        Reasons: INVALID_ADDRESS, INVALID_CAUSE, TOO_MANY_ADDRESSES.
        """
        request = links_pb2.BlockAddressRequest(
            address=pattern, reason=CLASSES[class_name], cause=comment
        )
        await self._call(self._stub.BlockAddress, request)

    async def unblock_pattern(self, pattern: str, comment: str) -> None:
        """Remove the block of a pattern. Reasons: INVALID_ADDRESS, INVALID_CAUSE, NO_BLOCK."""
        request = links_pb2.UnblockAddressRequest(address=pattern, cause=comment)
        await self._call(self._stub.UnblockAddress, request)

    async def reports(self, after: str) -> links_pb2.ListReportsResponse:
        """Return a page of pending reports, after that of a previous answer.

        Reasons: INVALID_CURSOR.
        """
        return await self._call(self._stub.ListReports, links_pb2.ListReportsRequest(after=after))

    async def dismiss(self, code: str, comment: str) -> int:
        """Dismiss the reports of a link; return their number. Reasons: INVALID_CAUSE, NO_REPORT."""
        request = links_pb2.DismissReportsRequest(code=code, cause=comment)
        reply = await self._call(self._stub.DismissReports, request)
        return reply.dismissed

    async def decisions(self, skip: int, text: str) -> links_pb2.ListDecisionsResponse:
        """Return up to `PAGE_SIZE` decisions that contain a text, newest first.

        Reasons: INVALID_QUERY.
        """
        request = links_pb2.ListDecisionsRequest(skip=skip, text=text)
        return await self._call(self._stub.ListDecisions, request)

    async def explain_link(self, code: str) -> links_pb2.ExplainBlockResponse:
        """Explain why a link is blocked, or not. Reasons: NO_LINK."""
        return await self._call(self._stub.ExplainBlock, links_pb2.ExplainBlockRequest(code=code))

    async def explain_url(self, url: str) -> links_pb2.ExplainBlockResponse:
        """Explain why a host or URL is blocked, or not. Reasons: INVALID_ADDRESS."""
        request = links_pb2.ExplainBlockRequest(address=url)
        return await self._call(self._stub.ExplainBlock, request)


class AnalyticsClient(ServiceClient["analytics_pb2_grpc.AdminServiceAsyncStub"]):
    """analytics' operations for the operator."""

    service = analytics_pb2.DESCRIPTOR.services_by_name["AdminService"]
    stub_class = analytics_pb2_grpc.AdminServiceStub
    call_seconds = _CALL_SECONDS

    async def remove_counts(self, codes: Sequence[str]) -> None:
        """Delete the counts of at most 100 links."""
        await self._call(self._stub.RemoveCounts, analytics_pb2.RemoveCountsRequest(codes=codes))


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
