"""What the auth service counts beside what every process does."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

from services.auth.domain.account import (
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

_OF_CHECKS: Mapping[type[Exception], str] = {
    WrongPassword: "wrong_password",
    TooManyAttempts: "limited",
    LoginsBusy: "busy",
}
_OF_SESSIONS = {**_OF_CHECKS, InvalidToken: "invalid_token"}
_RESULTS: Mapping[Counter, Mapping[type[Exception], str]] = {
    LOGINS: {**_OF_CHECKS, NoAccount: "no_account"},
    PASSWORD_CHANGES: {**_OF_SESSIONS, InvalidPasswordHash: "invalid_hash"},
    ACCOUNT_CLOSINGS: _OF_SESSIONS,
}
for _counter, _results in _RESULTS.items():
    for _result in ("ok", *_results.values()):
        _counter.labels(_result)  # There from the start: a rate over a series needs its zero.


@contextmanager
def counted(counter: Counter) -> Iterator[None]:
    """Count how the body ends: in LOGINS, PASSWORD_CHANGES or ACCOUNT_CLOSINGS."""
    results = _RESULTS[counter]
    try:
        yield
    except tuple(results) as error:
        counter.labels(results[type(error)]).inc()
        raise
    counter.labels("ok").inc()


@contextmanager
def login_timed(began: float, lane: str) -> Iterator[None]:
    """Observe a log-in, begun at `began` by `time.perf_counter`, once the body checked it."""
    try:
        yield
    except WrongPassword:
        LOGIN_SECONDS.labels(lane).observe(time.perf_counter() - began)
        raise
    LOGIN_SECONDS.labels(lane).observe(time.perf_counter() - began)
