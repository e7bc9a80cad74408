"""Converts between errors and gRPC statuses.

A status carries the reason as `google.rpc.ErrorInfo`, the retry delay as `google.rpc.RetryInfo`.
"""

from __future__ import annotations

import math

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from services.shared import errors
from services.shared.observability import logs

log = logs.Throttled(__name__)

DOMAIN = "atajo"
_DETAILS_KEY = "grpc-status-details-bin"


def number_of(code: grpc.StatusCode) -> int:
    """Return the number of a status on the wire."""
    number: int = code.value[0]
    return number


_CODES: dict[type[errors.AppError], grpc.StatusCode] = {
    errors.InvalidArgument: grpc.StatusCode.INVALID_ARGUMENT,
    errors.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    errors.PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
    errors.NotFound: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    errors.ResourceExhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.Unavailable: grpc.StatusCode.UNAVAILABLE,
    errors.DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.Unimplemented: grpc.StatusCode.UNIMPLEMENTED,
    errors.Internal: grpc.StatusCode.INTERNAL,
}
_ERRORS: dict[grpc.StatusCode, type[errors.AppError]] = {
    **{code: kind for kind, code in _CODES.items()},
    # A server sends it for a call that it drops unhandled. Callers that gave up never see it.
    grpc.StatusCode.CANCELLED: errors.Unavailable,
}

_BY_NUMBER = {number_of(code): kind for code, kind in _ERRORS.items()}


def code_of(error: errors.AppError) -> grpc.StatusCode:
    """Return the status code of an error: that of the most specific class in the table."""
    return next(_CODES[kind] for kind in type(error).__mro__ if kind in _CODES)


def to_status(error: errors.AppError) -> grpc.Status:
    """Convert an error to the status that carries it over the wire."""
    details = [_pack(error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN))]
    if isinstance(error, errors.ResourceExhausted) and error.retry_after is not None:
        delay = duration_pb2.Duration(seconds=math.ceil(error.retry_after))
        details.append(_pack(error_details_pb2.RetryInfo(retry_delay=delay)))
    code = number_of(code_of(error))
    return rpc_status.to_status(
        status_pb2.Status(code=code, message=error.message, details=details)
    )


def from_parts(number: int, message: str, reason: str) -> errors.AppError:
    """Return the error for one item of a batch call, by the number of its status."""
    kind = _BY_NUMBER.get(number, errors.Internal)
    return errors.Internal() if kind is errors.Internal else kind(message, reason)


def from_rpc_error(error: grpc.aio.AioRpcError) -> errors.AppError:
    """Convert the error of a failed call. A status without a counterpart becomes `Internal`."""
    kind = _ERRORS.get(error.code(), errors.Internal)
    if kind is errors.Internal:
        return errors.Internal()
    message = error.details() or "The call failed."
    reason, retry_after = _details(error)
    if reason is None:  # The status comes from gRPC itself, whose message may contain addresses.
        message = "A service is unavailable." if kind is errors.Unavailable else "Failed."
    if kind is errors.ResourceExhausted:
        if reason is None:
            return _transport_exhausted(error)
        return errors.ResourceExhausted(message, reason, retry_after=retry_after)
    return kind(message, reason)


def _transport_exhausted(error: grpc.aio.AioRpcError) -> errors.AppError:
    """Return the error for RESOURCE_EXHAUSTED from gRPC itself, which is no rate limit of ours.

    It has two causes, which only the message distinguishes: a message is too large, so a retry
    would fail too; or the server is overloaded at the moment.
    """
    too_large = "larger than max" in (error.details() or "")
    reason = "MESSAGE_TOO_LARGE" if too_large else "TRANSPORT_EXHAUSTED"
    log.warning("transport_exhausted", reason=reason)
    if too_large:
        return errors.Internal()
    return errors.Unavailable("A service is unavailable.", reason)


def _details(error: grpc.aio.AioRpcError) -> tuple[str | None, float | None]:
    reason: str | None = None
    retry_after: float | None = None
    raw = error.trailing_metadata().get(_DETAILS_KEY)
    if not isinstance(raw, bytes):
        return None, None
    for detail in status_pb2.Status.FromString(raw).details:
        info = error_details_pb2.ErrorInfo()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info) and info.domain == DOMAIN:
            reason = info.reason
        elif detail.Unpack(retry):
            retry_after = float(retry.retry_delay.seconds)
    return reason, retry_after


def _pack(message: error_details_pb2.ErrorInfo | error_details_pb2.RetryInfo) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
