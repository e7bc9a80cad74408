"""Two clients that create the same links under faults, and the links that must result."""

from __future__ import annotations

import threading
import time
from collections import Counter
from hashlib import sha256

import grpc

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.product import Product
from tests.support.thread_group import ThreadGroup

CLIENTS = 2
LINKS_PER_CALL = 8
"""Links that each call creates."""
_ACCOUNT = "creator"
_CALL_SECONDS = 5.0
_PAUSE = 0.01
_FAILURES = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.ALREADY_EXISTS,  # IN_PROGRESS: the other client's call, or an earlier attempt.
}
_OPTIONS = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 500)]


class Creators(ThreadGroup):
    """Create links in calls with an idempotency key, by two clients at once, during the block.

    Both clients make the same calls, each until it is answered. All answers to a call must be the
    same, and only one may say that it created the links.
    """

    def __init__(self, product: Product, pause: float = 0.0) -> None:
        super().__init__([self._create] * CLIENTS)
        self._product = product
        self._pause = pause
        self._changed = threading.Condition()
        self._answered = 0
        self._answers: dict[int, list[pb.AccountCreation]] = {}
        """The first answer to each call, by its number."""
        self._creating: Counter[int] = Counter()
        """How many answers to each call said that it created the links."""
        self._failures: list[object] = []

    def await_more(self, calls: int) -> None:
        """Wait for further answered calls."""
        with self._changed:
            target = self._answered + calls
            there = self._changed.wait_for(
                lambda: self._answered >= target or self._failures, TIMEOUT_SECONDS
            )
            assert there, "nothing is created"
            assert not self._failures, self._failures

    def compare(self) -> None:
        """Assert, after the block, that each call created its links once, and is repeated."""
        with self._channel() as channel:
            stub = pb_grpc.LinksServiceStub(channel)
            for number in self._answers:
                self._call(stub, number)
            stored = self._stored(stub)
        assert not self._failures, self._failures
        created = [
            one.link
            for creations in self._answers.values()
            for one in creations
            if one.HasField("link")
        ]
        assert len(created) == LINKS_PER_CALL * len(self._answers)
        assert stored == Counter({(link.code, link.url): 1 for link in created})

    @property
    def links(self) -> int:
        """The number of links that answered calls created."""
        return LINKS_PER_CALL * len(self._answers)

    def _create(self) -> None:
        number = 0
        with self._channel() as channel:
            stub = pb_grpc.LinksServiceStub(channel)
            while not self._stopping.wait(self._pause):
                self._call(stub, number)
                number += 1

    def _call(self, stub: pb_grpc.LinksServiceStub, number: int) -> None:
        """Make a call until it is answered, and compare the answer with earlier ones."""
        request = _request(number)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                reply = stub.CreateAccountLinks(request, timeout=_CALL_SECONDS, wait_for_ready=True)
                break
            except grpc.RpcError as error:
                if error.code() not in _FAILURES or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE)
        creations = list(reply.creations)
        with self._changed:
            if self._answers.setdefault(number, creations) != creations:
                self._failures.append((number, self._answers[number], creations))
            reasons = [one.error.reason for one in creations]
            if reasons != _reasons(number):
                self._failures.append((number, reasons))
            self._creating[number] += bool(reply.resolutions)
            if self._creating[number] > 1:
                self._failures.append((number, "created twice"))
            self._answered += 1
            self._changed.notify_all()

    def _stored(self, stub: pb_grpc.LinksServiceStub) -> Counter[tuple[str, str]]:
        """Return how often each code and URL is in the account's list."""
        found: Counter[tuple[str, str]] = Counter()
        cursor = ""
        while True:
            request = pb.QueryLinksRequest(
                owner=pb.Owner(account_id=_ACCOUNT), limit=100, cursor=cursor
            )
            page = stub.QueryLinks(request, timeout=_CALL_SECONDS)
            found.update((link.code, link.url) for link in page.links)
            if not (cursor := page.cursor):
                return found

    def _channel(self) -> grpc.Channel:
        return grpc.insecure_channel(self._product.address("links"), _OPTIONS)


def _request(number: int) -> pb.CreateAccountLinksRequest:
    """Return a call: links with random codes, one with a chosen code, and three faults."""
    links = [
        pb.NewLink(url=f"https://example.com/created/{number}/{link}")
        for link in range(LINKS_PER_CALL - 1)
    ]
    links += [
        pb.NewLink(url=f"https://example.com/created/{number}", code=_code_of(number)),
        pb.NewLink(url="https://example.com/created/twice", code=_code_of(number)),
        pb.NewLink(url="mailto:a@b.example"),
    ]
    if number:
        links.append(pb.NewLink(url="https://example.com/created/later", code=_code_of(number - 1)))
    fingerprint = sha256(f"{number}".encode()).digest()
    return pb.CreateAccountLinksRequest(
        account_id=_ACCOUNT,
        idempotency_key=f"call {number}".encode(),
        fingerprint=fingerprint,
        links=links,
    )


def _reasons(number: int) -> list[str]:
    """Return the reason of each outcome of a call; empty for a link."""
    faults = ["CODE_TAKEN", "INVALID_URL", *(["CODE_TAKEN"] if number else [])]
    return [""] * LINKS_PER_CALL + faults


def _code_of(number: int) -> str:
    return f"chosen-{number:05}"
