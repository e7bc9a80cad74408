"""The calls that the reconciler makes to the services. Every call raises AppError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.admin import removal


@dataclass(frozen=True)
class ViewChanges:
    """A page of the change feed of analytics: view counts of visited links, by code.

    `cursor` is the end of the page; with `more`, further changes may follow. With `truncated`,
    changes after the requested cursor are lost, and `cursor` is the current one.
    """

    cursor: str
    views: Mapping[str, int]
    more: bool = False
    truncated: bool = False


class Leases(Protocol):
    """Leases, which decide which process runs a job."""

    async def take_lease(self, job: str, holder: str, seconds: int) -> bool:
        """Take or renew a lease; return whether the holder has it. 0 seconds return it."""


class Auth(removal.Auth, Protocol):
    """auth, as the reconciler needs it."""

    async def closed_accounts(self) -> list[str]:
        """Return up to 10,000 closed accounts, in any order."""


class Links(removal.Links, Protocol):
    """links, as the reconciler needs it."""

    async def purgeable_links(self) -> list[str]:
        """Return up to 1000 links that cannot be restored any more, the longest removed first."""

    async def codes_after(self, code: str) -> list[str]:
        """Return up to 1000 codes of links with an owner, in order, beginning after `code`."""

    async def store_views(self, views: Mapping[str, int], cursor: str | None) -> None:
        """Store the view counts of up to 1000 links, then the cursor, if there is one."""

    async def views_cursor(self) -> str | None:
        """Return the cursor that was stored last."""


class Analytics(removal.Analytics, Protocol):
    """analytics, as the reconciler needs it."""

    async def view_changes(self, cursor: str | None) -> ViewChanges:
        """Return the changes after a cursor; None returns the current cursor only."""

    async def views_of(self, codes: Sequence[str]) -> dict[str, int]:
        """Return the view counts of up to 1000 links by code, without those never visited."""


@dataclass(frozen=True)
class Services(removal.Services):
    """The services that the reconciler calls."""

    auth: Auth
    links: Links
    analytics: Analytics
