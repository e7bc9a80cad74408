"""Why no backup is made while visits wait, as the gateway's metrics tell it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from deploy.local import backup


@contextmanager
def metrics_of(text: str) -> Iterator[str]:
    """Host and port where a gateway shows these metrics."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

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
    monkeypatch.setattr(backup, "_PATIENCE", 0.2)
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    text = f"atajo_visits_restoring {restoring}\natajo_visit_flush_lag_seconds 40.0\n"
    with metrics_of(text) as address:
        state = {"store": "sqlite", "processes": {"gateway": {"metrics": address}}}
        (data / "run.json").write_text(json.dumps(state))
        with pytest.raises(SystemExit, match=f"No backup was made: {reason}"):
            backup.back_up(data, copy)
    assert not copy.exists()
