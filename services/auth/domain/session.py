"""Sessions of accounts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

LIFETIME = timedelta(hours=4)
MAX_SESSIONS = 100
"""Maximum sessions of an account. A further log-in ends the oldest one."""

MAX_NAME_LENGTH = 50
"""Names of browsers and systems are cut there. The gateway sends shorter ones."""


@dataclass(frozen=True, slots=True)
class Session:
    """A log-in from a browser. It ends when it expires, or is deleted."""

    id: str
    account_id: str
    created_at: datetime
    expires_at: datetime
    last_seen_at: datetime
    """In whole hours."""
    browser: str
    """Its name without a version, empty if it is unknown."""
    system: str
    """The name of the operating system, likewise."""
    confirmed_at: datetime | None = None
    """When a password or passkey was last sent in it, None for the log-in of an earlier version."""


@dataclass(frozen=True, slots=True)
class Creator:
    """The session that created an API key or a passkey, as it was then. It may have ended."""

    id: str
    created_at: datetime
    browser: str
    system: str


def create_session(account_id: str, browser: str, system: str, now: datetime) -> Session:
    """Return a session with a new random id."""
    return Session(
        id=secrets.token_hex(12),
        account_id=account_id,
        created_at=now,
        expires_at=now + LIFETIME,
        last_seen_at=start_of_hour(now),
        browser=browser[:MAX_NAME_LENGTH],
        system=system[:MAX_NAME_LENGTH],
        confirmed_at=now,
    )


def start_of_hour(moment: datetime) -> datetime:
    """Return the start of the hour."""
    return moment.replace(minute=0, second=0, microsecond=0)
