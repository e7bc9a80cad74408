"""Whether a process can do its work: what it depends on, looked at in the background.

One state for all who ask: `/readyz`, gRPC health, metrics and the page for people. No question
of theirs reaches a dependency, so asking often costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping

from prometheus_client import Gauge

from services.shared import background
from services.shared.errors import AppError
from services.shared.observability import logs
from services.shared.observability.heartbeat import Heartbeat

log = logs.get(__name__)

Check = Callable[[], Awaitable[None]]
"""Returns if a dependency can be used. Raises AppError, whose reason then says why it cannot."""
Tell = Callable[[bool], Awaitable[None]]
"""Is told whether the process is ready, whenever that changes."""

OK = "ok"
_UNKNOWN = "UNKNOWN"
_EVERY_SECONDS = 1.0
_CHECK_SECONDS = 1.0
"""Most a check may take: what is slower than this cannot be used."""
_LOOKS = 2
"""How many looks in a row must fail until what could be used is away: one may have been unlucky."""

READY = Gauge("atajo_ready", "1 while the process takes on work: what /readyz answers, else 0.")
DEPENDENCY_UP = Gauge(
    "atajo_dependency_up",
    "1 while what this process depends on can be used, 0 once two looks in a row were in vain; "
    "looked at every second, and not there before the first look.",
    ["dependency"],
)


class Health:
    """The state of a process and of its dependencies, by name.

    The process is ready only while all of the `needed` dependencies are there. The properties may
    be read from any thread.
    """

    def __init__(self, checks: Mapping[str, Check], needed: Collection[str]) -> None:
        self._checks = checks
        self._needed = needed
        self._heartbeat = Heartbeat()
        self._dependencies: Mapping[str, str] = dict.fromkeys(checks, _UNKNOWN)
        self._failures = dict.fromkeys(checks, 0)
        self._serving = False
        self._told = False
        self._tell: Tell | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether the process turns."""
        return self._heartbeat.alive

    @property
    def ready(self) -> bool:
        """Whether the process takes on work."""
        states = self._dependencies
        return self._serving and all(states[name] == OK for name in self._needed)

    @property
    def dependencies(self) -> Mapping[str, str]:
        """Of each dependency `ok`, or the reason why it cannot be used."""
        return self._dependencies

    async def start(self) -> None:
        """Look at everything once, then go on in the background until `stop`."""
        self._heartbeat.start()
        await self._look()
        self._watching = background.run(self._watch(), "health")

    async def serve(self, tell: Tell | None = None) -> None:
        """From here on the process is ready while its dependencies let it be.

        `tell` is told once it is, and of each change.
        """
        self._tell = tell
        self._serving = True
        await self._say()

    async def stop(self) -> None:
        """From here on the process is not ready, whatever it depends on."""
        self._serving = False
        if self._watching:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        try:
            await self._say()
        except Exception as error:  # What ends the looking must not end the stopping, too.
            background.failed("health", error)

    def close(self) -> None:
        """Stop beating, at the very end."""
        self._heartbeat.stop()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_SECONDS)
            await self._look()

    async def _look(self) -> None:
        states = await asyncio.gather(*(_state(check) for check in self._checks.values()))
        before = self._dependencies
        self._dependencies = {
            name: self._settled(name, state)
            for name, state in zip(self._checks, states, strict=True)
        }
        for name, state in self._dependencies.items():
            DEPENDENCY_UP.labels(name).set(state == OK)
            if state != OK and state != before[name]:
                log.warning("dependency_away", dependency=name, reason=state)
            elif state == OK and before[name] not in (OK, _UNKNOWN):
                log.info("dependency_back", dependency=name)
        await self._say()

    def _settled(self, name: str, seen: str) -> str:
        """The state of a dependency after one more look at it."""
        self._failures[name] = 0 if seen == OK else self._failures[name] + 1
        if self._dependencies[name] == OK and self._failures[name] < _LOOKS:
            return OK
        return seen

    async def _say(self) -> None:
        ready = self.ready
        if ready == self._told:
            return
        self._told = ready
        READY.set(ready)
        if self._tell:
            await self._tell(ready)
        log.info("ready" if ready else "not_ready")


async def _state(check: Check) -> str:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            await check()
    except AppError as error:
        return error.reason
    except TimeoutError:
        return "NO_ANSWER"
    except Exception as error:  # It would be the same at each look: the process ends.
        background.failed("health", error)
        return type(error).__name__
    return OK
