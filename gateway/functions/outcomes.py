"""Errors that callers branch on, which are returned as data. All others are callable errors."""

from __future__ import annotations

from typing import Any

from services.shared.errors import AppError, Unauthenticated

Reply = dict[str, Any]
"""The `data` of a response."""


class NoOwner(Unauthenticated):
    """A call on behalf of an owner names none."""

    default_reason = "NO_OWNER"


_NAMES = {
    "EMAIL_TAKEN": "exist",
    "NO_ACCOUNT": "no exist",
    "NO_IMPORT": "no exist",
    "NO_LINK": "no exist",
    "NO_PASSKEY": "no exist",
    "WRONG_PASSKEY": "incorrect",
    "WRONG_PASSWORD": "incorrect",
    "WRONG_RECOVERY_CODE": "incorrect",
    "INVALID_TOKEN": "invalid token",
    NoOwner.default_reason: "no logged",
}
"""Reasons, and the names that callers of functions know them by."""


def outcome_of(error: AppError) -> Reply:
    """Return the data for an error that callers branch on. Raises any other error again."""
    if error.reason not in _NAMES:
        raise error
    return {"success": False, "error": _NAMES[error.reason]}
