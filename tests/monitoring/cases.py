"""What the rules must say of a product that fails in one respect and is well in all others.

A case of `cases.yaml` changes some of the series of a healthy product and names all the alerts that
fire then, so that what goes off wrongly is found as well as what does not go off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

# Samples are a minute apart.
_TURN = 10
"""The sample from which on something is different."""
_LENGTH = 371
"""Samples of a series."""

Course = float | str | list[float | None]
"""A value throughout, one until the turn and another from there on, or promtool's own notation.

None is no sample at all; behind ` * ` stands how often the samples before it are repeated.
"""
Series = dict[str, str]

_HOMES = {
    "gateway": ("gateway-0", "gateway-1"),
    "auth": ("auth-0",),
    "links": ("links-0", "links-1"),
    "analytics": ("analytics-0",),
    "reconciler": ("reconciler-0", "reconciler-1"),
    "web": ("web-0",),
}
_DEPENDENCIES = {
    "gateway": ("auth", "links", "analytics", "journal"),
    "auth": ("store",),
    "links": ("store",),
    "analytics": ("store",),
    "reconciler": ("auth", "links", "analytics"),
    "web": (),
}
_TASKS = ("accounts", "purge", "views")


@dataclass(frozen=True)
class Case:
    """After so many minutes exactly the alerts of `firing` fire, each as `<name> <severity>`.

    It is about one alert; where that does not fire, it shows how near it may come.
    """

    alert: str
    story: str
    minutes: int
    changed: Mapping[str, str]
    firing: tuple[str, ...]


def _series(metric: str, instance: str, **labels: str) -> str:
    home = {"job": instance.rpartition("-")[0], "instance": instance}
    every = {"app_kubernetes_io_part_of": "atajo", **home, **labels}
    return metric + "{" + ",".join(f'{name}="{value}"' for name, value in every.items()) + "}"


def _level(course: Course, unit: float = 1) -> str:
    """A gauge in promtool's notation."""
    if isinstance(course, str):
        samples, _, times = course.partition(" * ")
        return " ".join([samples] * int(times or 1))
    before, after = course if isinstance(course, list) else (course, course)
    rest = _LENGTH - _TURN
    then = "stale" if after is None else f"{after * unit:f}+0x{rest - 1}"
    return f"{(before or 0) * unit:f}+0x{_TURN - 1} {then}"


def _counter(course: Course) -> str:
    """A counter that goes up by so much a second."""
    if isinstance(course, str):
        return course
    before, after = course if isinstance(course, list) else (course, course)
    before, after = (before or 0) * 60, (after or 0) * 60
    turn = before * _TURN
    return f"0+{before:f}x{_TURN - 1} {turn:f}+{after:f}x{_LENGTH - _TURN - 1}"


def _latencies(name: str, instance: str, rates: Mapping[str, Course], **labels: str) -> Series:
    """A histogram's series; `rates` are its buckets, the last of them all there is."""
    buckets = {
        _series(f"{name}_bucket", instance, **labels, le=le): _counter(rate)
        for le, rate in rates.items()
    }
    return {**buckets, _series(f"{name}_count", instance, **labels): _counter(rates["+Inf"])}


def _counters(name: str, instance: str, label: str, rates: Mapping[str, Course]) -> Series:
    """A counter's series by the values of a label."""
    return {_series(name, instance, **{label: key}): _counter(it) for key, it in rates.items()}


def healthy() -> Series:
    """Every series the alerts look at, of a product that is well and in use."""
    told: Series = {}
    for job, instances in _HOMES.items():
        for instance in instances:
            told |= _process(instance)
            for part in _PARTS[job]:
                told |= part(instance)
    return told


