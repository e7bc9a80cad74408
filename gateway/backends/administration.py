"""The clients of the administration services of auth and links, over gRPC, and their values.

Every call takes the administrator's pass (`AuthClient.issue_pass`), and the service checks it by
itself. Beside the reasons that a call lists, each has NOT_ADMINISTRATOR and CONFIRMATION_NEEDED.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from atajo.links.v1 import links_pb2, links_pb2_grpc
from gateway.backends.links import parse_link
from gateway.backends.ports import FormerUrl, Link, Role
from gateway.redirects.resolution import BlockReason
from services.shared.rpc.client import ServiceClient
from services.shared.rpc.fields import enum_members, enum_numbers, from_message, to_datetime
from services.shared.timestamps import to_micros

BLOCK_SECONDS = 15.0
"""Timeout of the block of a host: links searches for 10 seconds for links that lead there."""

_REASONS = enum_members(BlockReason, links_pb2.BlockReason)
_REASON_NUMBERS = enum_numbers(BlockReason, links_pb2.BlockReason)
_ROLE_NUMBERS = enum_numbers(Role, auth_pb2.Role)
_ACCOUNT_COMMENT = "account "
"""What the comment of a reset link's decision begins with at links, before the account's id."""


class DecisionAction(Enum):
    """What can be decided about a link, host or path. The values are those of the payloads."""

    BLOCK = "block"
    UNBLOCK = "unblock"
    DISMISS = "dismiss"


_ACTION_NUMBERS = enum_numbers(DecisionAction, links_pb2.DecisionKind)


class OwnerKind(Enum):
    """Who owns a link. The values are those of the answers."""

    ACCOUNT = "account"
    GUEST = "guest"
    NOBODY = "nobody"


class BlockCause(Enum):
    """What a link, host or path is blocked by. The values are those of the answers."""

    DECISION = "decision"
    LIST = "list"
    OWNER = "owner"
    """Its owner removed it. It is not blocked."""


@dataclass(frozen=True, slots=True)
class ReportedLink:
    """A link with its pending reports."""

    link: Link
    count: int
    """Number of reports."""
    reasons: tuple[BlockReason, ...]
    """The most frequent first."""
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Statement:
    """What one reporter wrote. Both texts may be empty."""

    details: str
    contact: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """The pending reports of a link for one reason."""

    id: str
    reason: BlockReason
    first_at: datetime
    statements: tuple[Statement, ...]
    """The first ones that were not empty, oldest first."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about a link, a host or path, or an account."""

    id: str
    at: datetime
    action: str
    """`block`, `unblock`, `dismiss`, `suspend`, `resume`, `role`, `end sessions`, `reset link` or
    `invite`."""
    subject: str
    """A code, a host or path, or the id of an account."""
    reason: BlockReason | None
    comment: str
    by: str
    """E-mail address of the administrator, empty for the operator."""

    @property
    def cursor(self) -> str:
        """Where the list of its service continues after it."""
        return f"{to_micros(self.at)}.{self.id}"


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A page of the decisions of one service, newest first."""

    decisions: list[Decision]
    cursor: str
    """Where the next page starts, empty at the end."""


@dataclass(frozen=True, slots=True)
class LinkFile:
    """What is known about a link."""

    link: Link
    owner: OwnerKind
    reports: tuple[Report, ...]
    """The pending ones, the most frequent reason first."""
    decisions: list[Decision]
    """Newest first."""
    history: tuple[FormerUrl, ...]
    """The previous URLs, the most recent first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a link, host or path is blocked, and by what."""

    blocked: bool
    cause: BlockCause | None
    reason: BlockReason | None
    detail: str


@dataclass(frozen=True, slots=True)
class BlockedLinks:
    """What a step of a block of an account's links did."""

    blocked: int
    next: str
    """The cursor of the next step, empty at the end."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of the instance, as far as links knows."""

    links: int
    store_bytes: int
    reconciler_works: bool


