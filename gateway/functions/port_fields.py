"""Gives a payload the fields of a value of a port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

from pydantic import create_model

from gateway.functions.protocol import Payload

P = TypeVar("P", bound=Payload)


def with_fields_of(
    value: type, types: Mapping[Any, Any], *, without: frozenset[str] = frozenset()
) -> Callable[[type[P]], type[P]]:
    """Return a decorator that adds the fields of `value` to a payload that lacks them, as optional.

    `types` has the type of a field in the payload by its type in the value. Raises KeyError for
    a type that it lacks, so the gateway does not start.
    """

    def decorate(payload: type[P]) -> type[P]:
        fields: dict[str, Any] = {
            name: (types[kind], None)
            for name, kind in get_type_hints(value).items()
            if name not in payload.model_fields and name not in without
        }
        return create_model(
            payload.__name__,
            __base__=payload,
            __module__=payload.__module__,
            __doc__=payload.__doc__,
            **fields,
        )

    return decorate
