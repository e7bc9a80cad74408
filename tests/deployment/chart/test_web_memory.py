"""The memory limit of the web container covers the maximum of nginx's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.deployment.chart.render import VALUES, manifests, pods
from tests.support.processes import ROOT

NGINX = ROOT / "deploy" / "nginx"
_UNITS = {"": 1, "k": 1024, "m": 1024**2}
_PAGE = 4096
BASE_BYTES = 28 * 1024**2
"""Bytes of the master, two workers with connection tables, the probe process, shared zones."""
CONNECTION_BYTES = 12_288
"""Bytes of pools and structures of one client's connection, on both sides of the socket."""


def directives() -> dict[str, str]:
    """Return the arguments of each directive, of the last one if it occurs several times."""
    found: dict[str, str] = {}
    for name in ("nginx.conf", "edge/values.conf", "edge/redirect_buffers.conf"):
        text = (NGINX / name).read_text(encoding="utf-8")
        found |= dict(re.findall(r"^\s*([a-z_]+) ([^;{]+);", text, re.MULTILINE))
    return found


def size(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([km]?)", text).groups()  # type: ignore[union-attr]
    return int(number) * _UNITS[unit]


def buffers(text: str) -> int:
    number, each = text.split()
    return int(number) * size(each)


def connection_bytes(conf: Mapping[str, str], stream_buffer: int) -> int:
    """Return the bytes of buffers for a client that sends the maximum and reads nothing."""
    head = size(conf["client_header_buffer_size"]) + buffers(conf["large_client_header_buffers"])
    redirect = size(conf["proxy_buffer_size"])
    return (
        CONNECTION_BYTES
        + 2 * stream_buffer
        + 2 * head  # Once as received, once as sent to the gateway.
        + size(conf["client_body_buffer_size"])
        + 2 * redirect  # Once as received, once as sent to the client.
        + buffers(conf.get("proxy_buffers", f"8 {_PAGE}"))
    )


def test_the_limit_holds_all_connections_with_full_buffers_and_is_not_twice_that() -> None:
    conf = directives()
    stream = (NGINX / "connections.conf").read_text(encoding="utf-8")
    (stream_buffer,) = re.findall(r"proxy_buffer_size (\w+);", stream)
    slots = int(conf["worker_processes"]) * int(conf["worker_connections"])
    # A client that waits for the gateway uses four connections: its own, two ends of the
    # internal socket, and one to the gateway.
    worst = BASE_BYTES + slots // 4 * connection_bytes(conf, size(stream_buffer))
    for name in VALUES:
        limit = pods(manifests(name))["web"]["containers"][0]["resources"]["limits"]["memory"]
        number, unit = re.fullmatch(r"(\d+)(Mi)", limit).groups()  # type: ignore[union-attr]
        assert unit == "Mi"
        assert worst <= int(number) * 1024**2 < 2 * worst, f"{worst / 1024**2:.0f} MiB"


def test_one_client_holds_at_most_a_fifth_of_all_connections() -> None:
    conf = directives()
    slots = int(conf["worker_processes"]) * int(conf["worker_connections"])
    stream = (NGINX / "connections.conf").read_text(encoding="utf-8")
    (connections,) = re.findall(r"limit_conn connections (\d+);", stream)
    # A client that sends nothing uses three: its own, and two ends of the internal socket.
    assert int(connections) <= slots // 3 // 5
    assert conf["limit_conn"] == f"requests {connections}"
