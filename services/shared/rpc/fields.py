"""Converts between messages and values whose fields have the same names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from services.shared.timestamps import EPOCH

M = TypeVar("M", bound=Message)
T = TypeVar("T")

TIME_ERRORS = (ValueError, OverflowError)
"""What `read_fields` raises for a time that it cannot convert."""


class _Fields(NamedTuple):
    """Names of the fields of a message."""

    plain: list[str]
    optional: list[str]
    """Fields that may be absent, except times."""
    times: list[str]


def datetime_of(timestamp: Timestamp) -> datetime:
    """Return the same as `ToDatetime(UTC)` for a valid time, in two thirds of the duration."""
    return EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1000)


def read_fields(message: Message) -> dict[str, Any]:
    """Return the values of a message's fields by name, without those that are absent or empty.

    An empty value counts if the field can be absent. Times are datetimes. Raises one of
    `TIME_ERRORS` for a time that is invalid or outside the years 1 to 9999.
    """
    plain, optional, times = _fields_of(message.DESCRIPTOR)
    values = {name: value for name in plain if (value := getattr(message, name))}
    for name in optional:
        if message.HasField(name):
            values[name] = getattr(message, name)
    for name in times:
        if message.HasField(name):
            values[name] = getattr(message, name).ToDatetime(UTC)
    return values


def from_message(kind: type[T], message: Message, /, **converted: Any) -> T:
    """Return an instance of a dataclass from the fields of a message with the same names.

    An absent field is None. `converted` has the values of fields that differ in the message.
    Raises AttributeError if the message lacks a field.
    """
    known = _fields_of(message.DESCRIPTOR)
    values = {
        name: converted[name] if name in converted else _value_of(message, name, known)
        for name in _names_of(cast(Hashable, kind))
    }
    return kind(**values)


def _value_of(message: Message, name: str, known: _Fields) -> Any:
    """Return the value of a field, None if it is absent."""
    if name in known.plain:
        return getattr(message, name)
    if not message.HasField(name):
        return None
    value = getattr(message, name)
    return datetime_of(value) if name in known.times else value


def to_message(kind: type[M], value: object, **converted: Any) -> M:
    """Return a message whose fields have the values of a value's attributes with the same names.

    None is absent. `converted` has the values of fields that differ in the message. Raises
    AttributeError if the value has no such attribute.
    """
    plain, optional, times = _fields_of(kind.DESCRIPTOR)
    for name in (*plain, *optional):
        if name not in converted:
            converted[name] = getattr(value, name)
    message = kind(**converted)
    for name in times:
        if (moment := getattr(value, name)) is not None:
            getattr(message, name).FromDatetime(moment)
    return message


@cache
def _names_of(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)]


@cache
def _fields_of(message: Descriptor) -> _Fields:
    times = [field.name for field in message.fields if field.message_type is Timestamp.DESCRIPTOR]
    optional = [
        field.name for field in message.fields if field.has_presence and field.name not in times
    ]
    plain = [field.name for field in message.fields if field.name not in (*times, *optional)]
    return _Fields(plain, optional, times)
