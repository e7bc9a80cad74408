"""The contract of both auth stores for roles, suspensions, invitations and decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from services.auth.application.ports import Position
from services.auth.application.stores import Stores
from services.auth.domain.account import Account, Role
from services.auth.domain.decision import Action, Decision, create_decision
from services.auth.domain.errors import LastAdministrator
from services.auth.domain.invitation import (
    LIFETIME,
    MAX_INVITATIONS,
    Invitation,
    create_invitation,
    hash_token,
)
from services.auth.domain.recovery_code import RecoveryCode
from services.shared.timestamps import to_micros
from tests.auth.cases import (
    ANA,
    BEA,
    CODES,
    KEY,
    NOW,
    SESSION,
    code_hashes,
    damage,
    session_ids,
)
from tests.auth.conftest import Opening

ADA = replace(ANA, role=Role.ADMINISTRATOR)
BEE = replace(BEA, role=Role.ADMINISTRATOR)
MEMBER, ADMINISTRATOR = Role.MEMBER, Role.ADMINISTRATOR


def decide(action: Action, subject: str = ANA.id, comment: str = "") -> Decision:
    return create_decision(action, subject, "ada@example.com", NOW, comment)


SUSPEND = {"suspended": decide(Action.SUSPEND)}
RESUME = {"suspended": decide(Action.RESUME)}
DEMOTE = {"role": decide(Action.ROLE, comment="member")}
PROMOTE = {"role": decide(Action.ROLE, comment="administrator")}


async def decisions(stores: Stores) -> list[str]:
    """Return the ids of all decisions."""
    return sorted(decision.id for decision in await stores.decisions.list_page("", None, 100))


async def suspend(stores: Stores, account: Account) -> Account | None:
    decision = replace(decide(Action.SUSPEND), subject=account.id)
    return await stores.accounts.change(account.id, True, None, {"suspended": decision})


async def demote(stores: Stores, account: Account) -> Account | None:
    decision = replace(decide(Action.ROLE, comment="member"), subject=account.id)
    return await stores.accounts.change(account.id, None, MEMBER, {"role": decision})


async def test_a_suspension_ends_the_sessions_and_is_stored_with_its_decision(
    opening: Opening,
) -> None:
    async with opening() as stores:
        await stores.accounts.add(ANA)
        await stores.accounts.add(BEA)
        await stores.sessions.add(ANA, SESSION, 10)
        await stores.keys.add(ANA, KEY, 10)
        changed = await stores.accounts.change(ANA.id, True, None, SUSPEND)
        assert changed == replace(ANA, suspended=True)
        assert await session_ids(stores) == set()

    async with opening() as stores:
        suspended = replace(ANA, suspended=True, session=1)
        assert await stores.accounts.by_id(ANA.id) == suspended
        assert await stores.keys.find(KEY.key_hash) == (KEY, suspended)
        assert await stores.decisions.list_page("", None, 10) == [SUSPEND["suspended"]]
        assert await stores.accounts.by_id(BEA.id) == BEA

        assert await stores.accounts.change(ANA.id, False, None, RESUME) == replace(ANA, session=1)
        assert await stores.accounts.by_id(ANA.id) == replace(ANA, session=1)


async def test_a_change_that_is_already_made_stores_no_decision(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    assert await stores.accounts.change(ANA.id, False, MEMBER, {**RESUME, **DEMOTE}) == ANA
    assert await stores.accounts.change(ANA.id, None, None, {}) == ANA
    assert await decisions(stores) == []
    both = {**SUSPEND, **PROMOTE}
    for _ in range(2):
        changed = await stores.accounts.change(ANA.id, True, ADMINISTRATOR, both)
        assert changed is not None
        assert (changed.suspended, changed.role) == (True, ADMINISTRATOR)
        assert await decisions(stores) == sorted(decision.id for decision in both.values())
    stored = await stores.accounts.by_id(ANA.id)
    assert stored is not None
    assert stored.session == 1


async def test_a_closed_or_unknown_account_is_not_changed(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.close(ANA.email_key)
    for account_id in (ANA.id, "unknown"):
        assert await stores.accounts.change(account_id, True, None, SUSPEND) is None
        assert not await stores.sessions.delete_all(account_id, decide(Action.END_SESSIONS))
        code = RecoveryCode(CODES[0], NOW)
        decision = decide(Action.RESET_LINK)
        assert not await stores.recovery_codes.put_expiring(account_id, code, decision)
    assert await stores.accounts.by_id(ANA.id) == replace(ANA, closed=True)
    assert await decisions(stores) == []


async def test_the_last_administrator_stays_one(stores: Stores) -> None:
    await stores.accounts.add(ADA)
    await stores.accounts.add(BEA)
    await stores.sessions.add(ADA, SESSION, 10)
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: demote(stores, ADA),
        lambda: suspend(stores, ADA),
        lambda: stores.accounts.close(ADA.email_key),
        lambda: stores.accounts.close_in_session(ADA),
    ]
    for call in calls:
        with pytest.raises(LastAdministrator):
            await call()
    assert await stores.accounts.by_id(ADA.id) == ADA
    assert await session_ids(stores) == {SESSION.id}
    assert await decisions(stores) == []

    await stores.accounts.change(BEA.id, None, ADMINISTRATOR, PROMOTE)
    assert await demote(stores, ADA) == ANA
    with pytest.raises(LastAdministrator):
        await stores.accounts.close(BEA.email_key)


@pytest.mark.parametrize("other", [replace(BEE, suspended=True), replace(BEE, closed=True)])
async def test_an_administrator_who_cannot_act_is_none_that_is_left(
    stores: Stores, other: Account
) -> None:
    await stores.accounts.add(ADA)
    await stores.accounts.add(other)
    with pytest.raises(LastAdministrator):
        await stores.accounts.close(ADA.email_key)
    # The other one can be removed.
    assert await stores.accounts.close(BEE.email_key) == BEE.id


async def test_an_unreadable_administrator_is_not_the_last_one_to_close(stores: Stores) -> None:
    await stores.accounts.add(ADA)
    await damage(stores, "accounts", ("id", ANA.id), created_at="x")
    with pytest.raises(LastAdministrator):
        await stores.accounts.close(ADA.email_key)
    await stores.accounts.add(BEE)
    assert await stores.accounts.close(ADA.email_key) == ADA.id


@pytest.mark.parametrize("removal", ["demote", "suspend", "close", "close_in_session"])
async def test_of_administrators_who_cease_at_once_one_is_left(
    stores: Stores, removal: str
) -> None:
    administrators = [
        replace(ADA, id=f"{number:024x}", email_key=f"{number}@b") for number in range(4)
    ]
    for account in administrators:
        await stores.accounts.add(account)
    calls: dict[str, Callable[[Account], Awaitable[object]]] = {
        "demote": lambda account: demote(stores, account),
        "suspend": lambda account: suspend(stores, account),
        "close": lambda account: stores.accounts.close(account.email_key),
        "close_in_session": lambda account: stores.accounts.close_in_session(account),
    }
    ended = await asyncio.gather(
        *(calls[removal](account) for account in administrators), return_exceptions=True
    )
    assert [type(each) for each in ended].count(LastAdministrator) == 1
    left = [await stores.accounts.by_id(account.id) for account in administrators]
    assert sum(account is not None and account.administers for account in left) == 1


async def test_sessions_end_with_a_decision(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.sessions.add(ANA, SESSION, 10)
    decision = decide(Action.END_SESSIONS)
    assert await stores.sessions.delete_all(ANA.id, decision)
    assert await session_ids(stores) == set()
    assert await stores.accounts.by_id(ANA.id) == replace(ANA, session=1)
    assert await stores.decisions.list_page("", None, 10) == [decision]


async def test_a_reset_code_is_put_with_a_decision(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    decision = decide(Action.RESET_LINK)
    code = RecoveryCode(CODES[0], NOW + timedelta(hours=1))
    assert await stores.recovery_codes.put_expiring(ANA.id, code, decision)
    assert await code_hashes(stores) == {CODES[0]}
    assert await stores.decisions.list_page("", None, 10) == [decision]


async def invite(
    stores: Stores, email: str = "", role: Role = MEMBER, age: timedelta = timedelta()
) -> tuple[Invitation, bytes]:
    """Store an invitation. Return it and the hash of its token."""
    invitation, token = create_invitation(email, role, NOW - age)
    await stores.invitations.add(invitation, decide(Action.INVITE, invitation.id))
    return invitation, hash_token(token)


async def add(
    stores: Stores, account: Account, token_hash: bytes, *, only_first: bool = False
) -> Account | None:
    return await stores.accounts.add_invited(account, token_hash, NOW, only_first=only_first)


async def test_an_invitation_is_used_once_and_decides_the_role(opening: Opening) -> None:
    async with opening() as stores:
        invitation, token_hash = await invite(stores, role=ADMINISTRATOR)
        assert await stores.invitations.list_all() == [invitation]
        assert await add(stores, ANA, token_hash) == ADA
        assert await stores.invitations.list_all() == []
        assert await add(stores, BEA, token_hash) is None

    async with opening() as stores:
        assert await stores.accounts.by_email(ANA.email_key) == ADA
        assert await stores.accounts.by_email(BEA.email_key) is None
        again = replace(ANA, id=BEA.id)
        assert await add(stores, again, token_hash) == ADA, "a repeated registration"
        assert await add(stores, replace(ANA, username="Else"), token_hash) is None


async def test_an_invitation_that_is_not_valid_is_refused(stores: Stores) -> None:
    _, expired = await invite(stores, age=LIFETIME)
    _, for_bea = await invite(stores, "BEA@b")
    for token_hash in (expired, for_bea, bytes(32), b""):
        assert await add(stores, ANA, token_hash) is None
        assert await stores.accounts.by_email(ANA.email_key) is None
    assert await add(stores, BEA, for_bea) == BEA


async def test_an_invitation_for_a_taken_address_stays(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    _, token_hash = await invite(stores)
    other = replace(BEA, email_key=ANA.email_key)
    assert await add(stores, other, token_hash) == ANA
    assert await add(stores, BEA, token_hash) == BEA


async def test_concurrent_registrations_with_one_invitation_create_one_account(
    stores: Stores,
) -> None:
    _, token_hash = await invite(stores)
    accounts = [replace(ANA, id=f"{number:024x}", email_key=f"{number}@b") for number in range(20)]
    added = await asyncio.gather(*(add(stores, account, token_hash) for account in accounts))
    assert [account for account in added if account] == await stores.accounts.list_page(
        "", None, 50
    )
    assert sum(account is not None for account in added) == 1


async def test_concurrent_repetitions_of_a_registration_all_succeed(stores: Stores) -> None:
    _, token_hash = await invite(stores)
    accounts = [replace(ANA, id=f"{number:024x}") for number in range(20)]
    added = await asyncio.gather(*(add(stores, account, token_hash) for account in accounts))
    assert len(set(added)) == 1
    assert added[0] is not None
    assert await stores.accounts.list_page("", None, 50) == [added[0]]


async def test_the_first_account_is_invited_until_it_exists(stores: Stores) -> None:
    tokens = []
    for _ in range(2):
        invitation, token = create_invitation("", ADMINISTRATOR, NOW, is_first=True)
        assert await stores.invitations.replace_first(invitation)
        tokens.append(hash_token(token))
    _, other = await invite(stores)
    assert await add(stores, ANA, tokens[0], only_first=True) is None, "an earlier start's"
    assert await add(stores, ANA, other, only_first=True) is None, "one for any account"
    assert await add(stores, ANA, tokens[1], only_first=True) == ADA
    invitation, token = create_invitation("", ADMINISTRATOR, NOW, is_first=True)
    assert not await stores.invitations.replace_first(invitation)
    assert await add(stores, BEA, hash_token(token)) is None


async def test_the_invitation_of_the_first_account_is_void_once_there_is_another(
    stores: Stores,
) -> None:
    invitation, token = create_invitation("", ADMINISTRATOR, NOW, is_first=True)
    await stores.invitations.replace_first(invitation)
    assert await stores.invitations.list_all() == []
    await stores.accounts.add(BEA)
    assert await add(stores, ANA, hash_token(token)) is None


async def test_invitations_are_listed_and_deleted(stores: Stores) -> None:
    older, _ = await invite(stores, "Ana@Example.com", age=timedelta(days=1))
    newer, token_hash = await invite(stores)
    assert await stores.invitations.list_all() == [newer, older]
    assert await stores.invitations.delete(newer.id)
    assert not await stores.invitations.delete(newer.id)
    assert await stores.invitations.list_all() == [older]
    assert await add(stores, ANA, token_hash) is None


async def test_expired_invitations_are_deleted_with_the_next_one(stores: Stores) -> None:
    await invite(stores, age=LIFETIME)
    kept, _ = await invite(stores, age=LIFETIME - timedelta(microseconds=1))
    newest, _ = await invite(stores)
    assert await stores.invitations.list_all() == [newest, kept]


async def test_invitations_are_limited(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_INVITATIONS == 1000
    monkeypatch.setattr("services.auth.application.stores.MAX_INVITATIONS", 2)
    await invite(stores)
    await invite(stores)
    third, _ = create_invitation("", MEMBER, NOW)
    decision = decide(Action.INVITE, third.id)
    assert not await stores.invitations.add(third, decision)
    assert decision.id not in await decisions(stores)


async def test_accounts_are_paged_newest_first(stores: Stores) -> None:
    accounts = [
        replace(
            ANA,
            id=f"{number:024x}",
            email_key=f"{number}@example.com" if number % 2 else f"{number}@b",
            created_at=NOW + timedelta(microseconds=number // 3),
        )
        for number in range(10)
    ]
    for account in accounts:
        await stores.accounts.add(account)
    await stores.accounts.close(accounts[4].email_key)
    newest = [account for account in reversed(accounts) if account != accounts[4]]
    seen: list[Account] = []
    after: Position | None = None
    while page := await stores.accounts.list_page("", after, 4):
        seen += page
        after = Position(to_micros(page[-1].created_at), page[-1].id)
        later = replace(ANA, id=f"f{len(seen):023x}", email_key=f"later {len(seen)}@b")
        await stores.accounts.add(replace(later, created_at=NOW + timedelta(days=1)))
    assert seen == newest

    found = await stores.accounts.list_page("example", None, 3)
    assert found == [accounts[9], accounts[7], accounts[5]]
    assert await stores.accounts.list_page(".*", None, 3) == []
    assert await stores.accounts.list_page("%", None, 3) == []
    assert await stores.accounts.count() == 13


async def test_an_unreadable_account_shortens_no_page(stores: Stores) -> None:
    for account in (ANA, replace(BEA, created_at=NOW - timedelta(1))):
        await stores.accounts.add(account)
    await damage(stores, "accounts", ("id", ANA.id), role="root")
    assert [account.id for account in await stores.accounts.list_page("", None, 1)] == [BEA.id]


async def test_decisions_are_searched(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.change(ANA.id, True, ADMINISTRATOR, {**SUSPEND, **PROMOTE})
    role, suspension = PROMOTE["role"], SUSPEND["suspended"]
    newest = sorted((role, suspension), key=lambda decision: decision.id, reverse=True)
    for text, found in {
        "": newest,
        "suspend": [suspension],
        "administrator": [role],
        ANA.id: newest,
        "ada@example": newest,
        "nobody": [],
    }.items():
        assert await stores.decisions.list_page(text, None, 10) == found
    after = Position(to_micros(NOW), newest[0].id)
    assert await stores.decisions.list_page("", after, 10) == newest[1:]
