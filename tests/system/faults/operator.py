"""An operator under faults: blocks and frees links and hosts, and repeats until it succeeds."""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import grpc

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.support.product import Product
from tests.support.thread_group import ThreadGroup
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.faults.visitors import BLOCKED, Visitors

Act = Callable[[pb_grpc.ModerationServiceStub], object]
_CALL_SECONDS = 10.0
_TIMEOUT = 120.0
_PAUSE = 0.1
_VISITORS_PAUSE = 0.02


def insist(address: Callable[[], str], act: Act) -> float:
    """Repeat a command until it is acknowledged, and return that time.

    If it was done already, an earlier attempt succeeded whose response was lost.
    """
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            with grpc.insecure_channel(address()) as channel:
                act(pb_grpc.ModerationServiceStub(channel))
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
    """Block a host or path."""
    request = pb.BlockAddressRequest(
        address=address, reason=pb.BLOCK_REASON_PHISHING, cause="faults"
    )
    return lambda stub: stub.BlockAddress(request, timeout=_CALL_SECONDS)


def unblock_address(address: str) -> Act:
    """Free a host or path."""
    request = pb.UnblockAddressRequest(address=address, cause="faults")
    return lambda stub: stub.UnblockAddress(request, timeout=_CALL_SECONDS)


class Operator(ThreadGroup):
    """Decides on its own links and hosts in turn while the block lasts.

    There is a pause in seconds between two decisions. `visitors` follow the links meanwhile at all
    `gateways`; `lives` is as in `Visitors`.
    """

    def __init__(
        self,
        product: Product,
        count: int,
        gateways: Sequence[str] = (),
        lives: Mapping[str, Callable[[], int]] | None = None,
        *,
        pause: float = _PAUSE,
    ) -> None:
        super().__init__([self._decide])
        self.decisions = 0
        """Number of acknowledged decisions."""
        self.slowest = 0.0
        """Maximum seconds until the last gateway applied a decision."""
        self._product = product
        self._pause = pause
        hosts = [f"{secrets.token_hex(8)}.example" for _ in range(2 * count)]
        self._urls = {host: f"http://{host}/" for host in hosts}
        self._codes = {host: product.shorten(url) for host, url in self._urls.items()}
        self._blocked: set[str] = set()
        self._deciding = threading.Lock()
        urls = {code: self._urls[host] for host, code in self._codes.items()}
        self.visitors = Visitors(gateways, urls, pause=_VISITORS_PAUSE, lives=lives)

    def await_followed(self) -> None:
        """Assert that every gateway applies all decisions within five seconds from now.

        Requires that all parts are up.
        """
        with self._deciding:
            now = time.monotonic()
            seconds = self.visitors.seconds_until_so(list(self._codes.values()), now)
        assert seconds < PROPAGATION_SECONDS, f"a gateway followed a decision after {seconds:.1f} s"
        self.slowest = max(self.slowest, seconds)

    def compare(self) -> None:
        """Assert that responses and stored decisions match the acknowledged ones."""
        assert not self.visitors.failures, self.visitors.failures[:20]
        for host, code in self._codes.items():
            status = 451 if host in self._blocked else 302
            wait_until(partial(self._answers, code, status), PROPAGATION_SECONDS)
        kept: list[pb.Decision] = []
        with grpc.insecure_channel(self._product.admin_address("links")) as channel:
            stub = pb_grpc.ModerationServiceStub(channel)
            while True:
                request = pb.ListDecisionsRequest(skip=len(kept))
                page = stub.ListDecisions(request, timeout=_CALL_SECONDS).decisions
                if not page:
                    break
                kept += page
        own = {*self._codes, *self._codes.values()}
        found = sum((decision.code or decision.address) in own for decision in kept)
        assert found >= self.decisions > 0, f"{found} of {self.decisions} decisions"

    def _answers(self, code: str, status: int) -> bool:
        return self._product.visit(code).status_code == status

    def _decide(self) -> None:
        for number, (host, code) in itertools.cycle(enumerate(self._codes.items())):
            if self._stopping.wait(self._pause):
                return
            with self._deciding:
                self._toggle(host, code, is_link=number % 2 == 0)

    def _toggle(self, host: str, code: str, *, is_link: bool) -> None:
        if host in self._blocked:
            act = unblock_link(code) if is_link else unblock_address(host)
            self.visitors.expect([code], (302, self._urls[host]))
        else:
            act = block_link(code) if is_link else block_address(host)
            self.visitors.expect([code], BLOCKED)
        insist(lambda: self._product.admin_address("links"), act)
        self._blocked ^= {host}
        self.decisions += 1
