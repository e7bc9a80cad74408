"""The operator's command: removes links and accounts, sees what was reported, blocks and frees.

Exit code 0: it is done. 1: that failed, and the command can be repeated. 2: the command was not
understood. 3: there is no such link, account, block or report.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NoReturn

from services.admin import removal, shown
from services.admin.clients import PAGE_SIZE, REASONS, Clients, connected
from services.admin.settings import AdminSettings
from services.admin.subjects import Address, Code, subject_of
from services.shared.errors import AppError, InvalidArgument, NotFound
from services.shared.observability import request_id

FAILED, NOT_UNDERSTOOD, NOTHING_THERE = 1, 2, 3
USAGE = f"""\
Usage: python -m services.admin COMMAND

  reports [AFTER]             what people reported, the most often reported links first
  block WHAT CLASS [CAUSE]    block it as {", ".join(REASONS)}
  unblock WHAT [CAUSE]        take its block away
  dismiss LINK [CAUSE]        the reports of a link are no reason to block it
  decisions [PAGE]            what was blocked, unblocked and dismissed, newest first
  remove-link CODE            remove a link for good
  remove-account EMAIL        remove an account and its links for good

WHAT is a link or an address. A link is named by its code or its whole short address. An address is
a host with all below it, or a host and the beginning of a path: evil.example, evil.example/shop.
They cannot be taken for each other: a code has no dot and no colon."""

_Act = Callable[[Clients], Awaitable[str]]


def main() -> None:
    arguments = sys.argv[1:]
    settings = AdminSettings.load()
    act = _understood(arguments, settings)
    if act is None:
        _end(NOT_UNDERSTOOD, USAGE)
    addresses = settings.addresses()
    request_id.take(None)  # The services' logs tell what belongs to this command.
    try:
        outcome = asyncio.run(_carry_out(act, addresses))
    except NotFound as error:
        _end(NOTHING_THERE, error.message)
    except InvalidArgument as error:
        _end(NOT_UNDERSTOOD, error.message)
    except AppError as error:
        _end(FAILED, f"{error.message} Repeat the command: it goes on where this ended.")
    sys.stdout.buffer.write(f"{outcome}\n".encode(errors="backslashreplace"))


async def _carry_out(act: _Act, addresses: Mapping[str, str]) -> str:
    async with connected(addresses) as clients:
        return await act(clients)


def _understood(arguments: Sequence[str], settings: AdminSettings) -> _Act | None:
    """What to do; None where that is not understood. A cause that is empty is none."""
    match arguments:
        case ["remove-link", code] if code:
            return lambda clients: _remove_link(clients, code)
        case ["remove-account", email] if email:
            return lambda clients: _remove_account(clients, email)
        case ["reports", *rest] if len(rest) <= 1:
            return lambda clients: _show_reports(clients, "".join(rest))
        case ["decisions", *rest] if (page := _page(rest)) is not None:
            return lambda clients: _show_decisions(clients, page)
        case ["block", what, reason, *rest] if reason in REASONS and len(rest) <= 1:
            if blocked := subject_of(what, settings.origin()):
                return lambda clients: _block(clients, blocked, reason, "".join(rest))
        case ["unblock", what, *rest] if len(rest) <= 1:
            if freed := subject_of(what, settings.origin()):
                return lambda clients: _unblock(clients, freed, "".join(rest))
        case ["dismiss", what, *rest] if len(rest) <= 1:
            reported = subject_of(what, settings.origin())
            if isinstance(reported, Code):
                return lambda clients: _dismiss(clients, reported.text, "".join(rest))
    return None


def _page(given: Sequence[str]) -> int | None:
    """The number of a page, from 1 on; None for what is none."""
    match given:
        case [] | [""]:
            return 1
        case [number] if number.isdecimal() and len(number) <= 5 and int(number) > 0:
            return int(number)
    return None


async def _remove_link(clients: Clients, code: str) -> str:
    services = removal.Services(clients.auth, clients.links, clients.analytics)
    if not await removal.remove_link(services, code):
        raise NotFound("There is no link with this code.")
    return "The link is removed; its code is never given out again."


async def _remove_account(clients: Clients, email: str) -> str:
    services = removal.Services(clients.auth, clients.links, clients.analytics)
    links = await removal.remove_account(services, email)
    return f"The account and its links ({links}) are removed."


async def _show_reports(clients: Clients, after: str) -> str:
    return shown.reports(await clients.moderation.reports(after))


async def _show_decisions(clients: Clients, page: int) -> str:
    found = await clients.moderation.decisions((page - 1) * PAGE_SIZE)
    return shown.decisions(found, page, PAGE_SIZE)


async def _block(clients: Clients, subject: Code | Address, reason: str, cause: str) -> str:
    match subject:
        case Code(text=code):
            await clients.moderation.block_link(code, reason, cause)
            return "The link is blocked."
        case Address(text=address):
            await clients.moderation.block_address(address, reason, cause)
            return "The address is blocked, and with it the links that lead there."


async def _unblock(clients: Clients, subject: Code | Address, cause: str) -> str:
    match subject:
        case Code(text=code):
            await clients.moderation.unblock_link(code, cause)
            return "The link is not blocked."
        case Address(text=address):
            await clients.moderation.unblock_address(address, cause)
            return "The address is not blocked, nor a link for it."


async def _dismiss(clients: Clients, code: str, cause: str) -> str:
    dismissed = await clients.moderation.dismiss(code, cause)
    return f"The reports of the link ({dismissed}) are dismissed."


def _end(code: int, line: str) -> NoReturn:
    sys.stderr.write(line + "\n")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
