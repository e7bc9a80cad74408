"""The page of `make monitor`: links to everything, and the operators' documents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlencode

from deploy.local.settings import ROOT
from deploy.monitoring.dashboards import DASHBOARDS
from deploy.monitoring.grafana import Dashboard, Panel

_DOCS = ROOT / "docs" / "operations"
_STYLE = "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"


class Page:
    """Serves the page on loopback from a thread while the context lasts."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.runbooks = f"{self.url}/runbooks"
        self.html = ""

    def show(self, prometheus: str, grafana: str | None) -> None:
        """Link to these servers from now on."""
        self.html = "".join(_lines(prometheus, grafana))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _lines(prometheus: str, grafana: str | None) -> Iterator[str]:
    yield "<!doctype html><html lang=en><meta charset=utf-8><title>Atajo</title>"
    yield f"<style>{_STYLE}</style>"
    yield "<h1>Atajo monitoring</h1><ul>"
    yield _item(f"{prometheus}/alerts", "Alerts", "what fires, and what would")
    yield _item(f"{prometheus}/targets", "Targets", "which processes answer")
    yield _item(f"{prometheus}/rules", "Rules", "objectives and alerts, with their last values")
    yield _item("slo.md", "Objectives", "why each figure")
    if grafana:
        yield _item(f"{grafana}/dashboards", "Grafana", "the dashboards below, as they are meant")
    yield "</ul>"
    for dashboard in DASHBOARDS:
        yield from _dashboard(dashboard, prometheus, grafana)
    yield "<h2>Runbooks</h2><ul>"
    for file in sorted((_DOCS / "runbooks").glob("*.md")):
        yield _item(f"runbooks/{file.name}", file.stem, "")
    yield "</ul>"


def _dashboard(dashboard: Dashboard, prometheus: str, grafana: str | None) -> Iterator[str]:
    title = escape(dashboard.title)
    address = f"{grafana}/d/atajo-{dashboard.name}"
    yield f"<h2><a href='{address}'>{title}</a></h2>" if grafana else f"<h2>{title}</h2>"
    for row in dashboard.rows:
        yield f"<h3>{escape(row.title)}</h3><ul>"
        for panel in row.panels:
            yield _item(_graph(panel, prometheus), panel.title, panel.description)
        yield "</ul>"


def _graph(panel: Panel, prometheus: str) -> str:
    """Return the URL of the panel's queries in Prometheus."""
    parameters: dict[str, str] = {}
    for number, query in enumerate(panel.queries):
        parameters[f"g{number}.expr"] = query.expr.replace("$__rate_interval", "1m")
        parameters[f"g{number}.tab"] = "0"
        parameters[f"g{number}.range_input"] = "30m"
    return f"{prometheus}/graph?{urlencode(parameters)}"


def _item(address: str, title: str, about: str) -> str:
    return f"<li><a href='{escape(address)}'>{escape(title)}</a> {escape(about)}"


def _handler(page: Page) -> type[BaseHTTPRequestHandler]:
    texts = {f"/{file.relative_to(_DOCS)}": file for file in _DOCS.rglob("*.md")}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/":
                self._send("text/html", page.html)
            elif file := texts.get(self.path):
                self._send("text/plain", file.read_text(encoding="utf-8"))
            else:
                self.send_error(404)

        def _send(self, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("content-type", f"{kind}; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing to the terminal."""

    return Handler
