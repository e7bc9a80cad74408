"""Writes country databases in the MaxMind DB file format, whose specification is public."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

_BITS = 24
"""Size of a record in the search tree."""


def write_country_database(path: Path, records: Mapping[str, Any]) -> None:
    """Write a file with these records by IPv4 network. The networks must not overlap."""
    tree: list[list[int | None]] = [[None, None]]
    leaves: dict[tuple[int, int], int] = {}
    data = b""
    for text, record in records.items():
        network = IPv4Network(text)
        bits = f"{int(network.network_address):032b}"[: network.prefixlen]
        node = 0
        for bit in map(int, bits[:-1]):
            child = tree[node][bit]
            if child is None:
                child = tree[node][bit] = len(tree)
                tree.append([None, None])
            node = child
        leaves[node, int(bits[-1])] = len(data)
        data += _packed(record)
    nodes = b""
    for node, children in enumerate(tree):
        for bit, child in enumerate(children):
            at = leaves.get((node, bit))
            value = len(tree) + 16 + at if at is not None else child
            nodes += (len(tree) if value is None else value).to_bytes(_BITS // 8, "big")
    about = {
        "node_count": len(tree),
        "record_size": (5, 2, _BITS),
        "ip_version": (5, 2, 4),
        "database_type": "Test-Country",
        "languages": [],
        "binary_format_major_version": (5, 2, 2),
        "binary_format_minor_version": (5, 2, 0),
        "build_epoch": (9, 8, 1),
        "description": {},
    }
    path.write_bytes(nodes + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + _packed(about))


def _packed(value: Any) -> bytes:
    match value:
        case str():
            return _control(2, len(value.encode())) + value.encode()
        case int():
            return _packed((6, 4, value))
        case (int(kind), int(size), int(number)):
            return _control(kind, size) + number.to_bytes(size, "big")
        case list():
            return _control(11, len(value)) + b"".join(map(_packed, value))
        case _:
            pairs = b"".join(_packed(key) + _packed(one) for key, one in value.items())
            return _control(7, len(value)) + pairs


def _control(kind: int, size: int) -> bytes:
    assert size < 29
    return bytes([kind << 5 | size]) if kind < 8 else bytes([size, kind - 7])
