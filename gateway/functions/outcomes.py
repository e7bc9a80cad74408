"""Outcomes that callers branch on: they are data, and every other failure is a callable error."""

from __future__ import annotations

from typing import Any

from services.shared.errors import AppError, Unauthenticated

Reply = dict[str, Any]
"""What a call returns under `data`."""


class NoOwner(Unauthenticated):
    """A call that acts for an owner names none."""

    default_reason = "NO_OWNER"


_NAMES = {
    "EMAIL_TAKEN": "exist",
    "NO_ACCOUNT": "no exist",
    "NO_LINK": "no exist",
    "WRONG_PASSWORD": "incorrect",
    "INVALID_TOKEN": "invalid token",
    NoOwner.default_reason: "no logged",
}
"""The reason of an error, and the name that callers of functions know it by."""


def outcome_of(error: AppError) -> Reply:
    """The data for an error that callers branch on. Raises any other error again."""
    if error.reason not in _NAMES:
        raise error
    return {"success": False, "error": _NAMES[error.reason]}
