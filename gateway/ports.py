"""What the gateway calls on the three services, as protocols. It knows nothing else of them.

`gateway/clients.py` has the adapters that call the services over gRPC, `tests/fakes.py` those that
keep everything in memory. One contract suite for each port runs over both kinds.

A part of the gateway that needs a service defines the protocol that it calls, as the resolver does
with `LinkSource`. A port joins all protocols that one service fulfils. Every method may raise
Unavailable and DeadlineExceeded, and other kinds of `services.runtime.errors.AppError` where it
says so. Callers branch on an error's `reason`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.profiles import LinkList, ViewCounts
from gateway.resolver import LinkSource
from gateway.visits.sender import VisitSink


@dataclass(frozen=True, slots=True)
class Session:
    """What a log-in gives."""

    token: str
    expires_at: datetime
    username: str
    device: str
    """Mark for the browser to show at its next log-in."""


class Service(Protocol):
    """What all three services can do."""

    async def check(self) -> None:
        """Return if the service says that it is ready. Raises AppError, whose reason says why not.

        To be called once a second.
        """


class Auth(Service, Protocol):
    """Who somebody is: the auth service."""

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        """Make an account. Reasons: EMAIL_TAKEN, INVALID_*."""

    async def login(self, email: str, password: str, client_address: str, device: str) -> Session:
        """Check a password; `device` is the mark that the browser was last given, or empty.

        Reasons: NO_ACCOUNT, WRONG_PASSWORD, TOO_MANY_ATTEMPTS.
        """
        ...

    async def account_of(self, token: str) -> str:
        """Identifier of the account a session token belongs to. Reason: INVALID_TOKEN."""
        ...


class Links(Service, LinkSource, LinkList, Protocol):
    """Where short addresses lead: the links service."""

    async def create(self, code: str, url: str, creator: str | None) -> str:
        """Store a link; returns its URL as stored. Reasons: CODE_TAKEN, INVALID_*."""
        ...


class Analytics(Service, VisitSink, ViewCounts, Protocol):
    """How often links are followed: the analytics service."""
