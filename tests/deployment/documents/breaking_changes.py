"""Finds differences between two OpenAPI descriptions that break clients of the first one.

A client breaks if it can send less, or must expect more. The tools that compare descriptions
(oasdiff, openapi-changes) are programs that neither PyPI nor npm has complete; this covers what
FastAPI generates for the REST API.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
_METHODS = ("get", "put", "post", "patch", "delete")
_UPPER = ("maxLength", "maxItems", "maximum", "maxProperties")
_LOWER = ("minLength", "minItems", "minimum", "minProperties")
_EXACT = ("pattern", "format", "const")


def breaking_changes(old: Json, new: Json) -> list[str]:
    """Return each change from `old` to `new` that breaks a client, with its place."""
    return list(_Comparison(old, new).changes())


class _Comparison:
    def __init__(self, old: Json, new: Json) -> None:
        self._old = old
        self._new = new

    def changes(self) -> Iterator[str]:
        if self._old["servers"] != self._new["servers"]:
            yield "servers: changed"
        for path, operations in self._old["paths"].items():
            for method in _METHODS:
                if method in operations:
                    place = f"{method.upper()} {path}"
                    operation = self._new["paths"].get(path, {}).get(method)
                    if operation is None:
                        yield f"{place}: removed"
                    else:
                        yield from self._operation(place, operations[method], operation)

    def _operation(self, place: str, old: Json, new: Json) -> Iterator[str]:
        if old["operationId"] != new["operationId"]:
            yield f"{place}: operationId changed"
        if new.get("security") != old.get("security"):
            yield f"{place}: security changed"
        yield from self._parameters(place, old, new)
        yield from self._body(place, old.get("requestBody"), new.get("requestBody"))
        for status, response in old["responses"].items():
            if status not in new["responses"]:
                yield f"{place} {status}: removed"
            else:
                other = new["responses"][status]
                yield from self._response(f"{place} {status}", response, other)
        for status in new["responses"].keys() - old["responses"].keys():
            if status.startswith("2"):
                yield f"{place} {status}: added"

    def _parameters(self, place: str, old: Json, new: Json) -> Iterator[str]:
        before = {(one["in"], one["name"]): one for one in old.get("parameters", [])}
        after = {(one["in"], one["name"]): one for one in new.get("parameters", [])}
        for key, parameter in before.items():
            name = f"{place} {key[1]}"
            if key not in after:
                yield f"{name}: removed"
                continue
            if after[key]["required"] and not parameter["required"]:
                yield f"{name}: required"
            yield from self._sent(name, parameter["schema"], after[key]["schema"])
        for key, parameter in after.items():
            if key not in before and parameter["required"]:
                yield f"{place} {key[1]}: required"

    def _body(self, place: str, old: Json | None, new: Json | None) -> Iterator[str]:
        if old is None:
            if new is not None and new.get("required"):
                yield f"{place} body: required"
            return
        if new is None:
            yield f"{place} body: removed"
            return
        if new.get("required") and not old.get("required"):
            yield f"{place} body: required"
        for media_type, media in old["content"].items():
            if media_type not in new["content"]:
                yield f"{place} body {media_type}: removed"
            else:
                other = new["content"][media_type]
                yield from self._sent(f"{place} body", media["schema"], other["schema"])

    def _response(self, place: str, old: Json, new: Json) -> Iterator[str]:
        for name in old.get("headers", {}).keys() - new.get("headers", {}).keys():
            yield f"{place} {name}: removed"
        for media_type, media in old.get("content", {}).items():
            other = new.get("content", {}).get(media_type)
            if other is None:
                yield f"{place} {media_type}: removed"
                continue
            yield from self._received(place, media["schema"], other["schema"])
            if place.split()[-1][0] != "2":
                for code in media.get("examples", {}).keys() - other.get("examples", {}).keys():
                    yield f"{place} {code}: removed"

    def _sent(self, place: str, old: Json, new: Json) -> Iterator[str]:
        """Yield what a client can no longer send."""
        variants = self._variants(self._new, new)
        for number, before in enumerate(self._variants(self._old, old)):
            failures = [list(self._narrowed(place, before, after)) for after in variants]
            if not any(not one for one in failures):
                yield from min(failures, key=len) if failures else [f"{place}: variant {number}"]

    def _received(self, place: str, old: Json, new: Json) -> Iterator[str]:
        """Yield what a client does not expect."""
        variants = self._variants(self._old, old)
        for after in self._variants(self._new, new):
            failures = [list(self._widened(place, before, after)) for before in variants]
            if not any(not one for one in failures):
                yield from min(failures, key=len)

    def _narrowed(self, place: str, old: Json, new: Json) -> Iterator[str]:
        if old.get("type") != new.get("type"):
            yield f"{place}: type changed"
            return
        for name in _UPPER:
            if name in new and new[name] < old.get(name, float("inf")):
                yield f"{place}: {name} lowered"
        for name in _LOWER:
            if name in new and new[name] > old.get(name, 0):
                yield f"{place}: {name} raised"
        for name in _EXACT:
            if name in new and new[name] != old.get(name):
                yield f"{place}: {name} changed"
        if "enum" in new and not set(old.get("enum", [object()])) <= set(new["enum"]):
            yield f"{place}: values removed"
        if "items" in old:
            yield from self._sent(f"{place}[]", old["items"], new["items"])
        present = new.get("properties", {})
        for name, schema in old.get("properties", {}).items():
            if name in present:
                yield from self._sent(f"{place}.{name}", schema, present[name])
            else:
                yield f"{place}.{name}: removed"
        for name in set(new.get("required", [])) - set(old.get("required", [])):
            yield f"{place}.{name}: required"

    def _widened(self, place: str, old: Json, new: Json) -> Iterator[str]:
        if old.get("type") != new.get("type"):
            yield f"{place}: type changed"
            return
        for name in _EXACT:
            if name in old and old[name] != new.get(name):
                yield f"{place}: {name} changed"
        if "enum" in old and not set(new.get("enum", [object()])) <= set(old["enum"]):
            yield f"{place}: values added"
        if "items" in old:
            yield from self._received(f"{place}[]", old["items"], new["items"])
        present = new.get("properties", {})
        for name, schema in old.get("properties", {}).items():
            if name in present:
                yield from self._received(f"{place}.{name}", schema, present[name])
            else:
                yield f"{place}.{name}: removed"
        for name in set(old.get("required", [])) - set(new.get("required", [])):
            yield f"{place}.{name}: optional"

    def _variants(self, description: Json, schema: Json) -> list[Json]:
        """Return the alternatives of a schema, without references."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._variants(description, description["components"]["schemas"][name])
        if "anyOf" in schema:
            return [one for each in schema["anyOf"] for one in self._variants(description, each)]
        return [schema]
