"""What the auth service counts beside what every process does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter

from services.auth.domain import LoginsBusy, NoAccount, TooManyAttempts, WrongPassword

LOGINS = Counter(
    "atajo_logins", "Log-ins by how they ended; faults of ours are left out.", ["result"]
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