@dataclass(frozen=True, slots=True)
class AdministeredAccount:
    """An account, as administrators see it."""

    id: str
    email: str
    username: str
    role: Role
    suspended: bool
    created_at: datetime
    last_seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation that is neither used nor expired. A field that is added here is shown."""

    id: str
    email: str
    """Empty for anyone."""
    role: Role
    created_at: datetime
    expires_at: datetime


class LinksAdministrationClient(ServiceClient["links_pb2_grpc.AdministrationServiceAsyncStub"]):
    """What administrators do about links."""

    service = links_pb2.DESCRIPTOR.services_by_name["AdministrationService"]
    stub_class = links_pb2_grpc.AdministrationServiceStub

    async def reported_links(
        self, administrator_pass: str, cursor: str
    ) -> tuple[list[ReportedLink], str]:
        """Return links with pending reports, the most often reported first, and the next cursor.

        Reason: INVALID_CURSOR.
        """
        request = links_pb2.ListReportedLinksRequest(
            administrator_pass=administrator_pass, cursor=cursor
        )
        reply = await self._call(self._stub.ListReportedLinks, request)
        found = [
            from_message(ReportedLink, reported, link=parse_link(reported.link))
            for reported in reply.links
        ]
        return found, reply.next

    async def link_file(self, administrator_pass: str, code: str) -> LinkFile:
        """Return what is known about a link, named by code or scan code. Reason: NO_LINK."""
        request = links_pb2.GetReportedLinkRequest(administrator_pass=administrator_pass, code=code)
        reply = await self._call(self._stub.GetReportedLink, request)
        return from_message(
            LinkFile,
            reply,
            link=parse_link(reply.link),
            decisions=list(map(_parse_decision, reply.decisions)),
        )

    async def decide(
        self,
        administrator_pass: str,
        subject: str,
        action: DecisionAction,
        reason: BlockReason | None,
        comment: str,
    ) -> Decision:
        """Make a decision about a link (code or short URL), a host or a path.

        A repetition by gRPC makes no other decision.

        Reasons: NO_LINK, NO_BLOCK, NO_REPORT, INVALID_*, TOO_MANY_ADDRESSES.
        """
        request = links_pb2.DecideRequest(
            administrator_pass=administrator_pass,
            subject=subject,
            action=_ACTION_NUMBERS[action],
            reason=_REASON_NUMBERS[reason] if reason else links_pb2.BLOCK_REASON_UNSPECIFIED,
            cause=comment,
            idempotency_key=create_idempotency_key(),
        )
        reply = await self._call(self._stub.Decide, request, BLOCK_SECONDS)
        return _parse_decision(reply.decision)

    async def explain(self, administrator_pass: str, subject: str) -> Verdict:
        """Explain whether a link, host, path or URL is blocked.

        Reasons: NO_LINK, INVALID_ADDRESS.
        """
        request = links_pb2.ExplainSubjectRequest(
            administrator_pass=administrator_pass, subject=subject
        )
        reply = await self._call(self._stub.ExplainSubject, request)
        return from_message(Verdict, reply)

    async def decisions(self, administrator_pass: str, text: str, cursor: str) -> DecisionPage:
        """Return decisions that contain a text, newest first. Reasons: INVALID_*."""
        request = links_pb2.SearchDecisionsRequest(
            administrator_pass=administrator_pass, text=text, cursor=cursor
        )
        reply = await self._call(self._stub.SearchDecisions, request)
        return DecisionPage(list(map(_parse_decision, reply.decisions)), reply.next)

    async def block_account_links(
        self,
        administrator_pass: str,
        account_id: str,
        reason: BlockReason,
        comment: str,
        cursor: str,
        idempotency_key: bytes,
    ) -> BlockedLinks:
        """Block the next links of an account. All steps with one key share one decision.

        Reasons: INVALID_CAUSE, INVALID_OWNER.
        """
        request = links_pb2.BlockAccountLinksRequest(
            administrator_pass=administrator_pass,
            account_id=account_id,
            reason=_REASON_NUMBERS[reason],
            cause=comment,
            cursor=cursor,
            idempotency_key=idempotency_key,
        )
        reply = await self._call(self._stub.BlockAccountLinks, request)
        return from_message(BlockedLinks, reply)

    async def count(self, administrator_pass: str, account_ids: Sequence[str]) -> Mapping[str, int]:
        """Return the number of links of up to 100 accounts, without removed ones."""
        request = links_pb2.CountLinksRequest(
            administrator_pass=administrator_pass, account_ids=account_ids
        )
        reply = await self._call(self._stub.CountLinks, request)
        return dict(reply.links)

    async def usage(self, administrator_pass: str) -> Usage:
        """Return the use of the instance."""
        request = links_pb2.GetUsageRequest(administrator_pass=administrator_pass)
        reply = await self._call(self._stub.GetUsage, request)
        return from_message(Usage, reply)


class AccountsAdministrationClient(ServiceClient["auth_pb2_grpc.AdministrationServiceAsyncStub"]):
    """What administrators do about accounts. The reason is NO_ACCOUNT for an unknown id."""

    service = auth_pb2.DESCRIPTOR.services_by_name["AdministrationService"]
    stub_class = auth_pb2_grpc.AdministrationServiceStub

    async def accounts(
        self, administrator_pass: str, query: str, cursor: str
    ) -> tuple[list[AdministeredAccount], str]:
        """Return accounts whose e-mail address has a part, newest first, and the next cursor.

        Reasons: INVALID_QUERY, INVALID_CURSOR.
        """
        request = auth_pb2.ListAccountsRequest(
            administrator_pass=administrator_pass, query=query, cursor=cursor
        )
        reply = await self._call(self._stub.ListAccounts, request)
        accounts = [from_message(AdministeredAccount, account) for account in reply.accounts]
        return accounts, reply.cursor

    async def change(
        self,
        administrator_pass: str,
        account_id: str,
        suspended: bool | None,
        role: Role | None,
    ) -> AdministeredAccount:
        """Suspend or resume an account, or set its role; None leaves that.

        Reason: LAST_ADMINISTRATOR.
        """
        request = auth_pb2.ChangeAccountRequest(
            administrator_pass=administrator_pass,
            id=account_id,
            suspended=suspended,
            role=_ROLE_NUMBERS[role] if role else None,
        )
        reply = await self._call(self._stub.ChangeAccount, request)
        return from_message(AdministeredAccount, reply.account)

    async def end_sessions(self, administrator_pass: str, account_id: str) -> None:
        """End all sessions of an account."""
        request = auth_pb2.EndAccountSessionsRequest(
            administrator_pass=administrator_pass, id=account_id
        )
        await self._call(self._stub.EndAccountSessions, request)

    async def create_reset_code(self, administrator_pass: str, account_id: str) -> tuple[str, str]:
        """Return the e-mail address of an account, and a code that sets its password."""
        request = auth_pb2.CreateAccountResetCodeRequest(
            administrator_pass=administrator_pass, id=account_id
        )
        reply = await self._call(self._stub.CreateAccountResetCode, request)
        return reply.email, reply.code

    async def invite(self, administrator_pass: str, email: str, role: Role) -> tuple[str, str]:
        """Create an invitation, for anyone if `email` is empty; return its id and its token.

        Reasons: INVALID_EMAIL, TOO_MANY_INVITATIONS.
        """
        request = auth_pb2.CreateInvitationRequest(
            administrator_pass=administrator_pass, email=email, role=_ROLE_NUMBERS[role]
        )
        reply = await self._call(self._stub.CreateInvitation, request)
        return reply.id, reply.token

    async def invitations(self, administrator_pass: str) -> list[Invitation]:
        """Return the invitations that are neither used nor expired, newest first."""
        request = auth_pb2.ListInvitationsRequest(administrator_pass=administrator_pass)
        reply = await self._call(self._stub.ListInvitations, request)
        return [from_message(Invitation, invitation) for invitation in reply.invitations]

    async def revoke_invitation(self, administrator_pass: str, invitation_id: str) -> None:
        """Revoke an invitation. May be repeated."""
        request = auth_pb2.RevokeInvitationRequest(
            administrator_pass=administrator_pass, id=invitation_id
        )
        await self._call(self._stub.RevokeInvitation, request)

    async def decisions(self, administrator_pass: str, text: str, cursor: str) -> DecisionPage:
        """Return decisions that contain a text, newest first. Reasons: INVALID_*."""
        request = auth_pb2.ListDecisionsRequest(
            administrator_pass=administrator_pass, query=text, cursor=cursor
        )
        reply = await self._call(self._stub.ListDecisions, request)
        found = [from_message(Decision, decision, reason=None) for decision in reply.decisions]
        return DecisionPage(found, reply.cursor)

    async def usage(self, administrator_pass: str) -> tuple[int, int]:
        """Return the number of accounts, and the size of the store in bytes."""
        request = auth_pb2.CountAccountsRequest(administrator_pass=administrator_pass)
        reply = await self._call(self._stub.CountAccounts, request)
        return reply.accounts, reply.store_bytes


@dataclass(frozen=True)
class AdministrationClients:
    """The clients of both services."""

    accounts: AccountsAdministrationClient
    links: LinksAdministrationClient

    async def close(self) -> None:
        """Close the channels."""
        await asyncio.gather(self.accounts.close(), self.links.close())


def create_idempotency_key() -> bytes:
    """Return a new key that identifies a call of an administrator."""
    return secrets.token_bytes(16)


def _parse_decision(decision: links_pb2.Decision) -> Decision:
    """Return a decision of links."""
    subject, comment = decision.code or decision.address or decision.account_id, decision.cause
    if decision.kind == links_pb2.DECISION_KIND_RESET_LINK:
        subject, comment = comment.removeprefix(_ACCOUNT_COMMENT), ""
    name = links_pb2.DecisionKind.Name(decision.kind)
    return Decision(
        id=decision.id,
        at=to_datetime(decision.at),
        action=name.removeprefix("DECISION_KIND_").lower().replace("_", " "),
        subject=subject,
        reason=_REASONS.get(decision.reason),
        comment=comment,
        by=decision.by,
    )
