"""The operator's command: reads reports, blocks and unblocks, removes links and accounts.

Exit codes: 0 done; 1 failed, repeat the command; 2 invalid arguments; 3 no such link, account,
block or report.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import NoReturn

from services.admin import documents
from services.admin.arguments import INVALID_ARGUMENTS, parse
from services.admin.clients import connected
from services.admin.commands import Outcome
from services.admin.settings import AdminSettings
from services.shared.errors import AppError, InvalidArgument, NotFound
from services.shared.observability import request_id

FAILED, NOT_FOUND = 1, 3


def main() -> None:
    settings = functools.cache(AdminSettings.load)  # `--help` works without settings.
    arguments = parse(sys.argv[1:], lambda: settings().origin())
    endpoints = settings().endpoints()
    request_id.bind(None)  # Marks this command in the services' logs.
    try:
        outcome = asyncio.run(_run(arguments, endpoints))
    except NotFound as error:
        _end(NOT_FOUND, error.message)
    except InvalidArgument as error:
        _end(INVALID_ARGUMENTS, error.message)
    except AppError as error:
        _end(FAILED, f"{error.message} Repeat the command: it goes on where this ended.")
    text = documents.encode(outcome.document) if arguments.json else outcome.text
    sys.stdout.buffer.write(f"{text}\n".encode(errors="backslashreplace"))


async def _run(arguments: Namespace, endpoints: Mapping[str, str]) -> Outcome:
    async with connected(endpoints) as clients:
        outcome: Outcome = await arguments.run(clients, arguments)
        return outcome


def _end(code: int, line: str) -> NoReturn:
    sys.stderr.write(line + "\n")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
