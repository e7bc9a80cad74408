"""The operator's command: reads reports, blocks and unblocks, removes links and accounts.

Exit codes: 0 done; 1 failed, repeat the command; 2 invalid arguments; 3 no such link, account,
block or report.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NoReturn

from services.admin import removal, rendering
from services.admin.clients import CLASSES, PAGE_SIZE, Clients, connected
from services.admin.settings import AdminSettings
from services.admin.subjects import Code, Pattern, subject_of
from services.shared.errors import AppError, InvalidArgument, NotFound
from services.shared.observability import request_id

FAILED, INVALID_ARGUMENTS, NOT_FOUND = 1, 2, 3
USAGE = f"""\
Usage: python -m services.admin COMMAND

  reports [AFTER]             pending reports, the most often reported links first
  block WHAT CLASS [COMMENT]  block it as {", ".join(CLASSES)}
  unblock WHAT [COMMENT]      remove its block
  dismiss LINK [COMMENT]      dismiss the reports of a link
  why WHAT                    why it is blocked, or not
  decisions [PAGE [TEXT]]     blocks, unblocks and dismissals, newest first; with TEXT, those that
                              have it in code, host or path, class or comment
  remove-link CODE            remove a link for good
  remove-account EMAIL        remove an account and its links for good
  reset-link EMAIL            a URL with which the owner of an account sets a new password, once,
                              within an hour

WHAT is a link, a host with its subdomains, or a path on a host: evil.example, evil.example/shop.
A link is named by its code or its short URL. A code has neither a dot nor a colon, so it cannot be
confused with a host. why also takes a whole URL."""

_Action = Callable[[Clients], Awaitable[str]]


def main() -> None:
    arguments = sys.argv[1:]
    settings = AdminSettings.load()
    action = _parse(arguments, settings)
    if action is None:
        _end(INVALID_ARGUMENTS, USAGE)
    endpoints = settings.endpoints()
    request_id.bind(None)  # Marks this command in the services' logs.
    try:
        outcome = asyncio.run(_run(action, endpoints))
    except NotFound as error:
        _end(NOT_FOUND, error.message)
    except InvalidArgument as error:
        _end(INVALID_ARGUMENTS, error.message)
    except AppError as error:
        _end(FAILED, f"{error.message} Repeat the command: it goes on where this ended.")
    sys.stdout.buffer.write(f"{outcome}\n".encode(errors="backslashreplace"))


async def _run(action: _Action, endpoints: Mapping[str, str]) -> str:
    async with connected(endpoints) as clients:
        return await action(clients)


def _parse(arguments: Sequence[str], settings: AdminSettings) -> _Action | None:
    """Return the action for the arguments; None if they are invalid.

    An optional argument may be given as empty text.
    """
    match arguments:
        case ["remove-link", code] if code:
            return lambda clients: _remove_link(clients, code)
        case ["remove-account", email] if email:
            return lambda clients: _remove_account(clients, email)
        case ["reset-link", email] if email:
            return lambda clients: _create_reset_link(clients, email, settings.origin())
        case ["reports", *rest] if len(rest) <= 1:
            return lambda clients: _show_reports(clients, "".join(rest))
        case ["decisions", *rest] if len(rest) <= 2:
            page, text = _page("".join(rest[:1])), "".join(rest[1:])
            if page is not None:
                return lambda clients: _show_decisions(clients, page, text)
        case ["block", what, class_name, *rest] if class_name in CLASSES and len(rest) <= 1:
            if blocked := subject_of(what, settings.origin()):
                return lambda clients: _block(clients, blocked, class_name, "".join(rest))
        case ["unblock", what, *rest] if len(rest) <= 1:
            if unblocked := subject_of(what, settings.origin()):
                return lambda clients: _unblock(clients, unblocked, "".join(rest))
        case ["dismiss", what, *rest] if len(rest) <= 1:
            reported = subject_of(what, settings.origin())
            if isinstance(reported, Code):
                return lambda clients: _dismiss(clients, reported.text, "".join(rest))
        case ["why", what]:
            if explained := subject_of(what, settings.origin()):
                return lambda clients: _explain(clients, explained)
    return None


def _page(given: str) -> int | None:
    """Return the number of a page, 1 for empty text; None if it is not a positive number."""
    if not given:
        return 1
    if given.isdecimal() and len(given) <= 5 and int(given) > 0:
        return int(given)
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


async def _create_reset_link(clients: Clients, email: str, origin: str) -> str:
    if not origin:
        raise InvalidArgument("Set ATAJO_PUBLIC_URL, with which the link begins.")
    # Recorded first: no code exists that the decisions do not show.
    await clients.moderation.record_reset_link(await clients.auth.find_account(email))
    created = await clients.auth.create_reset_code(email)
    return rendering.reset_link(origin, email, created)


async def _show_reports(clients: Clients, after: str) -> str:
    return rendering.reports(await clients.moderation.reports(after))


async def _show_decisions(clients: Clients, page: int, text: str) -> str:
    found = await clients.moderation.decisions((page - 1) * PAGE_SIZE, text)
    return rendering.decisions(found, page, PAGE_SIZE)


async def _block(clients: Clients, subject: Code | Pattern, class_name: str, comment: str) -> str:
    match subject:
        case Code(text=code):
            await clients.moderation.block_link(code, class_name, comment)
            return "The link is blocked."
        case Pattern(text=pattern):
            await clients.moderation.block_pattern(pattern, class_name, comment)
            return "The host or path is blocked, and so are the links that lead there."


async def _unblock(clients: Clients, subject: Code | Pattern, comment: str) -> str:
    match subject:
        case Code(text=code):
            await clients.moderation.unblock_link(code, comment)
            return "The link is unblocked."
        case Pattern(text=pattern):
            await clients.moderation.unblock_pattern(pattern, comment)
            return "The host or path is unblocked, and so are the links that it alone had blocked."


async def _dismiss(clients: Clients, code: str, comment: str) -> str:
    dismissed = await clients.moderation.dismiss(code, comment)
    return f"The reports of the link ({dismissed}) are dismissed."


async def _explain(clients: Clients, subject: Code | Pattern) -> str:
    match subject:
        case Code(text=code):
            reply = await clients.moderation.explain_link(code)
        case Pattern(text=url):
            reply = await clients.moderation.explain_url(url)
    return rendering.explanation(reply, subject.text)


def _end(code: int, line: str) -> NoReturn:
    sys.stderr.write(line + "\n")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
