"""Importing links in a real browser: rehearsed, imported, continued after a reload, and undone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import BrowserContext, Download, FilePayload, Page, Route, expect

from tests.support.product import Product
from tests.system.e2e.stage import built_product
from tests.system.e2e.visitor_actions import answer_to, keep_token, sideways

BLOCKED = "blocked.example"
HEADER = "Link,Custom Link,Date created,Title,Destination URL,Engagements,Status"
MEMORY_BYTES = 300e6
"""Promised limit of the page's memory with 100,000 rows."""
MANY = 100_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("site")
    lists = folder / "lists"
    lists.mkdir()
    (lists / "spam.txt").write_text(f"{BLOCKED}\n")
    with built_product(folder, ATAJO_BLOCKLIST_DIR=str(lists)) as product:
        product.start()
        yield product


def open_import(page: Page, token: str) -> None:
    page.goto("/terms-of-use")
    keep_token(page, token, 3600)
    page.goto("/my-account/import")
    expect(page.get_by_role("heading", name="Import links")).to_be_visible()


def choose(page: Page, lines: list[str]) -> None:
    content: FilePayload = {
        "name": "links.csv",
        "mimeType": "text/csv",
        "buffer": "\n".join(lines).encode(),
    }
    page.get_by_label("Choose a file").set_input_files(content)


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name).click()


def downloaded(page: Page, button: str) -> Download:
    with page.expect_download() as download:
        press(page, button)
    return download.value


def records(download: Download) -> list[list[str]]:
    """Return the rows of a downloaded CSV, without its header."""
    text = Path(download.path()).read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text)))[1:]


def table_of(count: int) -> list[str]:
    return ["slug,url", *(f"many-{n:06},https://many.example/{n}" for n in range(count))]


def test_a_file_of_bitly_is_rehearsed_imported_and_undone(page: Page, site: Product) -> None:
    other = site.log_in(site.register())
    site.shorten("https://x.example", other, "taken-here")
    token = site.log_in(site.register())
    rows = [
        f"https://bit.ly/code-{n},,2024-03-01T09:30:00+0000,Title {n},https://bitly.example/{n},3,active"
        for n in range(7)
    ]
    rows += [
        "https://bit.ly/x1,https://bit.ly/taken-here,,Taken,https://bitly.example/taken,0,active",
        f"https://bit.ly/blocked-1,,,Blocked,https://{BLOCKED}/,0,active",
        "https://bit.ly/nowhere,,,Nowhere,,0,active",
    ]
    open_import(page, token)
    choose(page, [HEADER, *rows])
    expect(page.get_by_role("heading", name="10 links found in links.csv")).to_be_visible()
    expect(page.get_by_text("Short URLs at Bitly cannot move")).to_be_visible()
    press(page, "Check these links")
    expect(page.get_by_role("heading", name="10 rows checked")).to_be_visible()
    for name in ("new 7", "taken 1", "refused 1", "unreadable 1"):
        expect(page.get_by_role("radio", name=name)).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 640})
    assert sideways(page) == 0
    page.get_by_role("radio", name="unreadable 1").check()
    table = page.get_by_role("table", name="Checked rows")
    expect(table).to_contain_text("The destination is missing.")
    expect(table).to_contain_text("Correct row 11 in the file and choose it again.")
    verdicts = records(downloaded(page, "Download the check as CSV"))
    assert [row[3] for row in verdicts] == ["new"] * 7 + ["taken", "refused", "unreadable"]
    assert not site.data("showLinks", {"token": token})["links"]

    press(page, "Import 8 links")
    expect(page.get_by_role("heading", name="8 links were imported.")).to_be_visible()
    results = records(downloaded(page, "Download old and new short URLs as CSV"))
    assert results[0][:2] == ["https://bit.ly/code-0", f"{site.url}/code-0"]
    assert re.fullmatch(rf"{site.url}/[\w-]{{8}}", results[7][1])
    links = {link["code"]: link for link in site.data("showLinks", {"token": token})["links"]}
    assert len(links) == 8
    assert links["code-3"]["title"] == "Title 3"
    assert links["code-3"]["created_at"].startswith("2024-03-01T09:30:00")

    press(page, re.compile("^Undo this import of"))
    page.get_by_role("dialog").get_by_role("button", name="Undo this import").click()
    expect(page.get_by_role("main").get_by_text("8 links were removed.")).to_be_visible()
    assert not site.data("showLinks", {"token": token})["links"]


def test_an_import_continues_after_a_reload_and_in_another_tab(
    context: BrowserContext, site: Product
) -> None:
    token = site.log_in(site.register())
    page = context.new_page()
    calls = 0

    def first_calls_only(route: Route) -> None:
        nonlocal calls
        calls += 1
        if calls <= 2:
            route.fulfill(response=answer_to(route))
        # The others are in progress when the page goes away.

    page.route("**/importLinks", first_calls_only)
    open_import(page, token)
    choose(page, table_of(2_000))
    press(page, "Check these links")
    press(page, "Import 2,000 links")
    expect(page.get_by_text(re.compile("^400 of 2,000 rows done"))).to_be_visible()
    other = context.new_page()
    other.goto("/my-account/import")
    expect(other.get_by_text(re.compile("^400 of 2,000 rows done"))).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")
    page.close()
    expect(other.get_by_role("heading", name="2,000 links were imported.")).to_be_visible()
    assert len(records(downloaded(other, "Download old and new short URLs as CSV"))) == 2_000
    assert site.data("showLinks", {"token": token})["total"] == 2_000
    imports = site.data("listImports", {"token": token})["imports"]
    assert [one["links"] for one in imports] == [2_000]


def test_everything_is_downloaded(page: Page, site: Product) -> None:
    token = site.log_in(site.register())
    code = site.shorten("https://example.com/before", token)
    changes = {"url": "https://example.com/after"}
    site.data("changeLink", {"token": token, "code": code, "changes": changes})
    page.goto("/terms-of-use")
    keep_token(page, token, 3600)
    page.goto("/my-account/settings")
    with ZipFile(downloaded(page, "Download everything").path()) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        links = archive.read("links.json").decode()
        nginx = archive.read("nginx.conf").decode()
    assert names[0] == "README.txt"
    assert names[-2:] == [f"html/{code}/index.html", "SHA256SUMS"]
    assert "https://example.com/before" in links
    assert f'location = /{code} {{ return 302 "https://example.com/after"; }}' in nginx


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_100_000_rows_take_little_memory(page: Page, site: Product) -> None:
    token = site.log_in(site.register())
    open_import(page, token)
    session = page.context.new_cdp_session(page)

    def measure() -> float:
        session.send("HeapProfiler.collectGarbage")
        return float(session.send("Runtime.getHeapUsage")["usedSize"])

    choose(page, table_of(MANY))
    press(page, "Check these links")
    expect(page.get_by_role("heading", name="100,000 rows checked")).to_be_visible(timeout=240e3)
    most = measure()
    table = page.get_by_role("table", name="Checked rows")
    assert table.get_by_role("row").count() < 100
    press(page, "Import 100,000 links")
    imported = page.get_by_role("heading", name="100,000 links were imported.")
    while not imported.is_visible():
        most = max(most, measure())
        page.wait_for_timeout(2_000)
    assert most < MEMORY_BYTES
