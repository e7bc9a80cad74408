"""The client of the links service, over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.ports import (
    UNLIMITED_ROWS,
    CreatedLinks,
    FormerUrl,
    Import,
    ImportResult,
    ImportRow,
    Link,
    LinkChanges,
    LinkPreview,
    LinkQuery,
    LinkQueryResult,
    NewLink,
    RowAllowance,
)
from gateway.redirects.resolution import (
    BlockReason,
    ChangeFeedPage,
    LinkState,
    Resolution,
    Resolutions,
    UnreadableLinks,
)
from gateway.support.batcher import Batcher, stopping
from services.shared.errors import AppError, Unavailable
from services.shared.rpc.client import ServiceClient
from services.shared.rpc.fields import (
    enum_members,
    enum_numbers,
    from_message,
    to_datetime,
    to_message,
)

# Timeouts in seconds.
RESOLVE_SECONDS = 2.0
CHANGES_SECONDS = 2.0
"""Changes must take effect within five seconds, which leaves time to ask another replica."""
LIST_SECONDS = 30.0
CLAIM_SECONDS = 20.0
"""A thousand writes on MongoDB."""

MAX_CREATIONS = 250
"""Maximum links that one call creates, the limit of the service."""
MAX_BATCHED_BYTES = 8192
"""Maximum size of a creation that shares a call, more than a valid one has. A call with as many as
possible takes half of gRPC's message limit, past which all of them would fail."""
MAX_PENDING_CREATIONS = 20_000
"""Maximum links that are being created: what links can create within a timeout."""

_STATES = enum_members(LinkState, pb.LinkState)
_REASONS = enum_members(BlockReason, pb.BlockReason)
_REASON_NUMBERS = enum_numbers(BlockReason, pb.BlockReason)

_Creation = tuple[pb.CreateLinkRequest, asyncio.Future[Resolution]]
"""A link to create, and the future of its caller."""


