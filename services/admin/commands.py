"""The operator's commands. Each one takes its parsed arguments and raises AppError."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.admin import documents, removal, rendering
from services.admin.clients import PAGE_SIZE, Clients
from services.admin.documents import (
    Block,
    Dismissal,
    RemovedAccount,
    RemovedLink,
    RoleSet,
    Unblock,
)
from services.shared.errors import InvalidArgument, NotFound
from services.shared.page_urls import invitation_url, reset_url
from services.shared.rpc.fields import from_message
from services.shared.subjects import Code, Pattern

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Outcome:
    """What a command did or found: for people, and for scripts."""

    text: str
    document: DataclassInstance


Command = Callable[[Clients, Namespace], Awaitable[Outcome]]


async def show_reports(clients: Clients, arguments: Namespace) -> Outcome:
    page = documents.parse_reports(await clients.moderation.reports(arguments.after))
    return Outcome(rendering.reports(page), page)


async def block(clients: Clients, arguments: Namespace) -> Outcome:
    subject: Code | Pattern = arguments.what
    reason, comment = arguments.reason, arguments.comment
    match subject:
        case Code(code):
            await clients.moderation.block_link(code, reason, comment)
            return Outcome("The link is blocked.", Block(code, None, reason))
        case Pattern(pattern):
            await clients.moderation.block_pattern(pattern, reason, comment)
            text = "The host or path is blocked, and so are the links that lead there."
            return Outcome(text, Block(None, pattern, reason))


async def unblock(clients: Clients, arguments: Namespace) -> Outcome:
    subject: Code | Pattern = arguments.what
    match subject:
        case Code(code):
            await clients.moderation.unblock_link(code, arguments.comment)
            return Outcome("The link is unblocked.", Unblock(code, None))
        case Pattern(pattern):
            await clients.moderation.unblock_pattern(pattern, arguments.comment)
            text = "The host or path is unblocked, and so are the links that it alone had blocked."
            return Outcome(text, Unblock(None, pattern))


async def dismiss(clients: Clients, arguments: Namespace) -> Outcome:
    code = arguments.link.text
    dismissed = await clients.moderation.dismiss(code, arguments.comment)
    text = f"The reports of the link ({dismissed}) are dismissed."
    return Outcome(text, Dismissal(code, dismissed))


async def explain(clients: Clients, arguments: Namespace) -> Outcome:
    subject: Code | Pattern = arguments.what
    match subject:
        case Code(code):
            reply = await clients.moderation.explain_link(code)
        case Pattern(url):
            reply = await clients.moderation.explain_url(url)
    found = documents.parse_explanation(reply, subject.text)
    return Outcome(rendering.explanation(found), found)


async def show_decisions(clients: Clients, arguments: Namespace) -> Outcome:
    number = arguments.page
    reply = await clients.moderation.decisions((number - 1) * PAGE_SIZE, arguments.text)
    page = documents.parse_decisions(reply, number, PAGE_SIZE)
    return Outcome(rendering.decisions(page, number), page)


async def remove_link(clients: Clients, arguments: Namespace) -> Outcome:
    services = removal.Services(clients.auth, clients.links, clients.analytics)
    if not await removal.remove_link(services, arguments.code):
        raise NotFound("There is no link with this code.")
    text = "The link is removed; its code is never given out again."
    return Outcome(text, RemovedLink(arguments.code))


async def remove_account(clients: Clients, arguments: Namespace) -> Outcome:
    services = removal.Services(clients.auth, clients.links, clients.analytics)
    links = await removal.remove_account(services, arguments.email)
    return Outcome(f"The account and its links ({links}) are removed.", RemovedAccount(links))


async def create_reset_link(clients: Clients, arguments: Namespace) -> Outcome:
    origin, email = _require_origin(arguments), arguments.email
    # Recorded first: no code exists that the decisions do not show.
    await clients.moderation.record_reset_link(await clients.auth.find_account(email))
    created = await clients.auth.create_reset_code(email)
    url = reset_url(origin, email.strip(), created.code)
    link = from_message(documents.ResetLink, created, url=url)
    return Outcome(rendering.single_use_url(link.url, link.expires_at), link)


async def set_role(clients: Clients, arguments: Namespace) -> Outcome:
    role = arguments.role
    await clients.auth.set_role(arguments.email, role)
    article = "an" if role == "administrator" else "a"
    return Outcome(f"The account is {article} {role}.", RoleSet(role))


async def invite(clients: Clients, arguments: Namespace) -> Outcome:
    origin = _require_origin(arguments)
    created = await clients.auth.invite(arguments.email)
    url = invitation_url(origin, created.token)
    invitation = from_message(documents.Invitation, created, url=url)
    return Outcome(rendering.single_use_url(invitation.url, invitation.expires_at), invitation)


def _require_origin(arguments: Namespace) -> str:
    """Return the product's public URL. Raises InvalidArgument if it is unknown."""
    origin: str = arguments.origin()
    if not origin:
        raise InvalidArgument("Set ATAJO_PUBLIC_URL, with which the link begins.")
    return origin
