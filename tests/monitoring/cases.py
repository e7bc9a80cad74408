"""What the rules must say of a product that fails in one respect and is well in all others.

A case changes some of the series of a healthy product and names all the alerts that fire then, so
that what goes off wrongly is found as well as what does not go off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Samples are a minute apart.
_TURN = 10
"""The sample from which on something is different."""
_LENGTH = 371
"""Samples of a series."""

Course = float | tuple[float, float | None]
"""A value throughout, or one until the turn and another from there on; None is no sample at all."""

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
}
_GIB = float(1 << 30)


@dataclass(frozen=True)
class Case:
    """After so many minutes exactly the alerts of `firing` fire, each as `<name> <severity>`.

    It is about one alert; where that does not fire, it shows how near it may come.
    """

    alert: str
    story: str
    minutes: int
    changed: Mapping[str, str]
    firing: tuple[str, ...] = ()


def _series(metric: str, instance: str, **labels: str) -> str:
    home = {"job": instance.rpartition("-")[0], "instance": instance}
    every = {"app_kubernetes_io_part_of": "atajo", **home, **labels}
    return metric + "{" + ",".join(f'{name}="{value}"' for name, value in every.items()) + "}"


def _level(course: Course) -> str:
    """A gauge in promtool's notation."""
    before, after = course if isinstance(course, tuple) else (course, course)
    rest = _LENGTH - _TURN
    then = "stale" if after is None else f"{after:f}+0x{rest - 1}"
    return f"{before:f}+0x{_TURN - 1} {then}"


def _counter(course: Course, start: float = 0) -> str:
    """A counter that goes up by so much a second."""
    before, after = course if isinstance(course, tuple) else (course, course)
    before, after = before * 60, (after or 0) * 60
    turn = start + before * _TURN
    return f"{start:f}+{before:f}x{_TURN - 1} {turn:f}+{after:f}x{_LENGTH - _TURN - 1}"


def _between(rate: float, start: int, end: int) -> str:
    """A counter that goes up by so much a second from one minute to another."""
    most = rate * 60 * (end - start)
    return f"0+0x{start - 1} 0+{rate * 60}x{end - start} {most}+0x{_LENGTH}"


def _latencies(
    name: str, instance: str, rates: Mapping[str, Course], **labels: str
) -> dict[str, str]:
    """A histogram's series; `rates` are its buckets, the last of them all there is."""
    buckets = {
        _series(f"{name}_bucket", instance, **labels, le=le): _counter(rate)
        for le, rate in rates.items()
    }
    return {**buckets, _series(f"{name}_count", instance, **labels): _counter(rates["+Inf"])}


def healthy() -> dict[str, str]:
    """Every series the alerts look at, of a product that is well and in use."""
    told: dict[str, str] = {}
    for job, instances in _HOMES.items():
        for instance in instances:
            told |= _process(instance) | (_store(instance) if "store" in _needs(job) else {})
    for gateway in _HOMES["gateway"]:
        told |= _redirects(gateway) | _visits(gateway) | _heard(gateway)
        told |= _calls(gateway, "/createShortLink") | _calls(gateway, "/verifyUser")
    for links in _HOMES["links"]:
        told |= _blocklists(links) | _reports(links) | _rejected(links)
    return told | _log_ins("auth-0") | _tasks("reconciler-0") | _tasks("reconciler-1", rate=0)


def _needs(job: str) -> tuple[str, ...]:
    return _DEPENDENCIES.get(job, ())


def _process(
    instance: str,
    *,
    up: Course = 1,
    ready: Course = 1,
    away: tuple[str, ...] = (),
    started: str = "",
    late: float = 0,
    broken: str = "",
) -> dict[str, str]:
    """What every process tells; `away` are its dependencies that are, from the turn on.

    Of ten beats of its loop a second, `late` are 0.7 s late. `broken` counts how often its work in
    the background broke.
    """
    told = {_series("up", instance): _level(up)}
    if instance.startswith("web"):
        return told
    told[_series("atajo_ready", instance)] = _level(ready)
    told[_series("process_start_time_seconds", instance)] = started or _level(1_700_000_000)
    failures = _series("atajo_background_failures_total", instance, task="health")
    told[failures] = broken or _counter(0)
    gone = isinstance(up, tuple)
    for name in _needs(instance.rpartition("-")[0]):
        state: Course = (1, None) if gone else (1, 0) if name in away else 1
        told[_series("atajo_dependency_up", instance, dependency=name)] = _level(state)
    beats = {"0.01": 10 - late, "0.5": 10 - late, "1": 10.0, "+Inf": 10.0}
    return told | _latencies("atajo_event_loop_lag_seconds", instance, beats)


