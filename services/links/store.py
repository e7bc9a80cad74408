"""What the links service asks of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from services.links.domain import Account, Guest, Link, Resolution


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

    async def remove(self, codes: Sequence[str]) -> list[str]:
        """Remove links for good; returns those of the codes that were removed, now or before.

        Codes that no link ever held are left alone.
        """
        ...
