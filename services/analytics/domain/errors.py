"""Errors of the analytics service, with the reasons that clients receive."""

from __future__ import annotations

from services.shared.errors import InvalidArgument, ResourceExhausted, Unavailable


class InvalidBatch(InvalidArgument):
    default_reason = "INVALID_BATCH"


class LaterVersion(Unavailable):
    """A batch has something that only a later version of analytics can count.

    Its gateway keeps and resends it: to another replica, or to this one once it is upgraded.
    """

    default_reason = "LATER_VERSION"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class InvalidRange(InvalidArgument):
    default_reason = "INVALID_RANGE"


class InvalidTimezone(InvalidArgument):
    default_reason = "INVALID_TIMEZONE"


class TooManyReads(ResourceExhausted):
    default_reason = "TOO_MANY_READS"
