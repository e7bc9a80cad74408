"""Handles every served call: request id, metrics, log line, and errors converted to statuses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, NoReturn

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from grpc.aio import ServicerContext

from services.shared import errors
from services.shared.observability import logs, metrics, request_id, tracing
from services.shared.rpc import status

_LINES_PER_MINUTE = 10
"""Maximum log lines per reason: enough to find a particular call, but too few for a flood by
callers who provoke an error."""
_RETRY_HEADER = "grpc-previous-rpc-attempts"
"""Sent by gRPC with each attempt but the first. No client can set it."""

_is_retry: ContextVar[bool] = ContextVar("is_retry", default=False)

log = logs.Throttled(__name__, max_lines=_LINES_PER_MINUTE)


def record_call(service: str, method: str, code: str, seconds: float) -> None:
    """Measure the duration of a call that ended with a status code."""
    metrics.SERVER_SECONDS.labels(service, method, code).observe(seconds)


def record_failure(error: Exception, service: str, method: str, seconds: float) -> errors.AppError:
    """Measure and log a call that ended with an error. Return the error for the caller."""
    known = error if isinstance(error, errors.AppError) else errors.Internal()
    code = status.code_of(known).name
    record_call(service, method, code, seconds)
    fields = {"method": method, "code": code, "duration": round(seconds, 6)}
    if known is not error:
        log.error("call_failed", exc_info=error, **fields)
    elif isinstance(known, errors.Unavailable):
        cause = type(known.__cause__).__name__ if known.__cause__ else None
        log.warning("call_failed", reason=known.reason, cause=cause, **fields)
    else:
        log.info("call_refused", reason=known.reason, **fields)
    return known


def create_handler(service: ServiceDescriptor, servicer: object) -> grpc.GenericRpcHandler:
    """Return what serves the calls of a service. Only here do errors become statuses.

    A method of `servicer` has the name of each call. It takes the request, and returns the response
    or yields the responses. Raises AttributeError if a method is missing.
    """
    return grpc.method_handlers_generic_handler(
        service.full_name,
        {method.name: _wrap(method, getattr(servicer, method.name)) for method in service.methods},
    )


def is_retry() -> bool:
    """Return whether gRPC repeats the current call, because its response was lost."""
    return _is_retry.get()


def _wrap(
    method: MethodDescriptor, behavior: Callable[[Any], Any]
) -> grpc.RpcMethodHandler[bytes, Any]:
    if method.client_streaming:
        raise TypeError(f"{method.full_name} streams requests, which no handler supports")
    service, name = method.containing_service.full_name, method.name
    deserialize = GetMessageClass(method.input_type).FromString

    async def respond(request: bytes, context: ServicerContext[Any, Any]) -> Any:
        async with _Call(service, name, context):
            return await behavior(_deserialize(request, deserialize))

    async def stream(request: bytes, context: ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        async with _Call(service, name, context):
            async for response in behavior(_deserialize(request, deserialize)):
                yield response

    # They deserialize: gRPC itself would answer UNKNOWN to a malformed message and print a
    # traceback for each.
    serialize = GetMessageClass(method.output_type).SerializeToString
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(stream, None, serialize)
    return grpc.unary_unary_rpc_method_handler(respond, None, serialize)


def _deserialize(data: bytes, deserialize: Callable[[bytes], Any]) -> Any:
    try:
        return deserialize(data)
    except DecodeError:
        raise errors.InvalidArgument("The message cannot be read.", "MALFORMED_MESSAGE") from None


class _Call:
    """Measures one call, logs its error, and ends the call with the status for that error."""

    def __init__(self, service: str, method: str, context: ServicerContext[Any, Any]) -> None:
        self._context = context
        self._service = service
        self._method = method
        self._started = time.perf_counter()
        metadata = dict(context.invocation_metadata() or ())
        _is_retry.set(_RETRY_HEADER in metadata)
        given = metadata.get(request_id.HEADER)
        request_id.bind(given if isinstance(given, str) else None)

    async def __aenter__(self) -> None:
        """Do nothing: the constructor has started the measurement."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._end("OK")
        elif isinstance(error, asyncio.CancelledError):
            self._abandon()
        elif isinstance(error, Exception):
            await self._fail(error)

    def _end(self, code: str) -> float:
        seconds = time.perf_counter() - self._started
        record_call(self._service, self._method, code, seconds)
        return seconds

    def _abandon(self) -> None:
        """End a call whose deadline passed, whose caller left, or whose process stops."""
        seconds = self._end("CANCELLED")
        log.info("call_abandoned", method=self._method, duration=round(seconds, 6))

    async def _fail(self, error: Exception) -> NoReturn:
        seconds = time.perf_counter() - self._started
        known = record_failure(error, self._service, self._method, seconds)
        tracing.record_error(status.code_of(known))
        await self._context.abort_with_status(status.to_status(known))
        raise AssertionError("abort_with_status always raises")
