"""Breaks what the alerts watch: `make drill`, or `DRILL="store away" make drill`.

Uses single processes under a small load, and the rules with windows of seconds. A drill passes if
all its alerts fire, no others fire except known consequences, and all end after the repair. Also
writes the table to reports/drill.md.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from deploy.monitoring.prometheus import Prometheus, rules
from tests.deployment.monitoring import failures
from tests.deployment.monitoring.failures import DrillProduct
from tests.deployment.monitoring.rules import alerts
from tests.deployment.monitoring.short import EVERY, shortened
from tests.support.mongo.replica_set import replica_set
from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.thread_group import ThreadGroup
from tests.system.faults.test_journal import small_disk

_TIMEOUT = 90.0
"""Seconds within which an alert fires after a failure, and all end after the repair."""
_DISK = 8 << 20
_REPORT = ROOT / "reports" / "drill.md"
_OF_BUSY_MACHINE = frozenset({"AtajoRedirectsSlow", "AtajoLoginsSlow", "AtajoEventLoopLagging"})
"""Alerts that rightly fire on an overloaded machine."""
_MUCH_WAITING = 20.0
"""Percentage of ten seconds in which something waited for a core. A drill itself causes less."""
_LABEL = re.compile(r"\$labels\.(\w+)")
_STARTED = shortened(
    'changes(process_start_time_seconds{app_kubernetes_io_part_of="atajo"}[15m]) > 0'
)
"""Processes that started within the window of AtajoCrashLooping."""


@dataclass(frozen=True)
class Drill:
    """A failure, the alerts that must fire, and those that may."""

    name: str
    broken: Callable[[DrillProduct], AbstractContextManager[None]]
    must: tuple[str, ...]
    follows: tuple[str, ...] = ()
    on_mongodb: bool = False
    as_root: bool = False
    """Whether it needs root, to mount a small disk."""


def _drills() -> Iterator[Drill]:
    text = Path(__file__).with_name("drills.yaml").read_text(encoding="utf-8")
    for told in yaml.safe_load(text):
        way, *taken = told.pop("broken").split()
        broken = getattr(failures, way)
        must, follows = tuple(told.pop("must")), tuple(told.pop("follows", ()))
        yield Drill(broken=broken(*taken) if taken else broken, must=must, follows=follows, **told)


DRILLS = tuple(_drills())


def _is_busy() -> bool:
    """Return whether the machine is overloaded, over the last minute or just now."""
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        return True
    try:
        pressure = Path("/proc/pressure/cpu").read_text(encoding="ascii")
    except OSError:  # The kernel does not report it.
        return False
    waited = re.search(r"some avg10=([0-9.]+)", pressure)
    return waited is not None and float(waited[1]) > _MUCH_WAITING


@dataclass
class Outcome:
    """Seconds from the failure to each alert, and from the repair to the end of all."""

    drill: Drill
    fired: dict[str, float] = field(default_factory=dict)
    ended: float | None = None
    faults: list[str] = field(default_factory=list)

    def judge(self, excused: frozenset[str]) -> None:
        """Record a problem."""
        missing = set(self.drill.must) - self.fired.keys()
        wrong = self.fired.keys() - set(self.drill.must) - set(self.drill.follows)
        wrong -= excused
        self.faults += [f"{name} did not go off" for name in sorted(missing)]
        self.faults += [f"{name} went off" for name in sorted(wrong)]
        if self.ended is None:
            self.faults.append("not all ended")


class Watch(ThreadGroup):
    """Records the alerts that fire while the context lasts."""

    def __init__(self, prometheus: Prometheus) -> None:
        super().__init__([self._look])
        self._prometheus = prometheus
        self._templates = {alert.name: str(alert.annotations) for alert in alerts()}
        self.firing: set[str] = set()
        self.since: dict[str, float] = {}
        self.faults: set[str] = set()
        self.excused: frozenset[str] = frozenset()
        """Alerts that fire because the machine has been overloaded since the beginning."""

    def forget(self) -> None:
        """Start over."""
        self.since = {}
        self.faults = set()
        self.excused = frozenset()

    def is_quiet(self, awaited: Sequence[str] = ()) -> bool:
        """Return whether nothing fires except what overload causes, and none of `awaited`."""
        return not self.firing - (self.excused - set(awaited))

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition on the firing alerts. Returns whether it came true in time."""
        deadline = time.monotonic() + _TIMEOUT
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.2)
        return True

    def is_steady(self) -> bool:
        """Wait until no process started recently, so that repairs do not look like a crash loop."""
        return not self._prometheus.ask(_STARTED)

    def _look(self) -> None:
        while not self._stopping.wait(0.5):
            if _is_busy():
                self.excused = _OF_BUSY_MACHINE
            told = self._prometheus.get("alerts")["alerts"]
            fires = [alert for alert in told if alert["state"] == "firing"]
            self.firing = {alert["labels"]["alertname"] for alert in fires}
            for name in self.firing:
                self.since.setdefault(name, time.monotonic())
            self.faults |= {fault for alert in fires for fault in self._unsaid(alert)}

    def _unsaid(self, alert: dict[str, Any]) -> Iterator[str]:
        """Return the labels that an alert's texts use and the alert does not have."""
        labels = alert["labels"]
        for label in _LABEL.findall(self._templates[labels["alertname"]]):
            if label not in labels:
                yield f"{labels['alertname']} has no {label} to tell of"