def _silent(*instances: str) -> dict[str, str]:
    """Processes whose target is there and does not answer."""
    return {
        series: values
        for instance in instances
        for series, values in _process(instance, up=(1, 0), ready=(1, None)).items()
    }


def _redirects(
    gateway: str, *, failed: Course = 0, slow: float = 0, faults: str = ""
) -> dict[str, str]:
    """100 found a second, of which some slow, and those that failed; look-ups that broke."""
    name = "atajo_redirect_duration_seconds"
    found = {"0.001": 100 - slow, "0.05": 100 - slow, "0.5": 100.0, "+Inf": 100.0}
    return {
        _series("atajo_redirects_total", gateway, result="found"): _counter(100),
        _series("atajo_redirects_total", gateway, result="failed"): _counter(failed),
        _series("atajo_lookup_faults_total", gateway): faults or _counter(0),
        **_latencies(name, gateway, found, result="found"),
        **_latencies(name, gateway, {"0.05": 0, "+Inf": failed}, result="failed"),
    }


def _calls(
    gateway: str, route: str, *, good: float = 1, refused: float = 0.5, failed: Course = 0
) -> dict[str, str]:
    """Calls of a function a second, by how they end; refused are those past a limit."""
    name = "http_request_duration_seconds_count"
    rates: dict[str, Course] = {"200": good, "429": refused, "503": failed}
    return {
        _series(name, gateway, route=route, method="POST", status=status): _counter(rate)
        for status, rate in rates.items()
    }


def _log_ins(
    auth: str, *, busy: float = 0, waiting: float = 1, slow: float = 0, expensive: float = 0.1
) -> dict[str, str]:
    """Log-ins turned away a second, and passwords that wait for one of two slots.

    `slow` of ten log-ins a second take longer than one. Those with an expensive hash all do.
    """
    name = "atajo_login_seconds"
    rates = {"0.1": 10 - slow, "1.0": 10 - slow, "2.0": 10.0, "+Inf": 10.0}
    lanes = {"lane": "standard"}, {"lane": "expensive"}
    return {
        **_latencies(name, auth, rates, **lanes[0]),
        **_latencies(name, auth, {"1.0": 0, "2.0": expensive, "+Inf": expensive}, **lanes[1]),
        _series("atajo_logins_total", auth, result="busy"): _counter(busy),
        _series("atajo_logins_total", auth, result="wrong_password"): _counter(1),
        _series("atajo_password_checks_waiting", auth, **lanes[0]): _level(waiting),
        _series("atajo_password_check_slots", auth, **lanes[0]): _level(2),
        _series("atajo_password_checks_waiting", auth, **lanes[1]): _level(1),
        _series("atajo_password_check_slots", auth, **lanes[1]): _level(1),
    }


def _tasks(
    reconciler: str, *, rate: float = 0.5, still: tuple[str, ...] = (), failed: float = 0
) -> dict[str, str]:
    """Runs a second of each task; those of `still` end at the turn."""
    name = "atajo_reconciler_runs_total"
    told = {}
    for task in ("accounts", "purge", "views"):
        done: Course = (rate, 0) if task in still else rate
        told[_series(name, reconciler, task=task, result="done")] = _counter(done)
        told[_series(name, reconciler, task=task, result="failed")] = _counter(failed)
    return told


def _rejected(links: str, values: str = "") -> dict[str, str]:
    """Searches of one owner that are rejected."""
    labels = {"kind": "searches", "reason": "owner_limit"}
    return {_series("atajo_reads_rejected_total", links, **labels): values or _counter(0)}


def _reports(links: str, *, spam: Course = 0) -> dict[str, str]:
    """Reports a minute."""
    return {
        _series("atajo_links_reports_total", links, reason="spam"): _counter(spam),
        _series("atajo_links_reports_total", links, reason="phishing"): _counter(0.2 / 60),
    }


