"""Log-ins with OpenID Connect over gRPC, with a provider of the test's own."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bcrypt
import pytest
from prometheus_client import REGISTRY

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Login, OidcLink
from services.auth.application.challenges import Challenges
from services.shared.errors import AppError
from tests.support import in_process_services
from tests.support.oidc_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    DISCOVERY,
    TOKEN,
    USERINFO,
    Answer,
    Browser,
    FakeProvider,
    running_provider,
)

PASSWORD = "Camino-42"
SALT = bcrypt.gensalt(10)
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT).decode()
ANA, BEA = "ana@example.com", "bea@example.com"
CLIENT_IP = "203.0.113.7"


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with running_provider() as fake:
        yield fake


@asynccontextmanager
async def running(folder: Path, fake: FakeProvider, **more: object) -> AsyncIterator[AuthClient]:
    settings: dict[str, Any] = {
        "oidc_issuer": fake.issuer,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret": CLIENT_SECRET,
        **more,
    }
    async with in_process_services.auth(folder, **settings) as client:
        yield client


@pytest.fixture
async def auth(tmp_path: Path, fake: FakeProvider) -> AsyncIterator[AuthClient]:
    async with running(tmp_path, fake) as client:
        yield client


@pytest.fixture
def browser(auth: AuthClient, fake: FakeProvider) -> Browser:
    return Browser(auth, fake)


@asynccontextmanager
async def refused(reason: str) -> AsyncIterator[None]:
    with pytest.raises(AppError) as caught:
        yield
    assert caught.value.reason == reason


def count(name: str, result: str) -> float:
    """Return how many calls ended with a result."""
    return REGISTRY.get_sample_value(f"atajo_{name}_total", {"result": result}) or 0.0


async def test_a_new_address_gets_an_account_that_is_known_by_its_subject(
    auth: AuthClient, fake: FakeProvider, browser: Browser
) -> None:
    login = await browser.log_in(browser="Firefox", system="Linux")
    assert login.username == "Ana"
    [session] = await auth.sessions(login.token)
    assert (session.browser, session.system, session.current) == ("Firefox", "Linux", True)
    has_password, [connection] = await auth.connections(login.token)
    assert (has_password, connection.issuer, connection.email) == (False, fake.issuer, ANA)

    # Afterwards the address does not count, and the profile is not read any more.
    fake.profile = {"email": BEA, "email_verified": False}
    again = await Browser(auth, fake).log_in()
    assert len(await auth.sessions(again.token)) == 2
    assert fake.requests[USERINFO] == 1
    # The address counts for nobody else.
    fake.subject, fake.profile = "bea", {"email": ANA, "email_verified": True}
    async with refused("EMAIL_TAKEN"):
        await browser.log_in()


async def test_concurrent_log_ins_of_a_new_subject_make_one_account(
    auth: AuthClient, fake: FakeProvider
) -> None:
    results = await asyncio.gather(
        *(Browser(auth, fake).log_in() for _ in range(8)), return_exceptions=True
    )
    tokens = [result.token for result in results if isinstance(result, Login)]
    accounts = {await auth.account_of(token) for token in tokens}
    assert len(accounts) == 1
    others = [result for result in results if isinstance(result, AppError)]
    assert len(tokens) + len(others) == 8
    assert {error.reason for error in others} <= {"EMAIL_TAKEN"}


@pytest.mark.parametrize(
    ("settings", "outcome"),
    [
        ({}, "ok"),
        ({"registration": "invite"}, "INVITATION_INVALID"),
        ({"registration": "invite", "oidc_registration": "on"}, "ok"),
        ({"registration": "closed"}, "REGISTRATION_CLOSED"),
        ({"registration": "closed", "oidc_registration": "on"}, "REGISTRATION_CLOSED"),
    ],
    ids=str,
)
async def test_registration_is_open_to_a_new_address_by_policy(
    tmp_path: Path, fake: FakeProvider, settings: dict[str, str], outcome: str
) -> None:
    async with running(tmp_path, fake, **settings) as auth:
        browser = Browser(auth, fake)
        if outcome == "ok":
            await browser.log_in()
            return
        for invitation in ("", "unknown"):
            async with refused(outcome):
                await browser.log_in(invitation=invitation)


@pytest.mark.parametrize(
    "profile",
    [{}, {"email": ANA}, {"email": ANA, "email_verified": False}, {"email": "ana"}],
    ids=str,
)
async def test_an_address_counts_only_if_it_is_verified(
    auth: AuthClient, fake: FakeProvider, browser: Browser, profile: dict[str, Any]
) -> None:
    await auth.register(ANA, HASH, SALT.decode(), "Ana")
    fake.profile = {"email_verified": "email" in profile and "@" not in profile["email"]} | profile
    async with refused("EMAIL_UNVERIFIED"):
        await browser.log_in()


async def offer(browser: Browser, email: str = ANA) -> OidcLink:
    result = await browser.come_back(await browser.go())
    assert isinstance(result, OidcLink)
    assert result.email == email
    return result


async def test_an_account_with_a_password_is_linked_by_it_once(
    auth: AuthClient, fake: FakeProvider, browser: Browser
) -> None:
    await auth.register(ANA, HASH, SALT.decode(), "Ana Ñandú")
    fake.profile["email"] = ANA.upper()
    link = await offer(browser)
    own = await auth.login(ANA, PASSWORD, CLIENT_IP, "")
    assert await auth.connections(own.token) == (True, [])

    async with refused("WRONG_PASSWORD"):
        await auth.link_oidc(link.link, browser.secret, "wrong", CLIENT_IP, "")
    async with refused("PROVIDER_REFUSED"):
        await auth.link_oidc(link.link, secrets.token_urlsafe(32), PASSWORD, CLIENT_IP, "")
    async with refused("PROVIDER_REFUSED"):
        await auth.link_oidc(own.token, browser.secret, PASSWORD, CLIENT_IP, "")
    assert await auth.connections(own.token) == (True, [])
    for _ in range(2):
        login = await auth.link_oidc(link.link, browser.secret, PASSWORD, CLIENT_IP, "")
        assert login.username == "Ana Ñandú"
    assert await auth.account_of(login.token) == await auth.account_of(own.token)
    _, [connection] = await auth.connections(own.token)
    assert connection.email == ANA.upper()

    # Now it has both.
    await Browser(auth, fake).log_in()
    await auth.login(ANA, PASSWORD, CLIENT_IP, "")


async def test_wrong_passwords_of_a_link_are_limited_apart_from_log_ins(
    auth: AuthClient, browser: Browser
) -> None:
    await auth.register(ANA, HASH, SALT.decode(), "Ana")
    for number in range(10):
        async with refused("WRONG_PASSWORD"):
            await auth.login(ANA, "wrong", CLIENT_IP, "")
        link = await offer(browser)
        async with refused("WRONG_PASSWORD"):
            await auth.link_oidc(link.link, browser.secret, f"wrong {number}", CLIENT_IP, "")
    async with refused("TOO_MANY_ATTEMPTS"):
        await auth.link_oidc(link.link, browser.secret, PASSWORD, "198.51.100.1", "")
    await auth.login(ANA, PASSWORD, "198.51.100.1", "")


async def test_a_link_is_valid_after_strangers_used_up_the_log_ins(
    auth: AuthClient, browser: Browser
) -> None:
    await auth.register(ANA, HASH, SALT.decode(), "Ana")
    for _ in range(10):
        async with refused("WRONG_PASSWORD"):
            await auth.login(ANA, "wrong", CLIENT_IP, "")
    link = await offer(browser)
    await auth.link_oidc(link.link, browser.secret, PASSWORD, CLIENT_IP, "")


async def test_a_state_is_valid_once_and_for_the_browser_that_began(
    auth: AuthClient, fake: FakeProvider, browser: Browser
) -> None:
    response = await browser.go()
    other = Browser(auth, fake)
    async with refused("PROVIDER_REFUSED"):
        await other.come_back(response)
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back({**response, "state": response["state"][:-1]})
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back({**response, "state": ""})
    assert fake.requests[TOKEN] == 0
    assert isinstance(await browser.come_back(response), Login)
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back(response)
    # Nor is the code of another log-in: its nonce and its verifier are different.
    first, second = await browser.go(), await browser.go()
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back({**first, "code": second["code"]})


async def test_a_state_expires(
    auth: AuthClient, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = await browser.go()
    check = Challenges.check

    def check_later(self: Challenges, challenge: bytes, purpose: str) -> str:
        now = self._signer._now
        monkeypatch.setattr(self._signer, "_now", lambda: now() + timedelta(minutes=5))
        return check(self, challenge, purpose)

    monkeypatch.setattr(Challenges, "check", check_later)
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back(response)


async def test_a_response_of_a_log_in_does_not_confirm_and_the_other_way_round(
    auth: AuthClient, browser: Browser
) -> None:
    login = await browser.log_in()
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back(await browser.go(), token=login.token)
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back(await browser.go(login.token))


async def test_without_a_provider_nobody_logs_in_with_one(tmp_path: Path) -> None:
    async with in_process_services.auth(tmp_path) as auth:
        async with refused("NO_PROVIDER"):
            await auth.begin_oidc(secrets.token_urlsafe(32), "")
        async with refused("NO_PROVIDER"):
            await auth.finish_oidc("code", "state", "", secrets.token_urlsafe(32))
        await auth.register(ANA, HASH, SALT.decode(), "Ana")
        login = await auth.login(ANA, PASSWORD, CLIENT_IP, "")
        assert await auth.connections(login.token) == (True, [])


async def test_a_provider_that_is_away_leaves_all_other_log_ins_as_they_are(
    auth: AuthClient, fake: FakeProvider, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    await auth.register(ANA, HASH, SALT.decode(), "Ana")
    counted = count("oidc_logins", "unavailable")
    fake.answers[DISCOVERY] = Answer({}, seconds=float("inf"))
    waiting = [asyncio.create_task(browser.go()) for _ in range(100)]
    login = await auth.login(ANA, PASSWORD, CLIENT_IP, "")
    assert await auth.connections(login.token) == (True, [])
    assert not any(task.done() for task in waiting)
    with caplog.at_level(logging.DEBUG):
        results = await asyncio.gather(*waiting, return_exceptions=True)
    assert {getattr(result, "reason", None) for result in results} == {"PROVIDER_UNAVAILABLE"}
    assert fake.requests[DISCOVERY] == 1
    assert count("oidc_logins", "unavailable") == counted + 100


async def test_nothing_secret_is_logged(
    auth: AuthClient, fake: FakeProvider, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await browser.log_in()
        fake.answers[TOKEN] = Answer({"error": "invalid_client", "error_description": ANA}, 401)
        response = await browser.go()
        async with refused("PROVIDER_UNAVAILABLE"):
            await browser.come_back(response)
    for hidden in (CLIENT_SECRET, "access", response["code"], response["state"], ANA):
        assert hidden not in caplog.text


async def age_sessions(auth: AuthClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every session be confirmed long ago."""
    from services.auth.application import sessions

    monkeypatch.setattr(sessions, "CONFIRMATION_LIFETIME", timedelta(seconds=-1))