def _process(
    instance: str,
    *,
    up: Course = 1,
    ready: Course = 1,
    away: tuple[str, ...] = (),
    started: Course = 1_700_000_000,
    late: float = 0,
    broken: Course = 0,
) -> Series:
    """What every process tells; `away` are its dependencies that are, from the turn on.

    Of ten beats of its loop a second, `late` are 0.7 s late. `broken` counts how often its work in
    the background broke.
    """
    told = {_series("up", instance): _level(up)}
    if instance.startswith("web"):
        return told
    told[_series("atajo_ready", instance)] = _level(ready)
    told[_series("process_start_time_seconds", instance)] = _level(started)
    told |= _counters("atajo_background_failures_total", instance, "task", {"health": broken})
    for name in _DEPENDENCIES[instance.rpartition("-")[0]]:
        state: Course = [1, None] if isinstance(up, list) else [1, 0] if name in away else 1
        told[_series("atajo_dependency_up", instance, dependency=name)] = _level(state)
    beats: dict[str, Course] = {"0.01": 10 - late, "0.5": 10 - late, "1": 10, "+Inf": 10}
    return told | _latencies("atajo_event_loop_lag_seconds", instance, beats)


def _silent(instance: str) -> Series:
    """A process whose target is there and does not answer."""
    return _process(instance, up=[1, 0], ready=[1, None])


def _redirects(gateway: str, *, failed: Course = 0, slow: float = 0, faults: Course = 0) -> Series:
    """100 found a second, of which some slow, and those that failed; look-ups that broke."""
    name = "atajo_redirect_duration_seconds"
    found: dict[str, Course] = {"0.001": 100 - slow, "0.05": 100 - slow, "0.5": 100, "+Inf": 100}
    return {
        **_counters("atajo_redirects_total", gateway, "result", {"found": 100, "failed": failed}),
        _series("atajo_lookup_faults_total", gateway): _counter(faults),
        **_latencies(name, gateway, found, result="found"),
        **_latencies(name, gateway, {"0.05": 0, "+Inf": failed}, result="failed"),
    }


def _calls(
    gateway: str, route: str, good: float = 1, refused: float = 0.5, failed: Course = 0
) -> Series:
    """Calls of a function a second, by how they end; refused are those past a limit."""
    name = "http_request_duration_seconds_count"
    rates: dict[str, Course] = {"200": good, "429": refused, "503": failed}
    return {
        _series(name, gateway, route=route, method="POST", status=status): _counter(rate)
        for status, rate in rates.items()
    }


def _creations(gateway: str, **rates: Any) -> Series:
    return _calls(gateway, "/createShortLink", **rates)


def _log_in_calls(gateway: str, **rates: Any) -> Series:
    return _calls(gateway, "/verifyUser", **rates)


def _log_ins(
    auth: str, *, busy: float = 0, waiting: float = 1, slow: float = 0, expensive: float = 0.1
) -> Series:
    """Log-ins turned away a second, and passwords that wait for one of two slots.

    `slow` of ten log-ins a second take longer than one. Those with an expensive hash all do.
    """
    name = "atajo_login_seconds"
    rates: dict[str, Course] = {"0.1": 10 - slow, "1.0": 10 - slow, "2.0": 10, "+Inf": 10}
    dear: dict[str, Course] = {"1.0": 0, "2.0": expensive, "+Inf": expensive}
    told = _latencies(name, auth, rates, lane="standard")
    told |= _latencies(name, auth, dear, lane="expensive")
    for lane, checks, slots in (("standard", waiting, 2), ("expensive", 1, 1)):
        told[_series("atajo_password_checks_waiting", auth, lane=lane)] = _level(checks)
        told[_series("atajo_password_check_slots", auth, lane=lane)] = _level(slots)
    return told | _counters(
        "atajo_logins_total", auth, "result", {"busy": busy, "wrong_password": 1}
    )


def _tasks(
    reconciler: str,
    *,
    done: Course | None = None,
    still: tuple[str, ...] = (),
    failed: Course = 0,
) -> Series:
    """Runs a second of each task; those of `still` end at the turn. One of two does them all."""
    if done is None:
        done = 0.5 if reconciler.endswith("-0") else 0
    told = {}
    for task in _TASKS:
        rates: dict[str, Course] = {"done": [0.5, 0] if task in still else done, "failed": failed}
        for result, rate in rates.items():
            name = _series("atajo_reconciler_runs_total", reconciler, task=task, result=result)
            told[name] = _counter(rate)
    return told


def _rejected(links: str, *, searches: Course = 0) -> Series:
    """Searches of one owner that are rejected."""
    labels = {"kind": "searches", "reason": "owner_limit"}
    return {_series("atajo_reads_rejected_total", links, **labels): _counter(searches)}


