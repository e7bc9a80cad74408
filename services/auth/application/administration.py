"""What administrators do with accounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from services.auth.application.accounts import find_open_account, no_account
from services.auth.application.ports import Position
from services.auth.application.stores import AccountStore, DecisionStore, SessionStore
from services.auth.domain.account import Account, Role, normalize_email
from services.auth.domain.decision import Action, Decision, create_decision, normalize_search
from services.auth.domain.errors import InvalidCursor, InvalidQuery
from services.shared.administrators import Administrator, not_administrator, read_pass
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.timestamps import to_micros

PAGE_SIZE = 50
MAX_QUERY_LENGTH = 254
"""In characters, as of an e-mail address."""

_ACCOUNT_ID = re.compile("[0-9a-f]{24}")
_CURSOR = re.compile(r"([0-9]{1,16})\.([!-~]{1,100})")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Administration:
    """Lists and changes accounts by decision of administrators. `now` returns the time in UTC.

    `secret` is what signs the passes of administrators. `by` is the e-mail address of one, or empty
    for the operator.
    """

    _accounts: AccountStore
    _sessions: SessionStore
    _decisions: DecisionStore
    _secret: str
    _now: Callable[[], datetime]

    async def authorize(self, administrator_pass: str) -> Administrator:
        """Return who has a pass. An account that administers no more may not use it.

        Raises NotAdministrator, ConfirmationNeeded, Unavailable.
        """
        administrator = read_pass(self._secret, administrator_pass, self._now())
        account = await self._accounts.by_id(administrator.account_id)
        if account is None or not account.administers:
            raise not_administrator()
        return administrator

    async def list_accounts(self, query: str, cursor: str) -> tuple[list[Account], str]:
        """Return a page of open accounts, newest first, and the cursor of the next one, or empty.

        `query` is a part of their e-mail address, or the id of one, as decisions name it. Raises
        InvalidQuery, InvalidCursor, Unavailable.
        """
        text = normalize_email(_check_query(query.strip()))
        if _ACCOUNT_ID.fullmatch(text):
            account = await self._accounts.by_id(text)
            if account is not None and not account.closed:
                return [account], ""
        page = await self._accounts.list_page(text, _parse_cursor(cursor), PAGE_SIZE + 1)
        return _page(page, lambda account: Position(to_micros(account.created_at), account.id))

    async def count_accounts(self) -> int:
        """Return about how many accounts there are. Raises Unavailable."""
        return await self._accounts.count()

    async def change_account(
        self, account_id: str, suspended: bool | None, role: Role | None, by: str
    ) -> Account:
        """Suspend or resume an open account, or set its role. None leaves that as it is.

        Suspending ends its sessions. Return the changed account. Raises NoAccount,
        LastAdministrator, Unavailable.
        """
        now, decisions = self._now(), dict[str, Decision]()
        if suspended is not None:
            action = Action.SUSPEND if suspended else Action.RESUME
            decisions["suspended"] = create_decision(action, account_id, by, now)
        if role is not None:
            decisions["role"] = create_decision(Action.ROLE, account_id, by, now, role.value)
        changed = await self._accounts.change(account_id, suspended, role, decisions)
        if changed is None:
            raise no_account()
        return changed

    async def set_role(self, email: str, role: Role) -> str:
        """Set the role of an account by decision of the operator. Return its id.

        Raises NoAccount, LastAdministrator, Unavailable.
        """
        account = await find_open_account(self._accounts, email)
        return (await self.change_account(account.id, None, role, by="")).id

    async def end_sessions(self, account_id: str, by: str) -> None:
        """End all sessions of an open account. Raises NoAccount, Unavailable."""
        decision = create_decision(Action.END_SESSIONS, account_id, by, self._now())
        if not await self._sessions.delete_all(account_id, decision):
            raise no_account()

    async def list_decisions(self, query: str, cursor: str) -> tuple[list[Decision], str]:
        """Return a page of decisions, newest first, and the cursor of the next one, or empty.

        `query` is a part of their fields. Raises InvalidQuery, InvalidCursor, Unavailable.
        """
        text = normalize_search(_check_query(query))
        page = await self._decisions.list_page(text, _parse_cursor(cursor), PAGE_SIZE + 1)
        return _page(page, lambda decision: Position(to_micros(decision.at), decision.id))


def _check_query(query: str) -> str:
    if len(query) > MAX_QUERY_LENGTH or CONTROL_CHARACTERS.search(query):
        raise InvalidQuery(
            f"A search text has at most {MAX_QUERY_LENGTH} characters and no control characters."
        )
    return query


def _parse_cursor(cursor: str) -> Position | None:
    """Return where a page starts, None for the first one. Raises InvalidCursor."""
    if not cursor:
        return None
    parsed = _CURSOR.fullmatch(cursor)
    if parsed is None:
        raise InvalidCursor("A cursor is one that an earlier page returned.")
    return Position(int(parsed[1]), parsed[2])


def _page(found: Sequence[T], find_position: Callable[[T], Position]) -> tuple[list[T], str]:
    """Return the first `PAGE_SIZE` of what was found, and the cursor of the next page, or empty."""
    page = list(found[:PAGE_SIZE])
    if len(found) <= PAGE_SIZE:
        return page, ""
    last = find_position(page[-1])
    return page, f"{last.micros}.{last.id}"
