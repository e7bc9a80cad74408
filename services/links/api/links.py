"""Serves `LinksService` over gRPC."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime

from google.protobuf.field_mask_pb2 import FieldMask

from atajo.links.v1 import links_pb2 as pb
from services.links.api.large_calls import LargeCalls
from services.links.api.messages import (
    ORDERS,
    REASONS,
    STATES,
    parse_import_row,
    parse_link_changes,
    parse_new_link,
    parse_owner,
    to_account_creation,
    to_error,
    to_link,
    to_resolution,
    to_resolutions,
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
from services.shared.rpc import handlers
from services.shared.rpc.fields import to_message

_CODES_PER_MESSAGE = 10_000
"""0.4 MB if all codes have the maximum length."""
_PREVIEW = FieldMask(paths=["code", "url", "title", "created_at", "changed_at", "state", "reason"])
"""Fields of a link that anybody may know."""


@dataclass(frozen=True)
class LinksServicer:
    """Converts messages and calls the use cases."""

    service = pb.DESCRIPTOR.services_by_name["LinksService"]

    _commands: LinkCommands
    _queries: LinkQueries
    _reporting: Reporting
    _imports: Imports
    _creations: Creations
    _now: Callable[[], datetime]
    _large_calls: LargeCalls = field(default_factory=LargeCalls)

    async def CreateLink(self, request: pb.CreateLinkRequest) -> pb.CreateLinkResponse:
        link = await self._commands.create(
            request.code, request.url, parse_owner(request), request.domain
        )
        return pb.CreateLinkResponse(resolution=to_resolution(link.resolution()))

    async def CreateLinks(self, request: pb.CreateLinksRequest) -> pb.CreateLinksResponse:
        started = time.perf_counter()
        outcomes = await self._commands.create_all(
            [(link.code, link.url, parse_owner(link), link.domain) for link in request.links]
        )
        seconds = time.perf_counter() - started
        return pb.CreateLinksResponse(
            creations=[_to_creation(outcome, seconds) for outcome in outcomes]
        )

    async def CreateAccountLinks(
        self, request: pb.CreateAccountLinksRequest
    ) -> pb.CreateAccountLinksResponse:
        with self._large_calls.hold(request.account_id):
            created = await self._creations.run(
                Account(request.account_id),
                request.idempotency_key,
                request.fingerprint,
                [parse_new_link(link) for link in request.links],
            )
        record = created.record
        return pb.CreateAccountLinksResponse(
            creations=[
                to_account_creation(outcome, record.created_at) for outcome in record.outcomes
            ],
            resolutions=to_resolutions(created.links),
            # gRPC repeats a call whose response was lost. For its client, it is the first.
            repetition=not (created.is_new or handlers.is_retry()),
        )

    async def ChangeLink(self, request: pb.ChangeLinkRequest) -> pb.ChangeLinkResponse:
        changes = parse_link_changes(request.changes)
        link = await self._commands.change(parse_owner(request.owner), request.code, changes)
        return pb.ChangeLinkResponse(
            link=to_link(link, self._now()), resolutions=to_resolutions([link])
        )

    async def RemoveLinks(self, request: pb.RemoveLinksRequest) -> pb.RemoveLinksResponse:
        removed = await self._commands.remove(parse_owner(request.owner), request.codes)
        return pb.RemoveLinksResponse(resolutions=to_resolutions(removed))

    async def RestoreLinks(self, request: pb.RestoreLinksRequest) -> pb.RestoreLinksResponse:
        restored = await self._commands.restore(parse_owner(request.owner), request.codes)
        return pb.RestoreLinksResponse(resolutions=to_resolutions(restored))

    async def ClaimLinks(self, request: pb.ClaimLinksRequest) -> pb.ClaimLinksResponse:
        claimed, more = await self._commands.claim(
            Guest(request.guest_key_hash), Account(request.account_id)
        )
        return pb.ClaimLinksResponse(claimed=claimed, more=more)

    async def CheckImport(self, request: pb.CheckImportRequest) -> pb.CheckImportResponse:
        with self._large_calls.hold(request.account_id):
            rows = [parse_import_row(row) for row in request.rows]
            results = await self._imports.check(Account(request.account_id), rows)
        return pb.CheckImportResponse(
            results=[to_message(pb.ImportResult, result) for result in results]
        )

    async def ImportLinks(self, request: pb.ImportLinksRequest) -> pb.ImportLinksResponse:
        with self._large_calls.hold(request.account_id):
            rows = [parse_import_row(row) for row in request.rows]
            allowance = RowAllowance(
                request.max_new_rows if request.HasField("max_new_rows") else None,
                request.max_new_short_codes if request.HasField("max_new_short_codes") else None,
            )
            imported = await self._imports.run(
                Account(request.account_id), request.import_id, rows, allowance
            )
        return pb.ImportLinksResponse(
            results=[to_message(pb.ImportResult, result) for result in imported.results],
            resolutions=to_resolutions(imported.links),
            stored_rows=imported.stored_rows,
        )

    async def UndoImport(self, request: pb.UndoImportRequest) -> pb.UndoImportResponse:
        after = request.after if request.HasField("after") else None
        step = await self._imports.undo(Account(request.account_id), request.import_id, after)
        return to_message(pb.UndoImportResponse, step, resolutions=to_resolutions(step.links))

    async def ListImports(self, request: pb.ListImportsRequest) -> pb.ListImportsResponse:
        imports = await self._imports.newest(Account(request.account_id))
        return pb.ListImportsResponse(
            imports=[to_message(pb.Import, entry, import_id=entry.id) for entry in imports]
        )

    async def ReportLink(self, request: pb.ReportLinkRequest) -> pb.ReportLinkResponse:
        reason = REASONS.get(request.reason)
        if reason is None:
            raise InvalidReason("A report needs a reason.")
        report_id = await self._reporting.report(
            request.code, reason, request.details, request.contact
        )
        return pb.ReportLinkResponse(report_id=report_id)

    async def CreateScanCode(self, request: pb.CreateScanCodeRequest) -> pb.CreateScanCodeResponse:
        link = await self._commands.create_scan_code(parse_owner(request.owner), request.code)
        resolution = link.resolution().via_scan_code(link.scan_code)
        return pb.CreateScanCodeResponse(
            scan_code=link.scan_code, resolution=to_resolution(resolution)
        )

    async def ResolveLinks(self, request: pb.ResolveLinksRequest) -> pb.ResolveLinksResponse:
        unreadable: Collection[str] = ()
        try:
            found = await self._queries.resolve(request.codes)
        except UnreadableLinks as error:
            found, unreadable = error.found, error.codes
        return pb.ResolveLinksResponse(resolutions=map(to_resolution, found), unreadable=unreadable)

    async def QueryLinks(self, request: pb.QueryLinksRequest) -> pb.QueryLinksResponse:
        order = ORDERS.get(request.order)
        state = STATES.get(request.state)
        if order is None or (state is None and request.state != pb.LINK_STATE_UNSPECIFIED):
            raise InvalidQuery("The state or order is unknown.")
        page = await self._queries.query(
            parse_owner(request.owner),
            request.text,
            state,
            order,
            request.limit,
            request.cursor,
            without_total=request.without_total,
        )
        now = self._now()
        links = [to_link(link, now) for link in page.links]
        return pb.QueryLinksResponse(links=links, total=page.total, cursor=page.cursor)

    async def GetLink(self, request: pb.GetLinkRequest) -> pb.GetLinkResponse:
        link, history = await self._queries.get(parse_owner(request.owner), request.code)
        return pb.GetLinkResponse(
            link=to_link(link, self._now()),
            history=[to_message(pb.FormerUrl, former) for former in history],
        )

    async def PreviewLink(self, request: pb.PreviewLinkRequest) -> pb.PreviewLinkResponse:
        link = await self._queries.preview(request.code)
        response = pb.PreviewLinkResponse()
        _PREVIEW.MergeMessage(to_link(link, self._now()), response.link)
        return response

    async def ListOwnedCodes(
        self, request: pb.ListOwnedCodesRequest
    ) -> AsyncIterator[pb.ListOwnedCodesResponse]:
        codes = await self._queries.owned_codes(parse_owner(request.owner))
        for start in range(0, len(codes), _CODES_PER_MESSAGE):
            yield pb.ListOwnedCodesResponse(codes=codes[start : start + _CODES_PER_MESSAGE])

    async def CheckStatisticsAccess(
        self, request: pb.CheckStatisticsAccessRequest
    ) -> pb.CheckStatisticsAccessResponse:
        await self._queries.check_statistics_access(parse_owner(request.caller), request.code)
        return pb.CheckStatisticsAccessResponse()

    async def ListChanges(self, request: pb.ListChangesRequest) -> pb.ListChangesResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        changes = await self._queries.changes(cursor)
        return to_message(
            pb.ListChangesResponse, changes, resolutions=map(to_resolution, changes.resolutions)
        )


def _to_creation(outcome: Link | BaseException, seconds: float) -> pb.Creation:
    """Return the message of the outcome of a creation. The metrics count it as a separate call."""
    service = LinksServicer.service.full_name
    if isinstance(outcome, Link):
        handlers.record_call(service, "CreateLink", "OK", seconds)
        return pb.Creation(resolution=to_resolution(outcome.resolution()))
    if not isinstance(outcome, Exception):
        raise outcome
    known = handlers.record_failure(outcome, service, "CreateLink", seconds)
    return pb.Creation(error=to_error(known))
