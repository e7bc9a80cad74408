"""A gateway that can be made to fail: `python -m tests.deployment.monitoring.breaking`.

Between two SIGUSR1 each of its lookups fails unexpectedly. On SIGUSR2 a background task does, and
it stops itself. With BROKEN=changes or BROKEN=key in the environment, it never receives changes of
links, or visitor keys.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Any
from unittest import mock

from gateway.__main__ import main
from gateway.backends.analytics import AnalyticsClient
from gateway.backends.links import LinksClient
from services.shared import background
from services.shared.errors import Unavailable

_resolve = LinksClient.resolve
_lookups_break = False


async def _break_or_resolve(links: LinksClient, codes: Sequence[str]) -> Any:
    if _lookups_break:
        raise ZeroDivisionError
    return await _resolve(links, codes)


def _turn(*_: object) -> None:
    global _lookups_break
    _lookups_break = not _lookups_break


def _break_background(*_: object) -> None:
    background.report_failure("drill", ZeroDivisionError())


async def _untold(*_: object) -> Any:
    raise Unavailable("It is not told.", "DRILL")


signal.signal(signal.SIGUSR1, _turn)
signal.signal(signal.SIGUSR2, _break_background)
mock.patch.object(LinksClient, "resolve", _break_or_resolve).start()
match os.environ.get("BROKEN"):
    case "changes":
        mock.patch.object(LinksClient, "changes", _untold).start()
    case "key":
        mock.patch.object(AnalyticsClient, "visitor_key", _untold).start()
main()