async def test_an_account_without_a_password_confirms_by_its_provider(
    auth: AuthClient, fake: FakeProvider, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = await browser.log_in()
    async with refused("WRONG_PASSWORD"):
        await auth.login(ANA, "", CLIENT_IP, "")
    async with refused("WRONG_PASSWORD"):
        await auth.confirm_by_password(login.token, "", CLIENT_IP)

    unconfirmed = {
        name: count(name, "unconfirmed") for name in ("password_changes", "account_closings")
    }
    # A log-in confirms, so what takes a password works now.
    assert len(await auth.create_recovery_codes(login.token, "", CLIENT_IP)) == 10
    await auth.begin_passkey(login.token, "", CLIENT_IP)
    with monkeypatch.context() as patched:
        await age_sessions(auth, patched)
        calls = [
            auth.create_recovery_codes(login.token, "", CLIENT_IP),
            auth.begin_passkey(login.token, "", CLIENT_IP),
            auth.remove_passkey(login.token, "id", "", CLIENT_IP),
            auth.create_key(login.token, "", "Script", [], None, CLIENT_IP),
            auth.change_password(login.token, "", HASH, SALT.decode(), CLIENT_IP),
            auth.close_account(login.token, "", CLIENT_IP),
            auth.remove_connection(login.token, "id", "", CLIENT_IP),
        ]
        for call in calls:
            with pytest.raises(AppError) as caught:
                await call
            assert caught.value.reason in ("CONFIRMATION_NEEDED", "INVALID_SCOPES")
        for name, counted in unconfirmed.items():
            assert count(name, "unconfirmed") == counted + 1
    await browser.confirm(login.token)

    # Its first password makes it an account as others are.
    token, _ = await auth.change_password(login.token, "", HASH, SALT.decode(), CLIENT_IP)
    assert (await auth.connections(token))[0] is True
    async with refused("INVALID_ARGUMENT"):
        await auth.create_recovery_codes(token, "", CLIENT_IP)
    await auth.login(ANA, PASSWORD, CLIENT_IP, "")


async def test_a_confirmation_takes_the_accounts_identity_and_fresh_credentials(
    auth: AuthClient, fake: FakeProvider, browser: Browser
) -> None:
    login = await browser.log_in()
    response = await browser.go(login.token)
    assert fake.asked[response["code"]]["max_age"] == "0"
    await browser.come_back(response, token=login.token)

    response = await browser.go(login.token)
    fake.claims = {"auth_time": int(datetime.now(UTC).timestamp()) - 3600}
    async with refused("PROVIDER_REFUSED"):
        await browser.come_back(response, token=login.token)
    fake.claims = {"auth_time": None}
    await browser.confirm(login.token)
    fake.subject = "somebody else"
    async with refused("PROVIDER_REFUSED"):
        await browser.confirm(login.token)
    async with refused("INVALID_TOKEN"):
        await browser.go("no token")


async def test_a_connection_is_removed_unless_it_is_the_only_way_to_log_in(
    auth: AuthClient, fake: FakeProvider, browser: Browser
) -> None:
    login = await browser.log_in()
    _, [connection] = await auth.connections(login.token)
    async with refused("LAST_LOGIN"):
        await auth.remove_connection(login.token, connection.id, "", CLIENT_IP)
    await auth.remove_connection(login.token, "unknown", "", CLIENT_IP)
    token, _ = await auth.change_password(login.token, "", HASH, SALT.decode(), CLIENT_IP)
    async with refused("INVALID_ARGUMENT"):
        await auth.remove_connection(token, connection.id, "", CLIENT_IP)
    for _ in range(2):
        await auth.remove_connection(token, connection.id, PASSWORD, CLIENT_IP)
    assert await auth.connections(token) == (True, [])
    # The same identity is asked for the password again.
    await offer(browser)


async def test_an_account_that_is_removed_lets_nobody_in(
    auth: AuthClient, browser: Browser
) -> None:
    login = await browser.log_in()
    await auth.close_account(login.token, "", CLIENT_IP)
    async with refused("INVALID_TOKEN"):
        await auth.account_of(login.token)
    async with refused("PROVIDER_REFUSED"):
        await browser.log_in()


async def test_a_device_that_logged_in_with_the_provider_is_known(
    auth: AuthClient, browser: Browser
) -> None:
    login = await browser.log_in()
    await auth.change_password(login.token, "", HASH, SALT.decode(), CLIENT_IP)
    for _ in range(10):
        async with refused("WRONG_PASSWORD"):
            await auth.login(ANA, "wrong", CLIENT_IP, "")
    async with refused("TOO_MANY_ATTEMPTS"):
        await auth.login(ANA, PASSWORD, CLIENT_IP, "")
    await auth.login(ANA, PASSWORD, CLIENT_IP, login.device)
