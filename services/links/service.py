"""What can be done with links."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from services.links.domain import (
    MAX_CODES,
    Changes,
    CodeTaken,
    InvalidOwner,
    Link,
    Nobody,
    Owner,
    Resolution,
    TooManyCodes,
    UrlPolicy,
    check_code,
)
from services.links.store import LinkStore
from services.runtime.codes import is_code

# 500 links of 999 characters of four bytes are 2 MB: half of gRPC's limit on a message.
PAGE_SIZE = 500


class LinksService:
    """The use cases of links over a store, with the clock and the URL rules handed in."""

    def __init__(self, store: LinkStore, urls: UrlPolicy, now: Callable[[], datetime]) -> None:
        self._store = store
        self._urls = urls
        self._now = now

    async def create(self, code: str, url: str, owner: Owner) -> Link:
        """Store a link; repeating the same one succeeds and changes nothing.

        Raises InvalidCode, InvalidUrl, CodeTaken, Unavailable.
        """
        check_code(code, owner)
        wanted = Link(code, self._urls.normalize(url), owner, self._now())
        stored = await self._store.add(wanted)
        if stored is None or not wanted.repeats(stored):
            raise CodeTaken("This code is taken.")
        return stored

    async def resolve(self, codes: Sequence[str]) -> list[Resolution]:
        """What short addresses answer, in no order.

        Codes that are unknown, malformed or gone for good are left out.

        Raises TooManyCodes, Unavailable.
        """
        wellformed = _wellformed(codes)
        return await self._store.resolve(wellformed) if wellformed else []

    def by_owner(self, owner: Owner) -> AsyncIterator[list[Link]]:
        """An owner's links, newest first, in pages of at most `PAGE_SIZE`.

        Raises InvalidOwner for nobody, Unavailable.
        """
        if isinstance(owner, Nobody):
            raise InvalidOwner("A list of links is of an account or of a guest.")
        return self._store.by_owner(owner, PAGE_SIZE)

    async def purge(self, codes: Sequence[str]) -> list[str]:
        """Purge links; returns those of the codes that were purged, now or before.

        Raises TooManyCodes, Unavailable.
        """
        wellformed = _wellformed(codes)
        return await self._store.purge(wellformed, self._now()) if wellformed else []

    async def changes(self, mark: int | None) -> Changes:
        """Which short addresses answer otherwise than before a mark; None asks for that of now.

        Raises Unavailable.
        """
        told = await self._store.announcements(mark)
        found = await self._store.resolve(told.keys) if told.keys else []
        gone = sorted(set(told.keys) - {one.code for one in found})
        return Changes(told.mark, found, gone, told.more, told.lost)


def _wellformed(codes: Sequence[str]) -> list[str]:
    """Those that have the shape of a code. Raises TooManyCodes."""
    if len(codes) > MAX_CODES:
        raise TooManyCodes(f"At most {MAX_CODES} codes can be named at once.")
    return [code for code in codes if is_code(code)]
