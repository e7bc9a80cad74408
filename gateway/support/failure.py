"""The error that became the response to a request, which the dispatcher logs."""

from __future__ import annotations

from starlette.types import Scope

from services.shared.errors import AppError

_KEY = "atajo.error"
"""Its place in the state of a request, which copies of the scope share."""


def note_failure(scope: Scope, error: AppError) -> None:
    """Note the error of a request."""
    scope.setdefault("state", {})[_KEY] = error


def failure_of(scope: Scope) -> AppError | None:
    """Return the error that was noted."""
    error: AppError | None = scope.get("state", {}).get(_KEY)
    return error
