"""The use cases of invitations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from services.auth.application.stores import InvitationStore
from services.auth.domain.account import Role
from services.auth.domain.decision import Action, create_decision
from services.auth.domain.errors import TooManyInvitations
from services.auth.domain.invitation import MAX_INVITATIONS, Invitation, create_invitation


@dataclass(frozen=True, eq=False)
class Invitations:
    """Creates, lists and revokes invitations. `now` returns the time in UTC."""

    _store: InvitationStore
    _now: Callable[[], datetime]

    async def create(self, email: str, role: Role, by: str = "") -> tuple[Invitation, str]:
        """Create an invitation. Return it and its token, which is not stored.

        `email` is the address that it is for, or empty for anyone. `by` is the e-mail address of
        the administrator, or empty for the operator.

        Raises InvalidEmail, TooManyInvitations, Unavailable.
        """
        now = self._now()
        invitation, token = create_invitation(email, role, now)
        decision = create_decision(Action.INVITE, invitation.id, by, now, role.value)
        if not await self._store.add(invitation, decision):
            raise TooManyInvitations(
                f"There are {MAX_INVITATIONS:,} invitations already. Revoke some first."
            )
        return invitation, token

    async def list_all(self) -> list[Invitation]:
        """Return the invitations that are neither used nor expired, newest first.

        Raises Unavailable.
        """
        now = self._now()
        return [each for each in await self._store.list_all() if each.expires_at > now]

    async def revoke(self, invitation_id: str) -> None:
        """Delete an invitation, unless it does not exist. Raises Unavailable."""
        await self._store.delete(invitation_id)

    async def invite_first(self) -> str | None:
        """Return the token of a new invitation for the first account, an administrator's.

        It replaces the earlier one. Return None if there is any account. Raises Unavailable.
        """
        invitation, token = create_invitation("", Role.ADMINISTRATOR, self._now(), is_first=True)
        return token if await self._store.replace_first(invitation) else None
