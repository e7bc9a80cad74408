"""The functions of administrators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request

from gateway.backends.administration import (
    AdministeredAccount,
    Decision,
    DecisionAction,
    Report,
    ReportedLink,
)
from gateway.backends.ports import Role
from gateway.backends.view_counts import Totals
from gateway.functions.owner import SessionPayload
from gateway.functions.protocol import Payload, Reply, Text
from gateway.redirects.resolution import BlockReason
from gateway.use_cases.json_values import to_json
from gateway.use_cases.services import Services
from services.shared.errors import InvalidArgument

OPERATOR = "operator"
"""Who made a decision, if not an administrator."""


class Page(SessionPayload):
    """A page of a list."""

    cursor: Text | None = None


class SearchedPage(Page):
    """A page of the entries of a list that contain a text. Null counts as empty."""

    query: Text | None = None


class ShowReports(SessionPayload):
    """`code` may be any text. An invalid code has no link."""

    code: Text


Comment = Annotated[Text | None, Field(repr=False)]
"""An administrator's comment. Null counts as empty."""
Class = Annotated[BlockReason | None, Field(alias="class")]


class Decide(SessionPayload):
    """`subject` is a code, a short URL, a host or a path. `class` is needed for `block`."""

    subject: Text
    action: DecisionAction
    class_: Class = None
    comment: Comment = None


class ExplainBlock(SessionPayload):
    """`subject` is a code, a short URL, a host, a path or a URL."""

    subject: Text


class AccountChanges(Payload):
    """Absent fields stay as they are."""

    suspended: bool | None = None
    role: Role | None = None


class ChangeAccount(SessionPayload):
    id: Text
    changes: AccountChanges


class BlockAccountLinks(SessionPayload):
    id: Text
    class_: Annotated[BlockReason, Field(alias="class")]
    comment: Comment = None


class AccountPayload(SessionPayload):
    """The payload of a call about an account, or an invitation."""

    id: Text


class CreateInvitation(SessionPayload):
    """An invitation is for anyone if `email` is null. The default role is `member`."""

    email: Text | None = None
    role: Role | None = None


async def list_reports(services: Services, payload: Page, request: Request) -> Reply:
    found, views, cursor = await services.administration.reported_links(
        _admit(services, payload), payload.cursor or ""
    )
    return {
        "reports": [_reported_link_json(reported, views) for reported in found],
        "cursor": cursor or None,
    }


async def show_reports(services: Services, payload: ShowReports, request: Request) -> Reply:
    file = await services.administration.link_file(_admit(services, payload), payload.code)
    link = file.link
    return {
        "link": {
            "code": link.code,
            "long_link": link.url,
            "state": link.state.value,
            "reason": to_json(link.reason),
            "created_at": to_json(link.created_at),
            "changed_at": to_json(link.changed_at),
            "owner": file.owner.value,
        },
        "reports": [row for report in file.reports for row in _report_json(report)],
        "decisions": [_decision_json(decision) for decision in file.decisions],
        "history": [
            {"long_link": former.url, "until": to_json(former.until)} for former in file.history
        ],
    }


async def decide(services: Services, payload: Decide, request: Request) -> Reply:
    token = _admit(services, payload)
    if payload.action is DecisionAction.BLOCK and payload.class_ is None:
        raise InvalidArgument("A block needs a class.", "INVALID_REASON")
    decision = await services.administration.decide(
        token, payload.subject, payload.action, payload.class_, payload.comment or ""
    )
    return {"decision": decision}


async def explain_block(services: Services, payload: ExplainBlock, request: Request) -> Reply:
    verdict = await services.administration.explain(_admit(services, payload), payload.subject)
    return {
        "blocked": verdict.blocked,
        "by": to_json(verdict.cause),
        "class": to_json(verdict.reason),
        "detail": verdict.detail,
    }


async def list_decisions(services: Services, payload: SearchedPage, request: Request) -> Reply:
    found, cursor = await services.administration.decisions(
        _admit(services, payload), payload.query or "", payload.cursor or ""
    )
    return {
        "decisions": [_decision_json(decision) for decision in found],
        "cursor": cursor or None,
    }


