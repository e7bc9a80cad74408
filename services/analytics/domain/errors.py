"""Errors of the analytics service, with the reasons that clients receive."""

from __future__ import annotations

from services.shared.errors import InvalidArgument, ResourceExhausted


class InvalidBatch(InvalidArgument):
    default_reason = "INVALID_BATCH"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class InvalidRange(InvalidArgument):
    default_reason = "INVALID_RANGE"


class InvalidTimezone(InvalidArgument):
    default_reason = "INVALID_TIMEZONE"


class TooManyReads(ResourceExhausted):
    default_reason = "TOO_MANY_READS"
