"""A process of the product, started by the supervisor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, Self

from deploy.local.settings import ROOT

_PATIENCE = 30.0
"""Seconds from the start of a process until it must serve, or say why it takes longer."""


class Failed(Exception):
    """A process did not do its part; the run ends with `code`."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Child:
    """A running process. Made by `start`."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, ready: int) -> None:
        self.name = name
        self.addresses: dict[str, str] = {}
        self.ended = asyncio.create_task(self._end())
        self._process = process
        self._ready = os.fdopen(ready, "rb", buffering=0)

    @classmethod
    async def start(
        cls, name: str, module: str, env: Mapping[str, str], inherited: Sequence[int]
    ) -> Self:
        """Start `python -m module`, with the open files of `inherited` and no terminal."""
        ready, write_end = os.pipe()
        try:
            # A session of its own: Ctrl-C reaches the supervisor alone, which keeps the order.
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                module,
                cwd=ROOT,
                env={**env, "ATAJO_READY_FD": str(write_end)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
                pass_fds=(*inherited, write_end),
                start_new_session=True,
            )
        except BaseException:
            os.close(ready)
            raise
        finally:
            os.close(write_end)
        return cls(name, process, ready)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def serving(self) -> None:
        """Wait until it says where it listens. Raises Failed."""
        lines = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), self._ready
        )
        try:
            async with asyncio.timeout(_PATIENCE) as patience:
                while "upgrading" in (said := await self._said(lines)):
                    patience.reschedule(None)
                    sys.stderr.write(f"{self.name} upgrades {said['upgrading']} first.\n")
        except TimeoutError:
            raise Failed(f"{self.name} was not ready within {_PATIENCE:.0f} s", 1) from None
        finally:
            transport.close()
        self.addresses = said

    async def _said(self, lines: asyncio.StreamReader) -> dict[str, str]:
        """The next line of the process. Raises Failed where it ended without one."""
        line = await lines.readline()
        if not line:
            await self.watch()
        said: dict[str, str] = json.loads(line)
        return said

    async def watch(self) -> NoReturn:
        """Wait for an end nobody asked for. Raises Failed."""
        code = await asyncio.shield(self.ended)
        raise Failed(f"{self.name} died with code {code}", code)

    def signal(self, number: signal.Signals) -> None:
        if not self.ended.done():
            self._process.send_signal(number)

    async def _end(self) -> int:
        """The exit code as a shell counts it: 128 + n for signal n."""
        code = await self._process.wait()
        return code if code >= 0 else 128 - code
