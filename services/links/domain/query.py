"""Lists of an owner's links: which of them, in which order, and where a page ends."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from hashlib import sha256

from services.links.domain.link import Account, Guest, Link, LinkState
from services.links.domain.text import folded
from services.shared.errors import InvalidArgument
from services.shared.text import CONTROLS
from services.shared.timestamps import micros_of, moment_of

MAX_TEXT_LENGTH = 999
"""Of a text that links are searched for, in Unicode code points."""
MAX_LIMIT = 100
"""Most links on one page of a list."""
MAX_LIMIT_WITHOUT_TOTAL = 200
"""200 links with two URLs of 999 characters (4 bytes each): 2 MB, half of a message of gRPC."""
KEPT_RANKINGS = 32
"""How many rankings of an owner are kept. Each order and search that is looked at is another one,
and so is one in which a visit has changed the places."""
RANKING_KEPT_FOR = timedelta(hours=1)
_DIGEST_BYTES = 12
_MAX_CURSOR_LENGTH = 200
_MAX_PLACE = 1 << 31


class InvalidQuery(InvalidArgument):
    default_reason = "INVALID_QUERY"


class InvalidLimit(InvalidArgument):
    default_reason = "INVALID_LIMIT"


class InvalidCursor(InvalidArgument):
    default_reason = "INVALID_CURSOR"


class LinkOrder(Enum):
    """In which order links are listed. Of those that are alike in it, the newer comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    MOST_VIEWED = "most viewed"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of an owner's links are asked for.

    `text` is folded (`folded`) and empty for all of them. `state` None stands for every state but
    removed. A removed link is in no other list than that of the removed ones, blocked or not.
    """

    text: str = ""
    state: LinkState | None = None

    def includes(self, link: Link, now: datetime) -> bool:
        """Whether a link is asked for at a moment."""
        if link.removed_at is not None:
            in_state = self.state is LinkState.REMOVED and not link.is_gone_at(now)
        else:
            in_state = self.state in (None, link.state_at(now))
        return in_state and self.text in link.searched()


@dataclass(frozen=True, slots=True)
class Position:
    """Behind which link of a list by age to go on."""

    created_at: datetime
    code: str


@dataclass(frozen=True, slots=True)
class Place:
    """From which place of a ranking that is kept under a key to go on."""

    key: str
    start: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Whose links are asked for, which of them and in which order: what a cursor is made for."""

    owner: Account | Guest
    wanted: Wanted
    order: LinkOrder

    def cursor(self, end: Position | Place) -> str:
        """The cursor that goes on from where a page ended."""
        if isinstance(end, Position):
            told = f"{micros_of(end.created_at)} {end.code}"
        else:
            told = f"{end.start} {end.key}"
        payload = told.encode()
        return urlsafe_b64encode(self._digest(payload) + payload).decode().rstrip("=")

    def end(self, cursor: str) -> Position | Place:
        """Where the page ended that a cursor was made for.

        Raises InvalidCursor for what is none, or one of another listing.
        """
        try:
            if len(cursor) > _MAX_CURSOR_LENGTH:
                raise ValueError
            given = urlsafe_b64decode(f"{cursor}{'=' * (-len(cursor) % 4)}")
            digest, payload = given[:_DIGEST_BYTES], given[_DIGEST_BYTES:]
            if digest != self._digest(payload):
                raise ValueError
            number, _, name = payload.decode().partition(" ")
            end: Position | Place
            if self.order is LinkOrder.MOST_VIEWED:
                end = Place(name, int(number))
                if not 0 < end.start < _MAX_PLACE:
                    raise ValueError
            else:
                end = Position(moment_of(int(number)), name)
            if self.cursor(end) != cursor:  # One end has one cursor.
                raise ValueError
        except (ValueError, OverflowError):
            raise InvalidCursor("This cursor was not made for these links.") from None
        return end

    def _digest(self, payload: bytes) -> bytes:
        """Binds a cursor to its listing. It is no secret: who makes one up reads the own links."""
        match self.owner:
            case Account(id=account):
                owner = ["account", account]
            case Guest(key_hash=key_hash):
                owner = ["guest", key_hash.hex()]
        state = self.wanted.state and self.wanted.state.value
        listing = json.dumps([*owner, self.wanted.text, state, self.order.value])
        return sha256(f"{listing}\n".encode() + payload).digest()[:_DIGEST_BYTES]


def text_of(given: str) -> str:
    """The text to look for, folded. Raises InvalidQuery."""
    if len(given) > MAX_TEXT_LENGTH or CONTROLS.search(given):
        raise InvalidQuery(
            f"A text to look for has up to {MAX_TEXT_LENGTH} characters and no control characters."
        )
    return folded(given)


def check_limit(limit: int, max_limit: int = MAX_LIMIT) -> None:
    """Refuse what cannot be the number of links on a page. Raises InvalidLimit."""
    if not 1 <= limit <= max_limit:
        raise InvalidLimit(f"A page has 1 to {max_limit} links.")
