"""The product under faults: processes are killed at any moment, frozen and cut off.

The same happens to its MongoDB, whose primary also steps down.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.support.mongo.replica_set import ReplicaSet, replica_set
from tests.support.processes import Process
from tests.support.product import SERVICES, Product, to_module, to_service
from tests.support.waiting import wait_until

STORES = ("sqlite", "mongodb")
_TRIES = 3


class Fleet(Product):
    """A product whose processes are stopped and started under load. See `fleet_on`."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str] | None,
        database: ReplicaSet | None,
        replicas: Sequence[str] = (),
    ) -> None:
        store = f"{database.url}atajo" if database else ""
        super().__init__(folder, settings, store=store, replicas=replicas)
        self.database = database
        """Its MongoDB, unless it is on SQLite."""
        self.kills = self.freezes = self.stops = 0
        self._lives = 0
        self._life = 0
        self._launches = ThreadPoolExecutor(len(self.processes))
        self._rising: dict[str, Future[None]] = {}
        self._changing = threading.Lock()
        self._struck: set[Process] = set()

    def life(self) -> int:
        """Number of starts of the gateway; 0 while it does not serve."""
        return self._life

    def start(self, *names: str) -> None:
        super().start(*names)
        if not names or "gateway" in names:
            self._live()

    def strike(self, *names: str) -> None:
        """Send SIGKILL to processes in any state."""
        with self._changing:
            if "gateway" in names:
                self._life = 0
            for name in names:
                process = self._processes[name]
                self._struck.add(process)
                if process.popen.poll() is None:
                    process.popen.send_signal(signal.SIGKILL)
                    self.kills += 1

    def rise(self, name: str, after: float = 0.0) -> None:
        """Start a killed process. Call `await_all` to wait for it."""
        previous = self._rising.get(name)

        def launch() -> None:
            if previous is not None:
                previous.result()
            time.sleep(after)
            self._start_again(name)

        self._rising[name] = self._launches.submit(launch)

    def await_all(self) -> None:
        """Wait until every process serves. Restarts those killed during their start."""
        for name in self.processes:
            if name in self._rising:
                self._rising.pop(name).result()
            self._start_again(name)
            code = self._processes[name].popen.poll()
            assert code is None, f"{name} ended by itself with {code}"

    def await_links(self) -> None:
        """Wait until the running links service is ready, which means that it reaches its store."""
        if self.database:
            self.database.await_healthy()
        wait_until(lambda: self.dependencies("links") == {"store": "ok"})

    def freeze(self, name: str) -> None:
        """Send SIGSTOP: the process accepts connections and answers nothing."""
        os.kill(self.pid(name), signal.SIGSTOP)
        self.freezes += 1

    def thaw(self, name: str) -> None:
        """Resume a frozen process."""
        os.kill(self.pid(name), signal.SIGCONT)

    def retire(self) -> tuple[int, float]:
        """Stop the gateway gracefully. Returns its exit code and the seconds it took."""
        self._life = 0
        started = time.monotonic()
        code = self.stop("gateway")
        self.stops += 1
        return code, time.monotonic() - started

    def _start_again(self, name: str) -> None:
        """Start a process and wait until it serves or is killed."""
        if (old := self._processes.get(name)) is not None:
            if old not in self._struck:
                return  # It runs.
            old.kill()
        for turn in range(_TRIES):
            with self._changing:
                process = Process.launch(
                    to_module(name), self._env(name), self.folder / f"{name}.log"
                )
                self._processes[name] = process
            try:
                process.await_ready()
            except RuntimeError:
                code = process.popen.wait()
                process.kill()
                if code == -signal.SIGKILL:
                    return
                # An outgoing connection may hold the port briefly.
                if turn == _TRIES - 1 or "taken" not in process.stderr():
                    raise
                time.sleep(0.5)
                continue
            break
        with self._changing:
            if name == "gateway" and process not in self._struck:
                self._live()

    def _live(self) -> None:
        self._lives += 1
        self._life = self._lives

    def __exit__(self, *error: object) -> None:
        self._launches.shutdown()
        super().__exit__(*error)


@contextmanager
def fleet_on(
    store: str,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    nodes: int = 1,
    replicas: Sequence[str] = (),
) -> Iterator[Fleet]:
    """Run a fleet on a new store, one of `STORES`.

    MongoDB has `nodes` nodes, and further `replicas` of services, such as `analytics-2`.
    """
    if store == "sqlite":
        with Fleet(folder, settings, None) as fleet:
            yield fleet
    else:
        with replica_set(nodes) as database, Fleet(folder, settings, database, replicas) as fleet:
            yield fleet


