"""Roles, suspensions, invitations and administration over gRPC, on both stores."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import bcrypt
import pytest

from atajo.auth.v1 import auth_pb2 as pb
from atajo.auth.v1 import auth_pb2_grpc as pb_grpc
from gateway.backends.auth import AuthClient
from gateway.backends.ports import OidcLink, Role, Scope
from services.admin.clients import AuthClient as OperatorClient
from services.auth.__main__ import opened
from services.auth.application import first_account
from services.auth.settings import AuthSettings
from services.shared import administrators, api_keys
from services.shared.administrators import Administrator, issue_pass
from services.shared.errors import AppError
from services.shared.rpc.client import ServiceClient
from services.shared.rpc.server import Listener
from tests.support.authenticator import Authenticator
from tests.support.oidc_provider import CLIENT_ID, CLIENT_SECRET, Browser, running_provider
from tests.support.store_fixtures import NewStore

PASSWORD, CLIENT_IP = "Camino-42", "203.0.113.7"
SALT = bcrypt.gensalt(10).decode()
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT.encode()).decode()
SECRET = "k3pt-n0where-and-f0r-tests-al0ne-0123456789"
ADA, BEA, CAI = "Ada@Example.com", "bea@example.com", "cai@example.com"


class AdministrationClient(ServiceClient["pb_grpc.AdministrationServiceAsyncStub"]):
    service = pb.DESCRIPTOR.services_by_name["AdministrationService"]
    stub_class = pb_grpc.AdministrationServiceStub

    async def call(self, method: str, **fields: Any) -> Any:
        """Make a call by its name."""
        request = getattr(pb, f"{method}Request")(**fields)
        return await self._call(getattr(self._stub, method), request)


@dataclass
class Service:
    """The clients of a service."""

    auth: AuthClient
    administration: AdministrationClient
    operator: OperatorClient

    async def register(self, email: str, invitation: str = "") -> None:
        await self.auth.register(email, HASH, SALT, email.split("@")[0], invitation)

    async def log_in(self, email: str) -> str:
        return (await self.auth.login(email, PASSWORD, CLIENT_IP, "")).token

    async def administrator(self, email: str) -> str:
        """Register an administrator. Return the token of a session."""
        await self.register(email)
        await self.operator.set_role(email, "administrator")
        return await self.log_in(email)

    async def administer(self, token: str, method: str, **fields: Any) -> Any:
        """Make a call of an administrator."""
        given = await self.auth.issue_pass(token)
        return await self.administration.call(method, administrator_pass=given, **fields)

    async def id_of(self, email: str) -> str:
        return await self.operator.find_account(email)


Serving = Callable[..., AbstractAsyncContextManager[Service]]


@pytest.fixture
async def serving(new_store: NewStore) -> AsyncIterator[Serving]:
    """Serves the same store each time, with these settings."""
    with new_store() as store:

        @asynccontextmanager
        async def served(**settings: str) -> AsyncIterator[Service]:
            given = {
                "store": store,
                "token_secret": SECRET,
                "administration_secret": SECRET,
                "public_url": "https://atajo.example",
                **settings,
            }
            async with AsyncExitStack() as stack:
                servicers, database = await stack.enter_async_context(
                    opened(AuthSettings.model_validate(given))
                )
                await database.wait_for_schema()
                listeners = [Listener(servicers.calls, "127.0.0.1:0")]
                listeners.append(Listener(servicers.admin, "127.0.0.1:0"))
                for listener in listeners:
                    await listener.start()
                    await listener.set_ready(True)
                    stack.push_async_callback(listener.server.stop, None)
                calls, admin = (listener.address for listener in listeners)
                service = Service(
                    AuthClient(calls), AdministrationClient(calls), OperatorClient(admin)
                )
                for client in (service.auth, service.administration, service.operator):
                    stack.push_async_callback(client.close)
                yield service

        yield served


@pytest.fixture
async def service(serving: Serving) -> AsyncIterator[Service]:
    async with serving() as served:
        yield served


@asynccontextmanager
async def provided(serving: Serving, **settings: str) -> AsyncIterator[tuple[Service, Browser]]:
    """Serve with an OpenID Connect provider. Yield a browser that may log in to it, too."""
    async with running_provider() as fake:
        settings |= {
            "oidc_issuer": fake.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
        }
        async with serving(**settings) as service:
            yield service, Browser(service.auth, fake)


async def refused(call: Awaitable[object]) -> str:
    """Return the reason of the error of a call."""
    with pytest.raises(AppError) as error:
        await call
    return error.value.reason


async def actions(service: Service, token: str, **fields: str) -> list[tuple[str, str, str, str]]:
    reply = await service.administer(token, "ListDecisions", **fields)
    return [(each.action, each.subject, each.comment, each.by) for each in reply.decisions]


async def test_a_suspended_account_is_shut_out_until_it_is_resumed(service: Service) -> None:
    ada = await service.administrator(ADA)
    await service.register(BEA)
    bea, bea_id = await service.log_in(BEA), await service.id_of(BEA)
    codes = await service.auth.create_recovery_codes(bea, PASSWORD, CLIENT_IP)
    _, key = await service.auth.create_key(
        bea, PASSWORD, "Script", [Scope.LINKS_READ], None, CLIENT_IP
    )
    key_hash = api_keys.hash_key(key)

    for _ in range(2):
        reply = await service.administer(ada, "ChangeAccount", id=bea_id, suspended=True)
        assert (reply.account.id, reply.account.suspended) == (bea_id, True)
        assert await refused(service.auth.account_of(bea)) == "INVALID_TOKEN"
        assert await refused(service.auth.verify_key(key_hash)) == "INVALID_KEY"
        assert await refused(service.log_in(BEA)) == "ACCOUNT_SUSPENDED"
        wrong = service.auth.login(BEA, "Camino-43", CLIENT_IP, "")
        assert await refused(wrong) == "WRONG_PASSWORD"
    reset = [service.auth.reset_password(BEA, codes[0], HASH, SALT, CLIENT_IP, "")]
    code = (await service.administer(ada, "CreateAccountResetCode", id=bea_id)).code
    for call in reset:
        await call
        assert await refused(service.log_in(BEA)) == "ACCOUNT_SUSPENDED"

    await service.administer(ada, "ChangeAccount", id=bea_id, suspended=False)
    assert (await service.auth.verify_key(key_hash)).account.id == bea_id
    assert await refused(service.auth.account_of(bea)) == "INVALID_TOKEN"
    assert await service.auth.account_of(await service.log_in(BEA)) == bea_id
    assert code
    assert await actions(service, ada) == [
        ("resume", bea_id, "", ADA),
        ("reset link", bea_id, "", ADA),
        ("suspend", bea_id, "", ADA),
        ("role", await service.id_of(ADA), "administrator", ""),
    ]


async def test_a_suspended_account_is_shut_out_of_provider_and_passkey(serving: Serving) -> None:
    async with provided(serving) as (service, browser):
        ada = await service.administrator(ADA)
        token = (await browser.log_in()).token
        account_id = await service.auth.account_of(token)
        device = Authenticator("https://atajo.example")
        options = json.loads(await service.auth.begin_passkey(token, "", CLIENT_IP))
        await service.auth.finish_passkey(token, "Phone", json.dumps(device.create(options)))

        async def use_passkey() -> str:
            answer = device.get(json.loads(await service.auth.begin_login()))
            return (await service.auth.finish_login(json.dumps(answer), "")).token

        await service.administer(ada, "ChangeAccount", id=account_id, suspended=True)
        assert await refused(service.auth.account_of(token)) == "INVALID_TOKEN"
        assert await refused(browser.log_in()) == "ACCOUNT_SUSPENDED"
        assert await refused(use_passkey()) == "ACCOUNT_SUSPENDED"
        await service.administer(ada, "ChangeAccount", id=account_id, suspended=False)
        for entered in ((await browser.log_in()).token, await use_passkey()):
            assert await service.auth.account_of(entered) == account_id


async def test_a_suspended_account_is_not_connected(serving: Serving) -> None:
    async with provided(serving) as (service, browser):
        ada = await service.administrator(ADA)
        email = browser.fake.profile["email"]
        await service.register(email)
        account_id = await service.id_of(email)
        await service.administer(ada, "ChangeAccount", id=account_id, suspended=True)
        offer = await browser.come_back(await browser.go())
        assert isinstance(offer, OidcLink)

        async def link(password: str) -> str:
            given = offer.link, browser.secret, password, CLIENT_IP, ""
            return await refused(service.auth.link_oidc(*given))

        assert await link("wrong") == "WRONG_PASSWORD"
        assert await link(PASSWORD) == "ACCOUNT_SUSPENDED"
        await service.administer(ada, "ChangeAccount", id=account_id, suspended=False)
        token = await service.log_in(email)
        assert await service.auth.connections(token) == (True, [])


async def test_a_log_in_and_a_pass_follow_the_role(service: Service) -> None:
    await service.register(ADA)
    await service.register(BEA)
    ada, bea = await service.log_in(ADA), await service.log_in(BEA)
    assert (await service.auth.login(ADA, PASSWORD, CLIENT_IP, "")).role is Role.MEMBER
    assert await refused(service.auth.issue_pass(ada)) == "NOT_ADMINISTRATOR"
    for email in (ADA, BEA):
        await service.operator.set_role(f" {email.upper()} ", "administrator")
    assert (await service.auth.login(ADA, PASSWORD, CLIENT_IP, "")).role is Role.ADMINISTRATOR
    given = await service.auth.issue_pass(ada)

    await service.administer(bea, "ChangeAccount", id=await service.id_of(ADA), role=pb.ROLE_MEMBER)
    assert await refused(service.auth.issue_pass(ada)) == "NOT_ADMINISTRATOR"
    again = service.administration.call(
        "ChangeAccount",
        administrator_pass=given,
        id=await service.id_of(ADA),
        role=pb.ROLE_ADMINISTRATOR,
    )
    assert await refused(again) == "NOT_ADMINISTRATOR", "of a pass from before the demotion"


@pytest.mark.parametrize("method", [m.name for m in AdministrationClient.service.methods])
async def test_every_call_of_administration_needs_a_pass(service: Service, method: str) -> None:
    ada = await service.administrator(ADA)
    await service.register(BEA)
    member = Administrator(await service.id_of(BEA), BEA, datetime.now(UTC))
    assert await refused(service.auth.issue_pass(await service.log_in(BEA))) == "NOT_ADMINISTRATOR"
    passes = ("", ada, issue_pass(SECRET, member, member.confirmed_at))
    for given in passes:
        call = service.administration.call(method, administrator_pass=given)
        assert await refused(call) == "NOT_ADMINISTRATOR"


async def test_an_old_confirmation_is_renewed_by_the_password(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await service.administrator(ADA)
    given = await service.auth.issue_pass(ada)
    monkeypatch.setattr(administrators, "CONFIRMATION_LIFETIME", timedelta(0))
    assert await refused(service.auth.issue_pass(ada)) == "CONFIRMATION_NEEDED"
    call = service.administration.call("CountAccounts", administrator_pass=given)
    assert await refused(call) == "CONFIRMATION_NEEDED"
    monkeypatch.setattr(administrators, "CONFIRMATION_LIFETIME", timedelta(hours=1))
    [before] = await service.auth.sessions(ada)

    wrong = service.auth.confirm_by_password(ada, "Camino-43", CLIENT_IP)
    assert await refused(wrong) == "WRONG_PASSWORD"
    await service.auth.confirm_by_password(ada, PASSWORD, CLIENT_IP)
    age = datetime.now(UTC) - before.created_at
    monkeypatch.setattr(administrators, "CONFIRMATION_LIFETIME", age)
    assert (await service.administer(ada, "CountAccounts")).accounts == 1
    assert await refused(service.auth.confirm_by_password("x", PASSWORD, CLIENT_IP)) == (
        "INVALID_TOKEN"
    )


async def test_wrong_confirmations_are_limited_by_session(service: Service) -> None:
    await service.register(BEA)
    token, other = await service.log_in(BEA), await service.log_in(BEA)
    reasons = [
        await refused(call(token, "wrong", CLIENT_IP))
        for _ in range(5)
        for call in (service.auth.confirm_by_password, service.auth.confirm_by_passkey)
    ]
    assert reasons == ["WRONG_PASSWORD", "WRONG_PASSKEY"] * 5
    for call in (
        service.auth.confirm_by_password(token, PASSWORD, CLIENT_IP),
        service.auth.confirm_by_passkey(token, "{}", CLIENT_IP),
    ):
        assert await refused(call) == "TOO_MANY_ATTEMPTS"
    await service.auth.confirm_by_password(other, PASSWORD, CLIENT_IP)


async def test_without_a_secret_nobody_administers(serving: Serving) -> None:
    async with serving(administration_secret="") as service:
        ada = await service.administrator(ADA)
        assert await refused(service.auth.issue_pass(ada)) == "NOT_ADMINISTRATOR"


async def test_the_last_administrator_can_be_neither_demoted_nor_removed(service: Service) -> None:
    ada = await service.administrator(ADA)
    ada_id = await service.id_of(ADA)
    for call in (
        service.administer(ada, "ChangeAccount", id=ada_id, role=pb.ROLE_MEMBER),
        service.administer(ada, "ChangeAccount", id=ada_id, suspended=True),
        service.operator.set_role(ADA, "member"),
        service.operator.close_account(ADA),
        service.auth.close_account(ada, PASSWORD, CLIENT_IP),
    ):
        assert await refused(call) == "LAST_ADMINISTRATOR"
    assert await service.auth.account_of(ada) == ada_id
    await service.administrator(BEA)
    await service.auth.close_account(ada, PASSWORD, CLIENT_IP)
    assert await refused(service.operator.close_account(BEA)) == "LAST_ADMINISTRATOR"


async def test_two_administrators_who_demote_each_other_leave_one(service: Service) -> None:
    ada, bea = await service.administrator(ADA), await service.administrator(BEA)
    ids = [await service.id_of(email) for email in (BEA, ADA)]
    ended = await asyncio.gather(
        *(
            service.administer(token, "ChangeAccount", id=account_id, role=pb.ROLE_MEMBER)
            for token, account_id in zip((ada, bea), ids, strict=True)
        ),
        return_exceptions=True,
    )
    reasons = [each.reason for each in ended if isinstance(each, AppError)]
    assert reasons in (["LAST_ADMINISTRATOR"], ["NOT_ADMINISTRATOR"])


async def test_sessions_of_an_account_end(service: Service) -> None:
    ada = await service.administrator(ADA)
    await service.register(BEA)
    tokens = [await service.log_in(BEA) for _ in range(2)]
    bea_id = await service.id_of(BEA)
    await service.administer(ada, "EndAccountSessions", id=bea_id)
    for token in tokens:
        assert await refused(service.auth.account_of(token)) == "INVALID_TOKEN"
    assert (await actions(service, ada))[0] == ("end sessions", bea_id, "", ADA)
    assert await service.log_in(BEA)


async def test_a_reset_code_of_an_administrator_sets_the_password(service: Service) -> None:
    ada = await service.administrator(ADA)
    await service.register(BEA)
    reply = await service.administer(ada, "CreateAccountResetCode", id=await service.id_of(BEA))
    assert reply.email == BEA
    await service.auth.reset_password(reply.email, reply.code, HASH, SALT, CLIENT_IP, "")
    call = service.auth.reset_password(reply.email, reply.code, HASH, SALT, CLIENT_IP, "")
    assert await refused(call) == "WRONG_RECOVERY_CODE"


@pytest.mark.parametrize(
    ("method", "fields", "reason"),
    [
        ("ChangeAccount", {"id": "unknown", "suspended": True}, "NO_ACCOUNT"),
        ("EndAccountSessions", {"id": "unknown"}, "NO_ACCOUNT"),
        ("CreateAccountResetCode", {"id": "unknown"}, "NO_ACCOUNT"),
        ("CreateInvitation", {"email": "nobody"}, "INVALID_EMAIL"),
        ("ListAccounts", {"query": "x" * 255}, "INVALID_QUERY"),
        ("ListAccounts", {"query": "\0"}, "INVALID_QUERY"),
        ("ListAccounts", {"cursor": "1"}, "INVALID_CURSOR"),
        ("ListDecisions", {"query": "x" * 255}, "INVALID_QUERY"),
        ("ListDecisions", {"cursor": "1.\n"}, "INVALID_CURSOR"),
        ("ListDecisions", {"cursor": "9" * 17 + ".a"}, "INVALID_CURSOR"),
    ],
)
async def test_errors_of_administration_have_a_reason(
    service: Service, method: str, fields: dict[str, Any], reason: str
) -> None:
    ada = await service.administrator(ADA)
    assert await refused(service.administer(ada, method, **fields)) == reason


async def test_accounts_are_listed_and_found(service: Service) -> None:
    ada = await service.administrator(ADA)
    for email in (BEA, CAI):
        await service.register(email)
    before = datetime.now(UTC) - timedelta(hours=1)
    newest = (await service.administer(ada, "ListAccounts")).accounts
    assert [account.email for account in newest] == [CAI, BEA, ADA]
    listed = newest[2]
    assert (listed.username, listed.role, listed.suspended) == ("Ada", pb.ROLE_ADMINISTRATOR, False)
    assert before <= listed.last_seen_at.ToDatetime(UTC) <= datetime.now(UTC)
    assert not newest[0].HasField("last_seen_at")
    found = await service.administer(ada, "ListAccounts", query=" DA@EXAMPLE ")
    assert [account.email for account in found.accounts] == [ADA]
    assert found.cursor == ""
    # A decision names an account by its id.
    by_id = await service.administer(ada, "ListAccounts", query=listed.id)
    assert [account.email for account in by_id.accounts] == [ADA]
    unknown = await service.administer(ada, "ListAccounts", query="0" * 24)
    assert not unknown.accounts


async def test_pages_survive_new_accounts(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.auth.application.administration.PAGE_SIZE", 2)
    ada = await service.administrator(ADA)
    for email in (BEA, CAI):
        await service.register(email)
    first = await service.administer(ada, "ListAccounts")
    await service.register("later@example.com")
    second = await service.administer(ada, "ListAccounts", cursor=first.cursor)
    assert [account.email for account in first.accounts] == [CAI, BEA]
    assert [account.email for account in second.accounts] == [ADA]
    assert second.cursor == ""
    for email in (BEA, CAI):
        await service.operator.set_role(email, "administrator")
    newest = await service.administer(ada, "ListDecisions")
    older = await service.administer(ada, "ListDecisions", cursor=newest.cursor)
    assert [len(page.decisions) for page in (newest, older)] == [2, 1]


async def test_invitations_are_created_listed_and_revoked(service: Service) -> None:
    ada = await service.administrator(ADA)
    made = await service.administer(
        ada, "CreateInvitation", email=" Bea@Example.com ", role=pb.ROLE_ADMINISTRATOR
    )
    other = await service.administer(ada, "CreateInvitation")
    listed = (await service.administer(ada, "ListInvitations")).invitations
    assert [(each.id, each.email, each.role) for each in listed] == [
        (other.id, "", pb.ROLE_MEMBER),
        (made.id, "Bea@Example.com", pb.ROLE_ADMINISTRATOR),
    ]
    assert all(
        each.expires_at.seconds - each.created_at.seconds == timedelta(days=7).total_seconds()
        for each in listed
    )
    for _ in range(2):
        await service.administer(ada, "RevokeInvitation", id=other.id)
    left = (await service.administer(ada, "ListInvitations")).invitations
    assert [each.id for each in left] == [made.id]
    assert (await actions(service, ada))[:2] == [
        ("invite", other.id, "member", ADA),
        ("invite", made.id, "administrator", ADA),
    ]
    await service.register(BEA, made.token)
    assert (await service.auth.login(BEA, PASSWORD, CLIENT_IP, "")).role is Role.ADMINISTRATOR
    assert not (await service.administer(ada, "ListInvitations")).invitations


async def test_where_registration_is_by_invitation_each_is_used_once(serving: Serving) -> None:
    async with serving(registration="invite") as service:
        assert await refused(service.register(BEA)) == "INVITATION_INVALID"
        for_bea = (await service.operator.invite(BEA)).token
        for_anyone = (await service.operator.invite("")).token
        assert await refused(service.register(CAI, for_bea)) == "INVITATION_INVALID"
        for _ in range(2):
            await service.register(BEA, for_bea)
            await service.register(BEA)  # Repeats the registration.
        await service.register(CAI, for_anyone)
        assert await refused(service.register(ADA, for_anyone)) == "INVITATION_INVALID"
        other = (await service.operator.invite("")).token
        taken = service.auth.register(BEA, HASH, SALT, "Else", other)
        assert await refused(taken) == "EMAIL_TAKEN"
        await service.register(ADA, other)


async def test_twenty_registrations_with_one_invitation_create_one_account(
    serving: Serving,
) -> None:
    async with serving(registration="invite") as service:
        token = (await service.operator.invite("")).token
        ended = await asyncio.gather(
            *(service.register(f"{number}@example.com", token) for number in range(20)),
            return_exceptions=True,
        )
        reasons = [each.reason for each in ended if isinstance(each, AppError)]
        assert reasons == ["INVITATION_INVALID"] * 19
        assert ended.count(None) == 1


async def test_where_registration_is_open_an_invitation_only_decides_the_role(
    service: Service,
) -> None:
    ada = await service.administrator(ADA)
    made = await service.administer(ada, "CreateInvitation", role=pb.ROLE_ADMINISTRATOR)
    await service.register(BEA, made.token)
    await service.register(CAI, made.token)
    roles = [(await service.auth.login(each, PASSWORD, CLIENT_IP, "")).role for each in (BEA, CAI)]
    assert roles == [Role.ADMINISTRATOR, Role.MEMBER]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[str]:
    """The lines that starts print."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    stdout = SimpleNamespace(write=lines.put_nowait, flush=lambda: None)
    monkeypatch.setattr(first_account, "sys", SimpleNamespace(stdout=stdout))
    return lines


