"""What the auth service counts beside what every process does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from prometheus_client import Counter, Gauge

from services.auth.domain import LoginsBusy, NoAccount, TooManyAttempts, WrongPassword

LOGINS = Counter(
    "atajo_logins",
    "Log-ins by how they ended: limited, too many had failed; busy, too many waited. Faults of "
    "ours are left out.",
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

_RESULTS: dict[type[Exception], str] = {
    WrongPassword: "wrong_password",
    NoAccount: "no_account",
    TooManyAttempts: "limited",
    LoginsBusy: "busy",
}
for _result in ("ok", *_RESULTS.values()):
    LOGINS.labels(_result)  # There from the start: a rate over a series needs its zero.


@contextmanager
def login_counted() -> Iterator[None]:
    """Count the log-in that the body carries out."""
    try:
        yield
    except tuple(_RESULTS) as error:
        LOGINS.labels(_RESULTS[type(error)]).inc()
        raise
    LOGINS.labels("ok").inc()


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
