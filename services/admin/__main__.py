"""Removes a link, or an account with its links, and blocks links: `python -m services.admin`.

Exit code 0: it is done. 1: that failed, and the command can be repeated. 2: the command was not
understood. 3: there is no such link or account.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import NoReturn

from services.admin import removal
from services.admin.clients import REASONS, connected
from services.admin.settings import AdminSettings
from services.runtime import request_id
from services.runtime.errors import AppError, NotFound

FAILED, NOT_UNDERSTOOD, NOTHING_THERE = 1, 2, 3
USAGE = (
    "Usage: python -m services.admin remove-link CODE | remove-account EMAIL | "
    f"block-link CODE {'|'.join(REASONS)} | unblock-link CODE"
)


def main() -> None:
    arguments = sys.argv[1:]
    match arguments:
        case ["remove-link" | "remove-account" | "unblock-link", subject] if subject:
            pass
        case ["block-link", subject, reason] if subject and reason in REASONS:
            pass
        case _:
            _end(NOT_UNDERSTOOD, USAGE)
    addresses = AdminSettings.load().addresses()
    request_id.take(None)  # The services' logs tell what belongs to this command.
    try:
        outcome = asyncio.run(_carry_out(arguments, addresses))
    except NotFound as error:
        _end(NOTHING_THERE, error.message)
    except AppError as error:
        _end(FAILED, f"{error.message} Repeat the command: it goes on where this ended.")
    sys.stdout.write(outcome + "\n")


async def _carry_out(arguments: Sequence[str], addresses: dict[str, str]) -> str:
    command, subject, *rest = arguments
    async with connected(addresses) as clients:
        services = removal.Services(clients.auth, clients.links, clients.analytics)
        match command:
            case "remove-account":
                links = await removal.remove_account(services, subject)
                return f"The account and its links ({links}) are removed."
            case "block-link":
                await clients.links.block_link(subject, rest[0])
                return "The link is blocked."
            case "unblock-link":
                await clients.links.unblock_link(subject)
                return "The link is not blocked."
        if not await removal.remove_link(services, subject):
            raise NotFound("There is no link with this code.")
        return "The link is removed; its code is never given out again."


def _end(code: int, line: str) -> NoReturn:
    sys.stderr.write(line + "\n")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