def _blocklists(
    links: str, *, broken: Course = 0, looked: str = "", behind: str = ""
) -> dict[str, str]:
    """Two lists, of which one may be broken; when their folder was looked through, and for how
    long links have waited for that."""
    return {
        _series("atajo_blocklist_sweep_behind_seconds", links): behind or _level(0),
        _series("atajo_blocklist_broken", links, list="phishing.txt"): _level(broken),
        _series("atajo_blocklist_broken", links, list="spam.txt"): _level(0),
        _series("atajo_blocklists_look_timestamp_seconds", links): looked or f"0+60x{_LENGTH}",
    }


def _visits(
    gateway: str, *, lost: str = "", lag: Course = 0.2, journal: str = "", limit: float = _GIB
) -> dict[str, str]:
    return {
        _series("atajo_visits_lost_total", gateway): lost or _counter(0),
        _series("atajo_visit_flush_lag_seconds", gateway): _level(lag),
        _series("atajo_visit_journal_bytes", gateway): journal or _level(4 << 20),
        _series("atajo_visit_journal_limit_bytes", gateway): _level(limit),
    }


def _heard(gateway: str, *, age: Course | str = 0.5, key: Course | str = 1) -> dict[str, str]:
    """What links and analytics tell it of themselves: changes, and the key of the day."""
    courses = {"atajo_changes_age_seconds": age, "atajo_visitor_key_known": key}
    return {
        _series(metric, gateway): course if isinstance(course, str) else _level(course)
        for metric, course in courses.items()
    }


def _store(
    instance: str,
    *,
    slow: float = 0,
    error: Course = 0,
    size: str = "",
    limit: Course | str = 100 * _GIB,
) -> dict[str, str]:
    """100 operations a second, of which some take 0.7 s, and those in vain; bytes of the store."""
    rates = {"0.005": 100 - slow, "0.5": 100 - slow, "1": 100.0, "+Inf": 100.0}
    name = "atajo_store_seconds"
    return {
        **_latencies(name, instance, rates, operation="resolve", result="ok"),
        _series(f"{name}_count", instance, operation="resolve", result="error"): _counter(error),
        _series("atajo_store_bytes", instance): size or _level(10 * _GIB),
        _series("atajo_store_limit_bytes", instance): (
            limit if isinstance(limit, str) else _level(limit)
        ),
    }


_FAILED = _series("atajo_redirects_total", "gateway-0", result="failed")