async def first_invitation(printed: asyncio.Queue[str]) -> str:
    """Return the token that a start printed on a line of its own."""
    line = await printed.get()
    assert line.endswith("\n")
    _, token = line.rstrip("\n").split("https://atajo.example/register#invitation=")
    return token


@pytest.mark.parametrize("registration", ["invite", "closed"])
async def test_each_start_invites_the_first_account(
    serving: Serving, registration: str, printed: asyncio.Queue[str]
) -> None:
    refusal = {"invite": "INVITATION_INVALID", "closed": "REGISTRATION_CLOSED"}[registration]
    async with serving(registration=registration) as service:
        first = await first_invitation(printed)
    async with serving(registration=registration) as service:
        second = await first_invitation(printed)
        assert await refused(service.register(ADA)) == refusal
        assert await refused(service.register(ADA, first)) == refusal
        for _ in range(2):
            await service.register(ADA, second)
        assert await refused(service.register(BEA, second)) == refusal
        ada = await service.log_in(ADA)
        counted = await service.administer(ada, "CountAccounts")
        assert counted.accounts == 1
        assert counted.store_bytes > 0
        if registration == "closed":
            another = (await service.operator.invite("")).token
            assert await refused(service.register(BEA, another)) == refusal
    async with serving(registration=registration) as service:
        await service.auth.check()
        assert await refused(service.register(BEA, second)) == refusal
    async with serving(registration="open"):
        pass
    assert printed.empty()


