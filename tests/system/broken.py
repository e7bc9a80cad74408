"""The links service with a failing part: `python -m tests.system.broken`.

BROKEN_PART names the part as in the log. Its library call fails once the process serves. `schema`
does not fail: the first index of MongoDB takes until the FIFO SCHEMA_UNTIL is closed.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from pymongo.collection import Collection

from services.links.__main__ import main
from services.shared import sqlite, supervisor
from services.shared.observability import health, monitoring_server

_announce = supervisor.report_ready
_make = Collection.create_indexes
_serving = False


class _Connection(sqlite3.Connection):
    """Breaks when it commits links, which no task of the process does by itself."""

    has_links = False

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self.has_links = self.has_links or sql.startswith("INSERT INTO links")
        if _serving and self.has_links and sql == "COMMIT":
            _break()
        return super().execute(sql, parameters)


def _break(*_: object) -> NoReturn:
    raise ZeroDivisionError


def _make_late(collection: Collection[Any], models: Any) -> Any:
    if until := os.environ.pop("SCHEMA_UNTIL", None):
        Path(until).read_bytes()
    return _make(collection, models)


def _break_it(addresses: Any) -> None:
    global _serving
    _announce(addresses)
    _serving = True
    match os.environ["BROKEN_PART"]:
        case "health":
            mock.patch.object(sqlite.Database, "_check_file", _break).start()
        case "heartbeat":
            mock.patch.object(health.LOOP_LAG, "observe", _break).start()
        case "observation":
            mock.patch.object(monitoring_server._Server, "service_actions", _break).start()


mock.patch.object(supervisor, "report_ready", _break_it).start()
match os.environ["BROKEN_PART"]:
    case "sqlite-write":
        mock.patch.object(sqlite3, "connect", _Connection).start()
    case "schema":
        mock.patch.object(Collection, "create_indexes", _make_late).start()

main()
