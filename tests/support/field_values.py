"""Values for tests that go through all fields of a class."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

MOMENT = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)


def filled(kind: type[T]) -> T:
    """Return an instance of a dataclass. Its fields are distinct and not empty."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values(kind).items() if name in names})


def values(kind: type) -> dict[str, Any]:
    """Return a distinct value that is not empty for each field of a dataclass or TypedDict."""
    hints = get_type_hints(kind)
    return {name: _value(name, number, hint) for number, (name, hint) in enumerate(hints.items())}


def _value(name: str, number: int, hint: Any) -> Any:
    """Return a value of a type. Every text is a URL, since some have to be one."""
    if alternatives := [one for one in get_args(hint) if one is not NoneType]:
        if get_origin(hint) in (list, tuple):
            return get_origin(hint)([f"{name}{number}"])
        hint = alternatives[0]
    if hint is str:
        return f"https://{name.replace('_', '-')}.example/"
    if hint is bool:
        return True
    if hint is datetime:
        return MOMENT + timedelta(days=number)
    if issubclass(hint, Enum):
        return list(hint)[-1]
    return hint(name)
