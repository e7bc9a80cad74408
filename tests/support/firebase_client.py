"""An unmodified Firebase Functions client."""

from __future__ import annotations

import json
import subprocess
from types import TracebackType
from typing import Any, Self

from tests.support.processes import ROOT


class FirebaseClient:
    """The client in a Node.js process, which receives calls and returns results line by line."""

    def __init__(self, origin: str) -> None:
        driver = ROOT / "web" / "test" / "firebase-client.mjs"
        self._node = subprocess.Popen(
            ["node", str(driver), origin],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT / "web",
        )

    def call(self, name: str, data: object) -> dict[str, Any]:
        """Call a function. Return `ok` and `data`, or `code`, `message` and `details`."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps({"name": name, "data": data}) + "\n")
        self._node.stdin.flush()
        reply: dict[str, Any] = json.loads(self._node.stdout.readline())
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._node.stdin is not None
        self._node.stdin.close()
        try:
            self._node.wait(10)
        except subprocess.TimeoutExpired:
            self._node.kill()
        if self._node.stdout:
            self._node.stdout.close()
