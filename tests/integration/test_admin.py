"""The operator's command over the running product."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import store_of_product
from tests.processes import PYTHON_PATH, ROOT
from tests.product import SERVICES, Product, new_code
from tests.waiting import CHANGED, SETTLED, await_that


def admin(env: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Run the command; returns its exit code and the one line it wrote."""
    ended = subprocess.run(
        [sys.executable, "-m", "services.admin", *arguments],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": PYTHON_PATH,
            **env,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    written = ended.stdout if ended.returncode == 0 else ended.stderr
    assert written.count("\n") == 1, ended
    assert not (ended.stderr if ended.returncode == 0 else ended.stdout), ended
    return ended.returncode, written.strip()


def addresses(product: Product) -> dict[str, str]:
    return {f"ATAJO_{name.upper()}_ADMIN_ADDRESS": product.admin_address(name) for name in SERVICES}


def is_unknown(product: Product, code: str) -> bool:
    return product.visit(code).status_code == 404


@pytest.fixture(scope="module", params=["sqlite", "mongodb"])
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The product over either store."""
    folder = tmp_path_factory.mktemp("admin")
    with store_of_product(request) as store, Product(folder, store=store) as product:
        product.start()
        yield product


def test_a_removed_link_is_unknown_and_its_code_taken_for_good(product: Product) -> None:
    token = product.log_in(product.register())
    other = product.shorten("https://example.com/other", token)
    code = product.shorten("https://example.com/", token, code=f"-{new_code()[1:]}")
    assert product.visit(code).status_code == 302
    product.await_views(token, {other: 0, code: 1})

    for _ in range(2):
        line = "The link is removed; its code is never given out again."
        assert admin(addresses(product), "remove-link", code) == (0, line)
    assert product.views(token) == {other: 0}

    await_that(partial(is_unknown, product, code), CHANGED)
    assert product.data("accessLink", {"code": code}) == {"success": True, "longUrl": []}
    for again in (token, None):
        payload = {"code": code, "url": "https://example.com/", "token": again}
        refused = product.call("createShortLink", payload)
        assert refused.status_code == 409
        assert refused.json()["error"]["details"]["reason"] == "CODE_TAKEN"
    assert product.visit(other).status_code == 302
    assert admin(addresses(product), "remove-link", "unknown-") == (
        3,
        "There is no link with this code.",
    )


def test_a_blocked_link_says_why_until_it_is_free_again(product: Product) -> None:
    code = product.shorten("https://example.com/")
    assert product.visit(code).status_code == 302
    for reason in ("phishing", "malware"):
        assert admin(addresses(product), "block-link", code, reason) == (0, "The link is blocked.")

        def answers(reason: str = reason) -> bool:
            said = {"success": True, "longUrl": [], "state": "blocked", "reason": reason}
            return bool(product.data("accessLink", {"code": code}) == said)

        await_that(answers, CHANGED)
        assert product.visit(code).status_code == 451
    for _ in range(2):
        line = "The link is not blocked."
        assert admin(addresses(product), "unblock-link", code) == (0, line)
    await_that(lambda: product.visit(code).status_code == 302, CHANGED)
    for command in (("block-link", "unknown-", "spam"), ("unblock-link", "unknown-")):
        assert admin(addresses(product), *command)[0] == 3


def test_visits_that_come_after_the_removal_show_nowhere(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        product.kill("analytics")
        assert product.visit(code).status_code == 302
        with product.asleep("gateway"):  # It hands the visit on afterwards.
            product.start("analytics")
            assert admin(addresses(product), "remove-link", code)[0] == 0

        await_that(lambda: product.metric("atajo_visits_pending") == 0, SETTLED)
        assert product.metric('atajo_visits_counted_total{kind="person"}', "analytics") == 1
        assert product.views(token) == {}
        await_that(partial(is_unknown, product, code), CHANGED)


def test_an_account_goes_with_its_links_and_its_address_is_free(product: Product) -> None:
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
        await_that(partial(is_unknown, product, code), CHANGED)
    assert product.visit(kept).status_code == 302

    product.register(email)
    assert product.data("showProfile", {"token": token}) == invalid
    assert product.views(product.log_in(email)) == {}
    assert list(product.views(neighbour)) == [kept]
    assert email not in product.logs()


def test_the_services_are_found_through_the_data_folder_of_a_run(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start("auth", "links", "analytics")
        folder = tmp_path / "data"
        folder.mkdir()
        env = {"ATAJO_DATA_DIR": str(folder)}
        code, line = admin(env, "remove-link", "unknown-")
        assert (code, line.split(":")[0]) == (1, f"Atajo does not run over {folder}")

        processes = {name: {"pid": 1, "admin": product.admin_address(name)} for name in SERVICES}
        (folder / "run.json").write_text(json.dumps({"processes": processes}))
        assert admin(env, "remove-link", "unknown-")[0] == 3

        product.kill("links")
        code, line = admin(env, "remove-link", "unknown-")
        assert (code, line) == (
            1,
            "A part of the service is away. Repeat the command: it goes on where this ended.",
        )


def test_what_is_not_understood_is_refused(tmp_path: Path) -> None:
    wrong = ((), ("remove-link",), ("remove-account", ""), ("list", "x"), ("unblock-link",))
    for arguments in (*wrong, ("block-link", "k7Qm2_xB"), ("block-link", "k7Qm2_xB", "ugly")):
        code, line = admin({}, *arguments)
        assert (code, line.split(":")[0]) == (2, "Usage")
    code, line = admin({"ATAJO_AUTH_ADMIN_ADDRESS": "localhost:1"}, "remove-link", "unknown-")
    assert (code, line) == (
        1,
        "Settings refused. Give the address of each service, or of none.",
    )