class LinksClient(ServiceClient["pb_grpc.LinksServiceAsyncStub"]):
    """The links service. The reason is NO_LINK for links that an owner does not have.

    Returned `Resolutions` are the new resolutions of edited short URLs, including scan codes.
    Concurrent creations share a call.
    """

    service = pb.DESCRIPTOR.services_by_name["LinksService"]
    stub_class = pb_grpc.LinksServiceStub

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._creations = Batcher(self._create_all, MAX_CREATIONS)
        self._pending_creations = 0

    async def create(
        self, code: str, url: str, owner: Owner | None, domain: str = ""
    ) -> Resolution:
        """Create a link, without an owner for None, and return its resolution.

        An empty domain is that of the public URL. Reasons: CODE_TAKEN, INVALID_*, ACCOUNT_FULL.
        """
        request = _to_creation(code, url, owner, domain)
        if self._pending_creations >= MAX_PENDING_CREATIONS:
            raise Unavailable("Too many links are being created.", "CREATIONS_OVERLOADED")
        self._pending_creations += 1
        try:
            if request.ByteSize() > MAX_BATCHED_BYTES:
                [outcome] = await self._outcomes([request])
                if isinstance(outcome, BaseException):
                    raise outcome
                return outcome
            created: asyncio.Future[Resolution] = asyncio.get_running_loop().create_future()
            self._creations.submit((request, created))
            return await created
        finally:
            self._pending_creations -= 1

    async def close(self) -> None:
        """Close the channel. Running calls fail."""
        unsent = await self._creations.close()
        _settle(unsent, [stopping()] * len(unsent))
        await super().close()

    async def _create_all(self, creations: Sequence[_Creation]) -> None:
        """Create links, and pass each outcome to its caller."""
        # Callers may be cancelled.
        waiting = [creation for creation in creations if not creation[1].done()]
        outcomes: Sequence[Resolution | BaseException] = [stopping()] * len(waiting)
        try:
            outcomes = await self._outcomes([request for request, _ in waiting])
        except Exception as error:  # Every caller receives it.
            outcomes = [error] * len(waiting)
        finally:
            _settle(waiting, outcomes)

    async def _outcomes(
        self, requests: Sequence[pb.CreateLinkRequest]
    ) -> Sequence[Resolution | BaseException]:
        """Create links, and return the outcome of each, in their order. Raises AppError."""
        if not requests:
            return []
        if len(requests) == 1:
            created = await self._call(self._stub.CreateLink, requests[0])
            return [_parse_resolution(created.resolution)]
        reply = await self._call(self._stub.CreateLinks, pb.CreateLinksRequest(links=requests))
        return [
            _parse_resolution(creation.resolution)
            if creation.HasField("resolution")
            else self._failure("CreateLinks", creation.error)
            for _, creation in zip(requests, reply.creations, strict=True)
        ]

    def _failure(self, method: str, error: pb.Error) -> AppError:
        """Return why one of several creations failed."""
        return self._caller.failure(method, error.code, error.message, error.reason)

    async def create_all(
        self,
        account: Account,
        links: Sequence[NewLink],
        idempotency_key: bytes,
        fingerprint: bytes,
    ) -> CreatedLinks:
        """Create up to 100 links, each with an outcome of its own.

        For 24 hours, a call with the same idempotency key and fingerprint (SHA-256 of the request)
        changes nothing, and returns the outcomes of the first. Reasons: IDEMPOTENCY_MISMATCH,
        IN_PROGRESS, TOO_MANY_CODES, ACCOUNT_FULL; of a link: CODE_TAKEN, CODE_RESERVED,
        URL_REFUSED, INVALID_*.
        """
        request = pb.CreateAccountLinksRequest(
            account_id=account.id,
            idempotency_key=idempotency_key,
            fingerprint=fingerprint,
            links=[to_message(pb.NewLink, link) for link in links],
        )
        reply = await self._call(self._stub.CreateAccountLinks, request)
        outcomes = [
            parse_link(creation.link)
            if creation.HasField("link")
            else self._failure("CreateAccountLinks", creation.error)
            for creation in reply.creations
        ]
        resolutions = _parse_resolutions(reply.resolutions)
        return CreatedLinks(outcomes, resolutions, reply.repetition)

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        request = pb.ResolveLinksRequest(codes=codes)
        reply = await self._call(self._stub.ResolveLinks, request, RESOLVE_SECONDS)
        found = _parse_resolutions(reply.resolutions)
        if reply.unreadable:
            raise UnreadableLinks(frozenset(reply.unreadable), found)
        return found

    async def changes(self, cursor: str | None) -> ChangeFeedPage:
        request = pb.ListChangesRequest(cursor=cursor)
        reply = await self._call(self._stub.ListChanges, request, CHANGES_SECONDS)
        resolutions = _parse_resolutions(reply.resolutions)
        return from_message(ChangeFeedPage, reply, resolutions=resolutions)

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        """Return an owner's link, and its previous URLs, the most recent first."""
        request = pb.GetLinkRequest(owner=_to_owner(owner), code=code)
        reply = await self._call(self._stub.GetLink, request)
        history = [from_message(FormerUrl, former) for former in reply.history]
        return parse_link(reply.link), history

    async def preview(self, code: str) -> LinkPreview:
        """Return a preview of any link, regardless of owner."""
        reply = await self._call(self._stub.PreviewLink, pb.PreviewLinkRequest(code=code))
        return from_message(LinkPreview, reply.link, state=_parse_state(reply.link.state))

    async def query(self, owner: Owner, query: LinkQuery) -> LinkQueryResult:
        """Return a page of an owner's links. Reasons: INVALID_*, TOO_MANY_QUERIES."""
        request = to_message(
            pb.QueryLinksRequest, query, owner=_to_owner(owner), without_total=not query.with_total
        )
        reply = await self._call(self._stub.QueryLinks, request)
        return LinkQueryResult(
            [parse_link(link) for link in reply.links], reply.total, reply.cursor
        )

    async def owned_codes(self, owner: Owner) -> list[str]:
        """Return the codes of an owner's links that are not removed, at most 100,000.

        Reasons: TOO_MANY_LINKS, TOO_MANY_QUERIES.
        """
        request = pb.ListOwnedCodesRequest(owner=_to_owner(owner))
        pages = self._caller.stream(
            "ListOwnedCodes", self._stub.ListOwnedCodes, request, LIST_SECONDS
        )
        return [code async for page in pages for code in page.codes]

    async def check_statistics_access(self, caller: Owner | None, code: str) -> None:
        """Raise NotFound unless a caller (None: no owner) may see the statistics of a link."""
        request = pb.CheckStatisticsAccessRequest(
            caller=_to_owner(caller) if caller else None, code=code
        )
        await self._call(self._stub.CheckStatisticsAccess, request)

    async def change(
        self, owner: Owner, code: str, changes: LinkChanges
    ) -> tuple[Link, Resolutions]:
        """Apply all changes to a link, or none, and return the changed link.

        Reasons: NO_CHANGES, INVALID_*, TOO_MANY_URLS.
        """
        request = pb.ChangeLinkRequest(
            owner=_to_owner(owner),
            code=code,
            changes=to_changes(changes),
        )
        reply = await self._call(self._stub.ChangeLink, request)
        return parse_link(reply.link), _parse_resolutions(reply.resolutions)

    async def remove(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        """Remove all links, or none. They can be restored. Reason: TOO_MANY_CODES."""
        request = pb.RemoveLinksRequest(owner=_to_owner(owner), codes=codes)
        reply = await self._call(self._stub.RemoveLinks, request)
        return _parse_resolutions(reply.resolutions)

    async def restore(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        """Restore all links, or none, that were removed in the last 30 days.

        Reason: TOO_MANY_CODES.
        """
        request = pb.RestoreLinksRequest(owner=_to_owner(owner), codes=codes)
        reply = await self._call(self._stub.RestoreLinks, request)
        return _parse_resolutions(reply.resolutions)

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        """Report any link to the operator, regardless of owner and state.

        `details` and `contact` (an e-mail address) may be empty. Returns the report id, which all
        reports of a link for the same reason share. Reasons: NO_LINK, INVALID_*.
        """
        request = pb.ReportLinkRequest(
            code=code, reason=_REASON_NUMBERS[reason], details=details, contact=contact
        )
        reply = await self._call(self._stub.ReportLink, request)
        return reply.report_id

    async def create_scan_code(self, owner: Owner, code: str) -> tuple[str, Resolutions]:
        """Return the scan code of an owner's link, which is created by the first call."""
        request = pb.CreateScanCodeRequest(owner=_to_owner(owner), code=code)
        reply = await self._call(self._stub.CreateScanCode, request)
        resolutions = [reply.resolution] if reply.HasField("resolution") else []
        return reply.scan_code, _parse_resolutions(resolutions)

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        """Move some of a guest's links to an account.

        Returns how many moved, and whether there may be more, which takes another call. Reason:
        ACCOUNT_FULL.
        """
        request = pb.ClaimLinksRequest(guest_key_hash=guest.key_hash, account_id=account.id)
        reply = await self._call(self._stub.ClaimLinks, request, CLAIM_SECONDS)
        return reply.claimed, reply.more

    async def check_import(self, account: Account, rows: Sequence[ImportRow]) -> list[ImportResult]:
        """Return the results that up to 500 rows of a new import would have.

        Reason: INVALID_IMPORT.
        """
        request = pb.CheckImportRequest(
            account_id=account.id, rows=[to_message(pb.ImportRow, row) for row in rows]
        )
        reply = await self._call(self._stub.CheckImport, request)
        return [from_message(ImportResult, result) for result in reply.results]

    async def import_links(
        self,
        account: Account,
        import_id: str,
        rows: Sequence[ImportRow],
        allowance: RowAllowance = UNLIMITED_ROWS,
    ) -> tuple[list[ImportResult], Resolutions, int]:
        """Import up to 200 rows.

        Returns their results, the links that this call created, and how many rows it stored. A row
        that was imported before has its first result, and is not stored again. Reasons:
        INVALID_IMPORT, TOO_MANY_ROWS, ACCOUNT_FULL, CLIENT_LIMIT.
        """
        request = pb.ImportLinksRequest(
            account_id=account.id,
            import_id=import_id,
            rows=[to_message(pb.ImportRow, row) for row in rows],
            max_new_rows=allowance.rows,
            max_new_short_codes=allowance.short_codes,
        )
        reply = await self._call(self._stub.ImportLinks, request)
        results = [from_message(ImportResult, result) for result in reply.results]
        stored = reply.stored_rows if reply.HasField("stored_rows") else len(rows)
        return results, _parse_resolutions(reply.resolutions), stored

    async def undo_import(
        self, account: Account, import_id: str, after: int | None
    ) -> tuple[int, Resolutions, int | None]:
        """Remove some unchanged links of an import, after a row number if one is given.

        Returns how many of its links undoing has removed so far, their resolutions, and where to
        continue, which is None at the end. Reasons: INVALID_IMPORT, NO_IMPORT.
        """
        request = pb.UndoImportRequest(account_id=account.id, import_id=import_id, after=after)
        reply = await self._call(self._stub.UndoImport, request)
        next_after = reply.next_after if reply.HasField("next_after") else None
        return reply.removed, _parse_resolutions(reply.resolutions), next_after

    async def imports(self, account: Account) -> list[Import]:
        """Return an account's imports of the last 30 days, newest first, at most 100."""
        request = pb.ListImportsRequest(account_id=account.id)
        reply = await self._call(self._stub.ListImports, request)
        return [from_message(Import, message, id=message.import_id) for message in reply.imports]


def _settle(creations: Sequence[_Creation], outcomes: Sequence[Resolution | BaseException]) -> None:
    for (_, created), outcome in zip(creations, outcomes, strict=True):
        if created.done():  # The caller was cancelled.
            continue
        if isinstance(outcome, BaseException):
            created.set_exception(outcome)
        else:
            created.set_result(outcome)


def _to_owner(owner: Owner) -> pb.Owner:
    """Return the message of an owner."""
    match owner:
        case Account(account_id):
            return pb.Owner(account_id=account_id)
        case Guest(key_hash):
            return pb.Owner(guest_key_hash=key_hash)


def _to_creation(code: str, url: str, owner: Owner | None, domain: str) -> pb.CreateLinkRequest:
    """Return the request to create a link."""
    request = pb.CreateLinkRequest(code=code, url=url, domain=domain)
    match owner:
        case Account(account_id):
            request.account_id = account_id
        case Guest(key_hash):
            request.guest_key_hash = key_hash
    return request


def parse_link(message: pb.Link) -> Link:
    """Return a link as its owner sees it."""
    return from_message(Link, message, state=_parse_state(message.state))


def to_changes(changes: LinkChanges) -> pb.LinkChanges:
    """Return the message of changes: unchanged fields are absent, removed values are empty."""
    plain: dict[str, Any] = {
        name: "" if value is None else value
        for name, value in changes.items()
        if name not in ("tags", "expires_at")
    }
    message = pb.LinkChanges(**plain)
    if "tags" in changes:
        message.tags.CopyFrom(pb.Tags(tags=changes["tags"]))
    if "expires_at" in changes:
        message.expiry.SetInParent()
        if expires_at := changes["expires_at"]:
            message.expiry.expires_at.FromDatetime(expires_at)
    return message


def _parse_resolutions(messages: Iterable[pb.Resolution]) -> dict[str, Resolution]:
    """Return resolutions by code."""
    return {message.code: _parse_resolution(message) for message in messages}


def _parse_resolution(message: pb.Resolution) -> Resolution:
    """Return the resolution of a message."""
    if message.state == pb.LINK_STATE_ACTIVE and not message.HasField("expires_at"):  # Most.
        return Resolution(LinkState.ACTIVE, message.url, link_code=message.link_code)
    return Resolution(
        _parse_state(message.state),
        message.url,
        to_datetime(message.expires_at) if message.HasField("expires_at") else None,
        message.ended_url,
        _REASONS.get(message.reason),
        message.link_code,
    )


def _parse_state(number: pb.LinkState.ValueType) -> LinkState:
    """Return the state of a link. One that only a later version knows counts as expired."""
    return _STATES.get(number, LinkState.EXPIRED)
