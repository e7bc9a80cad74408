"""The errors a use case may raise, and nothing about how they travel.

    AppError
    ├── InvalidArgument      the caller sent something that can never be right
    ├── Unauthenticated      a secret the caller sent does not verify
    ├── NotFound             what the call is about does not exist
    ├── AlreadyExists        something else holds the place
    ├── ResourceExhausted    a limit was reached; may carry the seconds to wait
    ├── Unavailable          a part is away; the same call may succeed later
    ├── DeadlineExceeded     a part did not answer in time
    ├── Unimplemented        no such function
    └── Internal             everything else; its text is fixed, the log has the rest

Each carries a `reason`: a stable UPPER_SNAKE code that callers branch on. They never branch
on the message, which is for people.
"""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """An outcome other than success that a caller may be told."""

    default_reason: ClassVar[str] = "INTERNAL"
    call: str = ""
    """The gRPC call that ended with it, for the log; empty where it is this process's own."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason


class InvalidArgument(AppError):
    default_reason = "INVALID_ARGUMENT"


class Unauthenticated(AppError):
    default_reason = "UNAUTHENTICATED"


class NotFound(AppError):
    default_reason = "NOT_FOUND"


class AlreadyExists(AppError):
    default_reason = "ALREADY_EXISTS"


class ResourceExhausted(AppError):
    """A limit was reached. `retry_after` is in seconds."""

    default_reason = "RESOURCE_EXHAUSTED"

    def __init__(
        self, message: str, reason: str | None = None, *, retry_after: float | None = None
    ) -> None:
        super().__init__(message, reason)
        self.retry_after = retry_after


class Unavailable(AppError):
    default_reason = "UNAVAILABLE"


class DeadlineExceeded(AppError):
    default_reason = "DEADLINE_EXCEEDED"


class Unimplemented(AppError):
    default_reason = "UNIMPLEMENTED"


class Internal(AppError):
    """A fault of ours. Nothing of its cause is told to the caller."""

    def __init__(self) -> None:
        super().__init__("Something went wrong on our side.")
