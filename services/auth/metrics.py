"""What the auth service counts beside what every process does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from prometheus_client import Counter, Gauge

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
CHECKS_WAITING = Gauge(
    "atajo_password_checks_waiting", "Log-ins whose password waits for a thread to be checked in."
)
CHECKS_RUNNING = Gauge(
    "atajo_password_checks_running", "Passwords being checked, each by a thread at full load."
)
CHECK_SLOTS = Gauge(
    "atajo_password_check_slots", "Most passwords that are checked at a time: the threads for it."
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

    slots: int

    @property
    def waiting(self) -> int: ...

    @property
    def running(self) -> int: ...


def show_password_checks(checks: PasswordChecks) -> None:
    """Let the gauges say how busy `checks` is whenever they are read."""
    CHECK_SLOTS.set(checks.slots)
    CHECKS_WAITING.set_function(lambda: checks.waiting)
    CHECKS_RUNNING.set_function(lambda: checks.running)
