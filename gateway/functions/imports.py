"""checkImport, importLinks, undoImport and listImports: functions of an account's imports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, FailFast, Field, PlainValidator
from starlette.requests import Request

from gateway.backends.ports import ImportRow
from gateway.functions.owner import SessionPayload, find_account
from gateway.functions.protocol import Payload, Reply, with_fields_of
from gateway.support.rate_limits import to_networks
from gateway.support.timestamps import parse_timestamp
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services
from services.shared.errors import DeadlineExceeded

MAX_CHECKED_ROWS = 500
MAX_IMPORTED_ROWS = 200
MAX_READ_TAGS = 100
"""Tags of a row beyond these are dropped. A link has at most ten."""
UNDO_SECONDS = 60.0
"""Timeout of all steps of an undo: as long as the longest other call."""


def _timestamp(value: Any) -> datetime | None:
    """Parse a timestamp. Raises ValueError."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("a timestamp is a string")
    return parse_timestamp(value)


def _first_tags(value: Any) -> Any:
    return value[:MAX_READ_TAGS] if isinstance(value, list) else value


Timestamp = Annotated[datetime | None, PlainValidator(_timestamp)]


class CheckedRow(Payload):
    """A row to check. `code` and `url` may be any text: the verdict says what is wrong."""

    row: Annotated[int, Field(ge=0, lt=2**31)]
    code: str | None = None
    url: str

    def as_port_value(self) -> ImportRow:
        """Return the row for links, which has the same names. Null is the default there."""
        values = {name: value for name, value in vars(self).items() if value is not None}
        return ImportRow(number=values.pop("row"), code=values.pop("code", None), **values)


_ROW_TYPES = {
    str: str | None,
    Sequence[str]: Annotated[list[str] | None, BeforeValidator(_first_tags)],
    datetime | None: Timestamp,
}


@with_fields_of(ImportRow, _ROW_TYPES, without=frozenset({"number"}))
class ImportedRow(CheckedRow):
    """A row to import. Texts may be any: they are cut to the limits of a link."""


class CheckImport(SessionPayload):
    rows: Annotated[list[CheckedRow], FailFast(), Field(min_length=1, max_length=MAX_CHECKED_ROWS)]


ImportId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")]


class ImportLinks(SessionPayload):
    import_id: ImportId
    rows: Annotated[
        list[ImportedRow], FailFast(), Field(min_length=1, max_length=MAX_IMPORTED_ROWS)
    ]


class UndoImport(SessionPayload):
    import_id: ImportId


async def check_import(services: Services, payload: CheckImport, request: Request) -> Reply:
    account = await find_account(services, payload)
    rows = [row.as_port_value() for row in payload.rows]
    with services.running.hold_account(account.id):
        results = await services.links.check_import(account, rows)
    return {
        "verdicts": [{"row": result.number, "verdict": result.verdict.value} for result in results]
    }


async def import_links(services: Services, payload: ImportLinks, request: Request) -> Reply:
    account = await find_account(services, payload)
    rows = [row.as_port_value() for row in payload.rows]
    version = services.resolver.version
    client, codes = to_networks(services.clients.of(request)), [row.code for row in rows]
    with (
        services.running.hold_account(account.id),
        services.limits.reserve_rows(client, codes) as counted,
    ):
        results, created, stored = await services.links.import_links(
            account, payload.import_id, rows, counted.allowance
        )
        counted.keep(stored, created)
        await services.editor.serve_created(created, version)
    return {
        "results": [
            {"row": result.number, "verdict": result.verdict.value, "code": result.code}
            for result in results
        ]
    }


async def undo_import(services: Services, payload: UndoImport, request: Request) -> Reply:
    """Remove all links of the import. After an error, the next call continues with the rest."""
    account = await find_account(services, payload)
    after: int | None = None
    try:
        async with asyncio.timeout(UNDO_SECONDS):
            while True:
                removed, resolutions, after = await services.links.undo_import(
                    account, payload.import_id, after
                )
                services.resolver.put_edited(resolutions)
                if after is None:
                    return {"removed": removed}
    except TimeoutError:
        raise DeadlineExceeded("There are more links than could be removed in time.") from None


async def list_imports(services: Services, payload: SessionPayload, request: Request) -> Reply:
    account = await find_account(services, payload)
    imports = to_json(await services.links.imports(account))
    return {"imports": [{"import_id": shown.pop("id"), **shown} for shown in imports]}
