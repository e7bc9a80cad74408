"""Wraps every served call: request id, metrics, log line, and errors converted to statuses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any, NoReturn

import grpc
from google.protobuf.message import DecodeError
from grpc.aio import ServicerContext

from services.shared import errors
from services.shared.observability import logs, metrics, request_id, tracing
from services.shared.rpc import status

_LINES_PER_MINUTE = 10
"""Maximum log lines per reason: enough to find a particular call, but too few for a flood by
callers who provoke an error."""

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


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps the handlers of a server. Only here do errors become statuses."""

    async def intercept_service(
        self,
        continuation: Callable[
            [grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]
        ],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or not method.startswith("/atajo."):
            return handler  # Health and reflection need none of this.
        # The wrapper deserializes: gRPC itself would answer UNKNOWN to a malformed message and
        # print a traceback for each.
        if handler.unary_unary:
            return grpc.unary_unary_rpc_method_handler(
                _wrap_unary(handler.unary_unary, method, handler.request_deserializer),
                None,
                handler.response_serializer,
            )
        if handler.unary_stream:
            return grpc.unary_stream_rpc_method_handler(
                _wrap_stream(handler.unary_stream, method, handler.request_deserializer),
                None,
                handler.response_serializer,
            )
        raise TypeError(f"{method} streams requests, which no method of this product does")


def _wrap_unary(behavior: Any, method: str, deserialize: Any) -> Any:
    async def call(request: bytes, context: ServicerContext[Any, Any]) -> Any:
        async with _Call(method, context):
            return await behavior(_deserialize(request, deserialize), context)

    return call


def _wrap_stream(behavior: Any, method: str, deserialize: Any) -> Any:
    async def call(request: bytes, context: ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        async with _Call(method, context):
            async for response in behavior(_deserialize(request, deserialize), context):
                yield response

    return call


def _deserialize(data: bytes, deserialize: Callable[[bytes], Any]) -> Any:
    try:
        return deserialize(data)
    except DecodeError:
        raise errors.InvalidArgument("The message cannot be read.", "MALFORMED_MESSAGE") from None


class _Call:
    """Measures one call, logs its error, and ends the call with the status for that error."""

    def __init__(self, method: str, context: ServicerContext[Any, Any]) -> None:
        self._context = context
        self._service, self._method = method.lstrip("/").split("/")
        self._started = time.perf_counter()
        metadata = dict(context.invocation_metadata() or ())
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
