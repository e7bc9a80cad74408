"""Executes the operator's commands."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.admin import documents, removal, rendering
from services.admin.clients import PAGE_SIZE, Clients
from services.admin.subjects import Code, Pattern
from services.shared.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Outcome:
    """What a command did or found: for people, and for scripts."""

    text: str
    document: DataclassInstance


async def execute(clients: Clients, arguments: Namespace, origin: str) -> Outcome:
    """Execute the command of parsed arguments. `origin` is the public URL, empty if unknown.

    Raises AppError.
    """
    match arguments.command:
        case "reports":
            return await _show_reports(clients, arguments.after)
        case "block":
            return await _block(clients, arguments.what, arguments.reason, arguments.comment)
        case "unblock":
            return await _unblock(clients, arguments.what, arguments.comment)
        case "dismiss":
            return await _dismiss(clients, arguments.link.text, arguments.comment)
        case "why":
            return await _explain(clients, arguments.what)
        case "decisions":
            return await _show_decisions(clients, arguments.page, arguments.text)
        case "remove-link":
            return await _remove_link(clients, arguments.code)
        case "remove-account":
            return await _remove_account(clients, arguments.email)
        case "reset-link":
            return await _create_reset_link(clients, arguments.email, origin)
    raise AssertionError(arguments.command)


async def _show_reports(clients: Clients, after: str) -> Outcome:
    page = await clients.moderation.reports(after)
    return Outcome(rendering.reports(page), documents.parse_reports(page))


async def _block(clients: Clients, subject: Code | Pattern, reason: str, comment: str) -> Outcome:
    match subject:
        case Code(text=code):
            await clients.moderation.block_link(code, reason, comment)
            text = "The link is blocked."
        case Pattern(text=pattern):
            await clients.moderation.block_pattern(pattern, reason, comment)
            text = "The host or path is blocked, and so are the links that lead there."
    return Outcome(text, documents.create_block(subject, reason))


async def _unblock(clients: Clients, subject: Code | Pattern, comment: str) -> Outcome:
    match subject:
        case Code(text=code):
            await clients.moderation.unblock_link(code, comment)
            text = "The link is unblocked."
        case Pattern(text=pattern):
            await clients.moderation.unblock_pattern(pattern, comment)
            text = "The host or path is unblocked, and so are the links that it alone had blocked."
    return Outcome(text, documents.create_unblock(subject))


async def _dismiss(clients: Clients, code: str, comment: str) -> Outcome:
    dismissed = await clients.moderation.dismiss(code, comment)
    return Outcome(
        f"The reports of the link ({dismissed}) are dismissed.",
        documents.Dismissal(code, dismissed),
    )


async def _explain(clients: Clients, subject: Code | Pattern) -> Outcome:
    match subject:
        case Code(text=code):
            reply = await clients.moderation.explain_link(code)
        case Pattern(text=url):
            reply = await clients.moderation.explain_url(url)
    return Outcome(
        rendering.explanation(reply, subject.text),
        documents.parse_explanation(reply, subject.text),
    )


async def _show_decisions(clients: Clients, page: int, text: str) -> Outcome:
    found = await clients.moderation.decisions((page - 1) * PAGE_SIZE, text)
    return Outcome(
        rendering.decisions(found, page, PAGE_SIZE),
        documents.parse_decisions(found, page, PAGE_SIZE),
    )


async def _remove_link(clients: Clients, code: str) -> Outcome:
    services = removal.Services(clients.auth, clients.links, clients.analytics)
    if not await removal.remove_link(services, code):
        raise NotFound("There is no link with this code.")
    return Outcome(
        "The link is removed; its code is never given out again.", documents.RemovedLink(code)
    )


async def _remove_account(clients: Clients, email: str) -> Outcome:
    services = removal.Services(clients.auth, clients.links, clients.analytics)
    links = await removal.remove_account(services, email)
    return Outcome(
        f"The account and its links ({links}) are removed.", documents.RemovedAccount(links)
    )


async def _create_reset_link(clients: Clients, email: str, origin: str) -> Outcome:
    if not origin:
        raise InvalidArgument("Set ATAJO_PUBLIC_URL, with which the link begins.")
    # Recorded first: no code exists that the decisions do not show.
    await clients.moderation.record_reset_link(await clients.auth.find_account(email))
    created = await clients.auth.create_reset_code(email)
    url = rendering.reset_url(origin, email, created.code)
    return Outcome(
        rendering.reset_link(url, created.expires_at),
        documents.parse_reset_link(url, created.expires_at),
    )
