"""What the links service asks of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from services.links.domain import Account, Guest, Link, Resolution
from services.runtime.feed import Told


class LinkStore(Protocol):
    """Keeps links by unique code. Every method raises Unavailable when the store is away."""

    async def add(self, link: Link) -> Link | None:
        """Store a link whose code is free; returns whichever link now holds the code.

        None when the link that held it was removed: such a code is never free again.
        """
        ...

    async def find(self, code: str) -> Link | None:
        """The link under a code, whoever owns it; None where there is none or it was removed."""
        ...

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """What those of the codes answer that are stored and not removed for good, in no order."""
        ...

    def by_owner(self, owner: Account | Guest, page_size: int) -> AsyncIterator[list[Link]]:
        """An owner's links, newest first, in pages; links added meanwhile do not appear."""
        ...

    async def remove(self, codes: Sequence[str], now: datetime) -> list[str]:
        """Remove links for good; returns those of the codes that were removed, now or before.

        Those are announced, whether or not this call changed anything. Codes that no link ever held
        are left alone.
        """
        ...

    async def announcements(self, mark: int | None) -> Told:
        """What was announced after a mark; None asks for the mark of now.

        A change is announced once it is stored and before the call that made it returns, so what is
        read of a code after its announcement is no older than the change. Where the call ended in
        between, by a crash or because the store went away, repeating it announces the change.
        Announcements are numbered without a gap, whatever the clocks of those who make them.
        """
        ...
