"""The composed gateway as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.backends.view_counts import Totals
from gateway.bootstrap import Gateway, bootstrap
from gateway.settings import GatewaySettings
from tests.support import in_process_services
from tests.support.gateway_client import BROWSER

URL = "https://atajo.example"


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[in_process_services.Services]:
    """The services of a gateway."""
    async with in_process_services.services(tmp_path, URL) as opened:
        yield opened


def gateway_of(
    folder: Path,
    backends: in_process_services.Services | None = None,
    web_dir: Path | None = None,
    countries_file: Path | None = None,
) -> Gateway:
    """Return a gateway with its journal in the folder."""
    settings = GatewaySettings(
        public_url=URL,  # type: ignore[arg-type]
        journal_dir=folder / "journal",
        web_dir=web_dir,
        countries_file=countries_file,
        auth_address="auth:1",
        links_address="links:1",
        analytics_address="analytics:1",
    )
    parts: Any = (None,) * 4
    if backends:
        parts = (backends.auth, backends.links, backends.analytics, backends.administration)
    return bootstrap(settings, *parts)


def visitor(gateway: Gateway) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(gateway.app), base_url=URL, headers={"user-agent": BROWSER}
    )


async def test_the_last_visits_are_sent_before_the_gateway_ends(
    tmp_path: Path, backends: in_process_services.Services
) -> None:
    gateway = gateway_of(tmp_path, backends)
    async with visitor(gateway) as http, gateway.running():
        link = {"code": "abcdefgh", "url": "example.com/a", "token": None}
        created = await http.post("/createShortLink", json={"data": link})
        assert created.json()["data"]["success"]
        followed = await http.get("/abcdefgh")
        assert (followed.status_code, followed.headers["location"]) == (
            302,
            "http://example.com/a",
        )
    assert await backends.analytics.totals(["abcdefgh"]) == {"abcdefgh": Totals(1)}


async def test_a_locked_journal_is_reported_in_one_line(
    tmp_path: Path, backends: in_process_services.Services
) -> None:
    async with gateway_of(tmp_path, backends).running():
        with pytest.raises(SystemExit) as refused:
            gateway_of(tmp_path, backends)
    assert str(tmp_path) in str(refused.value)
    assert "\n" not in str(refused.value)


async def test_a_folder_without_pages_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as refused:
        gateway_of(tmp_path, web_dir=tmp_path)
    assert str(refused.value).startswith(f"Cannot read the pages in {tmp_path}: ")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "journal").exists()


@pytest.mark.parametrize("content", [None, b"no countries"])
def test_an_invalid_countries_file_is_reported_in_one_line(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "countries.mmdb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as refused:
        gateway_of(tmp_path, countries_file=path)
    assert str(refused.value).startswith(f"Cannot use the countries in {path}: ")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "journal").exists()
