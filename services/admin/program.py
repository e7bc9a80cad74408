"""Executes a command and prints its outcome.

Exit codes: 0 done; 1 failed, repeat the command; 2 invalid arguments, or the last administrator; 3
no such link, account, block or report.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import NoReturn

from services.admin import documents
from services.admin.arguments import INVALID_ARGUMENTS, Program, parse
from services.admin.clients import connected
from services.admin.commands import Outcome
from services.admin.settings import AdminSettings
from services.shared.errors import AppError, InvalidArgument, NotFound, PermissionDenied
from services.shared.observability import request_id

_FAILED, _NOT_FOUND = 1, 3


def execute(program: Program, arguments: Sequence[str]) -> None:
    """Execute the command that the arguments of a program name. Raises SystemExit if it fails."""
    settings = functools.cache(AdminSettings.load)  # `--help` works without settings.
    parsed = parse(program, arguments, lambda: settings().origins())
    if parsed.run is None:
        outcome = parsed.perform(parsed)
    else:
        outcome = _call_services(parsed, settings().endpoints())
    if outcome is not None:
        text = documents.encode(outcome.document) if parsed.json else outcome.text
        sys.stdout.buffer.write(f"{text}\n".encode(errors="backslashreplace"))


def _call_services(parsed: Namespace, endpoints: Mapping[str, str]) -> Outcome:
    request_id.bind(None)  # Marks this command in the services' logs.
    try:
        return asyncio.run(_run(parsed, endpoints))
    except NotFound as error:
        _end(_NOT_FOUND, error.message)
    except (InvalidArgument, PermissionDenied) as error:  # A repetition would fail likewise.
        _end(INVALID_ARGUMENTS, error.message)
    except AppError as error:
        _end(_FAILED, f"{error.message} Repeat the command: it goes on where this ended.")


async def _run(parsed: Namespace, endpoints: Mapping[str, str]) -> Outcome:
    async with connected(endpoints) as clients:
        outcome: Outcome = await parsed.run(clients, parsed)
        return outcome


def _end(code: int, line: str) -> NoReturn:
    sys.stderr.write(line + "\n")
    raise SystemExit(code)
