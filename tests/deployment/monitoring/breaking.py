"""A gateway that can be told to break: `python -m tests.deployment.monitoring.breaking`.

From one SIGUSR1 to the next each of its look-ups ends with an error that nobody foresaw. At SIGUSR2
its work in the background does, and it ends itself. Where the environment's BROKEN is `changes` or
`key`, it is never told what changed in links, or the key of the day.
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