def _reports(links: str, *, spam: Course = 0) -> Series:
    """Reports a second."""
    rates = {"spam": spam, "phishing": 0.2 / 60}
    return _counters("atajo_links_reports_total", links, "reason", rates)


def _blocklists(
    links: str, *, broken: Course = 0, looked: str = f"0+60x{_LENGTH}", behind: Course = 0
) -> Series:
    """Two lists, of which one may be broken; when their folder was looked through, and for how
    long links have waited for that."""
    return {
        _series("atajo_blocklist_sweep_behind_seconds", links): _level(behind),
        _series("atajo_blocklist_broken", links, list="phishing.txt"): _level(broken),
        _series("atajo_blocklist_broken", links, list="spam.txt"): _level(0),
        _series("atajo_blocklists_look_timestamp_seconds", links): looked,
    }


def _visits(
    gateway: str, *, lost: Course = 0, lag: Course = 0.2, journal: Course = 4, limit: float = 1024
) -> Series:
    """Visits that are lost a second; the journal and its limit are in MiB."""
    return {
        _series("atajo_visits_lost_total", gateway): _counter(lost),
        _series("atajo_visit_flush_lag_seconds", gateway): _level(lag),
        _series("atajo_visit_journal_bytes", gateway): _level(journal, 1 << 20),
        _series("atajo_visit_journal_limit_bytes", gateway): _level(limit, 1 << 20),
    }


def _heard(gateway: str, *, age: Course = 0.5, key: Course = 1) -> Series:
    """What links and analytics tell it of themselves: changes, and the key of the day."""
    courses = {"atajo_changes_age_seconds": age, "atajo_visitor_key_known": key}
    return {_series(metric, gateway): _level(course) for metric, course in courses.items()}


def _store(
    instance: str, *, slow: float = 0, error: Course = 0, size: Course = 10, limit: Course = 100
) -> Series:
    """100 operations a second, of which some take 0.7 s, and those in vain; GiB of the store."""
    rates: dict[str, Course] = {"0.005": 100 - slow, "0.5": 100 - slow, "1": 100, "+Inf": 100}
    name, labels = "atajo_store_seconds", {"operation": "resolve"}
    return {
        **_latencies(name, instance, rates, **labels, result="ok"),
        _series(f"{name}_count", instance, **labels, result="error"): _counter(error),
        _series("atajo_store_bytes", instance): _level(size, 1 << 30),
        _series("atajo_store_limit_bytes", instance): _level(limit, 1 << 30),
    }


_PARTS: Mapping[str, tuple[Callable[..., Series], ...]] = {
    "gateway": (_redirects, _visits, _heard, _creations, _log_in_calls),
    "auth": (_store, _log_ins),
    "links": (_store, _blocklists, _reports, _rejected),
    "analytics": (_store,),
    "reconciler": (_tasks,),
    "web": (),
}
_CHANGES = {part.__name__[1:]: part for parts in _PARTS.values() for part in parts} | {
    "process": _process,
    "silent": _silent,
}


def _changed(told: Mapping[str, Any]) -> Series:
    """The series that a case changes.

    A key is a part of the product and the instances that are changed, or a metric, an instance and
    labels; the values are what the part takes, or the metric's course.
    """
    changed: Series = {}
    for key, value in told.items():
        name, *where = key.split()
        if name in _CHANGES:
            for instance in where:
                changed |= _CHANGES[name](instance, **(value or {}))
        else:
            instance, *labels = where
            pairs = (label.split("=", 1) for label in labels)
            changed[_series(name, instance, **dict(pairs))] = _level(value)
    return changed


def _cases() -> tuple[Case, ...]:
    text = Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8")
    return tuple(
        Case(
            alert,
            one["story"],
            one["minutes"],
            _changed(one.get("changed", {})),
            # Severities of its own, or another alert with its severity.
            tuple(name if " " in name else f"{alert} {name}" for name in one.get("fires", ())),
        )
        for alert, stories in yaml.safe_load(text).items()
        for one in stories
    )


CASES = _cases()