CASES: tuple[Case, ...] = (
    Case(
        "AtajoRedirectsFailing",
        "two in a hundred fail",
        30,
        _redirects("gateway-0", failed=4),
        ("AtajoRedirectsFailing page", "AtajoRedirectsFailing ticket"),
    ),
    Case(
        "AtajoRedirectsFailing",
        "one in ten fails for twelve minutes after five good hours",
        312,
        {_FAILED: _between(20, 300, 312)},
        ("AtajoRedirectsFailing page", "AtajoRedirectsFailing ticket"),
    ),
    Case(
        "AtajoRedirectsFailing",
        "one in ten failed for twelve minutes, and none since for six",
        318,
        {_FAILED: _between(20, 300, 312)},
        ("AtajoRedirectsFailing ticket",),
    ),
    Case(
        "AtajoRedirectsFailing",
        "one in a hundred fails for an hour",
        60,
        _redirects("gateway-0", failed=(0, 2)),
        ("AtajoRedirectsFailing page", "AtajoRedirectsFailing ticket"),
    ),
    Case(
        "AtajoRedirectsFailing",
        "two in a thousand fail for an hour",
        60,
        _redirects("gateway-0", failed=0.4),
        ("AtajoRedirectsFailing ticket",),
    ),
    Case(
        "AtajoRedirectsFailing",
        "all failed for ten minutes, an hour ago",
        70,
        _redirects("gateway-0", failed=(100, 0)),
        ("AtajoRedirectsFailing ticket",),
    ),
    Case(
        "AtajoRedirectsFailing",
        "one in two thousand fails",
        60,
        _redirects("gateway-0", failed=0.1),
    ),
    Case(
        "AtajoRedirectsSlow",
        "one in five is slow at one of two gateways",
        30,
        _redirects("gateway-0", slow=40),
        ("AtajoRedirectsSlow page", "AtajoRedirectsSlow ticket"),
    ),
    Case("AtajoRedirectsSlow", "one in two hundred is slow", 60, _redirects("gateway-0", slow=1)),
    Case(
        "AtajoCreationsFailing",
        "one in ten fails",
        30,
        _calls("gateway-0", "/createShortLink", failed=0.3),
        ("AtajoCreationsFailing page", "AtajoCreationsFailing ticket"),
    ),
    Case(
        "AtajoCreationsFailing",
        "only limits refuse",
        60,
        _calls("gateway-0", "/createShortLink", good=0),
    ),
    Case(
        "AtajoCreationsFailing",
        "one call fails in a night in which there are no others",
        370,
        {
            **_calls("gateway-0", "/createShortLink", good=0, refused=0),
            **_calls("gateway-1", "/createShortLink", good=0, refused=0),
            _series(
                "http_request_duration_seconds_count",
                "gateway-0",
                route="/createShortLink",
                method="POST",
                status="503",
            ): f"0+0x{_TURN} 1+0x{_LENGTH}",
        },
    ),
    Case(
        "AtajoLoginsFailing",
        "one in six is turned away, since too many wait",
        30,
        _log_ins("auth-0", busy=0.5),
        ("AtajoLoginsFailing page", "AtajoLoginsFailing ticket"),
    ),
    Case(
        "AtajoLoginsFailing",
        "one in four ends in a fault of ours",
        30,
        _calls("gateway-0", "/verifyUser", failed=1),
        ("AtajoLoginsFailing page", "AtajoLoginsFailing ticket"),
    ),
    Case("AtajoLoginsFailing", "passwords are wrong and limits refuse", 60, {}),
    Case(
        "AtajoLoginsSlow",
        "one in five takes longer than a second",
        30,
        _log_ins("auth-0", slow=2),
        ("AtajoLoginsSlow page", "AtajoLoginsSlow ticket"),
    ),
    Case(
        "AtajoLoginsSlow",
        "expensive hashes alone are slow",
        60,
        _log_ins("auth-0", slow=0.05, expensive=5),
    ),
    Case(
        "AtajoCountsLate",
        "one gateway's visits wait for a minute",
        25,
        _visits("gateway-0", lag=(0.2, 60)),
        ("AtajoCountsLate page", "AtajoCountsLate ticket"),
    ),
    Case(
        "AtajoCountsLate",
        "visits wait for twenty seconds",
        60,
        _visits("gateway-0", lag=20),
    ),
    Case(
        "AtajoVisitsLost",
        "the journal has no room",
        15,
        _visits("gateway-0", lost=_counter((0, 1))),
        ("AtajoVisitsLost page",),
    ),
    Case(
        "AtajoVisitsLost",
        "a new gateway could not read its journal back",
        15,
        _visits("gateway-0", lost=f"_x{_TURN} {_counter(0, start=30)}"),
        ("AtajoVisitsLost page",),
    ),
    Case(
        "AtajoVisitsLost",
        "what was lost was lost an hour ago",
        70,
        _visits("gateway-0", lost=_counter((1, 0))),
    ),
    Case(
        "AtajoJournalFilling",
        "nine tenths are full",
        15,
        _visits("gateway-0", journal=_level((4 << 20, 0.9 * _GIB))),
        ("AtajoJournalFilling page",),
    ),
    Case(
        "AtajoJournalFilling",
        "a third is full and in three hours the rest will be",
        60,
        _visits("gateway-0", journal=_counter(64 << 10, start=0.2 * _GIB)),
        ("AtajoJournalFilling page",),
    ),
    Case(
        "AtajoJournalFilling",
        "the disk below it has no room",
        15,
        _visits("gateway-0", limit=4 << 20),
        ("AtajoJournalFilling page",),
    ),
    Case(
        "AtajoJournalFilling",
        "half is full and it gets less",
        60,
        _visits("gateway-0", journal=f"{0.7 * _GIB:f}-{1 << 20}x400"),
    ),
    Case(
        "AtajoJournalFilling",
        "it grows fast and little of it is full",
        12,
        _visits("gateway-0", journal=_counter((0, 1 << 20), start=4 << 20)),
    ),
    Case(
        "AtajoDown",
        "no process of links answers",
        15,
        _silent("links-0", "links-1"),
        ("AtajoDown page",),
    ),
    Case(
        "AtajoDown",
        "the web servers are gone, their targets too",
        15,
        {_series("up", "web-0"): _level((1, None))},
        ("AtajoDown page",),
    ),
    Case("AtajoDown", "one of two processes of links is gone", 19, _silent("links-0")),
    Case(
        "AtajoDown",
        "analytics is started anew",
        12,
        {_series("up", "analytics-0"): f"1+0x{_TURN - 1} 0 1+0x100"},
    ),
    Case(
        "AtajoNotReady",
        "one of two processes of links is gone",
        25,
        _silent("links-0"),
        ("AtajoNotReady ticket",),
    ),
    Case(
        "AtajoNotReady",
        "one of two gateways never becomes ready",
        25,
        _process("gateway-0", ready=(1, 0)),
        ("AtajoNotReady ticket",),
    ),
    Case(
        "AtajoNotReady",
        "one of two gateways takes five minutes to become ready",
        25,
        {_series("atajo_ready", "gateway-0"): f"1+0x{_TURN - 1} 0+0x4 1+0x100"},
    ),
    Case(
        "AtajoNotReady",
        "a process says what it waits for",
        25,
        _process("links-0", ready=(1, 0), away=("store",)),
        ("AtajoDependencyAway ticket",),
    ),
    Case(
        "AtajoDependencyAway",
        "the store of links is away, and links to the gateways with it",
        15,
        {
            **_process("links-0", ready=(1, 0), away=("store",)),
            **_process("links-1", ready=(1, 0), away=("store",)),
            **_process("gateway-0", away=("links",)),
            **_process("gateway-1", away=("links",)),
        },
        ("AtajoDependencyAway ticket",),
    ),
    Case(
        "AtajoDependencyAway",
        "a gateway does not reach auth, which is well",
        15,
        _process("gateway-0", away=("auth",)),
        ("AtajoDependencyAway ticket",),
    ),
    Case(
        "AtajoDependencyAway",
        "a gateway does not reach what is down",
        15,
        {**_silent("auth-0"), **_process("gateway-0", away=("auth",))},
        ("AtajoDown page",),
    ),
    Case(
        "AtajoDependencyAway",
        "auth was down, and is back for two minutes",
        12,
        {
            _series("up", "auth-0"): _level((0, 1)),
            _series("atajo_ready", "auth-0"): f"_x{_TURN} 1+0x50",
            _series("atajo_dependency_up", "auth-0", dependency="store"): f"_x{_TURN} 1+0x50",
            _series("atajo_dependency_up", "gateway-0", dependency="auth"): _level((0, 1)),
        },
    ),
    Case(
        "AtajoCrashLooping",
        "a gateway was started three times in ten minutes",
        20,
        _process("gateway-0", started="1700000000+0x9 1700000300 1700000400 1700000500+0x100"),
        ("AtajoCrashLooping ticket",),
    ),
    Case(
        "AtajoCrashLooping",
        "a gateway was started twice",
        12,
        _process("gateway-0", started="1700000000+0x9 1700000300 1700000400+0x100"),
    ),
    Case(
        "AtajoStoreFailing",
        "one operation in eleven is in vain",
        15,
        _store("links-0", error=20),
        ("AtajoStoreFailing ticket",),
    ),
    Case("AtajoStoreFailing", "one operation in fifty is in vain", 60, _store("links-0", error=4)),
    Case(
        "AtajoStoreFailing",
        "all fail, since the store is away",
        15,
        {
            **_store("analytics-0", error=100),
            **_process("analytics-0", ready=(1, 0), away=("store",)),
        },
        ("AtajoDependencyAway ticket",),
    ),
    Case(
        "AtajoStoreFailing",
        "all failed, and the store is back for three minutes",
        13,
        {
            **_store("analytics-0", error=(100, 0)),
            _series("atajo_dependency_up", "analytics-0", dependency="store"): _level((0, 1)),
        },
    ),
    Case(
        "AtajoDependencyAway",
        "it is away for a quarter of the time",
        60,
        {
            _series("atajo_dependency_up", "gateway-0", dependency="auth"): "1 1 1 0 " * 20,
        },
    ),
    Case(
        "AtajoStoreSlow",
        "one operation in four is slow",
        25,
        _store("links-0", slow=50),
        ("AtajoStoreSlow ticket",),
    ),
    Case("AtajoStoreSlow", "one operation in fifty is slow", 60, _store("links-0", slow=4)),
    Case(
        "AtajoStoreFilling",
        "nine tenths of the room are taken, as both replicas tell",
        40,
        {
            **_store("links-0", size=_level((10 * _GIB, 90 * _GIB))),
            **_store("links-1", size=_level((10 * _GIB, 90 * _GIB))),
        },
        ("AtajoStoreFilling ticket",),
    ),
    Case(
        "AtajoStoreFilling",
        "the disk fills from elsewhere",
        40,
        _store("auth-0", limit=(100 * _GIB, 11 * _GIB)),
        ("AtajoStoreFilling ticket",),
    ),
    Case(
        "AtajoStoreFilling",
        "a third is taken and in three days the rest will be",
        370,
        _store("analytics-0", size=_counter(240 << 10, start=40 * _GIB)),
        ("AtajoStoreFilling ticket",),
    ),
    Case(
        "AtajoStoreFilling",
        "a third is taken and the rest will last for ten days",
        370,
        _store("analytics-0", size=_counter(70 << 10, start=40 * _GIB)),
    ),
    Case(
        "AtajoStoreFilling",
        "a store that does not tell what its disk has grows fast",
        370,
        _store("links-0", size=_counter(10 << 20, start=_GIB), limit=f"+Inf+0x{_LENGTH}"),
    ),
    Case(
        "AtajoPasswordChecksWaiting",
        "a hundred passwords wait",
        15,
        _log_ins("auth-0", waiting=100),
        ("AtajoPasswordChecksWaiting ticket",),
    ),
    Case("AtajoPasswordChecksWaiting", "fifty wait", 60, _log_ins("auth-0", waiting=50)),
    Case(
        "AtajoReadsRejected",
        "one owner's searches are rejected, one a second",
        25,
        _rejected("links-0", _counter((0, 1))),
        ("AtajoReadsRejected ticket",),
    ),
    Case(
        "AtajoReadsRejected",
        "a few are rejected in an hour",
        60,
        _rejected("links-0", _counter(0.002)),
    ),
    Case(
        "AtajoEventLoopLagging",
        "one beat in ten is late",
        20,
        _process("gateway-0", late=1),
        ("AtajoEventLoopLagging ticket",),
    ),
    Case(
        "AtajoEventLoopLagging",
        "one beat in two hundred is late",
        60,
        _process("gateway-0", late=0.05),
    ),
    Case(
        "AtajoLookupsBreaking",
        "one look-up broke",
        12,
        _redirects("gateway-0", faults=f"0+0x{_TURN - 1} 1+0x100"),
        ("AtajoLookupsBreaking ticket",),
    ),
    Case(
        "AtajoLookupsBreaking",
        "look-ups fail, since links is away, and none breaks",
        30,
        _redirects("gateway-0", failed=0.1),
    ),
    Case(
        "AtajoLookupsBreaking",
        "one broke half an hour ago",
        40,
        _redirects("gateway-0", faults=f"0+0x{_TURN - 1} 1+0x100"),
    ),
    Case(
        "AtajoBlocklistNotLoaded",
        "one process cannot use a file that changed",
        15,
        _blocklists("links-0", broken=(0, 1)),
        ("AtajoBlocklistNotLoaded ticket",),
    ),
    Case(
        "AtajoBlocklistNotLoaded",
        "a file was broken for a minute",
        20,
        _blocklists("links-0")
        | {
            _series("atajo_blocklist_broken", "links-0", list="phishing.txt"): (
                f"0+0x{_TURN - 1} 1 0+0x100"
            )
        },
    ),
    Case(
        "AtajoBlocklistNotLoaded",
        "the folder hangs, and the lists are known",
        20,
        _blocklists("links-0", looked=f"0+60x{_TURN - 1} {60 * _TURN}+0x{_LENGTH - _TURN - 1}"),
        ("AtajoBlocklistNotLoaded ticket",),
    ),
    Case(
        "AtajoChangesUnheard",
        "links tells one of two gateways nothing",
        15,
        _heard("gateway-0", age=f"0.5+0x{_TURN - 1} 60+60x100"),
        ("AtajoChangesUnheard page",),
    ),
    Case(
        "AtajoChangesUnheard",
        "an answer comes late now and then",
        60,
        _heard("gateway-0", age="1 12 1 1 " * 20),
    ),
    Case(
        "AtajoChangesUnheard",
        "links is away",
        15,
        {
            **_silent("links-0", "links-1"),
            **_heard("gateway-0", age=f"0.5+0x{_TURN - 1} 60+60x100"),
        },
        ("AtajoDown page",),
    ),
    Case(
        "AtajoChangesUnheard",
        "one gateway does not reach links",
        15,
        {
            **_process("gateway-0", away=("links",)),
            **_heard("gateway-0", age=f"0.5+0x{_TURN - 1} 60+60x100"),
        },
        ("AtajoDependencyAway ticket",),
    ),
    Case(
        "AtajoVisitorKeyMissing",
        "one of two gateways is given no key",
        25,
        _heard("gateway-0", key=(1, 0)),
        ("AtajoVisitorKeyMissing ticket",),
    ),
    Case(
        "AtajoVisitorKeyMissing",
        "the day turned five minutes ago",
        16,
        _heard("gateway-0", key=(1, 0)),
    ),
    Case(
        "AtajoVisitorKeyMissing",
        "analytics is away",
        25,
        {
            **_silent("analytics-0"),
            **_heard("gateway-0", key=(1, 0)),
            **_heard("gateway-1", key=(1, 0)),
        },
        ("AtajoDown page",),
    ),
    Case(
        "AtajoReportsBurst",
        "two processes take three a minute each",
        20,
        _reports("links-0", spam=(0, 3 / 60)) | _reports("links-1", spam=(0, 3 / 60)),
        ("AtajoReportsBurst ticket",),
    ),
    Case(
        "AtajoReportsBurst",
        "one takes one a minute",
        60,
        _reports("links-0", spam=(0, 1 / 60)),
    ),
    Case(
        "AtajoSweepStill",
        "links wait for half an hour",
        40,
        _blocklists("links-0", behind=f"0+0x{_TURN - 1} 60+60x100"),
        ("AtajoSweepStill ticket",),
    ),
    Case(
        "AtajoSweepStill",
        "links are looked through again and again, since lists change every ten minutes",
        60,
        _blocklists("links-0", behind="0 60 120 0 0 0 0 0 0 0 " * 7),
    ),
    Case(
        "AtajoBackgroundFailing",
        "work broke and its process was started anew",
        15,
        _process("links-0", broken=f"0+0x{_TURN - 1} 1 0+0x100"),
        ("AtajoBackgroundFailing ticket",),
    ),
    Case(
        "AtajoBackgroundFailing",
        "work broke half an hour ago",
        40,
        _process("links-0", broken=f"0+0x{_TURN - 1} 1 0+0x100"),
    ),
    Case(
        "AtajoReconcilerStill",
        "one task is done no more, the others are",
        30,
        _tasks("reconciler-0", still=("views",), failed=0.2),
        ("AtajoReconcilerStill ticket",),
    ),
    Case(
        "AtajoReconcilerStill",
        "a task has not been done for ten minutes",
        20,
        _tasks("reconciler-0", still=("views",)),
    ),
    Case(
        "AtajoReconcilerStill",
        "another process does what the first one did",
        60,
        {
            **_tasks("reconciler-0", still=("accounts", "purge", "views")),
            **{
                _series("atajo_reconciler_runs_total", "reconciler-1", task=task, result="done"): (
                    _counter((0, 0.5))
                )
                for task in ("accounts", "purge", "views")
            },
        },
    ),
    Case(
        "AtajoReconcilerStill",
        "nothing is done, since analytics is down",
        40,
        {
            **_silent("analytics-0"),
            **_process("reconciler-0", away=("analytics",)),
            **_process("reconciler-1", away=("analytics",)),
            **_tasks("reconciler-0", still=("accounts", "purge", "views")),
        },
        ("AtajoDown page",),
    ),
)
