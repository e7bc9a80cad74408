"""Decisions about accounts, which administrators and the operator take."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Action(Enum):
    """What was decided. The values are stored and shown."""

    SUSPEND = "suspend"
    RESUME = "resume"
    ROLE = "role"
    END_SESSIONS = "end sessions"
    RESET_LINK = "reset link"
    INVITE = "invite"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about an account."""

    id: str
    at: datetime
    action: Action
    subject: str
    """The id of the account; of an `INVITE`, of the invitation."""
    comment: str
    """The role of a `ROLE` or `INVITE`, else empty."""
    by: str
    """The e-mail address of the administrator, empty for the operator."""
    search_text: str
    """What searches look at, normalized by `normalize_search`."""


def create_decision(
    action: Action, subject: str, by: str, now: datetime, comment: str = ""
) -> Decision:
    """Return a decision with a random id."""
    return Decision(
        id=secrets.token_hex(12),
        at=now,
        action=action,
        subject=subject,
        comment=comment,
        by=by,
        search_text=normalize_search(" ".join((action.value, subject, comment, by or "operator"))),
    )


def normalize_search(text: str) -> str:
    """Return a text as searches compare it: without case and surrounding white space."""
    return unicodedata.normalize("NFC", text.strip()).casefold()
