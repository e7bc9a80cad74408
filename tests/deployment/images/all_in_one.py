"""The image of the whole product in a container, as a self-hoster runs it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.deployment.images.engine import TAG, engine, logs
from tests.support.gateway_client import GatewayClient, new_code
from tests.support.ports import free_port
from tests.support.waiting import wait_until

START_SECONDS = 60.0


class AllInOne(GatewayClient):
    """A container of the image `atajo` over a volume. It keeps its port when it is started again.

    `options` are further options of `docker run`.
    """

    def __init__(
        self,
        volume: str,
        options: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        tag: str = TAG,
    ) -> None:
        port = free_port()
        super().__init__(f"http://127.0.0.1:{port}")
        environment = [part for item in (settings or {}).items() for part in ("-e", "=".join(item))]
        self.container = engine(
            *("run", "--detach", "-p", f"127.0.0.1:{port}:8080", "-v", f"{volume}:/data"),
            *(*options, *environment, f"atajo/atajo:{tag}"),
        )

    def await_ready(self) -> None:
        """Wait until it serves."""
        wait_until(lambda: self.serves() or self._ended(), START_SECONDS)
        assert not self._ended(), self.logs()

    def _ended(self) -> bool:
        return not self.state["Running"]

    @property
    def state(self) -> dict[str, Any]:
        """The engine's description of the container's state."""
        described: list[dict[str, Any]] = json.loads(engine("inspect", self.container))
        state: dict[str, Any] = described[0]["State"]
        return state

    def run(self, *command: str) -> str:
        """Return the output of a command in the container."""
        return engine("exec", self.container, *command)

    def await_end(self) -> int:
        """Wait until the container ends by itself; return its exit code."""
        return int(engine("wait", self.container))

    def stop(self) -> float:
        """Stop the container; return the seconds that it took."""
        began = time.monotonic()
        engine("stop", self.container)
        return time.monotonic() - began

    def kill(self) -> None:
        engine("kill", self.container)

    def start(self) -> None:
        """Start the container again, and wait until it serves."""
        engine("start", self.container)
        self.await_ready()

    def logs(self) -> str:
        return logs(self.container)

    def remove(self) -> None:
        self.http.close()
        engine("rm", "--force", self.container)


@contextmanager
def running(
    volume: str,
    options: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    tag: str = TAG,
) -> Iterator[AllInOne]:
    """Run the image until the context ends. Yields it as soon as it serves."""
    atajo = AllInOne(volume, options, settings, tag)
    try:
        atajo.await_ready()
        yield atajo
    finally:
        atajo.remove()


@contextmanager
def new_volume() -> Iterator[str]:
    """Create a volume, and delete it when the context ends."""
    volume = engine("volume", "create", f"atajo-test-{new_code().strip('-_').lower()}")
    try:
        yield volume
    finally:
        engine("volume", "rm", volume)
