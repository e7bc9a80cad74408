"""What the auth service asks of its stores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from services.auth.domain.account import Account


class AccountStore(Protocol):
    """Keeps accounts by unique e-mail key. Every method raises Unavailable when it is away."""

    async def add(self, account: Account) -> Account:
        """Store an account whose e-mail key is free; returns whichever account now holds it."""
        ...

    async def by_email(self, email_key: str) -> Account | None:
        """The account with this e-mail key."""
        ...

    async def by_id(self, account_id: str) -> Account | None:
        """The account with this id."""
        ...

    async def change_password(self, account: Account, password_hash: str, salt: str) -> bool:
        """Give an account another password, and the session after its own, in one step.

        False, and nothing changed, when it is in another session, closed or gone by now.
        """
        ...

    async def close(self, email_key: str) -> str | None:
        """Close the account with this e-mail key, closed before or not; returns its id."""
        ...

    async def close_in_session(self, account: Account) -> bool:
        """Close an account; False when it is in another session, closed or gone by now."""
        ...

    async def closed(self, limit: int) -> list[str]:
        """The ids of up to `limit` closed accounts, whichever they are."""
        ...

    async def remove(self, account_id: str) -> None:
        """Remove the account with this id where it is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was asked for: whether it was granted, and when the window that it falls in
    ends."""

    granted: bool
    window_ends: datetime


class AttemptStore(Protocol):
    """Counts attempts by key in fixed windows. Every method raises Unavailable when it is away.

    A window begins with an attempt that finds no open window, or only one whose attempts were all
    given back. It ends by the clock of the caller. One that ends later than a window can last, with
    `CLOCK_LEEWAY`, was begun by a clock that ran ahead and counts as ended. Old rows are cleared
    away some time after that; when, makes no difference to any count.
    """

    async def take(self, key: str, limit: int, window: timedelta, now: datetime) -> Attempt:
        """Count one attempt more, unless the window already counts `limit`."""
        ...

    async def give_back(self, key: str, window_ends: datetime) -> None:
        """Count one attempt less, if the window that ends then is still the one that counts."""
        ...
