"""The load of `make bench` is what it says."""

from __future__ import annotations

import re
import socketserver
import threading
from collections import Counter
from typing import cast

from tests.performance.visitors import Visitors

ANSWER = b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n"


class Server(socketserver.ThreadingTCPServer):
    """Answers every request, and notes the requests of each connection."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.connections: list[list[bytes]] = []


class Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        requests: list[bytes] = []
        cast(Server, self.server).connections.append(requests)
        while head := self.request.recv(65536):
            requests.append(head)
            self.request.sendall(ANSWER)


def test_half_of_the_visitors_have_a_connection_for_each_request() -> None:
    with Server() as server:
        threading.Thread(target=server.serve_forever).start()
        visitors = Visitors(f"http://127.0.0.1:{server.server_address[1]}/abcdefgh", 4, 0)
        runs = 0
        while len(visitors.seconds) < 1000:
            visitors.run(0.5)
            runs += 1
        server.shutdown()
    assert visitors.failed == 0
    kept = [requests for requests in server.connections if len(requests) > 1]
    assert len(kept) == 2 * runs
    assert len(server.connections) > 100
    requests = [request for requests in server.connections for request in requests]
    agents = Counter(re.findall(rb"\r\nUser-Agent: ([^\r]+)", b"".join(requests)))
    assert len(agents) == 13
    queries = sum(b"?" in request.split(b"\r\n")[0] for request in requests)
    assert 0.09 < queries / len(requests) < 0.11
