"""A service whose host name temporarily does not exist, as while all its pods are gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.backends.links import LinksClient
from services.shared.errors import AppError, Unavailable
from services.shared.rpc import client as client_module
from tests.support.name_server import name_server
from tests.support.product import Product


async def test_a_service_is_found_quickly_after_its_name_did_not_exist_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "REPLACE_AFTER_SECONDS", 1.0)
    with name_server() as names, Product(tmp_path) as product:
        product.start("links")
        port = product.address("links").rpartition(":")[2]
        client = LinksClient(f"dns://{names.listens}/links.test:{port}")

        async def is_ready() -> bool:
            await asyncio.sleep(0.1)
            try:
                await client.check()
            except AppError:
                return False
            return True

        # Without a replacement, a channel takes 45 seconds for so many queries.
        async with asyncio.timeout(25):
            while names.asked < 16:
                assert not await is_ready()
        with pytest.raises(Unavailable):
            await client.resolve(["abcdefgh"])

        names.address = "127.0.0.1"
        async with asyncio.timeout(10):
            while not await is_ready():
                pass
        assert await client.resolve(["abcdefgh"]) == {}
        await client.close()
