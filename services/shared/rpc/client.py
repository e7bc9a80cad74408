"""Calls a gRPC service: deadlines, request id, metrics, and statuses converted to errors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from services.shared.errors import AppError
from services.shared.observability import metrics, request_id
from services.shared.rpc import status
from services.shared.rpc.channels import check_serving, open_channel

Request = TypeVar("Request")
Response = TypeVar("Response")
Stub = TypeVar("Stub")

REPLACE_AFTER_SECONDS = 5.0
"""How long a channel may be disconnected before it is replaced. By then it has resolved the name
four times."""
_CLOSE_SECONDS = 60.0
"""How long running calls may take on a channel that was replaced."""


class Caller:
    """Makes the calls of one service.

    Sends the current request id, measures the duration and converts a status into an error.
    """

    def __init__(self, service: ServiceDescriptor) -> None:
        self._service = service.full_name

    async def unary(
        self,
        method: str,
        stub: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        seconds: float,
    ) -> Response:
        """Make a call with a deadline and return the response. Raises AppError."""
        with self._observe(method):
            return await stub(request, timeout=seconds, metadata=_metadata())

    async def stream(
        self,
        method: str,
        stub: grpc.aio.UnaryStreamMultiCallable[Request, Response],
        request: Request,
        seconds: float,
    ) -> AsyncGenerator[Response, None]:
        """Make a call and yield the responses, all within a deadline. Raises AppError.

        Closing the generator early cancels the call. Otherwise the service would continue it.
        """
        with self._observe(method):
            call = stub(request, timeout=seconds, metadata=_metadata())
            try:
                async for response in call:
                    yield response
            finally:
                call.cancel()

    def failure(self, method: str, number: int, message: str, reason: str) -> AppError:
        """Return the error for one item of a batch call, by the number of its status."""
        return self._with_call(method, status.from_parts(number, message, reason))

    def _with_call(self, method: str, error: AppError) -> AppError:
        error.call = f"{self._service}/{method}"
        return error

    @contextmanager
    def _observe(self, method: str) -> Iterator[None]:
        started = time.perf_counter()
        code = "CANCELLED"
        try:
            yield
            code = "OK"
        except grpc.aio.AioRpcError as error:
            code = error.code().name
            raise self._with_call(method, status.from_rpc_error(error)) from error
        finally:
            metrics.CLIENT_SECONDS.labels(self._service, method, code).observe(
                time.perf_counter() - started
            )


class ServiceClient(Generic[Stub]):
    """Base class for the client of one service. Owns the channel and replaces it if necessary."""

    service: ServiceDescriptor
    stub_class: Callable[[grpc.aio.Channel], Stub]
    call_seconds: float = 5.0
    """Deadline of calls that have none of their own."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._caller = Caller(self.service)
        self._disconnected_since: float | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._open()

    async def check(self) -> None:
        """Return if the service is ready. Raises AppError, whose reason says why it is not.

        Call it once a second, since it also maintains the channel. gRPC resolves a name that does
        not exist less and less often, in the end every two minutes. So this replaces a channel that
        was disconnected for `REPLACE_AFTER_SECONDS` by a new one, which resolves often at first.
        """
        is_disconnected = False
        try:
            await check_serving(self._channel)
        except AppError as error:
            is_disconnected = error.reason == "UNAVAILABLE"
            raise
        finally:
            self._replace_if_needed(is_disconnected)

    async def close(self) -> None:
        """Close the channel; running calls end with an error."""
        for closing in self._closing:
            closing.cancel()
        await self._channel.close()

    async def _call(
        self,
        stub: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        seconds: float | None = None,
    ) -> Response:
        """Make the call that the type of `request` names: `GetLinkRequest` is for `GetLink`.

        Raises AppError.
        """
        method = type(request).__name__.removesuffix("Request")
        return await self._caller.unary(method, stub, request, seconds or self.call_seconds)

    def _open(self) -> None:
        self._channel = open_channel(self._address, self.service)
        self._stub = self.stub_class(self._channel)

    def _replace_if_needed(self, is_disconnected: bool) -> None:
        now = time.monotonic()
        if not is_disconnected:
            self._disconnected_since = None
        elif self._disconnected_since is None:
            self._disconnected_since = now
        elif now - self._disconnected_since >= REPLACE_AFTER_SECONDS:
            self._disconnected_since = now
            closing = asyncio.create_task(self._channel.close(_CLOSE_SECONDS))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            self._open()


def _metadata() -> tuple[tuple[str, str], ...]:
    current = request_id.current()
    return ((request_id.HEADER, current),) if current else ()
