"""The port of its own on which a process is looked at: `/metrics`, `/livez` and `/readyz`.

It is served from threads, so that a busy event loop can still be looked at.
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
from services.shared.settings import ProcessSettings, split_address

log = logs.get(__name__)

_PATIENCE = 5.0
"""Seconds a looker may be silent: each holds a thread."""


class ObservationServer:
    """Serves what there is to see of a process until `close`.

    Raises SystemExit with one line when the address cannot be listened on.
    """

    def __init__(self, service: str, settings: ProcessSettings, health: Health) -> None:
        BUILD_INFO.labels(service, settings.version).set(1)
        host, port = split_address(settings.metrics_listen)
        try:
            self._server = _Server(host, port)
        except (OSError, UnicodeError) as error:  # The latter for what cannot be a host's name.
            why = error.strerror if isinstance(error, OSError) else "this is no host"
            raise SystemExit(f"Cannot listen on {settings.metrics_listen}: {why}.") from None
        self._server.set_app(_app(health))
        self._thread = threading.Thread(target=self._serve, name="observation", daemon=True)
        self._thread.start()
        self.address = f"{host}:{self._server.server_port}"

    def _serve(self) -> None:
        try:
            self._server.serve_forever()
        except BaseException as error:  # A thread's own end is seen by nobody.
            background.failed("observation", error)

    def close(self) -> None:
        """Stop serving and give the port back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _app(health: Health) -> WSGIApplication:
    metrics: WSGIApplication = make_wsgi_app()

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        said: dict[str, object]
        match environ["PATH_INFO"]:
            case "/metrics":
                return metrics(environ, start_response)
            case "/livez":
                good = health.alive
                said = {"alive": good}
            case "/readyz":
                good = health.ready
                said = {"ready": good, "dependencies": dict(health.dependencies)}
            case _:
                start_response("404 Not Found", [])
                return []
        status = "200 OK" if good else "503 Service Unavailable"
        start_response(status, [("content-type", "application/json")])
        return [json.dumps(said).encode() + b"\n"]

    return app


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        # The library's own asks the DNS for the host's name, which may take its time.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()

    def handle_error(self, request: object, client_address: object) -> None:
        # The library's own prints the address, and a traceback for everybody who leaves.
        error = sys.exception()
        if isinstance(error, OSError):
            log.debug("look_broken_off", error=type(error).__name__)
        else:
            log.error("look_failed", exc_info=error)


class _Handler(WSGIRequestHandler):
    timeout = _PATIENCE

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: probes and scrapes come every few seconds."""
