"""HTTP server for monitoring, on a port of its own: `/metrics`, `/livez` and `/readyz`.

It serves from threads, so that it answers while the event loop is busy.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterable
from socketserver import TCPServer, ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import make_wsgi_app

from services.shared import background
from services.shared.observability import logs
from services.shared.observability.health import Health
from services.shared.observability.metrics import BUILD_INFO
from services.shared.settings import ProcessSettings, split_endpoint

log = logs.get(__name__)

_IDLE_SECONDS = 5.0
"""How long a client may be silent: each connection occupies a thread."""


class MonitoringServer:
    """Serves metrics and health from its construction until `close`.

    Raises SystemExit with one line if it cannot listen on the endpoint.
    """

    def __init__(self, service: str, settings: ProcessSettings, health: Health) -> None:
        BUILD_INFO.labels(service, settings.version).set(1)
        host, port = split_endpoint(settings.metrics_listen)
        try:
            self._server = _Server(host, port)
        except (OSError, UnicodeError) as error:  # UnicodeError: not a valid host name.
            why = error.strerror if isinstance(error, OSError) else "this is not a host name"
            raise SystemExit(f"Cannot listen on {settings.metrics_listen}: {why}.") from None
        self._server.set_app(_app(health))
        self._thread = threading.Thread(target=self._serve, name="monitoring", daemon=True)
        self._thread.start()
        self.address = f"{host}:{self._server.server_port}"

    def _serve(self) -> None:
        try:
            self._server.serve_forever()
        except BaseException as error:  # Otherwise nobody would notice that the thread ended.
            background.report_failure("observation", error)

    def close(self) -> None:
        """Stop serving and release the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _app(health: Health) -> WSGIApplication:
    metrics: WSGIApplication = make_wsgi_app()

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body: dict[str, object]
        match environ["PATH_INFO"]:
            case "/metrics":
                return metrics(environ, start_response)
            case "/livez":
                is_good = health.alive
                body = {"alive": is_good}
            case "/readyz":
                is_good = health.ready
                body = {"ready": is_good, "dependencies": dict(health.dependencies)}
            case _:
                start_response("404 Not Found", [])
                return []
        status = "200 OK" if is_good else "503 Service Unavailable"
        start_response(status, [("content-type", "application/json")])
        return [json.dumps(body).encode() + b"\n"]

    return app


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        # The library's own method looks up the host's name in the DNS, which may be slow.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()

    def handle_error(self, request: object, client_address: object) -> None:
        # The library's own method prints the client's address, and a traceback when it disconnects.
        error = sys.exception()
        if isinstance(error, OSError):
            log.debug("monitoring_client_disconnected", error=type(error).__name__)
        else:
            log.error("monitoring_request_failed", exc_info=error)


class _Handler(WSGIRequestHandler):
    timeout = _IDLE_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: probes and scrapes come every few seconds."""
