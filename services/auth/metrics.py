"""What the auth service counts beside what every process does."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Protocol

from prometheus_client import Counter, Gauge, Histogram

from services.auth.domain import (
    InvalidPasswordHash,
    InvalidToken,
    LoginsBusy,
    NoAccount,
    TooManyAttempts,
    WrongPassword,
)

LOGINS = Counter(
    "atajo_logins",
    "Log-ins by how they ended: limited, too many had failed; busy, too many waited. Faults of "
    "ours are left out.",
    ["result"],
)
PASSWORD_CHANGES = Counter(
    "atajo_password_changes",
    "Changes of a password by how they ended: limited, busy and what is left out as for log-ins.",
    ["result"],
)
ACCOUNT_CLOSINGS = Counter(
    "atajo_account_closings",
    "Closings of accounts by their owners, by how they ended: as for changes of a password.",
    ["result"],
)

ACCOUNTS_CREATED = Counter(
    "atajo_accounts_created", "Accounts made; a registration repeated makes none."
)
LOGIN_SECONDS = Histogram(
    "atajo_login_seconds",
    "Time from a log-in's arrival until its password was checked, waiting included, by lane: "
    "expensive are bcrypt hashes above cost 10. Refused log-ins are left out.",
    ["lane"],
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
)
CHECKS_WAITING = Gauge(
    "atajo_password_checks_waiting",
    "Passwords that wait for a thread to be checked in, by lane.",
    ["lane"],
)
CHECKS_RUNNING = Gauge(
    "atajo_password_checks_running",
    "Passwords being checked, each by a thread at full load, by lane.",
    ["lane"],
)
CHECK_SLOTS = Gauge(
    "atajo_password_check_slots",
    "Maximum passwords that are checked at a time, by lane. The expensive lane's threads are part "
    "of the standard lane's.",
    ["lane"],
)

_Results = Mapping[type[Exception], str]

_OF_CHECKS: _Results = {
    WrongPassword: "wrong_password",
    TooManyAttempts: "limited",
    LoginsBusy: "busy",
}
_OF_LOGINS: _Results = {**_OF_CHECKS, NoAccount: "no_account"}
_OF_CLOSINGS: _Results = {**_OF_CHECKS, InvalidToken: "invalid_token"}
_OF_CHANGES: _Results = {**_OF_CLOSINGS, InvalidPasswordHash: "invalid_hash"}
for _counter, _results in (
    (LOGINS, _OF_LOGINS),
    (PASSWORD_CHANGES, _OF_CHANGES),
    (ACCOUNT_CLOSINGS, _OF_CLOSINGS),
):
    for _result in ("ok", *_results.values()):
        _counter.labels(_result)  # There from the start: a rate over a series needs its zero.


def login_counted() -> AbstractContextManager[None]:
    """Count the log-in that the body carries out."""
    return _counted(LOGINS, _OF_LOGINS)


@contextmanager
def login_timed(began: float, lane: str) -> Iterator[None]:
    """Observe a log-in, begun at `began` by `time.perf_counter`, once the body checked it."""
    try:
        yield
    except WrongPassword:
        LOGIN_SECONDS.labels(lane).observe(time.perf_counter() - began)
        raise
    LOGIN_SECONDS.labels(lane).observe(time.perf_counter() - began)


def password_change_counted() -> AbstractContextManager[None]:
    """Count the change of a password that the body carries out."""
    return _counted(PASSWORD_CHANGES, _OF_CHANGES)


def closing_counted() -> AbstractContextManager[None]:
    """Count the closing by its owner that the body carries out."""
    return _counted(ACCOUNT_CLOSINGS, _OF_CLOSINGS)


@contextmanager
def _counted(counter: Counter, results: _Results) -> Iterator[None]:
    try:
        yield
    except tuple(results) as error:
        counter.labels(results[type(error)]).inc()
        raise
    counter.labels("ok").inc()


class PasswordChecks(Protocol):
    """What checks passwords, and how busy it is."""

    @property
    def slots(self) -> Mapping[str, int]: ...

    def waiting(self, lane: str) -> int: ...

    def running(self, lane: str) -> int: ...


def show_password_checks(checks: PasswordChecks) -> None:
    """Let the gauges say how busy `checks` is whenever they are read."""
    for lane, slots in checks.slots.items():
        CHECK_SLOTS.labels(lane).set(slots)
        CHECKS_WAITING.labels(lane).set_function(partial(checks.waiting, lane))
        CHECKS_RUNNING.labels(lane).set_function(partial(checks.running, lane))
        LOGIN_SECONDS.labels(lane)  # There from the start, as the counters are.
