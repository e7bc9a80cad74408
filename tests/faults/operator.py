"""The operator under faults: blocks and frees links and addresses, and insists until it is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

import grpc

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.product import Product
from tests.waiting import SETTLED, await_that

Act = Callable[[pb_grpc.AdminServiceStub], object]
_CALL_SECONDS = 10.0
_PATIENCE = 120.0
_PAUSE = 0.1


def insist(address: Callable[[], str], act: Act) -> float:
    """Repeat a command until it is acknowledged, whatever becomes of links; returns when that was.

    What is found done already was done by a try whose answer was lost.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with grpc.insecure_channel(address()) as channel:
                act(pb_grpc.AdminServiceStub(channel))
            return time.monotonic()
        except (grpc.RpcError, KeyError, OSError) as error:
            if isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode.NOT_FOUND:
                return time.monotonic()
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def block_link(code: str) -> Act:
    """Block a link."""
    request = pb.BlockLinkRequest(code=code, reason=pb.BLOCK_REASON_SPAM, cause="faults")
    return lambda stub: stub.BlockLink(request, timeout=_CALL_SECONDS)


def unblock_link(code: str) -> Act:
    """Free a link."""
    request = pb.UnblockLinkRequest(code=code, cause="faults")
    return lambda stub: stub.UnblockLink(request, timeout=_CALL_SECONDS)


def block_address(address: str) -> Act:
    """Block an address."""
    request = pb.BlockAddressRequest(
        address=address, reason=pb.BLOCK_REASON_PHISHING, cause="faults"
    )
    return lambda stub: stub.BlockAddress(request, timeout=_CALL_SECONDS)


def unblock_address(address: str) -> Act:
    """Free an address."""
    request = pb.UnblockAddressRequest(address=address, cause="faults")
    return lambda stub: stub.UnblockAddress(request, timeout=_CALL_SECONDS)


class Operator:
    """Goes round some links and addresses while the block lasts, and decides on each in turn."""

    def __init__(self, product: Product, count: int) -> None:
        self.decisions = 0
        """How many were acknowledged."""
        self._product = product
        self._codes = {
            f"h{n}.example": product.shorten(f"http://h{n}.example/") for n in range(2 * count)
        }
        self._is_blocked = dict.fromkeys(self._codes, False)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._decide)
        self._error: BaseException | None = None

    def compare(self) -> None:
        """Hold what was acknowledged against what is answered, and what is kept of it.

        Raises AssertionError.
        """
        assert self._error is None, self._error
        for host, code in self._codes.items():
            wanted = 451 if self._is_blocked[host] else 302
            await_that(partial(self._answers, code, wanted), SETTLED)
        kept: list[pb.Decision] = []
        with grpc.insecure_channel(self._product.admin_address("links")) as channel:
            stub = pb_grpc.AdminServiceStub(channel)
            while True:
                request = pb.ListDecisionsRequest(skip=len(kept))
                page = stub.ListDecisions(request, timeout=_CALL_SECONDS).decisions
                if not page:
                    break
                kept += page
        assert len(kept) >= self.decisions > 0, f"{len(kept)} of {self.decisions} decisions"

    def _answers(self, code: str, status: int) -> bool:
        return self._product.visit(code).status_code == status

    def _decide(self) -> None:
        try:
            while not self._over.is_set():
                for number, (host, code) in enumerate(self._codes.items()):
                    if self._over.wait(_PAUSE):
                        return
                    self._toggle(host, code, is_link=number % 2 == 0)
        except BaseException as error:
            self._error = error

    def _toggle(self, host: str, code: str, *, is_link: bool) -> None:
        if self._is_blocked[host]:
            act = unblock_link(code) if is_link else unblock_address(host)
        else:
            act = block_link(code) if is_link else block_address(host)
        insist(lambda: self._product.admin_address("links"), act)
        self._is_blocked[host] = not self._is_blocked[host]
        self.decisions += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
