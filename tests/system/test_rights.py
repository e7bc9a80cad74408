"""Each cell of docs/reference/rights.md, on all processes, through the gateway."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from services.shared import edge_table
from tests.support.administrators import set_role
from tests.support.api_client import ApiClient
from tests.support.gateway_client import hashed, new_code
from tests.support.nginx import BUILT
from tests.support.product import Product
from tests.system.rights import DOCUMENT, Right, read_rights

PASSWORD = "Camino-42"
URL = "https://example.com/"
GUEST = "g" * 43
RIGHTS = read_rights(DOCUMENT.read_text(encoding="utf-8"))
_OPEN = {"ATAJO_REGISTRATION": "open", "ATAJO_GUEST_LINKS": "on", "ATAJO_ADMIN_PAGES": "on"}
SETTINGS: Sequence[Mapping[str, str]] = (
    _OPEN,
    {"ATAJO_REGISTRATION": "invite", "ATAJO_GUEST_LINKS": "off", "ATAJO_ADMIN_PAGES": "off"},
    {**_OPEN, "ATAJO_REGISTRATION": "closed"},
)
"""What the product is started with, one after the other: every choice of each setting."""
_ENDING_SESSIONS = ("endSession", "endOtherSessions")
_TOO_LONG_AGO = 16 * 60 * 10**6
"""Microseconds."""

Payload = dict[str, Any]


class Instance:
    """A product with an account of each role."""

    def __init__(self, folder: Path) -> None:
        self.product = Product(folder, {"ATAJO_WEB_DIR": str(BUILT), **_OPEN})
        self._sessions: dict[str, str] = {}
        """Tokens by role. A log-in takes 50 ms of a core, so a role logs in once."""

    def start(self) -> None:
        product = self.product
        product.start()
        roles = ("member", "administrator", "suspended", "other", "quiet")
        self.emails = {role: product.register() for role in roles}
        set_role(product, self.emails["administrator"])
        token = self.log_in("administrator")
        accounts = product.data("listAccounts", {"token": token})["accounts"]
        ids = {account["email"]: account["id"] for account in accounts}
        self.ids: Mapping[str, str] = {role: ids[email] for role, email in self.emails.items()}
        self.invitations = {
            right: self._invite(token, right)
            for right in RIGHTS
            if "invitation" in right.circumstance
        }
        self.api = ApiClient(product, token=self.log_in("member"))
        self.keys = {
            "member": self.api.key,
            **{
                role: ApiClient(product, token=self.log_in(role)).key
                for role in ("administrator", "suspended")
            },
        }
        self.others = product.shorten(URL, self.log_in("other"))
        self.suspended_code = product.shorten(URL, self.log_in("suspended"))
        changes = {"id": self.ids["suspended"], "changes": {"suspended": True}}
        assert product.data("changeAccount", {"token": token, **changes})["success"]

    def apply(self, settings: Mapping[str, str]) -> None:
        """Restart what reads the settings, unless it runs with them."""
        if settings.items() <= self.product.settings.items():
            return
        for name in ("gateway", "auth"):
            assert self.product.stop(name) == 0
        self.product.settings.update(settings)
        self.product.start("auth", "gateway")

    def log_in(self, role: str) -> str:
        """Return the token of a session of a role, whose confirmation may be too long ago."""
        if role not in self._sessions:
            account = "administrator" if role == "unconfirmed" else role
            token = self.product.log_in(self.emails[account])
            self._sessions[role] = self._age(token) if role == "unconfirmed" else token
        return self._sessions[role]

    def forget_sessions(self) -> None:
        """Let members and administrators log in again."""
        self._sessions = {"suspended": self._sessions["suspended"]}

    def _invite(self, token: str, right: Right) -> str:
        email = "other@example.com" if right.circumstance.endswith("another address") else None
        url: str = self.product.data("createInvitation", {"token": token, "email": email})["url"]
        return url.partition("#invitation=")[2]

    def credentials(self, role: str) -> Payload:
        """Return what a role sends beside the payload of a function."""
        match role:
            case "stranger" | "everybody":
                return {}
            case "guest":
                return {"guest": GUEST}
        return {"token": self.log_in(role)}

    def _age(self, token: str) -> str:
        """Let the confirmation of a session be 16 minutes ago."""
        sessions = self.product.data("listSessions", {"token": token})["sessions"]
        (current,) = (session["id"] for session in sessions if session["current"])
        database = self.product.folder / "auth.sqlite3"
        with closing(sqlite3.connect(database, timeout=10)) as file, file:
            changed = file.execute(
                "UPDATE sessions SET confirmed_at = confirmed_at - ? WHERE id = ?",
                (_TOO_LONG_AGO, current),
            )
        assert changed.rowcount == 1
        return token


class Attempt:
    """What one role tries. Each payload below is made for it."""

    def __init__(self, instance: Instance, right: Right) -> None:
        self.instance = instance
        self.product = instance.product
        self.right = right
        self.credentials = instance.credentials(right.role)

    @cached_property
    def own(self) -> str:
        """A link of the role; one of nobody for a stranger."""
        if self.right.role == "suspended":
            return self.instance.suspended_code
        if self.right.circumstance == "of somebody else's link":
            return self.instance.others
        code = new_code()
        payload = {"code": code, "url": URL, **self.credentials}
        self.product.data("createShortLink", payload)
        return code

    @property
    def quiet(self) -> str:
        """The id of an account without links and sessions."""
        return self.instance.ids["quiet"]

    @property
    def is_done(self) -> bool:
        return self.right.answer == "yes"

    def reported(self) -> str:
        """Return the code of a link that somebody reported."""
        code = self.instance.others
        self.product.data("reportLink", {"code": code, "reason": "spam"})
        return code

    def imported(self) -> str:
        """Return the id of an import of the role."""
        identifier = "i" * 14 + new_code()
        if self.is_done:
            rows = [{"row": 0, "url": f"{URL}{identifier}"}]
            payload = {"import_id": identifier, "rows": rows, **self.credentials}
            assert self.product.data("importLinks", payload)["success"]
        return identifier

    def invited(self) -> str:
        """Return the id of an invitation."""
        if not self.is_done:
            return "nothing"
        made: str = self.product.data("createInvitation", self.credentials)["id"]
        return made

    def registration(self) -> Payload:
        email = f"{new_code()}@example.com"
        payload: Payload = {**hashed(PASSWORD), "email": email}
        if self.right.circumstance:
            payload["invitation"] = self.instance.invitations[self.right]
        if self.right.circumstance == "with a used invitation":
            first = {**payload, "email": f"first-{email}"}
            assert self.product.data("registerUser", first)["success"]
        return payload

    def log_in(self) -> Payload:
        another = self.right.circumstance == "with another password"
        email = self.instance.emails[self.right.role]
        return {"email": email, "password": "Another-42" if another else PASSWORD}

    def change_account(self) -> Payload:
        if self.right.circumstance.endswith("of the last administrator"):
            account = self.instance.ids["administrator"]
            if "suspended" in self.right.circumstance:
                return {"id": account, "changes": {"suspended": True}}
            return {"id": account, "changes": {"role": "member"}}
        return {"id": self.quiet, "changes": {"suspended": False}}


def new_password() -> Payload:
    registration = hashed(PASSWORD)
    return {"new_password": registration["password"], "new_salt": registration["salt"]}


_CREDENTIAL = {
    "id": "AAAA",
    "rawId": "AAAA",
    "type": "public-key",
    "response": {
        "clientDataJSON": "AAAA",
        "attestationObject": "AAAA",
        "authenticatorData": "AAAA",
        "signature": "AAAA",
    },
}
_ROWS = [{"row": 0, "url": URL, "code": None}]

PAYLOADS: Mapping[str, Callable[[Attempt], Payload]] = {
    "createShortLink": lambda attempt: {"code": new_code(), "url": URL},
    "accessLink": lambda attempt: {"code": attempt.instance.others},
    "previewLink": lambda attempt: {"code": attempt.instance.others},
    "reportLink": lambda attempt: {"code": attempt.instance.others, "reason": "spam"},
    "registerUser": Attempt.registration,
    "verifyUser": Attempt.log_in,
    "beginLogin": lambda attempt: {},
    "finishLogin": lambda attempt: {"credential": _CREDENTIAL},
    "resetPassword": lambda attempt: {
        "email": attempt.instance.emails["member"],
        "recovery_code": "0000-0000-0000",
        **new_password(),
    },
    "beginOidc": lambda attempt: {"secret": GUEST},
    "finishOidc": lambda attempt: {"code": "c", "state": "s", "secret": GUEST},
    "linkOidc": lambda attempt: {"link": "nothing", "secret": GUEST, "password": PASSWORD},
    "listConnections": lambda attempt: {},
    "removeConnection": lambda attempt: {"id": "nothing", "password": PASSWORD},
    "showLinks": lambda attempt: {},
    "showLink": lambda attempt: {"code": attempt.own},
    "changeLink": lambda attempt: {"code": attempt.own, "changes": {"title": "Changed"}},
    "removeLinks": lambda attempt: {"codes": [attempt.own]},
    "restoreLinks": lambda attempt: {"codes": [attempt.own]},
    "createScanCode": lambda attempt: {"code": attempt.own},
    "showStatistics": lambda attempt: {"code": attempt.own},
    "claimLinks": lambda attempt: {"guest": GUEST},
    "showProfile": lambda attempt: {},
    "checkImport": lambda attempt: {"rows": _ROWS},
    "importLinks": lambda attempt: {"import_id": "j" * 14 + new_code(), "rows": _ROWS},
    "undoImport": lambda attempt: {"import_id": attempt.imported()},
    "listImports": lambda attempt: {},
    "createKey": lambda attempt: {"password": PASSWORD, "name": "A", "scopes": ["links:read"]},
    "listKeys": lambda attempt: {},
    "revokeKey": lambda attempt: {"id": "nothing"},
    "listSessions": lambda attempt: {},
    "endSession": lambda attempt: {"id": None},
    "endOtherSessions": lambda attempt: {},
    "confirmSession": lambda attempt: {"password": PASSWORD},
    "createRecoveryCodes": lambda attempt: {"password": PASSWORD},
    "countRecoveryCodes": lambda attempt: {},
    "listPasskeys": lambda attempt: {},
    "beginPasskey": lambda attempt: {"password": PASSWORD},
    "finishPasskey": lambda attempt: {"name": "A", "credential": _CREDENTIAL},
    "removePasskey": lambda attempt: {"id": "nothing", "password": PASSWORD},
    "changePassword": lambda attempt: {"password": "Another-42", **new_password()},
    "removeAccount": lambda attempt: {
        "password": PASSWORD if "last" in attempt.right.circumstance else "Another-42"
    },
    "listReports": lambda attempt: {},
    "showReports": lambda attempt: {"code": attempt.instance.others},
    "decide": lambda attempt: {"subject": attempt.reported(), "action": "dismiss"},
    "explainBlock": lambda attempt: {"subject": "unblocked.example"},
    "listDecisions": lambda attempt: {},
    "listAccounts": lambda attempt: {},
    "changeAccount": Attempt.change_account,
    "blockAccountLinks": lambda attempt: {"id": attempt.quiet, "class": "spam"},
    "endAccountSessions": lambda attempt: {"id": attempt.quiet},
    "createResetLink": lambda attempt: {"id": attempt.quiet},
    "createInvitation": lambda attempt: {},
    "listInvitations": lambda attempt: {},
    "revokeInvitation": lambda attempt: {"id": attempt.invited()},
    "showInstance": lambda attempt: {},
}
"""A valid payload of each function, without the credentials of the role."""

BODIES: Mapping[str, Any] = {
    "POST /links": {"url": URL},
    "POST /links/bulk": {"links": [{"url": URL}]},
    "PATCH /links/{code}": {"title": "Changed"},
}
"""Bodies of operations of the REST API."""


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    started = Instance(tmp_path_factory.mktemp("rights"))
    with started.product:
        started.start()
        yield started


def choose_settings(right: Right) -> int:
    """Return the index of the settings of a cell in `SETTINGS`."""
    name, _, value = right.setting.partition("=")
    return next(
        number
        for number, settings in enumerate(SETTINGS)
        if right.setting == "any" or settings[name] == value
    )


@cache
def read_fields() -> Mapping[str, set[str]]:
    """Return the fields of the payload of each function, as documented."""
    text = (DOCUMENT.parent / "functions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (.*) \| .* \|$", text, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`\??:", fields)) for name, fields in rows}


def call_function(attempt: Attempt) -> str:
    fields = read_fields()[attempt.right.action]
    known = {name: value for name, value in attempt.credentials.items() if name in fields}
    payload = PAYLOADS[attempt.right.action](attempt) | known
    response = attempt.product.call(attempt.right.action, payload)
    if response.status_code != 200:
        return str(response.status_code)
    data = response.json()["data"]
    return "yes" if data["success"] else str(data["error"])


def call_api(attempt: Attempt) -> str:
    method, _, path = attempt.right.action.partition(" ")
    instance, code = attempt.instance, ""
    if "{code}" in path:
        code = instance.others if attempt.right.role == "stranger" else attempt.own
    response = instance.api.send(
        method,
        path.format(code=code),
        BODIES.get(attempt.right.action),
        key=instance.keys.get(attempt.right.role, ""),
    )
    return "yes" if response.is_success else str(response.status_code)


def request(attempt: Attempt) -> str:
    path = attempt.right.action.removeprefix("GET ")
    if path == "/<code>":
        suspended = "suspended" in attempt.right.circumstance
        code = attempt.instance.suspended_code if suspended else attempt.instance.others
        return str(attempt.product.visit(code).status_code)
    return str(attempt.product.http.get(f"{attempt.product.url}{path}").status_code)


def is_operation(action: str) -> bool:
    return action.partition(" ")[2].startswith(("/links", "/account", "/statistics"))


_SORTED: Sequence[Right] = sorted(RIGHTS, key=choose_settings)


@pytest.mark.parametrize("right", _SORTED, ids=str)
def test_the_table_is_true(instance: Instance, right: Right) -> None:
    instance.apply(SETTINGS[choose_settings(right)])
    attempt = Attempt(instance, right)
    if is_operation(right.action):
        answer = call_api(attempt)
    elif " " in right.action:
        answer = request(attempt)
    else:
        answer = call_function(attempt)
    if right.action in _ENDING_SESSIONS:
        instance.forget_sessions()
    assert answer == right.answer


def read_description() -> Any:
    return json.loads((DOCUMENT.parent / "openapi.json").read_text(encoding="utf-8"))


def test_the_table_has_every_function_and_every_operation() -> None:
    functions = {right.action for right in RIGHTS if " " not in right.action}
    assert {f"/{name}" for name in functions} == set(edge_table.functions(edge_table.read()))
    operations = {right.action for right in RIGHTS if is_operation(right.action)}
    assert operations == {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in read_description()["paths"].items()
        for method in methods
    }


def test_every_choice_of_a_setting_is_in_the_table() -> None:
    named = {right.setting for right in RIGHTS} - {"any"}
    assert named == {
        *(f"ATAJO_REGISTRATION={choice}" for choice in ("open", "invite", "closed")),
        *(f"ATAJO_GUEST_LINKS={choice}" for choice in ("on", "off")),
        *(f"ATAJO_ADMIN_PAGES={choice}" for choice in ("on", "off")),
    }
    assert {right.role for right in RIGHTS if right.setting == "ATAJO_ADMIN_PAGES=on"} >= {
        *("stranger", "guest", "member", "administrator", "unconfirmed", "suspended"),
    }
