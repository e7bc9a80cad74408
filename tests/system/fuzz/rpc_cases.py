"""What a broken caller may send to a service's gRPC port, each case told by a seed and a number."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor

from tests.system.fuzz.grammar import mutated

_BROKEN_SHARE = 0.25
"""Of the cases, those whose message is no message any more, or of no method."""
_REPETITIONS = (0, 1, 1, 3, 40, 1200)
_TEXTS = (
    b"",
    b"fuzzed-0",
    b"https://example.com/",
    b"a@b.example",
    b"\0",
    b"\xc3\xa9" * 40,
    b"\xff\xfe",  # No UTF-8.
    b"x" * 1000,
    b"x" * 10_000,
    b"../../etc/passwd",
    b"' OR 1=1 --",
    b"$where",
)
_NUMBERS = (0, 1, 2, 23, 19_000, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


@dataclass(frozen=True)
class RpcCase:
    """A call: the path of its method, whether it answers with a stream, and the message's bytes.

    Where `is_message` does not hold, the bytes need not be one, or the method is not there.
    """

    path: str
    streams: bool
    message: bytes
    is_message: bool


def case(seed: int, number: int, service: ServiceDescriptor) -> RpcCase:
    """The case of a number; always the same for the same service."""
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
    times = chance.choice(_REPETITIONS) if field.is_repeated else 1
    return b"".join(_value(field, chance, depth) for _ in range(times))


def _value(field: FieldDescriptor, chance: random.Random, depth: int) -> bytes:
    """One value in protobuf's wire format: its tag, then a number or a length and the bytes."""
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        data = _message(field.message_type, chance, depth + 1) if depth < 4 else b""
    elif field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        data = chance.choice(_TEXTS)
    else:  # Every other type in these interfaces is a varint.
        return _varint(field.number << 3) + _varint(chance.choice(_NUMBERS))
    return _varint(field.number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
