"""Serves `LinksService` over gRPC."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask
from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.api.large_calls import LargeCalls
from services.links.api.messages import (
    ORDER_OF,
    REASON_OF,
    STATE_OF,
    import_row_of,
    link_changes_of,
    new_link_of,
    owner_of,
    write_account_creation,
    write_error,
    write_import_result,
    write_link,
    write_resolution,
    write_resolutions,
)
from services.links.application.commands import LinkCommands
from services.links.application.creations import Creations
from services.links.application.imports import Imports
from services.links.application.queries import LinkQueries
from services.links.application.reporting import Reporting
from services.links.domain.block import InvalidReason
from services.links.domain.imports import RowAllowance
from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest
from services.links.domain.query import InvalidQuery
from services.links.domain.resolution import UnreadableLinks
from services.shared.rpc import interceptors

_SERVICE: str = pb.DESCRIPTOR.services_by_name["LinksService"].full_name
_CODES_PER_MESSAGE = 10_000
_RETRY_HEADER = "grpc-previous-rpc-attempts"
"""Sent by gRPC with each attempt but the first. No client can set it."""
"""0.4 MB if all codes have the maximum length."""
_PREVIEW = FieldMask(paths=["code", "url", "title", "created_at", "changed_at", "state", "reason"])
"""Fields of a link that anybody may know."""


class LinksServicer(pb_grpc.LinksServiceServicer):
    """Converts messages and calls the use cases."""

    def __init__(
        self,
        commands: LinkCommands,
        queries: LinkQueries,
        reporting: Reporting,
        imports: Imports,
        creations: Creations,
        now: Callable[[], datetime],
    ) -> None:
        self._commands = commands
        self._queries = queries
        self._reporting = reporting
        self._imports = imports
        self._large_calls = LargeCalls()
        self._creations = creations
        self._now = now

    async def CreateLink(
        self, request: pb.CreateLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateLinkResponse:
        link = await self._commands.create(request.code, request.url, owner_of(request))
        response = pb.CreateLinkResponse()
        write_resolution(response.resolution, link.resolution())
        return response

    async def CreateLinks(
        self, request: pb.CreateLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateLinksResponse:
        started = time.perf_counter()
        outcomes = await self._commands.create_all(
            [(one.code, one.url, owner_of(one)) for one in request.links]
        )
        seconds = time.perf_counter() - started
        response = pb.CreateLinksResponse()
        for outcome in outcomes:
            _write_creation(response.creations.add(), outcome, seconds)
        return response

    async def CreateAccountLinks(
        self, request: pb.CreateAccountLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateAccountLinksResponse:
        with self._large_calls.hold(request.account_id):
            created = await self._creations.run(
                Account(request.account_id),
                request.idempotency_key,
                request.fingerprint,
                [new_link_of(one) for one in request.links],
            )
        # gRPC repeats a call whose response was lost. For its client, it is the first.
        is_retry = any(name == _RETRY_HEADER for name, _ in context.invocation_metadata() or ())
        response = pb.CreateAccountLinksResponse(repetition=not (created.is_new or is_retry))
        for outcome in created.record.outcomes:
            write_account_creation(response.creations.add(), outcome, created.record.created_at)
        write_resolutions(response, created.links)
        return response

    async def ChangeLink(
        self, request: pb.ChangeLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.ChangeLinkResponse:
        changes = link_changes_of(request.changes)
        link = await self._commands.change(owner_of(request.owner), request.code, changes)
        response = pb.ChangeLinkResponse()
        write_link(response.link, link, self._now())
        write_resolutions(response, [link])
        return response

    async def RemoveLinks(
        self, request: pb.RemoveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveLinksResponse:
        removed = await self._commands.remove(owner_of(request.owner), request.codes)
        response = pb.RemoveLinksResponse()
        write_resolutions(response, removed)
        return response

    async def RestoreLinks(
        self, request: pb.RestoreLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RestoreLinksResponse:
        restored = await self._commands.restore(owner_of(request.owner), request.codes)
        response = pb.RestoreLinksResponse()
        write_resolutions(response, restored)
        return response

    async def ClaimLinks(
        self, request: pb.ClaimLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ClaimLinksResponse:
        claimed, more = await self._commands.claim(
            Guest(request.guest_key_hash), Account(request.account_id)
        )
        return pb.ClaimLinksResponse(claimed=claimed, more=more)

    async def CheckImport(
        self, request: pb.CheckImportRequest, context: ServicerContext[Any, Any]
    ) -> pb.CheckImportResponse:
        with self._large_calls.hold(request.account_id):
            rows = [import_row_of(row) for row in request.rows]
            results = await self._imports.check(Account(request.account_id), rows)
        response = pb.CheckImportResponse()
        for result in results:
            write_import_result(response.results.add(), result)
        return response

    async def ImportLinks(
        self, request: pb.ImportLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ImportLinksResponse:
        with self._large_calls.hold(request.account_id):
            rows = [import_row_of(row) for row in request.rows]
            allowance = RowAllowance(
                request.max_new_rows if request.HasField("max_new_rows") else None,
                request.max_new_short_codes if request.HasField("max_new_short_codes") else None,
            )
            imported = await self._imports.run(
                Account(request.account_id), request.import_id, rows, allowance
            )
        response = pb.ImportLinksResponse(stored_rows=imported.stored_rows)
        for result in imported.results:
            write_import_result(response.results.add(), result)
        write_resolutions(response, imported.links)
        return response

    async def UndoImport(
        self, request: pb.UndoImportRequest, context: ServicerContext[Any, Any]
    ) -> pb.UndoImportResponse:
        after = request.after if request.HasField("after") else None
        step = await self._imports.undo(Account(request.account_id), request.import_id, after)
        response = pb.UndoImportResponse(removed=step.removed, next_after=step.next_after)
        write_resolutions(response, step.links)
        return response

    async def ListImports(
        self, request: pb.ListImportsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListImportsResponse:
        response = pb.ListImportsResponse()
        for one in await self._imports.newest(Account(request.account_id)):
            message = response.imports.add(import_id=one.id, links=one.links, removed=one.removed)
            message.started_at.FromDatetime(one.started_at)
        return response

    async def ReportLink(
        self, request: pb.ReportLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.ReportLinkResponse:
        reason = REASON_OF.get(request.reason)
        if reason is None:
            raise InvalidReason("A report needs a reason.")
        report_id = await self._reporting.report(
            request.code, reason, request.details, request.contact
        )
        return pb.ReportLinkResponse(report_id=report_id)

    async def CreateScanCode(
        self, request: pb.CreateScanCodeRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateScanCodeResponse:
        link = await self._commands.create_scan_code(owner_of(request.owner), request.code)
        response = pb.CreateScanCodeResponse(scan_code=link.scan_code)
        write_resolution(response.resolution, link.resolution().via_scan_code(link.scan_code))
        return response

    async def ResolveLinks(
        self, request: pb.ResolveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ResolveLinksResponse:
        response = pb.ResolveLinksResponse()
        try:
            found = await self._queries.resolve(request.codes)
        except UnreadableLinks as error:
            found = error.found
            response.unreadable.extend(error.codes)
        for resolution in found:
            write_resolution(response.resolutions.add(), resolution)
        return response

    async def QueryLinks(
        self, request: pb.QueryLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.QueryLinksResponse:
        order = ORDER_OF.get(request.order)
        state = STATE_OF.get(request.state)
        if order is None or (state is None and request.state != pb.LINK_STATE_UNSPECIFIED):
            raise InvalidQuery("The state or order is unknown.")
        page = await self._queries.query(
            owner_of(request.owner),
            request.text,
            state,
            order,
            request.limit,
            request.cursor,
            without_total=request.without_total,
        )
        response = pb.QueryLinksResponse(total=page.total, cursor=page.cursor)
        now = self._now()
        for link in page.links:
            write_link(response.links.add(), link, now)
        return response

    async def GetLink(
        self, request: pb.GetLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetLinkResponse:
        link, history = await self._queries.get(owner_of(request.owner), request.code)
        response = pb.GetLinkResponse()
        write_link(response.link, link, self._now())
        for former in history:
            response.history.add(url=former.url).until.FromDatetime(former.until)
        return response

    async def PreviewLink(
        self, request: pb.PreviewLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.PreviewLinkResponse:
        link = await self._queries.preview(request.code)
        message = pb.Link()
        write_link(message, link, self._now())
        response = pb.PreviewLinkResponse()
        _PREVIEW.MergeMessage(message, response.link)
        return response

    async def ListOwnedCodes(
        self, request: pb.ListOwnedCodesRequest, context: ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.ListOwnedCodesResponse]:
        codes = await self._queries.owned_codes(owner_of(request.owner))
        for start in range(0, len(codes), _CODES_PER_MESSAGE):
            yield pb.ListOwnedCodesResponse(codes=codes[start : start + _CODES_PER_MESSAGE])

    async def CheckStatisticsAccess(
        self, request: pb.CheckStatisticsAccessRequest, context: ServicerContext[Any, Any]
    ) -> pb.CheckStatisticsAccessResponse:
        await self._queries.check_statistics_access(owner_of(request.caller), request.code)
        return pb.CheckStatisticsAccessResponse()

    async def ListChanges(
        self, request: pb.ListChangesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListChangesResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        changes = await self._queries.changes(cursor)
        response = pb.ListChangesResponse(
            cursor=changes.cursor,
            gone=changes.gone,
            more=changes.more,
            truncated=changes.truncated,
        )
        for resolution in changes.resolutions:
            write_resolution(response.resolutions.add(), resolution)
        return response


def _write_creation(message: pb.Creation, outcome: Link | BaseException, seconds: float) -> None:
    """Write the outcome of a creation, which the metrics count as a separate call."""
    if isinstance(outcome, Link):
        interceptors.record_call(_SERVICE, "CreateLink", "OK", seconds)
        write_resolution(message.resolution, outcome.resolution())
        return
    if not isinstance(outcome, Exception):
        raise outcome
    known = interceptors.record_failure(outcome, _SERVICE, "CreateLink", seconds)
    write_error(message.error, known)
