"""A backup waits for visits by the gateway's metrics, and contains no visitor key."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from deploy.local import backup
from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.domain.batches import Batch
from services.analytics.domain.visits import Totals, VisitCount, VisitKind
from services.shared import sqlite
from tests.support.store_fixtures import open_stores_at


@contextmanager
def metrics_of(text: str) -> Iterator[str]:
    """Serve these metrics as a gateway's, and return host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("restoring", "reason"),
    [
        ("1.0", "visits of an earlier run are still being read back. Try again in a minute or two"),
        ("0.0", "visits wait for analytics, which takes them too slowly or not at all"),
    ],
)
def test_a_backup_says_which_visits_it_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restoring: str, reason: str
) -> None:
    monkeypatch.setattr(backup, "_DRAIN_TIMEOUT", 0.2)
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    text = f"atajo_visits_restoring {restoring}\natajo_visit_flush_lag_seconds 40.0\n"
    with metrics_of(text) as address:
        state = {"store": "sqlite", "processes": {"gateway": {"metrics": address}}}
        (data / "run.json").write_text(json.dumps(state))
        with pytest.raises(SystemExit, match=f"No backup was made: {reason}"):
            backup.back_up(data, copy)
    assert not copy.exists()


def test_a_backup_has_the_counts_and_no_key_of_visitors(tmp_path: Path) -> None:
    """The copy would outlive the day of the key."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    (data / "token-secret").write_text("secret")
    key = b"key of the day, 32 bytes of it.."

    def holding(folder: Path) -> list[str]:
        return [path.name for path in folder.iterdir() if key in path.read_bytes()]

    async def fill_and_copy(address: str) -> None:
        for name in ("auth", "links"):
            await (await sqlite.Database.open(data / f"{name}.sqlite3", ())).close()
        setting = f"sqlite:///{data}/analytics.sqlite3"
        async with open_stores_at(setting, "analytics", STORE_FACTORIES) as store:
            visits = (VisitCount("abcdefgh", 490_000, VisitKind.PERSON, {}, 1),)
            await store.apply(Batch("one", 1, visits), datetime.now(UTC))
            await store.visitor_key(20_513, key)
            assert holding(data)
            state = {"store": "sqlite", "processes": {"gateway": {"metrics": address}}}
            (data / "run.json").write_text(json.dumps(state))
            await asyncio.to_thread(backup.back_up, data, copy)

    with metrics_of("atajo_visits_restoring 0.0\natajo_visit_flush_lag_seconds 0.0\n") as address:
        asyncio.run(fill_and_copy(address))
    assert holding(copy) == []
    assert sorted(path.name for path in copy.iterdir()) == sorted((*backup.STORES, "token-secret"))

    async def totals() -> dict[str, Totals]:
        setting = f"sqlite:///{copy}/analytics.sqlite3"
        async with open_stores_at(setting, "analytics", STORE_FACTORIES) as store:
            return await store.totals(["abcdefgh"])

    assert asyncio.run(totals()) == {"abcdefgh": Totals(1, 0)}
