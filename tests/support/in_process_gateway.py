"""The gateway and the services in the test's own process, which start in milliseconds.

Tests of the processes themselves (signals, shutdown, crashes) use
`tests.support.product.Product`.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import uvicorn
import uvloop
from prometheus_client import CollectorRegistry

from gateway.__main__ import duplicate, server_config
from gateway.bootstrap import bootstrap
from gateway.settings import GatewaySettings
from tests.support import in_process_services
from tests.support.gateway_client import GatewayClient
from tests.support.processes import TIMEOUT_SECONDS

_NOWHERE = dict.fromkeys(("auth_address", "links_address", "analytics_address"), "nowhere:1")


class InProcessGateway(GatewayClient):
    """Context manager with a gateway that serves from a thread with its own event loop.

    `settings` are fields of `GatewaySettings`.
    """

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        super().__init__(f"http://localhost:{self._socket.getsockname()[1]}")
        self._settings = GatewaySettings(
            **{
                "environment": "local",
                "public_url": self.url,
                "journal_dir": folder / "journal",
                **_NOWHERE,
                **settings,
            }
        )
        self._folder = folder
        self.auth: in_process_services.ClientSpy
        self.links: in_process_services.LinksSpy
        self.analytics: in_process_services.AnalyticsSpy
        self._registry = CollectorRegistry()
        self._serving: Future[uvicorn.Server] = Future()
        self._thread = threading.Thread(target=self._run, name="gateway")

    def metric(self, name: str, **labels: str) -> float:
        """Return the value of a metric of redirects, the link cache or visits."""
        value = self._registry.get_sample_value(name, labels)
        assert value is not None, name
        return value

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            try:
                runner.run(self._serve())
            except BaseException as error:
                if self._serving.done():
                    raise
                self._serving.set_exception(error)

    async def _serve(self) -> None:
        async with AsyncExitStack() as exit_stack:
            origins = self._settings.origins
            domains = ",".join(origins.further)
            opening = in_process_services.services(
                self._folder, origins.public, domains, self._settings.registration
            )
            opened = await exit_stack.enter_async_context(opening)
            self.auth, self.links, self.analytics = opened.auth, opened.links, opened.analytics
            called: tuple[Any, Any, Any] = (opened.auth, opened.links, opened.analytics)
            gateway = bootstrap(self._settings, *called, administration=opened.administration)
            for collector in gateway.collectors:
                self._registry.register(collector)
            exit_stack.callback(gateway.health.close)
            await exit_stack.enter_async_context(gateway.running())
            await gateway.health.start()
            exit_stack.push_async_callback(gateway.health.stop)
            server = _Server(server_config(gateway, self._settings), self._serving)
            await server.serve(duplicate(self._socket))

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._serving.result(TIMEOUT_SECONDS)
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._server.should_exit = True  # It looks ten times a second.
        self._thread.join(TIMEOUT_SECONDS)
        self._socket.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, serving: Future[uvicorn.Server]) -> None:
        super().__init__(config)
        self._serving = serving

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._serving.set_result(self)
