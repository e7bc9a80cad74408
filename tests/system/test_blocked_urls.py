"""URLs on a blocklist cannot be shortened, tested on all processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.gateway_client import new_code
from tests.support.product import Product
from tests.support.waiting import wait_until

READ_ANEW = 60.0
"""Promised seconds within which a changed list takes effect."""
LOOKED_THROUGH = READ_ANEW + 60.0
"""Promised seconds within which existing links follow it, also through a kill."""
ME = {"guest": "k" * 42 + "A"}


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    (folder / "phishing.txt").write_text("# of today\nphish.example\n")
    return folder


@pytest.fixture(scope="module")
def product(lists: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    settings = {"ATAJO_BLOCKLIST_DIR": str(lists)}
    with Product(tmp_path_factory.mktemp("product"), settings) as product:
        product.start()
        wait_until(lambda: product.metric("atajo_blocklists", "links") == 1)
        yield product


def is_refused(answer: httpx.Response) -> bool:
    error = answer.json().get("error", {})
    if error.get("details", {}).get("reason") != "URL_REFUSED":
        return False
    assert answer.status_code == 400
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["message"] == "This link cannot be shortened."
    return True


def create(product: Product, url: str) -> httpx.Response:
    return product.call("createShortLink", {"code": new_code(), "url": url, **ME})


def test_a_new_link_is_refused_and_its_code_stays_free(product: Product) -> None:
    code = new_code()
    refused = {"code": code, "url": "https://a@www.PHISH.example.:8443/log-in", **ME}
    assert is_refused(product.call("createShortLink", refused))
    assert product.data("accessLink", {"code": code})["longUrl"] == []
    assert product.data("createShortLink", {"code": code, "url": "https://a.example", **ME})


def test_a_changed_url_and_an_ended_url_are_refused(product: Product) -> None:
    code = new_code()
    product.data("createShortLink", {"code": code, "url": "https://a.example/", **ME})
    for name in ("url", "ended_url"):
        changes: dict[str, Any] = {"title": "new", name: "phish.example/log-in"}
        assert is_refused(product.call("changeLink", {"code": code, "changes": changes, **ME}))
    link = product.data("showLink", {"code": code, **ME})["link"]
    assert (link["long_link"], link["ended_url"], link["title"]) == ("https://a.example/", None, "")


def test_the_log_has_list_and_line_and_no_visitor_data(product: Product) -> None:
    before = product.metric('atajo_urls_refused_total{reason="phishing"}', "links")
    assert is_refused(create(product, "https://somebody:secret@phish.example/mark?of=visitor"))
    lines = [json.loads(line) for line in product.logs("links").splitlines()]
    told = [line for line in lines if line["event"] == "url_refused"]
    assert {(one["list"], one["line"], one["reason"]) for one in told} == {
        ("phishing.txt", 2, "phishing")
    }
    assert told[0]["request_id"]
    for word in ("somebody", "secret", "mark", "visitor", "phish.example"):
        assert word not in product.logs()
    after = product.metric('atajo_urls_refused_total{reason="phishing"}', "links")
    assert after == before + 1


def test_a_refused_row_of_an_import_is_counted_once(product: Product) -> None:
    name = 'atajo_urls_refused_total{reason="phishing"}'
    before = product.metric(name, "links")
    token = product.log_in(product.register())
    rows = [{"row": 1, "code": new_code(), "url": "phish.example/row"}]
    call = {"token": token, "import_id": "a" * 22, "rows": rows}
    for function in ("checkImport", "importLinks", "importLinks"):
        sent = call if function == "importLinks" else {"token": token, "rows": rows}
        [result] = list(product.data(function, sent).values())[1]
        assert result["verdict"] == "refused"
    assert product.metric(name, "links") == before + 1


def test_existing_and_new_links_follow_a_list_through_a_kill(product: Product, lists: Path) -> None:
    codes = [new_code() for _ in range(3)]
    product.data("createShortLink", {"code": codes[0], "url": "https://x.later.example/", **ME})
    product.data("createShortLink", {"code": codes[1], "url": "https://later.example/a", **ME})
    product.data("createShortLink", {"code": codes[2], "url": "https://other.example/", **ME})

    def answers() -> list[int]:
        return [product.visit(code).status_code for code in codes]

    assert answers() == [302, 302, 302]
    known = product.logs("links").count('"list": "malware"')
    beside = lists / ".malware"
    beside.write_text("later.example\n")
    beside.rename(lists / "malware")
    wait_until(lambda: product.logs("links").count('"list": "malware"') > known, READ_ANEW)
    assert is_refused(create(product, "https://later.example/"))
    product.kill("links")
    product.start("links")
    wait_until(lambda: answers() == [451, 451, 302], LOOKED_THROUGH)
    assert product.data("accessLink", {"code": codes[0]})["reason"] == "malware"
    (lists / "malware").unlink()
    wait_until(lambda: not is_refused(create(product, "https://later.example/")), READ_ANEW)
    wait_until(lambda: answers() == [302, 302, 302], LOOKED_THROUGH)
