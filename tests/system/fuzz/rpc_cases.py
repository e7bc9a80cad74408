"""Cases for a service's gRPC port, each identified by a seed and a number."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor

from tests.system.fuzz.grammar import mutated

_BROKEN_SHARE = 0.25
"""Share of cases with an invalid message or an unknown method."""
_REPETITIONS = ((0, 1, 1, 3, 40, 1200), (0, 1, 1, 3, 40), (0, 1, 3))
"""Lengths of repeated fields by depth. Lists of long lists would take long to make."""
_TEXTS = (
    b"",
    b"fuzzed-0",
    b"https://example.com/",
    b"a@b.example",
    b"\0",
    b"\xc3\xa9" * 40,
    b"\xff\xfe",  # Not UTF-8.
    b"x" * 1000,
    b"x" * 10_000,
    b"../../etc/passwd",
    b"' OR 1=1 --",
    b"$where",
)
_NUMBERS = (0, 1, 2, 23, 19_000, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


@dataclass(frozen=True)
class RpcCase:
    """A call: the method's path, whether it returns a stream, and the message's bytes.

    Without `is_message` the bytes may be invalid, or the method unknown.
    """

    path: str
    streams: bool
    message: bytes
    is_message: bool


def case(seed: int, number: int, service: ServiceDescriptor) -> RpcCase:
    """Return the case of a number. It is always the same for a service."""
    chance = random.Random(f"rpc {seed} {number}")
    method: MethodDescriptor = chance.choice(list(service.methods))
    path = f"/{service.full_name}/{method.name}"
    message = _message(method.input_type, chance)
    if chance.random() >= _BROKEN_SHARE:
        return RpcCase(path, method.server_streaming, message, True)
    if chance.random() < 0.2:
        path += "x"
    return RpcCase(path, method.server_streaming, mutated(message, chance), False)


def _message(descriptor: object, chance: random.Random, depth: int = 0) -> bytes:
    fields: Sequence[FieldDescriptor] = descriptor.fields  # type: ignore[attr-defined]
    return b"".join(_field(field, chance, depth) for field in fields if chance.random() < 0.9)


def _field(field: FieldDescriptor, chance: random.Random, depth: int) -> bytes:
    lengths = _REPETITIONS[min(depth, len(_REPETITIONS) - 1)]
    times = chance.choice(lengths) if field.is_repeated else 1
    return b"".join(_value(field, chance, depth) for _ in range(times))


def _value(field: FieldDescriptor, chance: random.Random, depth: int) -> bytes:
    """Return a value in protobuf's wire format: its tag, then a number, or a length and bytes."""
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        data = _message(field.message_type, chance, depth + 1) if depth < 4 else b""
    elif field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        data = chance.choice(_TEXTS)
    else:  # All other types in these interfaces are varints.
        return _varint(field.number << 3) + _varint(chance.choice(_NUMBERS))
    return _varint(field.number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
