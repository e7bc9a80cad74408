"""Creations of an account's links by calls with an idempotency key, and the record of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from services.links.domain.code import CodeTaken, check_chosen_code
from services.links.domain.edit import LinkChanges
from services.links.domain.link import Link
from services.links.domain.owner import Account
from services.links.domain.url import UrlPolicy
from services.shared.errors import AlreadyExists, AppError, InvalidArgument

MAX_CREATED_LINKS = 100
"""Maximum links that one call creates, in one transaction."""
CREATION_RETENTION = timedelta(hours=24)
"""How long a repeated call returns the first outcomes. Afterwards its record is deleted."""
MAX_KEY_BYTES = 64
FINGERPRINT_BYTES = 32
"""The size of a SHA-256 hash."""

Outcome = Link | AppError
"""The link as it was created, or why it was not created."""


class InvalidIdempotencyKey(InvalidArgument):
    default_reason = "INVALID_IDEMPOTENCY_KEY"


class IdempotencyMismatch(InvalidArgument):
    """The idempotency key belongs to a call with another fingerprint."""

    default_reason = "IDEMPOTENCY_MISMATCH"


class CreationInProgress(AlreadyExists):
    """Another call with the same idempotency key is running."""

    default_reason = "IN_PROGRESS"


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link to create, unchecked."""

    url: str
    code: str | None = None
    """None for a random code."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Further values, as in `LinkChanges`. The link has the defaults of `Link` in other fields."""

    def draft(self, owner: Account, urls: UrlPolicy, now: datetime) -> Link:
        """Return the link to store. Its code is empty if it needs a random one.

        Raises CodeReserved, InvalidCode, and what `LinkChanges.checked` raises.
        """
        if self.code is not None:
            check_chosen_code(self.code)
        values = LinkChanges(url=self.url, **self.values).checked(urls)
        return Link(code=self.code or "", owner=owner, created_at=now, **values)


@dataclass(frozen=True, slots=True)
class Creation:
    """The record of a call that created links of an account."""

    account: Account
    key: bytes
    """The idempotency key."""
    fingerprint: bytes
    """SHA-256 of what the client requested."""
    created_at: datetime
    outcomes: Sequence[Outcome]
    """One for each link of the call, in its order."""

    def is_over_at(self, now: datetime) -> bool:
        """Return whether the key counts as unused again."""
        return self.created_at + CREATION_RETENTION <= now


def check_idempotency_key(key: bytes) -> None:
    """Raise InvalidIdempotencyKey for a key of a wrong size."""
    if not 1 <= len(key) <= MAX_KEY_BYTES:
        raise InvalidIdempotencyKey(f"An idempotency key has 1 to {MAX_KEY_BYTES} bytes.")


def check_fingerprint(fingerprint: bytes) -> None:
    """Raise InvalidIdempotencyKey for a fingerprint of a wrong size."""
    if len(fingerprint) != FINGERPRINT_BYTES:
        raise InvalidIdempotencyKey(f"A fingerprint has {FINGERPRINT_BYTES} bytes.")


def created_links(record: Creation) -> list[Link]:
    """Return the links that a call created."""
    return [outcome for outcome in record.outcomes if isinstance(outcome, Link)]


def settle(
    drafts: Iterable[Outcome], taken: AbstractSet[str], free: Iterable[str]
) -> list[Outcome]:
    """Return the outcomes of drafts in their order: each takes its code from the drafts after it.

    `taken` contains those of their codes that are taken. `free` has one free code for each draft
    without a code.
    """
    used, codes = set(taken), iter(free)

    def outcome_of(draft: Outcome) -> Outcome:
        if not isinstance(draft, Link):
            return draft
        link = draft if draft.code else replace(draft, code=next(codes))
        if link.code in used:
            return CodeTaken("This code is taken.")
        used.add(link.code)
        return link

    return [outcome_of(draft) for draft in drafts]