def carry_out(drills: Sequence[Drill]) -> Iterator[Outcome]:
    """Yield each drill's outcome. Drills on MongoDB need a server (tests/support/mongo)."""
    kinds = [[drill for drill in drills if drill.on_mongodb is kind] for kind in (False, True)]
    for kind in filter(None, kinds):
        with (
            TemporaryDirectory(prefix="atajo-drill-") as folder,
            _watched(Path(folder), on_mongodb=kind[0].on_mongodb) as (place, watch),
        ):
            for drill in kind:
                yield _carry_out(drill, place, watch)


@contextmanager
def _watched(folder: Path, *, on_mongodb: bool) -> Iterator[tuple[DrillProduct, Watch]]:
    text = shortened(rules("RUNBOOKS"))
    prometheus = Prometheus(folder / "prometheus", free_port(), text, every=EVERY)
    with (
        replica_set(1) if on_mongodb else nullcontext() as database,
        small_disk(folder / "journal", _DISK),
        DrillProduct(folder, database) as place,
    ):
        place.start()
        prometheus.look_at(place.targets)
        with prometheus, place.in_use(), Watch(prometheus) as watch:
            filled = "count(count_over_time(atajo:objective_errors:ratio_rate6h[20s]) > 15) == 6"
            assert watch.wait_until(lambda: bool(prometheus.ask(filled)) and watch.is_quiet())
            yield place, watch


def _carry_out(drill: Drill, place: DrillProduct, watch: Watch) -> Outcome:
    steady = watch.wait_until(watch.is_steady)
    watch.forget()
    began = time.monotonic()
    with drill.broken(place):
        watch.wait_until(lambda: watch.firing >= set(drill.must))
    repaired = time.monotonic()
    over = watch.wait_until(lambda: watch.is_quiet(drill.must))
    outcome = Outcome(drill, {name: at - began for name, at in watch.since.items()})
    outcome.ended = time.monotonic() - repaired if over else None
    outcome.faults += sorted(watch.faults)
    outcome.judge(watch.excused)
    if not steady:
        outcome.faults.append("what ran before it did not stay up")
    return outcome


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table of seconds from failure to alert, in parentheses for consequences."""
    names = [alert.name for alert in alerts()]
    head = ["alert", *(outcome.drill.name for outcome in outcomes)]
    rows = [[name, *(_cell(outcome, name) for outcome in outcomes)] for name in names]
    last = ["all ended after", *(_seconds(outcome.ended) for outcome in outcomes)]
    lines = [head, ["---"] * len(head), *rows, last]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(outcome: Outcome, name: str) -> str:
    if name not in outcome.fired:
        return "missing" if name in outcome.drill.must else ""
    duration = _seconds(outcome.fired[name])
    return duration if name in outcome.drill.must else f"({duration})"


def _seconds(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f} s"


def main() -> None:
    """Run the drills of a name, or all of them."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # Unmount everything.
    selected = [drill for drill in DRILLS if os.environ.get("DRILL", "") in ("", drill.name)]
    drills = [drill for drill in selected if os.geteuid() == 0 or not drill.as_root]
    for drill in selected:
        if drill not in drills:
            _say(f"{drill.name}: only root can; its alerts are shown in cases.yaml")
    outcomes = []
    for outcome in carry_out(drills):
        fired = ", ".join(f"{name} {_seconds(at)}" for name, at in sorted(outcome.fired.items()))
        _say(f"{outcome.drill.name}: {fired or 'nothing'}; ended {_seconds(outcome.ended)}")
        for fault in outcome.faults:
            _say(f"  WRONG: {fault}")
        outcomes.append(outcome)
    _REPORT.parent.mkdir(exist_ok=True)
    _REPORT.write_text(table(outcomes), encoding="utf-8")
    _say("\n" + table(outcomes))
    sys.exit(1 if any(outcome.faults for outcome in outcomes) else 0)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
