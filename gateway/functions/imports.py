"""checkImport, importLinks, undoImport and listImports: functions of an account's imports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, FailFast, Field, PlainValidator
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.links import LinksClient
from gateway.backends.ports import ImportRow
from gateway.functions.outcomes import Reply
from gateway.functions.owner import Token, account_of
from gateway.functions.port_fields import with_fields_of
from gateway.functions.protocol import Payload
from gateway.redirects.resolver import Resolver
from gateway.support.client_ip import ClientIpFinder
from gateway.support.rate_limits import CallLimiter, networks_of
from gateway.support.timestamps import datetime_of, text_of
from gateway.use_cases.creation_limits import CreationLimits
from gateway.use_cases.links import LinkEditor
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
    return datetime_of(value)


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


class ListImports(Payload):
    token: Token = None


class CheckImport(Payload):
    token: Token = None
    rows: Annotated[list[CheckedRow], FailFast(), Field(min_length=1, max_length=MAX_CHECKED_ROWS)]


ImportId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")]


class ImportLinks(Payload):
    token: Token = None
    import_id: ImportId
    rows: Annotated[
        list[ImportedRow], FailFast(), Field(min_length=1, max_length=MAX_IMPORTED_ROWS)
    ]


class UndoImport(Payload):
    token: Token = None
    import_id: ImportId


@dataclass(frozen=True)
class Imports:
    """Handlers of the functions. Each returns the `data` of the response."""

    auth: AuthClient
    links: LinksClient
    editor: LinkEditor
    resolver: Resolver
    running: CallLimiter
    clients: ClientIpFinder
    limits: CreationLimits

    async def check_import(self, payload: CheckImport, request: Request) -> Reply:
        account = await account_of(self.auth, payload.token)
        rows = [row.as_port_value() for row in payload.rows]
        with self.running.hold_account(account.id):
            results = await self.links.check_import(account, rows)
        verdicts = [{"row": one.number, "verdict": one.verdict.value} for one in results]
        return {"success": True, "verdicts": verdicts}

    async def import_links(self, payload: ImportLinks, request: Request) -> Reply:
        account = await account_of(self.auth, payload.token)
        rows = [row.as_port_value() for row in payload.rows]
        version = self.resolver.version
        client, codes = networks_of(self.clients.of(request)), [row.code for row in rows]
        with (
            self.running.hold_account(account.id),
            self.limits.reserve_rows(client, codes) as counted,
        ):
            results, created, stored = await self.links.import_links(
                account, payload.import_id, rows, counted.allowance
            )
            counted.keep(stored, created)
            await self.editor.serve_created(created, version)
        return {
            "success": True,
            "results": [
                {"row": one.number, "verdict": one.verdict.value, "code": one.code}
                for one in results
            ],
        }

    async def undo_import(self, payload: UndoImport, request: Request) -> Reply:
        """Remove all links of the import. After an error, the next call continues with the rest."""
        account = await account_of(self.auth, payload.token)
        after: int | None = None
        try:
            async with asyncio.timeout(UNDO_SECONDS):
                while True:
                    removed, resolutions, after = await self.links.undo_import(
                        account, payload.import_id, after
                    )
                    self.resolver.put_edited(resolutions)
                    if after is None:
                        return {"success": True, "removed": removed}
        except TimeoutError:
            raise DeadlineExceeded("There are more links than could be removed in time.") from None

    async def list_imports(self, payload: ListImports, request: Request) -> Reply:
        account = await account_of(self.auth, payload.token)
        return {
            "success": True,
            "imports": [
                {
                    "import_id": one.id,
                    "started_at": text_of(one.started_at),
                    "links": one.links,
                    "removed": one.removed,
                }
                for one in await self.links.imports(account)
            ],
        }