async def test_an_invitation_admits_somebody_whom_the_provider_knows(serving: Serving) -> None:
    async with provided(serving, registration="invite") as (service, browser):
        for other in ("", "unknown", (await service.operator.invite(BEA)).token):
            assert await refused(browser.log_in(invitation=other)) == "INVITATION_INVALID"
        invitation = (await service.operator.invite(browser.fake.profile["email"])).token
        login = await browser.log_in(invitation=invitation)
        assert login.role is Role.MEMBER
        browser.fake.subject, browser.fake.profile["email"] = "bea", BEA
        assert await refused(browser.log_in(invitation=invitation)) == "INVITATION_INVALID"
        browser.fake.subject = "ana-at-the-provider"
        again = await browser.log_in()
        assert await service.auth.account_of(again.token) == await service.auth.account_of(
            login.token
        )


async def test_the_first_account_may_come_from_the_provider(
    serving: Serving, printed: asyncio.Queue[str]
) -> None:
    async with provided(serving, registration="closed") as (service, browser):
        first = await first_invitation(printed)
        assert await refused(browser.log_in()) == "REGISTRATION_CLOSED"
        login = await browser.log_in(invitation=first)
        assert login.role is Role.ADMINISTRATOR
        assert (await service.administer(login.token, "CountAccounts")).accounts == 1
