"""The errors that use cases raise, independent of the protocol.

    AppError
    ├── InvalidArgument      the request is invalid and must not be repeated
    ├── Unauthenticated      a password or token in the request is wrong
    ├── PermissionDenied     the caller is known, and may not do this
    ├── NotFound             the subject of the call does not exist
    ├── AlreadyExists        a conflict with something that exists
    ├── ResourceExhausted    a limit was reached; may contain the seconds to wait
    ├── Unavailable          a dependency is away; the same call may succeed later
    ├── DeadlineExceeded     a dependency did not answer in time
    ├── Unimplemented        the function does not exist
    └── Internal             anything else; the message is fixed, the log has the details

Each has a `reason`: a stable code in UPPER_SNAKE_CASE on which callers may branch. The message is
for people. UnsupportedSchemaVersion is none of them: it ends the process at its start.
"""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """An error that may be reported to the caller."""

    default_reason: ClassVar[str] = "INTERNAL"
    call: str = ""
    """The gRPC call that returned the error, for the log; empty if this process raised it."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason


class InvalidArgument(AppError):
    default_reason = "INVALID_ARGUMENT"


class Unauthenticated(AppError):
    default_reason = "UNAUTHENTICATED"


class PermissionDenied(AppError):
    default_reason = "PERMISSION_DENIED"


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
    """A bug of ours. The caller learns nothing about its cause."""

    def __init__(self) -> None:
        super().__init__("Something went wrong on our side.")


class UnsupportedSchemaVersion(Exception):
    """A newer version of the program has used this store. The text is one line."""

    def __init__(self, store: str, version: int, known: int) -> None:
        super().__init__(
            f"{store} has schema version {version}; this program knows up to {known}. "
            "A newer version of Atajo wrote it: run that one, or restore a backup of this one."
        )