class Storm:
    """Random faults one after another, from a seed."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self._fleet = fleet
        self.database_faults = Counter[str]()
        self._chance = random.Random(seed)
        self.events: list[Callable[[], None]] = [
            self.one,
            self.one,
            self.burst,
            self.several,
            self.one_while_another_starts,
            self.frozen,
            self.frozen_and_killed,
            self.retired,
        ]
        if len(fleet.services) > len(SERVICES):
            self.events += [self.left] * 2
        if database := fleet.database:
            self.events += [
                partial(self.failover, "freezes", database.freeze_primary, database.thaw),
                partial(self.failover, "kills", database.kill_primary, database.restart),
                partial(self.failover, "step_downs", database.step_down, lambda: None),
                partial(self.cut, database),
            ] * 2

    def blow(self) -> None:
        """Cause one fault. Afterwards everything is starting."""
        self._chance.choice(self.events)()

    def one(self) -> None:
        name = self._chance.choice(self._fleet.processes)
        self._fleet.strike(name)
        self._fleet.rise(name, self._chance.random())

    def burst(self) -> None:
        """Kill one process repeatedly, also while it starts."""
        name = self._chance.choice(self._fleet.processes)
        for _ in range(self._chance.randint(2, 4)):
            self._fleet.strike(name)
            self._fleet.rise(name)
            time.sleep(self._chance.random() * 2)

    def several(self) -> None:
        processes = self._fleet.processes
        names = self._chance.sample(processes, self._chance.randint(2, len(processes)))
        self._fleet.strike(*names)
        for name in names:
            self._fleet.rise(name, self._chance.random())

    def one_while_another_starts(self) -> None:
        first, second = self._chance.sample(self._fleet.processes, 2)
        self._fleet.strike(first)
        self._fleet.rise(first)
        time.sleep(self._chance.random())
        self._fleet.strike(second)
        self._fleet.rise(second)

    def frozen(self) -> None:
        name = self._chance.choice(self._fleet.services)
        self._fleet.await_all()
        self._fleet.freeze(name)
        time.sleep(0.2 + self._chance.random() * 3)
        self._fleet.thaw(name)

    def frozen_and_killed(self) -> None:
        """Kill a frozen service, or the gateway while it waits for one."""
        name = self._chance.choice(self._fleet.services)
        self._fleet.await_all()
        self._fleet.freeze(name)
        time.sleep(0.2 + self._chance.random())
        victim = self._chance.choice((name, "gateway"))
        self._fleet.strike(victim)
        if victim != name:
            time.sleep(self._chance.random())
            self._fleet.thaw(name)
        self._fleet.rise(victim)

    def retired(self) -> None:
        """Stop the gateway, possibly while analytics is down."""
        self._fleet.await_all()
        away = self._chance.random() < 0.5
        if away:
            self._fleet.strike("analytics")
        code, seconds = self._fleet.retire()
        assert code == 0, f"the gateway ended with {code}"
        assert seconds < 5, f"the gateway took {seconds:.1f} s to stop"
        if away:
            self._fleet.rise("analytics", self._chance.random())
        self._fleet._start_again("gateway")

    def left(self) -> None:
        """Stop a replica gracefully, and start it again after a while."""
        self._fleet.await_all()
        name = self._chance.choice(
            [name for name in self._fleet.services if to_service(name) == "analytics"]
        )
        assert self._fleet.stop(name) == 0
        time.sleep(self._chance.random() * 3)
        self._fleet._start_again(name)

    def failover(self, kind: str, begin: Callable[[], None], end: Callable[[], None]) -> None:
        """Let the primary fail, possibly until another is elected, possibly killing a process
        meanwhile."""
        self._fleet.await_all()
        begin()
        self.database_faults[kind] += 1
        time.sleep(0.2 + self._chance.random() * 4)
        victim = self._perhaps_strike()
        end()
        if victim:
            self._fleet.rise(victim)

    def cut(self, database: ReplicaSet) -> None:
        """Cut all connections to and within the database, and refuse new ones for a while."""
        self._fleet.await_all()
        for _ in range(self._chance.randint(1, 3)):
            database.cut()
            self.database_faults["cuts"] += 1
            time.sleep(self._chance.random() * 2)
            database.mend()
            time.sleep(self._chance.random())
        if victim := self._perhaps_strike():
            self._fleet.rise(victim)

    def _perhaps_strike(self) -> str | None:
        if self._chance.random() < 0.5:
            return None
        victim = self._chance.choice(self._fleet.processes)
        self._fleet.strike(victim)
        return victim