async def list_accounts(services: Services, payload: SearchedPage, request: Request) -> Reply:
    found, links, cursor = await services.administration.accounts(
        _admit(services, payload), payload.query or "", payload.cursor or ""
    )
    return {
        "accounts": [_account_json(account, links) for account in found],
        "cursor": cursor or None,
    }


async def change_account(services: Services, payload: ChangeAccount, request: Request) -> Reply:
    token, changes = _admit(services, payload), payload.changes
    if changes.suspended is None and changes.role is None:
        raise InvalidArgument("At least one change is needed.", "NO_CHANGES")
    account, links = await services.administration.change_account(
        token, payload.id, changes.suspended, changes.role
    )
    return {"account": _account_json(account, links)}


async def block_account_links(
    services: Services, payload: BlockAccountLinks, request: Request
) -> Reply:
    blocked = await services.administration.block_account_links(
        _admit(services, payload), payload.id, payload.class_, payload.comment or ""
    )
    return {"blocked": blocked}


async def end_account_sessions(
    services: Services, payload: AccountPayload, request: Request
) -> None:
    await services.administration.end_sessions(_admit(services, payload), payload.id)


async def create_reset_link(services: Services, payload: AccountPayload, request: Request) -> Reply:
    url = await services.administration.create_reset_link(_admit(services, payload), payload.id)
    return {"url": url}


async def create_invitation(
    services: Services, payload: CreateInvitation, request: Request
) -> Reply:
    invitation, url = await services.administration.invite(
        _admit(services, payload), payload.email or "", payload.role or Role.MEMBER
    )
    return {"id": invitation, "url": url}


async def list_invitations(services: Services, payload: SessionPayload, request: Request) -> Reply:
    found = await services.administration.invitations(_admit(services, payload))
    return {
        "invitations": [
            {**to_json(invitation), "email": invitation.email or None} for invitation in found
        ]
    }


async def revoke_invitation(services: Services, payload: AccountPayload, request: Request) -> None:
    await services.administration.revoke_invitation(_admit(services, payload), payload.id)


async def show_instance(services: Services, payload: SessionPayload, request: Request) -> Reply:
    instance = await services.administration.instance(_admit(services, payload))
    return {
        "version": instance.version,
        "links": instance.links,
        "accounts": instance.accounts,
        "visits": {"today": instance.visits_today, "yesterday": instance.visits_yesterday},
        "storage_bytes": instance.storage_bytes,
        "backup_at": to_json(instance.backup_at),
        "processes": [
            {"name": name, "ready": is_ready} for name, is_ready in instance.processes.items()
        ],
    }


def _admit(services: Services, payload: SessionPayload) -> str:
    """Return the token. Raises AdministrationOff, whoever calls, and NoOwner."""
    services.policy.check_administration()
    return payload.session_token()


def _reported_link_json(
    reported: ReportedLink, views: Mapping[str, Totals] | None
) -> dict[str, Any]:
    link = reported.link
    return {
        "code": link.code,
        "long_link": link.url,
        "state": link.state.value,
        "created_at": to_json(link.created_at),
        "views": None if views is None else views[link.code].people,
        "reports": reported.count,
        "classes": to_json(reported.reasons),
        "first_reported_at": to_json(reported.first_at),
        "last_reported_at": to_json(reported.last_at),
    }


def _report_json(report: Report) -> Sequence[dict[str, Any]]:
    """Return a row of each statement, or one row if there is none."""
    row = {"id": report.id, "reason": report.reason.value}
    if not report.statements:
        return [{**row, "details": "", "contact": None, "created_at": to_json(report.first_at)}]
    return [
        {
            **row,
            "details": statement.details,
            "contact": statement.contact or None,
            "created_at": to_json(statement.at),
        }
        for statement in report.statements
    ]


def _decision_json(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "at": to_json(decision.at),
        "action": decision.action,
        "subject": decision.subject,
        "class": to_json(decision.reason),
        "comment": decision.comment,
        "by": decision.by or OPERATOR,
    }


def _account_json(account: AdministeredAccount, links: Mapping[str, int] | None) -> dict[str, Any]:
    return {
        "id": account.id,
        "email": account.email,
        "username": account.username,
        "role": account.role.value,
        "suspended": account.suspended,
        "links": None if links is None else links.get(account.id, 0),
        "created_at": to_json(account.created_at),
        "last_seen_at": to_json(account.last_seen_at),
    }
