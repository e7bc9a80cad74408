"""The calls the operator's command makes, at the ports that services have for it.

Each raises `services.runtime.errors.AppError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from atajo.analytics.v1 import analytics_pb2, analytics_pb2_grpc
from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from atajo.links.v1 import links_pb2, links_pb2_grpc
from services.runtime.client import Caller, open_channel

CALL_SECONDS = 30.0
LIST_SECONDS = 300.0
"""A removal may take its time: the links of an account are listed while they are removed."""

_AUTH = auth_pb2.DESCRIPTOR.services_by_name["AdminService"]
_LINKS = links_pb2.DESCRIPTOR.services_by_name["AdminService"]
_ANALYTICS = analytics_pb2.DESCRIPTOR.services_by_name["AdminService"]


class Services:
    """The services as a removal needs them."""

    def __init__(
        self,
        auth: auth_pb2_grpc.AdminServiceAsyncStub,
        links: links_pb2_grpc.AdminServiceAsyncStub,
        analytics: analytics_pb2_grpc.AdminServiceAsyncStub,
    ) -> None:
        self._auth, self._auth_calls = auth, Caller(_AUTH)
        self._links, self._links_calls = links, Caller(_LINKS)
        self._analytics, self._analytics_calls = analytics, Caller(_ANALYTICS)

    async def close_account(self, email: str) -> str:
        """Close an account; returns its identifier. Reason: NO_ACCOUNT."""
        request = auth_pb2.CloseAccountRequest(email=email)
        reply = await self._auth_calls.unary(
            "CloseAccount", self._auth.CloseAccount, request, CALL_SECONDS
        )
        return reply.account_id

    async def remove_account(self, account: str) -> None:
        """Remove a closed account."""
        request = auth_pb2.RemoveAccountRequest(account_id=account)
        await self._auth_calls.unary(
            "RemoveAccount", self._auth.RemoveAccount, request, CALL_SECONDS
        )

    async def codes_of(self, account: str) -> AsyncIterator[list[str]]:
        """The codes of an account's links, in pages of at most 1000."""
        request = links_pb2.ListLinksRequest(account_id=account)
        pages = self._links_calls.stream("ListLinks", self._links.ListLinks, request, LIST_SECONDS)
        async for page in pages:
            yield [link.code for link in page.links]

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        """Purge links; returns those of the codes that were purged, now or before."""
        request = links_pb2.PurgeLinksRequest(codes=codes)
        reply = await self._links_calls.unary(
            "PurgeLinks", self._links.PurgeLinks, request, CALL_SECONDS
        )
        return list(reply.codes)

    async def remove_counts(self, codes: Sequence[str]) -> None:
        """Forget the visits of at most 100 links."""
        request = analytics_pb2.RemoveCountsRequest(codes=codes)
        await self._analytics_calls.unary(
            "RemoveCounts", self._analytics.RemoveCounts, request, CALL_SECONDS
        )


@asynccontextmanager
async def connected(addresses: Mapping[str, str]) -> AsyncIterator[Services]:
    """The services at their addresses, by name, until the end."""
    async with AsyncExitStack() as stack:
        auth, links, analytics = [
            await stack.enter_async_context(open_channel(addresses[name], service))
            for name, service in (("auth", _AUTH), ("links", _LINKS), ("analytics", _ANALYTICS))
        ]
        yield Services(
            auth_pb2_grpc.AdminServiceStub(auth),
            links_pb2_grpc.AdminServiceStub(links),
            analytics_pb2_grpc.AdminServiceStub(analytics),
        )
