"""What the reconciler asks of the services. Every call raises AppError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.admin import removal


@dataclass(frozen=True)
class Visited:
    """A page of the change feed of analytics: visits of people by code, of visited links.

    `cursor` is where the page ends, and `more` says that others may follow. If `truncated` is true,
    changes since the requested cursor are lost: `cursor` is then that of now.
    """

    cursor: str
    people: Mapping[str, int]
    more: bool = False
    truncated: bool = False


class Leases(Protocol):
    """Who does which job."""

    async def take_lease(self, job: str, holder: str, seconds: int) -> bool:
        """Take or renew a lease; whether the holder has it now. 0 seconds give it back."""
        ...


class Auth(removal.Auth, Protocol):
    """What is asked of auth."""

    async def closed_accounts(self) -> list[str]:
        """Up to 10,000 closed accounts, in no order."""
        ...


class Links(removal.Links, Protocol):
    """What is asked of links."""

    async def purgeable(self) -> list[str]:
        """Up to 1000 links whose removal cannot be undone any more, the longest removed first."""
        ...

    async def codes_after(self, code: str) -> list[str]:
        """Up to 1000 codes of links of somebody that come after `code` in their order."""
        ...

    async def rank(self, people: Mapping[str, int], cursor: str | None) -> None:
        """Store visits of people of up to 1000 links, then the cursor, if one is given."""
        ...

    async def rank_cursor(self) -> str | None:
        """Return the cursor that was stored last."""
        ...


class Analytics(removal.Analytics, Protocol):
    """What is asked of analytics."""

    async def visited(self, cursor: str | None) -> Visited:
        """Return the links that were visited after a cursor; None asks for the cursor of now."""
        ...

    async def people(self, codes: Sequence[str]) -> dict[str, int]:
        """Visits of people by code, of up to 1000 links; those nobody visited are left out."""
        ...


@dataclass(frozen=True)
class Services(removal.Services):
    """The services as the reconciler needs them."""

    auth: Auth
    links: Links
    analytics: Analytics
