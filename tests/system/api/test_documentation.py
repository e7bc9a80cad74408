"""The documentation of the API at /api: every sample runs, and every name that it uses is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gateway.api.problems import KINDS
from tests.support.api_client import ApiClient
from tests.support.processes import ROOT
from tests.support.product import Product

COMMANDS = {
    "curl": ("sh", "sample.sh"),
    "python": (sys.executable, "sample.py"),
    "javascript": ("node", "sample.mjs"),
}
"""What runs a sample of each language, and the name of its file."""
KEY = "YOUR_API_KEY"


class Page(HTMLParser):
    """The page as a reader without JavaScript has it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.others: list[str] = []
        """What else it loads."""
        self.samples: dict[str, list[str]] = defaultdict(list)
        """The samples of each language, in the order of the page."""
        self._language: str | None = None
        self._in_code = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if name := values.get("id"):
            self.ids.append(name)
        if tag == "a":
            self.links.append(values["href"] or "")
        elif source := values.get("src") or (values.get("href") if tag == "link" else None):
            self.others.append(source)
        if tag == "figure":
            self._language = values["data-language"]
        if tag == "pre" and self._language:
            self.samples[self._language].append("")
            self._in_code = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._in_code = False
        elif tag == "figure":
            self._language = None

    def handle_data(self, data: str) -> None:
        if self._in_code and self._language:
            self.samples[self._language][-1] += data


@pytest.fixture
def page(product_with_pages: Product) -> Page:
    response = product_with_pages.http.get(f"{product_with_pages.url}/api")
    assert response.status_code == 200
    return Page(response.text)


def operations() -> list[str]:
    description = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())
    return [one["operationId"] for path in description["paths"].values() for one in path.values()]


@pytest.mark.parametrize("language", COMMANDS)
def test_every_sample_runs(
    page: Page, product_with_pages: Product, tmp_path: Path, language: str
) -> None:
    api = ApiClient(product_with_pages)
    program, name = COMMANDS[language]
    (tmp_path / ".curlrc").write_text("fail-with-body\nsilent\n")
    samples = page.samples[language]
    assert len(samples) == 1 + len(operations())
    for sample in samples:
        assert KEY in sample
        # Each language has an account of its own, and codes are unique.
        text = sample.replace(KEY, api.key).replace("spring-sale", f"spring-sale-{language}")
        (tmp_path / name).write_text(text)
        ran = subprocess.run(
            [program, name],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        assert ran.returncode == 0, sample + ran.stdout + ran.stderr
    assert api.send("GET", f"/links/spring-sale-{language}").json()["state"] == "active"


def test_every_code_and_operation_is_explained(page: Page) -> None:
    assert {*KINDS} <= {*page.ids}
    assert {*operations()} <= {*page.ids}
    assert len(page.ids) == len({*page.ids})


def test_links_lead_somewhere_and_nothing_comes_from_elsewhere(
    page: Page, product_with_pages: Product
) -> None:
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= {*page.ids}
    for link in {link.partition("#")[0] for link in page.links} - {""}:
        assert link.startswith("/")
        response = product_with_pages.http.get(f"{product_with_pages.url}{link}")
        assert response.status_code == 200, link
    assert all(source.startswith(("/", product_with_pages.url)) for source in page.others), (
        page.others
    )
