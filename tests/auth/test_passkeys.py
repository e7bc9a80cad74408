"""Passkeys over gRPC, with a software authenticator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bcrypt
import cbor2
import pytest
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from gateway.backends.auth import AuthClient
from gateway.backends.ports import Login
from services.shared.errors import AppError, NotFound, Unauthenticated
from tests.support import in_process_services
from tests.support.authenticator import USER_PRESENT, Authenticator, Json

PASSWORD = "Camino-42"
SALT = bcrypt.gensalt(10)
HASH = bcrypt.hashpw(PASSWORD.encode(), SALT).decode()
ANA, BEA = "ana@example.com", "bea@example.com"
CLIENT_IP = "203.0.113.7"
ORIGIN = "http://localhost"


@pytest.fixture
async def auth(tmp_path: Path) -> AsyncIterator[AuthClient]:
    """A client of a service with two accounts."""
    async with in_process_services.auth(tmp_path, login_failures_by_account=20) as client:
        for email in (ANA, BEA):
            await client.register(email, HASH, SALT.decode(), email.split("@")[0])
        yield client


async def session(auth: AuthClient, email: str = ANA) -> str:
    return (await auth.login(email, PASSWORD, CLIENT_IP, "")).token


async def begin(auth: AuthClient, token: str) -> Json:
    options: Json = json.loads(await auth.begin_passkey(token, PASSWORD, CLIENT_IP))
    return options


async def finish(auth: AuthClient, token: str, credential: Json, name: str = "Phone") -> str:
    return await auth.finish_passkey(token, name, json.dumps(credential))


async def add(auth: AuthClient, token: str, name: str = "Phone") -> Authenticator:
    """Return an authenticator that has a passkey of the account."""
    device = Authenticator(ORIGIN)
    await finish(auth, token, device.create(await begin(auth, token)), name)
    return device


async def request(auth: AuthClient) -> Json:
    options: Json = json.loads(await auth.begin_login())
    return options


async def log_in(auth: AuthClient, device: Authenticator, options: Json | None = None) -> Login:
    answer = device.get(options or await request(auth))
    return await auth.finish_login(json.dumps(answer), "", "Firefox", "Linux")


def with_members(**members: Any) -> Callable[[Json], Json]:
    return lambda credential: {**credential, **members}


def with_response(**members: Any) -> Callable[[Json], Json]:
    return lambda credential: {**credential, "response": {**credential["response"], **members}}


@pytest.mark.parametrize(
    "changed",
    [
        with_members(authenticatorAttachment="platform"),
        with_members(authenticatorAttachment=None),
        with_members(authenticatorAttachment=""),
        with_members(authenticatorAttachment="phone"),
        with_members(clientExtensionResults={"credProps": {"rk": True}}, more=1),
        lambda credential: {
            name: value for name, value in credential.items() if name != "clientExtensionResults"
        },
        with_response(transports=["internal", "telepathy"]),
        with_response(transports=[], publicKeyAlgorithm=-7, publicKey=None, more={}),
    ],
)
async def test_answers_may_have_any_members_that_decide_nothing(
    auth: AuthClient, changed: Callable[[Json], Json]
) -> None:
    """Password managers leave members out, and add others."""
    token, device = await session(auth), Authenticator(ORIGIN)
    await finish(auth, token, changed(device.create(await begin(auth, token))))
    answer = changed(device.get(await request(auth)))
    assert (await auth.finish_login(json.dumps(answer), "")).username == "ana"


async def test_a_passkey_starts_a_session_of_its_account(auth: AuthClient) -> None:
    token = await session(auth)
    device = await add(auth, token, " Phone ")
    await add(auth, await session(auth, BEA))
    (added,) = await auth.passkeys(token)
    assert (added.name, added.last_used_at) == ("Phone", None)

    login = await log_in(auth, device)
    assert login.username == "ana"
    assert await auth.account_of(login.token) == await auth.account_of(token)
    (used,) = await auth.passkeys(token)
    assert used.last_used_at is not None
    assert used.last_used_at.second == 0
    newest = (await auth.sessions(login.token))[0]
    assert (newest.browser, newest.system, newest.current) == ("Firefox", "Linux", True)
    # The browser is known from now on, as after a log-in with a password.
    assert login.device


async def test_options_are_those_of_a_discoverable_credential(auth: AuthClient) -> None:
    token = await session(auth)
    device = await add(auth, token)
    options = await begin(auth, token)
    assert options["rp"] == {"name": "Atajo", "id": "localhost"}
    assert options["user"]["name"] == ANA
    assert options["authenticatorSelection"] == {
        "residentKey": "required",
        "requireResidentKey": True,
        "userVerification": "preferred",
    }
    assert options["attestation"] == "none"
    (excluded,) = options["excludeCredentials"]
    assert excluded["id"] == device.get(await request(auth))["id"]
    asked = await request(auth)
    assert (asked["rpId"], asked["userVerification"]) == ("localhost", "preferred")
    assert asked["allowCredentials"] == []
    assert asked["challenge"] != (await request(auth))["challenge"]


async def test_passkeys_are_added_and_removed_only_with_the_password(auth: AuthClient) -> None:
    token = await session(auth)
    await add(auth, token)
    (passkey,) = await auth.passkeys(token)
    for call in (
        auth.begin_passkey(token, "wrong", CLIENT_IP),
        auth.remove_passkey(token, passkey.id, "wrong", CLIENT_IP),
    ):
        with pytest.raises(Unauthenticated) as wrong:
            await call
        assert wrong.value.reason == "WRONG_PASSWORD"
    assert await auth.passkeys(token) == [passkey]


async def test_a_removed_passkey_no_longer_logs_in(auth: AuthClient) -> None:
    ana, bea = await session(auth), await session(auth, BEA)
    device, kept = await add(auth, ana), await add(auth, ana, "Laptop")
    passkey = next(one for one in await auth.passkeys(ana) if one.name == "Phone")
    await auth.remove_passkey(bea, passkey.id, PASSWORD, CLIENT_IP)  # It is not Bea's.
    await log_in(auth, device)

    for _ in range(2):
        await auth.remove_passkey(ana, passkey.id, PASSWORD, CLIENT_IP)
    with pytest.raises(NotFound) as gone:
        await log_in(auth, device)
    assert gone.value.reason == "NO_PASSKEY"
    await log_in(auth, kept)
    (last,) = await auth.passkeys(ana)
    await auth.remove_passkey(ana, last.id, PASSWORD, CLIENT_IP)
    assert await auth.passkeys(ana) == []
    await session(auth)


async def test_an_account_has_at_most_10_passkeys(auth: AuthClient) -> None:
    token = await session(auth)
    late = Authenticator(ORIGIN).create(await begin(auth, token))
    for number in range(10):
        await add(auth, token, f"{number}")
    for call in (begin(auth, token), finish(auth, token, late)):
        with pytest.raises(AppError) as full:
            await call
        assert full.value.reason == "TOO_MANY_PASSKEYS"
    assert [one.name for one in await auth.passkeys(token)] == [f"{n}" for n in reversed(range(10))]


async def test_a_challenge_to_add_works_once_in_its_own_session(auth: AuthClient) -> None:
    ana, other, bea = await session(auth), await session(auth), await session(auth, BEA)
    options = await begin(auth, ana)
    credential = Authenticator(ORIGIN).create(options)
    login_challenge = {**options, "challenge": (await request(auth))["challenge"]}
    for token, wrong in (
        (other, credential),
        (bea, credential),
        (ana, Authenticator(ORIGIN).create(login_challenge)),
    ):
        with pytest.raises(AppError) as refused:
            await finish(auth, token, wrong)
        assert refused.value.reason == "INVALID_PASSKEY"
    await finish(auth, ana, credential)
    for repeated in (credential, Authenticator(ORIGIN).create(options)):
        with pytest.raises(AppError) as refused:
            await finish(auth, ana, repeated)
        assert refused.value.reason == "INVALID_PASSKEY"
    assert len(await auth.passkeys(ana)) == 1


async def test_a_passkey_of_one_account_cannot_be_added_to_another(auth: AuthClient) -> None:
    ana, bea = await session(auth), await session(auth, BEA)
    device = await add(auth, ana)
    stolen = replace(device, counter=0)
    with pytest.raises(AppError) as refused:
        await finish(auth, bea, stolen.create(await begin(auth, bea)))
    assert refused.value.reason == "INVALID_PASSKEY"
    assert await auth.passkeys(bea) == []
    assert (await log_in(auth, device)).username == "ana"


@pytest.mark.parametrize(
    "tagged",
    [
        lambda attestation: {**attestation, "more": cbor2.CBORTag(35, "a")},
        lambda attestation: {**attestation, "more": [cbor2.CBORTag(2**32, "a")]},
    ],
    ids=["a regular expression", "an unknown tag"],
)
async def test_cbor_with_tags_is_refused(
    auth: AuthClient, tagged: Callable[[Json], object]
) -> None:
    """Some tags, such as a regular expression, take seconds to decode."""
    token = await session(auth)
    credential = Authenticator(ORIGIN).create(await begin(auth, token))
    response = credential["response"]
    attestation = cbor2.loads(base64url_to_bytes(response["attestationObject"]))
    encoded = bytes_to_base64url(cbor2.dumps(tagged(attestation)))
    with pytest.raises(AppError) as refused:
        await finish(
            auth, token, {**credential, "response": {**response, "attestationObject": encoded}}
        )
    assert refused.value.reason == "INVALID_PASSKEY"
    await finish(auth, token, credential)


async def test_a_name_needs_a_character(auth: AuthClient) -> None:
    token = await session(auth)
    credential = Authenticator(ORIGIN).create(await begin(auth, token))
    with pytest.raises(AppError) as invalid:
        await finish(auth, token, credential, " ")
    assert invalid.value.reason == "INVALID_PASSKEY_NAME"
    await finish(auth, token, credential)  # The challenge is still valid.


async def test_an_answer_logs_in_once_however_often_it_is_sent(auth: AuthClient) -> None:
    device = await add(auth, await session(auth))
    answer = json.dumps(device.get(await request(auth)))

    async def send() -> str:
        try:
            await auth.finish_login(answer, "")
        except AppError as error:
            return error.reason
        return "OK"

    outcomes = await asyncio.gather(*(send() for _ in range(10)))
    assert sorted(outcomes) == ["OK"] + 9 * ["WRONG_PASSKEY"]
    assert await send() == "WRONG_PASSKEY"


def _changed(**changes: Any) -> Callable[[Authenticator], None]:
    def change(device: Authenticator) -> None:
        for name, value in changes.items():
            setattr(device, name, value)

    return change


@pytest.mark.parametrize(
    "change",
    [
        _changed(origin="http://localhost:8081"),
        _changed(origin="https://localhost"),
        _changed(origin="https://evil.example"),
        _changed(rp_id="evil.example"),
        _changed(flags=0),
        _changed(key=Authenticator(ORIGIN).key),
        _changed(user_handle=""),
        _changed(user_handle="bm9ib2R5"),
    ],
    ids=["port", "scheme", "origin", "rp", "absent", "key", "no handle", "handle"],
)
async def test_what_a_browser_claims_wrongly_is_refused(
    auth: AuthClient, change: Callable[[Authenticator], None]
) -> None:
    device = await add(auth, await session(auth))
    change(device)
    with pytest.raises(Unauthenticated) as refused:
        await log_in(auth, device)
    assert refused.value.reason == "WRONG_PASSKEY"


async def test_the_handle_of_another_account_is_refused(auth: AuthClient) -> None:
    ana, bea = await add(auth, await session(auth)), await add(auth, await session(auth, BEA))
    ana.user_handle = bea.user_handle
    with pytest.raises(Unauthenticated):
        await log_in(auth, ana)


async def test_user_verification_is_not_required(auth: AuthClient) -> None:
    token = await session(auth)
    device = Authenticator(ORIGIN, flags=USER_PRESENT)
    await finish(auth, token, device.create(await begin(auth, token)))
    assert (await log_in(auth, device)).username == "ana"


@pytest.mark.parametrize("step", [0, -1, -5])
async def test_a_sign_count_that_does_not_increase_is_refused(auth: AuthClient, step: int) -> None:
    device = await add(auth, await session(auth))
    for _ in range(6):
        await log_in(auth, device)
    assert device.counter is not None
    last = device.counter
    device.counter = last + step - 1
    with pytest.raises(Unauthenticated):
        await log_in(auth, device)
    device.counter = last
    await log_in(auth, device)


async def test_an_authenticator_may_have_no_sign_count(auth: AuthClient) -> None:
    token = await session(auth)
    device = Authenticator(ORIGIN, counter=None)
    await finish(auth, token, device.create(await begin(auth, token)))
    for _ in range(2):
        await log_in(auth, device)


_NONSENSE: list[Json] = [
    {"id": 1},
    {"id": "x"},
    {"rawId": "AAAA"},
    {"type": "password"},
    {"response": {}},
    {"response": {"clientDataJSON": ""}},
    {"response": {"clientDataJSON": "e30"}},
    {"response": {"clientDataJSON": "eyJjaGFsbGVuZ2UiOjF9"}},
    {"response": {"clientDataJSON": "\U0001f600"}},
]
_ATTESTATIONS: list[Json] = [
    {"response": {"attestationObject": text}} for text in ("", "AAAA", "o2NmbXQ", "\U0001f600")
]
_ASSERTIONS: list[Json] = [
    {"response": {name: text}}
    for name in ("authenticatorData", "signature", "userHandle")
    for text in ("", "AAAA", "\U0001f600")
]


def _spoiled(credential: Json, nonsense: Json) -> str:
    """Return a credential, in JSON, with some of its fields replaced."""
    response = nonsense.get("response", credential["response"])
    if response:
        response = {**credential["response"], **response}
    return json.dumps({**credential, **nonsense, "response": response})


@pytest.mark.parametrize("nonsense", [*_NONSENSE, *_ATTESTATIONS])
async def test_nonsense_is_not_added(auth: AuthClient, nonsense: Json) -> None:
    token = await session(auth)
    credential = Authenticator(ORIGIN).create(await begin(auth, token))
    with pytest.raises(AppError) as refused:
        await auth.finish_passkey(token, "Phone", _spoiled(credential, nonsense))
    assert refused.value.reason == "INVALID_PASSKEY"
    assert await auth.passkeys(token) == []


@pytest.mark.parametrize("nonsense", [*_NONSENSE, *_ASSERTIONS])
async def test_nonsense_does_not_log_in(auth: AuthClient, nonsense: Json) -> None:
    device = await add(auth, await session(auth))
    answer = device.get(await request(auth))
    with pytest.raises(AppError) as refused:
        await auth.finish_login(_spoiled(answer, nonsense), "")
    assert refused.value.reason in ("WRONG_PASSKEY", "NO_PASSKEY")
    assert (refused.value.reason == "NO_PASSKEY") == (nonsense == {"id": "x"})


@pytest.mark.parametrize("text", ["", "null", "[]", "{", "1e999", "[" * 10_000])
async def test_what_is_no_credential_is_refused(auth: AuthClient, text: str) -> None:
    token = await session(auth)
    for call in (auth.finish_passkey(token, "Phone", text), auth.finish_login(text, "")):
        with pytest.raises(AppError) as refused:
            await call
        assert refused.value.reason in ("WRONG_PASSKEY", "INVALID_PASSKEY")


async def test_under_attack_a_passkey_still_logs_in(auth: AuthClient) -> None:
    device = await add(auth, await session(auth))
    for number in range(21):
        with pytest.raises(AppError):
            await auth.login(ANA, "wrong", f"198.51.100.{number}", "")
    with pytest.raises(AppError) as locked:
        await auth.login(ANA, PASSWORD, CLIENT_IP, "")
    assert locked.value.reason == "TOO_MANY_ATTEMPTS"
    assert (await log_in(auth, device)).username == "ana"
