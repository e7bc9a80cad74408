"""What happens around every served call: request id, metrics, log line, errors into statuses."""

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

_LINES_A_MINUTE = 10
"""Most lines for one reason: enough to find the call that somebody asks about, and no flood of them
where anybody can bring the reason about."""

log = logs.Throttled(__name__, most=_LINES_A_MINUTE)


def handled(service: str, method: str, code: str, seconds: float) -> None:
    """Measure how long a call took that ended with a code."""
    metrics.SERVER_SECONDS.labels(service, method, code).observe(seconds)


def failed(error: Exception, service: str, method: str, seconds: float) -> errors.AppError:
    """Measure and log a call that ended with an error; returns what its caller is told."""
    known = error if isinstance(error, errors.AppError) else errors.Internal()
    code = status.code_of(known).name
    handled(service, method, code, seconds)
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
    """Wraps every handler of a server. The only place where an error becomes a status."""

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
            return handler  # Health and reflection are watched by those who use them.
        # Bytes come as they are and are read inside: gRPC would answer UNKNOWN to what is no
        # message, and write a traceback for each.
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
        raise TypeError(f"{method} streams requests, which no call of this product does")


def _wrap_unary(behavior: Any, method: str, read: Any) -> Any:
    async def call(request: bytes, context: ServicerContext[Any, Any]) -> Any:
        async with _Call(method, context):
            return await behavior(_message(request, read), context)

    return call


def _wrap_stream(behavior: Any, method: str, read: Any) -> Any:
    async def call(request: bytes, context: ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        async with _Call(method, context):
            async for response in behavior(_message(request, read), context):
                yield response

    return call


def _message(data: bytes, read: Callable[[bytes], Any]) -> Any:
    try:
        return read(data)
    except DecodeError:
        raise errors.InvalidArgument("The message cannot be read.", "MALFORMED_MESSAGE") from None


class _Call:
    """One call: what its body raises is measured, logged and told to the caller as a status."""

    def __init__(self, method: str, context: ServicerContext[Any, Any]) -> None:
        self._context = context
        self._service, self._method = method.lstrip("/").split("/")
        self._started = time.perf_counter()
        sent = dict(context.invocation_metadata() or ())
        given = sent.get(request_id.HEADER)
        request_id.take(given if isinstance(given, str) else None)

    async def __aenter__(self) -> None:
        """Nothing is to be done: the time and the request's id were taken when it was made."""

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
        handled(self._service, self._method, code, seconds)
        return seconds

    def _abandon(self) -> None:
        """Nobody waits any more: the caller's time is up, or this process's."""
        seconds = self._end("CANCELLED")
        log.info("call_abandoned", method=self._method, duration=round(seconds, 6))

    async def _fail(self, error: Exception) -> NoReturn:
        seconds = time.perf_counter() - self._started
        known = failed(error, self._service, self._method, seconds)
        tracing.failed(status.code_of(known))
        await self._context.abort_with_status(status.to_status(known))
        raise AssertionError("abort_with_status always raises")
