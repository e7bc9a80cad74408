"""The databases of a local run."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local.store import store_of


@pytest.mark.parametrize(
    ("setting", "store"),
    [
        ("", "sqlite:////data/links.sqlite3"),
        ("mongodb://host", "mongodb://host"),
        ("mongodb://a:1,b:2/?replicaSet=rs", "mongodb://a:1,b:2/?replicaSet=rs"),
        ("mongodb://host/mine", "mongodb://host/mine_links"),
        ("mongodb+srv://host/mine?tls=true", "mongodb+srv://host/mine_links?tls=true"),
        ("mongodb://u:p@host/mine", "mongodb://u:p@host/mine_links?authSource=mine"),
        ("mongodb://u:p@host/mine?w=1", "mongodb://u:p@host/mine_links?w=1&authSource=mine"),
        (
            "mongodb://u:p@host/mine?authSource=admin",
            "mongodb://u:p@host/mine_links?authSource=admin",
        ),
    ],
)
def test_each_service_has_a_store_of_its_own(setting: str, store: str) -> None:
    assert store_of("links", setting, Path("/data")) == store
