"""The operator's command over the running product."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from urllib.parse import parse_qs, urlsplit

import pytest

from services.admin.__main__ import main
from tests.conftest import STORES, store_of_product
from tests.support.authenticator import Authenticator
from tests.support.gateway_client import hashed, new_code
from tests.support.ports import free_port
from tests.support.processes import PYTHON_PATH, ROOT
from tests.support.product import SERVICES, Product
from tests.support.waiting import PROPAGATION_SECONDS, RECOVERY_SECONDS, wait_until

_MOMENT = re.compile(r"[0-9-]{10} [0-9:]{8} UTC")
_ISO_TIME = re.compile(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z")


def admin(env: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Run the command; return its exit code and its single line of output."""
    code, line = written(env, *arguments)
    assert "\n" not in line
    return code, line


def written(env: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Run the command in this process; return its exit code and its output."""
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    code: object = 0
    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.startswith("ATAJO_")]:
            patched.delenv(name)
        for name, value in env.items():
            patched.setenv(name, value)
        patched.setattr(sys, "argv", ["admin", *arguments])
        patched.setattr(sys, "stdout", stdout)
        patched.setattr(sys, "stderr", stderr)
        try:
            main()
        except SystemExit as end:
            code = end.code
    said, complained = (_text(each) for each in (stdout, stderr))
    if isinstance(code, str):  # Python prints the text and exits with 1.
        code, complained = 1, f"{code}\n"
    assert isinstance(code, int)
    assert not (complained if code == 0 else said)
    return code, (said or complained).removesuffix("\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def addresses(product: Product) -> dict[str, str]:
    return {f"ATAJO_{name.upper()}_ADMIN_ADDRESS": product.admin_address(name) for name in SERVICES}


def is_unknown(product: Product, code: str) -> bool:
    return product.visit(code).status_code == 404


@pytest.fixture(scope="module", params=STORES)
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The product over either store."""
    folder = tmp_path_factory.mktemp("admin")
    with store_of_product(request) as store, Product(folder, store=store) as product:
        product.start()
        yield product


def test_a_removed_link_is_unknown_and_its_code_stays_taken(product: Product) -> None:
    token = product.log_in(product.register())
    other = product.shorten("https://example.com/other", token)
    code = product.shorten("https://example.com/", token, code=f"-{new_code()[1:]}")
    assert product.visit(code).status_code == 302
    product.await_views(token, {other: 0, code: 1})

    for _ in range(2):
        line = "The link is removed; its code is never given out again."
        assert admin(addresses(product), "remove-link", code) == (0, line)
    assert product.views(token) == {other: 0}

    wait_until(partial(is_unknown, product, code), PROPAGATION_SECONDS)
    assert product.data("accessLink", {"code": code}) == {"success": True, "longUrl": []}
    for again in (token, None):
        payload = {"code": code, "url": "https://example.com/", "token": again}
        refused = product.call("createShortLink", payload)
        assert refused.status_code == 409
        assert refused.json()["error"]["details"]["reason"] == "CODE_TAKEN"
    assert product.visit(other).status_code == 302
    scan_code = product.data("createScanCode", {"token": token, "code": other})["scan_code"]
    for _ in range(2):
        assert admin(addresses(product), "remove-link", scan_code) == (0, line)
    assert product.views(token) == {}
    wait_until(partial(is_unknown, product, other), PROPAGATION_SECONDS)
    assert admin(addresses(product), "remove-link", "unknown-") == (
        3,
        "There is no link with this code.",
    )


def test_a_reset_link_works_once_and_is_a_decision(product: Product) -> None:
    email = product.register()
    token = product.log_in(email)
    secret = {"token": token, "password": "Camino-42"}
    assert product.data("createRecoveryCodes", secret)["success"]
    key = {**secret, "name": "Script", "scopes": ["links:read"]}
    assert product.data("createKey", key)["success"]
    begun = product.data("beginPasskey", secret)
    credential = Authenticator(product.url).create(begun["options"])
    passkey = {"token": token, "name": "Phone", "credential": credential}
    assert product.data("finishPasskey", passkey)["success"]
    env = {**addresses(product), "ATAJO_PUBLIC_URL": product.url}
    made = [written(env, "reset-link", email) for _ in range(2)]
    links = [output.split("\n")[0] for code, output in made if code == 0]
    assert _MOMENT.search(made[1][1].split("\n")[1])
    new = hashed("Sendero-43")
    # The second link replaces the first.
    for link, succeeds in ((links[0], False), (links[1], True), (links[1], False)):
        url = urlsplit(link)
        assert f"{url.scheme}://{url.netloc}{url.path}" == f"{product.url}/reset-password"
        given = {name: values[0] for name, values in parse_qs(url.fragment).items()}
        payload = {
            "email": given["email"],
            "recovery_code": given["code"],
            "new_password": new["password"],
            "new_salt": new["salt"],
        }
        assert product.data("resetPassword", payload)["success"] == succeeds
    wait_until(
        lambda: product.data("listKeys", {"token": token}).get("error") == "invalid token",
        PROPAGATION_SECONDS,
    )
    # Whoever was in the account has no way back to it.
    account = {"token": product.log_in(email, "Sendero-43")}
    assert product.data("countRecoveryCodes", account)["left"] == 0
    assert product.data("listKeys", account)["keys"] == []
    assert product.data("listPasskeys", account)["passkeys"] == []
    recorded = decided(product, 2)
    assert [kind for kind, _ in recorded] == ["reset link", "reset link"]
    assert recorded[0][1].startswith("account ")
    assert email not in str(recorded)


def test_no_reset_code_exists_before_the_decision_is_recorded(product: Product) -> None:
    nobody = {"ATAJO_LINKS_ADMIN_ADDRESS": f"127.0.0.1:{free_port()}"}
    env = {**addresses(product), **nobody, "ATAJO_PUBLIC_URL": product.url}
    created = product.metric("atajo_reset_links_created_total", "auth")
    assert admin(env, "reset-link", product.register())[0] == 1
    assert product.metric("atajo_reset_links_created_total", "auth") == created


def test_a_reset_link_needs_an_account_and_the_public_url(product: Product) -> None:
    env = addresses(product)
    named = {**env, "ATAJO_PUBLIC_URL": product.url}
    assert admin(named, "reset-link", f"{new_code()}@example.com")[0] == 3
    code, line = admin(env, "reset-link", product.register())
    assert (code, "ATAJO_PUBLIC_URL" in line) == (2, True)


def test_an_invitation_is_printed_for_an_address_or_for_anyone(product: Product) -> None:
    env = {**addresses(product), "ATAJO_PUBLIC_URL": product.url}
    for arguments in ((), ("someone@example.com",)):
        code, output = written(env, "invite", *arguments)
        url, until = output.rstrip("\n").split("\n")
        assert code == 0
        assert url.startswith(f"{product.url}/register#invitation=")
        assert _MOMENT.search(until)
    assert admin(env, "invite", "nobody")[0] == 2
    code, line = admin(addresses(product), "invite")
    assert (code, "ATAJO_PUBLIC_URL" in line) == (2, True)


def test_a_role_is_set_but_the_last_administrator_stays(product: Product) -> None:
    env, first, second = addresses(product), product.register(), product.register()
    assert admin(env, "role", first, "administrator") == (0, "The account is an administrator.")
    last = "This is the last administrator. Make another account an administrator first."
    assert admin(env, "role", first, "member") == (2, last)
    assert admin(env, "remove-account", first) == (2, last)
    assert admin(env, "role", second, "administrator")[0] == 0
    assert admin(env, "role", first, "member") == (0, "The account is a member.")
    assert admin(env, "role", f"{new_code()}@example.com", "member")[0] == 3
    assert written(env, "role", first, "root")[0] == 2


def is_blocked(product: Product, code: str, reason: str) -> bool:
    said = {"success": True, "longUrl": [], "state": "blocked", "reason": reason}
    is_told = bool(product.data("accessLink", {"code": code}) == said)
    return is_told and product.visit(code).status_code == 451


def leads_on(product: Product, code: str) -> bool:
    return product.visit(code).status_code == 302


def decided(product: Product, count: int) -> list[list[str]]:
    """Return the last decisions as rendered, newest first, without times."""
    code, shown = written(addresses(product), "decisions")
    assert code == 0
    return [line.split("  ")[1:] for line in shown.split("\n")[:count]]


def test_a_blocked_link_shows_its_class_until_it_is_unblocked(product: Product) -> None:
    code = product.shorten("https://example.com/")
    assert product.visit(code).status_code == 302
    for reason in ("phishing", "malware"):
        blocked = admin(addresses(product), "block", code, reason, f"It is {reason}.")
        assert blocked == (0, "The link is blocked.")
        wait_until(partial(is_blocked, product, code, reason), PROPAGATION_SECONDS)
    env = {**addresses(product), "ATAJO_PUBLIC_URL": "https://atajo.example"}
    for name in (code, f"https://ATAJO.example/{code}", f"atajo.example/{code}+"):
        assert admin(env, "unblock", name) == (0, "The link is unblocked.")
    wait_until(partial(leads_on, product, code), PROPAGATION_SECONDS)
    assert decided(product, 5) == [
        *[["unblock", code]] * 3,
        ["block", code, "malware", "It is malware."],
        ["block", code, "phishing", "It is phishing."],
    ]
    for command in (("block", "unknown-", "spam"), ("unblock", "unknown-"), ("dismiss", code)):
        assert admin(addresses(product), *command)[0] == 3


def test_blocking_a_host_blocks_its_links(product: Product) -> None:
    host = f"{new_code().lower().strip('-_')}.example"
    one, page = product.shorten(f"http://{host}/a"), product.shorten(f"https://www.{host}/shop/b")
    below = product.shorten(f"http://a.b.{host}/")
    blocked = admin(addresses(product), "block", f"{host}/shop", "spam")
    assert blocked == (0, "The host or path is blocked, and so are the links that lead there.")
    wait_until(partial(is_blocked, product, page, "spam"), PROPAGATION_SECONDS)
    assert product.visit(one).status_code == 302
    assert admin(addresses(product), "block", f"http://{host}:8080/#x", "phishing", "all")[0] == 0
    for code in (one, page, below):
        wait_until(partial(is_blocked, product, code, "phishing"), PROPAGATION_SECONDS)
    payload = {"code": new_code(), "url": f"https://new.{host}/"}
    refused = product.call("createShortLink", payload)
    assert refused.json()["error"]["details"]["reason"] == "URL_REFUSED"
    line = "The host or path is unblocked, and so are the links that it alone had blocked."
    for address in (host.upper(), f"{host}/shop/"):
        assert admin(addresses(product), "unblock", address) == (0, line)
        assert admin(addresses(product), "unblock", address)[0] == 3
    for code in (one, page, below):
        wait_until(partial(leads_on, product, code), PROPAGATION_SECONDS)
    assert decided(product, 4) == [
        ["unblock", f"{host}/shop"],
        ["unblock", host],
        ["block", host, "phishing", "all"],
        ["block", f"{host}/shop", "spam"],
    ]


def explained(product: Product, what: str) -> list[str]:
    """Return the lines of an explanation, without times."""
    env = {**addresses(product), "ATAJO_PUBLIC_URL": "https://atajo.example"}
    code, text = written(env, "why", what)
    assert code == 0
    return [_MOMENT.sub("now", line) for line in text.split("\n")]


def test_why_explains_a_block(product: Product) -> None:
    host = f"{new_code().lower().strip('-_')}.example"
    code = product.shorten(f"http://{host}/a")
    link = [f"{code}  active, created now", f"  destination http://{host}/a"]
    assert explained(product, code) == link
    assert explained(product, host) == [f"{host}  not blocked"]

    assert admin(addresses(product), "block", host, "phishing", "imitates a bank")[0] == 0
    decision = f"now  block  {host}  phishing  imitates a bank"
    match = f"  the operator's block of {host}: {host} (phishing)"
    link[0] = f"{code}  blocked (phishing), created now"
    assert explained(product, f"https://atajo.example/{code}") == [
        *link,
        f"  blocked by the operator's block of {host}",
        f"{match} matches http://{host}/a",
        f"    {decision}",
    ]
    url = f"https://www.{host}/b?c"
    assert explained(product, url) == [f"{url}  blocked", match, f"    {decision}"]

    assert admin(addresses(product), "unblock", code, "only this one")[0] == 0
    link[0] = f"{code}  active, created now"
    assert explained(product, code) == [
        *link,
        "  unblocked by the operator at now, so list files do not block it",
        f"{match} matches http://{host}/a (the link is exempt)",
        f"    {decision}",
        f"  last decision: now  unblock  {code}  only this one",
    ]
    shown = written(addresses(product), "decisions", "", host.upper())
    assert _MOMENT.sub("now", shown[1]) == decision
    assert written(addresses(product), "decisions", "2", host) == (0, "No more decisions.")
    assert admin(addresses(product), "why", "unknown-")[0] == 3
    assert admin(addresses(product), "why", "ftp://evil.example")[0] == 2


def test_reports_are_listed_and_decided_on(product: Product) -> None:
    assert written(addresses(product), "reports") == (0, "No pending reports.")
    bad = product.shorten("https://example.com/\u202ebad")
    joke = product.shorten("https://example.com/joke")

    def report(code: str, reason: str, details: str = "", contact: str | None = None) -> None:
        payload = {"code": code, "reason": reason, "details": details, "contact": contact}
        assert product.data("reportLink", payload)["success"]

    report(joke, "other", "\u202eme too")
    assert written(addresses(product), "reports")[1].endswith("\n\n1 of 1 pending report.")
    report(bad, "phishing", "It asks for\n\\my word", "ana@b.example")
    report(bad, "phishing")
    report(bad, "spam")
    code, shown = written(addresses(product), "reports")
    assert code == 0
    lines = [_MOMENT.sub("now", line) for line in shown.split("\n")]
    assert lines == [
        f"{bad}  active, created now",
        "  destination https://example.com/\\u202ebad",
        "  phishing, 2 times: since now, last now",
        "    now, ana@b.example: It asks for\\n\\\\my word",
        "  spam, once: since now, last now",
        "",
        f"{joke}  active, created now",
        "  destination https://example.com/joke",
        "  other, once: since now, last now",
        "    now, no contact: \\u202eme too",
        "",
        "3 of 3 pending reports.",
    ]
    last = f"1.{joke}"
    assert written(addresses(product), "reports", last) == (0, "No more pending reports.")
    assert admin(addresses(product), "reports", "2")[0] == 2
    dismissed = admin(addresses(product), "dismiss", joke, "A joke.")
    assert dismissed == (0, "The reports of the link (1) are dismissed.")
    assert admin(addresses(product), "block", bad, "phishing")[0] == 0
    assert written(addresses(product), "reports") == (0, "No pending reports.")
    assert decided(product, 2) == [
        ["block", bad, "phishing", "(2 reports)"],
        ["dismiss", joke, "(1 report)", "A joke."],
    ]
    assert product.visit(joke).status_code == 302


def document(product: Product, *arguments: str) -> dict[str, Any]:
    """Return the JSON document of a command, without times."""
    env = {**addresses(product), "ATAJO_PUBLIC_URL": "https://atajo.example"}
    code, text = admin(env, "--json", *arguments)
    assert code == 0
    found: dict[str, Any] = json.loads(_ISO_TIME.sub("now", text))
    return found


def test_commands_print_json_documents(product: Product) -> None:
    bad = product.shorten("https://example.com/\u202ebad")
    link = {
        "code": bad,
        "state": "active",
        "reason": None,
        "url": "https://example.com/\u202ebad",
        "ended_url": None,
        "created_at": "now",
        "expires_at": None,
    }
    statement = {"details": "\u202e\n\\", "contact": "ana@b.example"}
    report = {"code": bad, "reason": "phishing", **statement}
    assert product.data("reportLink", report)["success"]
    found = document(product, "reports")
    assert found.pop("reports") == [
        {
            "id": ANY,
            "link": link,
            "reason": "phishing",
            "count": 1,
            "first_at": "now",
            "last_at": "now",
            "statements": [{"at": "now", **statement}],
        }
    ]
    assert found == {"waiting": 1, "next": None}

    blocked = {"code": bad, "pattern": None, "reason": "spam"}
    assert document(product, "block", bad, "spam", "Why not?") == blocked
    by_operator = {"account": None, "by": None}
    made = {"at": "now", "kind": "block", **blocked, "comment": "Why not?", "reports": 1}
    made |= by_operator
    assert document(product, "decisions", "", bad) == {"decisions": [made], "next_page": None}
    nothing: dict[str, object] = {
        "blocklist": None,
        "removed_at": None,
        "removed_permanently": False,
    }
    nothing |= {"exempt": False, "exempt_since": None, "matches": []}
    assert document(product, "why", f"atajo.example/{bad}") == {
        "subject": bad,
        "blocked": True,
        "link": {**link, "state": "blocked", "reason": "spam"},
        "decision": made,
        **nothing,
    }
    host = f"{new_code().lower().strip('-_')}.example"
    pattern = {"code": None, "pattern": host}
    assert document(product, "block", host, "phishing") == {**pattern, "reason": "phishing"}
    explained = document(product, "why", f"https://a.{host}/b")
    made = {"at": "now", "kind": "block", **pattern, "reason": "phishing"}
    made |= {"comment": "", "reports": 0, **by_operator}
    assert explained["matches"] == [
        {
            "blocklist": f"operator/{host}",
            "line": ANY,
            "key": host,
            "reason": "phishing",
            "url": ANY,
            "exempt": False,
            "decision": made,
        }
    ]
    assert (explained["blocked"], explained["link"]) == (True, None)
    assert document(product, "unblock", host) == pattern
    assert document(product, "unblock", bad) == {"code": bad, "pattern": None}
    assert product.data("reportLink", report)["success"]
    assert document(product, "dismiss", bad) == {"code": bad, "reports": 1}
    assert document(product, "remove-link", bad) == {"code": bad}
    email = product.register()
    reset = document(product, "reset-link", email)
    assert reset["url"].startswith("https://atajo.example/reset-password#email=")
    assert reset["expires_at"] == "now"
    invitation = document(product, "invite")
    assert invitation["url"].startswith("https://atajo.example/register#invitation=")
    assert document(product, "role", email, "member") == {"role": "member"}
    assert admin(addresses(product), "--json", "remove-link", "unknown-") == (
        3,
        "There is no link with this code.",
    )


def test_visits_that_arrive_after_a_removal_are_not_shown(product: Product) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    wait_until(lambda: product.metric("atajo_visits_pending") == 0, RECOVERY_SECONDS)
    product.kill("analytics")
    assert product.visit(code).status_code == 302
    with product.suspended("gateway"):  # It sends the visit afterwards.
        product.start("analytics")
        assert admin(addresses(product), "remove-link", code)[0] == 0

    wait_until(lambda: product.metric("atajo_visits_pending") == 0, RECOVERY_SECONDS)
    assert product.metric('atajo_visits_counted_total{kind="person"}', "analytics") == 1
    assert product.views(token) == {}
    wait_until(partial(is_unknown, product, code), PROPAGATION_SECONDS)


def test_removing_an_account_removes_its_links_and_frees_its_email(product: Product) -> None:
    email, neighbour = product.register(), product.log_in(product.register())
    token = product.log_in(email)
    codes = [product.shorten(f"https://example.com/{n}", token) for n in range(3)]
    kept = product.shorten("https://example.com/kept", neighbour)

    assert admin(addresses(product), "remove-account", email.upper()) == (
        0,
        "The account and its links (3) are removed.",
    )

    invalid = {"success": False, "error": "invalid token"}
    assert product.data("showProfile", {"token": token}) == invalid
    create = {"code": new_code(), "url": "https://example.com", "token": token}
    assert product.data("createShortLink", create) == invalid
    login = {"email": email, "password": "Camino-42"}
    no_exist = {"success": False, "error": "no exist"}
    assert product.data("verifyUser", login) == no_exist
    assert admin(addresses(product), "remove-account", email) == (
        3,
        "There is no account with this e-mail address.",
    )
    for code in codes:
        wait_until(partial(is_unknown, product, code), PROPAGATION_SECONDS)
    assert product.visit(kept).status_code == 302

    product.register(email)
    assert product.data("showProfile", {"token": token}) == invalid
    assert product.views(product.log_in(email)) == {}
    assert list(product.views(neighbour)) == [kept]
    assert email not in product.logs()


def test_the_data_folder_of_a_run_names_the_services(product: Product, tmp_path: Path) -> None:
    env = {"ATAJO_DATA_DIR": str(tmp_path)}
    code, line = admin(env, "remove-link", "unknown-")
    assert (code, line.split(":")[0]) == (1, f"Atajo does not run over {tmp_path}")

    processes = {name: {"pid": 1, "admin": product.admin_address(name)} for name in SERVICES}
    (tmp_path / "run.json").write_text(json.dumps({"processes": processes}))
    ended = subprocess.run(
        [sys.executable, "-m", "services.admin", "remove-link", "unknown-"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHON_PATH, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == "There is no link with this code.\n"

    product.kill("links")
    try:
        code, line = admin(env, "remove-link", "unknown-")
    finally:
        product.revive()
    assert (code, line) == (
        1,
        "A service is unavailable. Repeat the command: it goes on where this ended.",
    )


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("reports", ("pending", "AFTER", "example:")),
        ("block", ("451", "WHAT", "phishing", "COMMENT", "imitates a bank")),
        ("unblock", ("WHAT", "COMMENT", "example:")),
        ("dismiss", ("LINK", "COMMENT", "example:")),
        ("why", ("WHAT", "URL", "example:")),
        ("decisions", ("PAGE", "TEXT", "example:")),
        ("remove-link", ("permanently", "CODE", "example:")),
        ("remove-account", ("permanently", "EMAIL", "example:")),
        ("reset-link", ("once", "EMAIL", "example:")),
        ("invite", ("once", "EMAIL", "example:")),
        ("role", ("EMAIL", "ROLE", "administrator", "member", "example:")),
    ],
)
def test_every_command_explains_itself_without_a_running_product(
    command: str, words: tuple[str, ...]
) -> None:
    env = {"ATAJO_AUTH_ADMIN_ADDRESS": "localhost:1"}
    assert command in written(env, "--help")[1]
    code, output = written(env, command, "--help")
    assert (code, output.split(":")[0]) == (0, "Usage")
    for word in (*words, "--json"):
        assert word in output


def test_invalid_arguments_are_refused() -> None:
    for arguments in (
        (),
        ("remove-link",),
        ("remove-account", ""),
        ("list", "x"),
        ("unblock",),
        ("unblock", ""),
        ("unblock", "nothing at all"),
        ("block", "k7Qm2_xB"),
        ("block", "k7Qm2_xB", "ugly"),
        ("block", "k7Qm2_xB", "spam", "one", "two"),
        ("dismiss", "evil.example"),
        ("reports", "1.k7Qm2_xB", "2"),
        ("decisions", "-1"),
        ("decisions", "1", "text", "more"),
        ("why",),
        ("why", "nothing at all"),
        ("why", "k7Qm2_xB", "evil.example"),
    ):
        code, output = written({}, *arguments)
        assert (code, output.split(":")[0]) == (2, "Usage")
    usage, reason = written({}, "block", "k7Qm2_xB", "ugly")[1].split("\n")
    assert usage.endswith("[--json] block [-h] WHAT CLASS [COMMENT]")
    assert "argument CLASS: invalid choice: 'ugly' (choose from 'phishing'," in reason
    code, line = admin({"ATAJO_AUTH_ADMIN_ADDRESS": "localhost:1"}, "remove-link", "unknown-")
    assert (code, line) == (
        1,
        "Settings refused. Give the address of each service, or of none.",
    )
