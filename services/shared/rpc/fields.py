"""Converts between messages and values whose fields have the same names.

| field of a message | attribute of a value |
|---|---|
| scalar | the same |
| `Timestamp` | `datetime` in UTC |
| enum | member of an `Enum`: `LINK_STATE_ACTIVE` is `LinkState.ACTIVE` |
| message | dataclass, whose fields are converted likewise |
| repeated | tuple, list or set of these |

A field that is absent is None. Maps are not converted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

from services.shared.timestamps import EPOCH

if TYPE_CHECKING:
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper

E = TypeVar("E", bound=Enum)
M = TypeVar("M", bound=Message)
N = TypeVar("N", bound=int)
T = TypeVar("T")

TIME_ERRORS = (ValueError, OverflowError)
"""What `read_fields` raises for a time that it cannot convert."""


def to_datetime(timestamp: Timestamp) -> datetime:
    """Return the same as `ToDatetime(UTC)` for a valid time, in two thirds of the duration."""
    return EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1000)


def to_timestamp(moment: datetime | None) -> Timestamp | None:
    """Return a time as a message; None is absent."""
    if moment is None:
        return None
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp


def enum_numbers(kind: type[E], enum: _EnumTypeWrapper[N]) -> dict[E, N]:
    """Return the numbers that the members of an `Enum` have in an enum of the protocol.

    Its names have a prefix: `LINK_STATE_ACTIVE` is `LinkState.ACTIVE`. Raises ValueError if it
    lacks a member.
    """
    prefix = _prefix(enum)
    return {member: enum.Value(prefix + member.name) for member in kind}


def enum_members(kind: type[E], enum: _EnumTypeWrapper[N]) -> dict[N, E]:
    """Return the members of an `Enum` by their numbers in an enum of the protocol."""
    return {number: member for member, number in enum_numbers(kind, enum).items()}


def read_fields(message: Message) -> dict[str, Any]:
    """Return the values of a message's fields by name, without those that are absent or empty.

    An empty value counts if the field can be absent. Times are datetimes. Raises one of
    `TIME_ERRORS` for a time that is invalid or outside the years 1 to 9999.
    """
    return {
        field.name: value.ToDatetime(UTC) if isinstance(value, Timestamp) else value
        for field, value in message.ListFields()
    }


def from_message(kind: type[T], message: Message, /, **converted: Any) -> T:
    """Return an instance of a dataclass from the fields of a message with the same names.

    `converted` has the values of fields that differ in the message. An enum number that the `Enum`
    lacks, as one of a later version, is left out of a repeated field, and is None if the field of
    the dataclass may be None. Elsewhere it raises KeyError. Raises AttributeError if the message
    lacks a field.
    """
    readers = _readers(cast(Hashable, kind), message.DESCRIPTOR, tuple(converted))
    return kind(**{name: read(message) for name, read in readers.items()}, **converted)


def to_message(kind: type[M], value: object, **converted: Any) -> M:
    """Return a message whose fields have the values of a value's attributes with the same names.

    None is absent. `converted` has the values of fields that differ in the message. Raises
    AttributeError if the value has no such attribute.
    """
    for name, convert in _writers(kind.DESCRIPTOR).items():
        if name not in converted:
            given = getattr(value, name)
            converted[name] = given if convert is None or given is None else convert(given)
    return kind(**converted)


@cache
def _readers(
    kind: Any, message: Descriptor, excluded: tuple[str, ...]
) -> dict[str, Callable[[Message], Any]]:
    """Return what reads the fields of a dataclass from a message, without the excluded ones."""
    hints = get_type_hints(kind)
    readers: dict[str, Callable[[Message], Any]] = {}
    for name in (field.name for field in fields(kind) if field.name not in excluded):
        found = message.fields_by_name.get(name)
        readers[name] = _reader(found, hints[name]) if found else attrgetter(name)
    return readers


def _reader(field: FieldDescriptor, hint: Any) -> Callable[[Message], Any]:
    """Return what reads a field of a message as a value of a type."""
    name, get = field.name, attrgetter(field.name)
    is_optional = isinstance(hint, UnionType)
    if is_optional:
        [hint] = (option for option in get_args(hint) if option is not NoneType)
    kind, collect = (get_args(hint)[0], get_origin(hint)) if field.is_repeated else (hint, None)
    if field.enum_type:
        members = enum_members(kind, EnumTypeWrapper(field.enum_type))
        if collect:
            return lambda message: collect(members[n] for n in get(message) if n in members)
        find: Callable[[int], Any] = members.get if is_optional else members.__getitem__
        return lambda message: find(get(message))
    convert: Callable[[Any], Any] | None = None
    if field.message_type:
        is_time = field.message_type is Timestamp.DESCRIPTOR
        convert = to_datetime if is_time else partial(from_message, kind)
    if collect:
        return lambda message: collect(map(convert, get(message)) if convert else get(message))
    if convert:
        return lambda message: convert(get(message)) if message.HasField(name) else None
    if field.has_presence:
        return lambda message: get(message) if message.HasField(name) else None
    return get


@cache
def _writers(message: Descriptor) -> dict[str, Callable[[Any], Any] | None]:
    """Return what converts values, which are not None, for the fields of a message."""
    return {field.name: _writer(field) for field in message.fields}


def _writer(field: FieldDescriptor) -> Callable[[Any], Any] | None:
    """Return what converts a value for a field of a message; None if nothing has to."""
    if field.enum_type:
        enum = EnumTypeWrapper(field.enum_type)
        prefix = _prefix(enum)
        numbers = {name.removeprefix(prefix): number for name, number in enum.items()}
        if field.is_repeated:
            return lambda members: [numbers[member.name] for member in members]
        return lambda member: numbers[member.name]
    if field.message_type and field.message_type is not Timestamp.DESCRIPTOR:
        convert = partial(to_message, GetMessageClass(field.message_type))
        return (lambda values: list(map(convert, values))) if field.is_repeated else convert
    return None


def _prefix(enum: _EnumTypeWrapper[Any]) -> str:
    """Return what the names of an enum begin with, such as `LINK_STATE_`."""
    return enum.keys()[0].removesuffix("UNSPECIFIED")
