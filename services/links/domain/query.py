"""Lists of an owner's links: filter, order and cursors."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256

from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest
from services.links.domain.resolution import LinkState
from services.links.domain.text import fold_case
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.errors import InvalidArgument
from services.shared.timestamps import from_micros, to_micros

MAX_TEXT_LENGTH = 999
"""Of a search text, in Unicode code points."""
MAX_LIMIT = 100
"""Maximum page size."""
MAX_LIMIT_WITHOUT_TOTAL = 200
"""200 links with two 999-character URLs (4 bytes each) are 2 MB, half of gRPC's message limit."""
MAX_STORED_RANKINGS = 32
"""Maximum stored rankings of an owner. Each order and search that is paged through is another one,
and so is one in which a visit changed the order."""
RANKING_TTL = timedelta(hours=1)
_DIGEST_BYTES = 12
_MAX_CURSOR_LENGTH = 200
_MAX_RANK = 1 << 31


class InvalidQuery(InvalidArgument):
    default_reason = "INVALID_QUERY"


class InvalidLimit(InvalidArgument):
    default_reason = "INVALID_LIMIT"


class InvalidCursor(InvalidArgument):
    default_reason = "INVALID_CURSOR"


class LinkOrder(Enum):
    """The order of a list. Of equals, the newer link comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    MOST_VIEWED = "most viewed"


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Which of an owner's links a list contains.

    Removed links appear only in the list of removed links, blocked or not.
    """

    text: str = ""
    """A search text in the form of `fold_case`; empty matches every link."""
    state: LinkState | None = None
    """None stands for every state except removed."""

    def matches(self, link: Link, now: datetime) -> bool:
        """Return whether the list contains a link at a moment."""
        if link.removed_at is not None:
            in_state = self.state is LinkState.REMOVED and not link.is_gone_at(now)
        else:
            in_state = self.state in (None, link.state_at(now))
        return in_state and self.text in link.search_text()


@dataclass(frozen=True, slots=True)
class AgeCursor:
    """The last link of a page in a list ordered by age."""

    created_at: datetime
    code: str


@dataclass(frozen=True, slots=True)
class RankCursor:
    """Where the next page of a stored ranking starts."""

    key: str
    """The key that the ranking is stored under."""
    start: int
    """The index of the next link."""


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """Whose links to list, which of them and in which order. Cursors belong to one query."""

    owner: Account | Guest
    link_filter: LinkFilter
    order: LinkOrder

    def encode(self, cursor: AgeCursor | RankCursor) -> str:
        """Return a cursor as opaque text."""
        if isinstance(cursor, AgeCursor):
            fields = f"{to_micros(cursor.created_at)} {cursor.code}"
        else:
            fields = f"{cursor.start} {cursor.key}"
        payload = fields.encode()
        return urlsafe_b64encode(self._digest(payload) + payload).decode().rstrip("=")

    def decode(self, text: str) -> AgeCursor | RankCursor:
        """Return the cursor that `encode` wrote.

        Raises InvalidCursor for any other text, and for a cursor of another query.
        """
        try:
            if len(text) > _MAX_CURSOR_LENGTH:
                raise ValueError
            given = urlsafe_b64decode(f"{text}{'=' * (-len(text) % 4)}")
            digest, payload = given[:_DIGEST_BYTES], given[_DIGEST_BYTES:]
            if digest != self._digest(payload):
                raise ValueError
            number, _, name = payload.decode().partition(" ")
            cursor: AgeCursor | RankCursor
            if self.order is LinkOrder.MOST_VIEWED:
                cursor = RankCursor(name, int(number))
                if not 0 < cursor.start < _MAX_RANK:
                    raise ValueError
            else:
                cursor = AgeCursor(from_micros(int(number)), name)
            if self.encode(cursor) != text:  # Accept one spelling only.
                raise ValueError
        except (ValueError, OverflowError):
            raise InvalidCursor("This cursor belongs to another query.") from None
        return cursor

    def _digest(self, payload: bytes) -> bytes:
        """Return a digest that binds a cursor to the query.

        It is not a secret: a forged cursor only reads the caller's own links.
        """
        match self.owner:
            case Account(id=account):
                owner = ["account", account]
            case Guest(key_hash=key_hash):
                owner = ["guest", key_hash.hex()]
        state = self.link_filter.state and self.link_filter.state.value
        query = json.dumps([*owner, self.link_filter.text, state, self.order.value])
        return sha256(f"{query}\n".encode() + payload).digest()[:_DIGEST_BYTES]


def parse_search_text(given: str) -> str:
    """Return a search text in the form of `fold_case`. Raises InvalidQuery."""
    if len(given) > MAX_TEXT_LENGTH or CONTROL_CHARACTERS.search(given):
        raise InvalidQuery(
            f"A search text has up to {MAX_TEXT_LENGTH} characters and no control characters."
        )
    return fold_case(given)


def check_limit(limit: int, max_limit: int = MAX_LIMIT) -> None:
    """Raise InvalidLimit for a page size that is out of range."""
    if not 1 <= limit <= max_limit:
        raise InvalidLimit(f"The limit must be 1 to {max_limit}.")
