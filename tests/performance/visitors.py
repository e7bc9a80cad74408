"""Visitors of one short URL, as `bench.py` runs them in a process of its own.

Half of the visitors have a connection of their own for each request, as a browser has that follows
a link for the first time; the other half keep theirs, as a proxy does. Requests have the heads of
the browsers in `clicks.json` in turn, and every tenth has a query, as networks and newsletters
append it. Visitors come from 250 addresses of the loopback network. The time of a request begins
before its connection and ends with its response.

    python -m tests.performance.visitors URL SECONDS VISITORS MILLISECONDS

MILLISECONDS are the average pause of a visitor between a response and the next request, 0 for none.
Prints a JSON object: requests, requests a second, milliseconds of percentiles, and failures.
"""

from __future__ import annotations

import json
import random
import select
import socket
import sys
import time
from collections.abc import Sequence
from heapq import heappop, heappush
from pathlib import Path
from urllib.parse import urlsplit

_CLICKS = json.loads(Path(__file__).with_name("clicks.json").read_text(encoding="utf-8"))
_ADDRESSES = 250
_LAST_SECONDS = 5.0
"""Maximum time for each of the last responses."""
_PERCENTILES = {"p50_ms": 0.5, "p99_ms": 0.99, "p999_ms": 0.999}


def requests_to(path: str, host: str) -> list[bytes]:
    """Return requests with the heads of all browsers, and every query in one of ten."""
    browsers, queries = _CLICKS["browsers"], _CLICKS["queries"]
    requests = []
    for number in range(10 * len(queries) * len(browsers)):
        query = queries[number // 10 % len(queries)] if number % 10 == 1 else ""
        lines = "".join(
            f"{name}: {value}\r\n" for name, value in browsers[number % len(browsers)].items()
        )
        requests.append(f"GET {path}{query} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n".encode())
    return requests


class Visitors:
    """A number of visitors, each with at most one request at a time."""

    def __init__(self, url: str, count: int, pause: float) -> None:
        """`pause` is the average time between a response and the next request, in seconds."""
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self._address = (parts.hostname, parts.port)
        self._requests = requests_to(parts.path, parts.netloc)
        self._pause = pause
        self._count = count
        self._poll = select.epoll()
        self._sockets: dict[int, tuple[socket.socket, int]] = {}
        """Connections by descriptor, with the number of the visitor."""
        self._kept: dict[int, socket.socket] = {}
        self._since = [0.0] * count
        self._sent = 0
        self._waiting = 0
        """Visitors that wait for a response."""
        self.seconds: list[float] = []
        """The time of each request."""
        self.failed = 0

    def run(self, seconds: float) -> float:
        """Visit for so many seconds, and wait for the last responses. Returns how long it took."""
        start = time.perf_counter()
        end = start + seconds
        due = [(start + self._pause * random.random(), number) for number in range(self._count)]
        due.sort()
        while (now := time.perf_counter()) < end:
            while due and due[0][0] <= now:
                self._send(heappop(due)[1])
            timeout = min(due[0][0], end) - now if due else end - now
            for descriptor, _ in self._poll.poll(max(0.0, timeout), self._count):
                number = self._receive(descriptor)
                again = time.perf_counter()
                if self._pause:
                    heappush(due, (again + self._pause * random.uniform(0.5, 1.5), number))
                else:
                    self._send(number)
        while self._waiting and (events := self._poll.poll(_LAST_SECONDS, self._count)):
            for descriptor, _ in events:
                self._receive(descriptor)
        took = time.perf_counter() - start
        self.failed += self._waiting
        self._waiting = 0
        for connection, _ in self._sockets.values():
            connection.close()
        self._sockets.clear()
        self._kept.clear()
        return took

    def _send(self, number: int) -> None:
        """Send the next request of a visitor."""
        self._since[number] = time.perf_counter()
        connection = self._kept.get(number)
        if connection is None:
            connection = socket.socket()
            connection.setsockopt(socket.IPPROTO_IP, socket.IP_BIND_ADDRESS_NO_PORT, 1)
            connection.bind((f"127.0.0.{2 + self._sent % _ADDRESSES}", 0))
            connection.connect(self._address)
            connection.setblocking(False)
            self._sockets[connection.fileno()] = (connection, number)
            self._poll.register(connection, select.EPOLLIN)
            if number % 2:
                self._kept[number] = connection
        connection.send(self._requests[self._sent % len(self._requests)])
        self._sent += 1
        self._waiting += 1

    def _receive(self, descriptor: int) -> int:
        """Receive a response, which is so short that it arrives at once. Returns the visitor."""
        connection, number = self._sockets[descriptor]
        response = connection.recv(65536)
        self._waiting -= 1
        self.seconds.append(time.perf_counter() - self._since[number])
        if not response.startswith(b"HTTP/1.1 302 "):
            self.failed += 1
            self._kept.pop(number, None)
        if number not in self._kept:
            del self._sockets[descriptor]
            connection.close()
        return number


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    ordered = sorted(seconds)
    return {
        name: 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]
        for name, share in _PERCENTILES.items()
    }


def main() -> None:
    url, seconds, count, milliseconds = sys.argv[1:]
    visitors = Visitors(url, int(count), float(milliseconds) / 1000)
    took = visitors.run(float(seconds))
    requests = len(visitors.seconds)
    result = {
        "requests": requests,
        "per_second": requests / took,
        "failed": visitors.failed,
        **percentiles(visitors.seconds),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
