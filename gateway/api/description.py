"""The OpenAPI description of the API, as `/api/v1/openapi.json` and docs/reference/openapi.json."""

from __future__ import annotations

import functools
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from gateway.api.examples import EXAMPLES
from gateway.api.problems import KINDS, Problem, problem_responses
from services.shared import edge_table

PREFIX = edge_table.api(edge_table.read())
VERSION = "1.0.0"
"""Version of the description. A change that breaks clients needs a new prefix."""

_ABOUT = """\
Create, change and measure short links.

Each request has an API key of an account: `Authorization: Bearer <key>`. Bodies are JSON in UTF-8.
Times are ISO 8601, in UTC in responses. `HEAD` is answered as `GET`, without the body.

Errors are Problem Details (RFC 9457). Callers branch on `code`. A request that does not match this
description is 400, with a pointer to each fault. One that does, but is refused, is 422.

`RateLimit-Policy` and `RateLimit` on every response say how many calls are left. They are counted
by account, or by IP address for requests without a valid key. Creations, changes, removals and
restorations of links count by IP address, too. 429 and 503 have `Retry-After` in seconds.
"""
_TAGS = [
    {"name": "Links", "description": "The links of the account."},
    {"name": "Statistics", "description": "Visits of links over a period."},
    {"name": "Account", "description": "The account of the key."},
]
_EVERY = ("key_required", "invalid_key", "rate_limited", "internal", "unavailable", "timeout")
"""Problems that each operation may have."""


def _header(description: str, example: str | int, **schema: str | int) -> dict[str, Any]:
    schema = schema or {"type": "string"}
    return {
        "description": description,
        "required": True,
        "schema": {**schema, "examples": [example]},
    }


_HEADERS = {
    "RateLimit-Policy": _header("The limit: `q` calls in `w` seconds.", '"default";q=600;w=60'),
    "RateLimit": _header("`r` calls are left for the next `t` seconds.", '"default";r=599;t=60'),
    "Retry-After": _header(
        "Seconds after which the request may succeed.", 12, type="integer", minimum=1
    ),
    "WWW-Authenticate": _header("What is missing (RFC 6750).", "Bearer"),
    "Location": _header("Path of the new link in this API.", f"{PREFIX}/links/spring-sale"),
}
_HEADERS_BY_STATUS = {
    "201": ("Location",),
    "401": ("WWW-Authenticate",),
    "403": ("WWW-Authenticate",),
    "429": ("Retry-After",),
    "503": ("Retry-After",),
}


def describe(app: FastAPI) -> None:
    """Let an application serve the description of its routes."""
    make = functools.partial(_describe, app)
    app.openapi = functools.cache(make)  # type: ignore[method-assign]


def _describe(app: FastAPI) -> dict[str, Any]:
    description = get_openapi(
        title="Atajo API",
        version=VERSION,
        openapi_version="3.1.0",
        summary="Create, change and measure short links.",
        description=_ABOUT,
        routes=app.routes,
        tags=_TAGS,
        servers=[{"url": PREFIX}],
        license_info={"name": "MIT", "identifier": "MIT"},
    )
    description["x-problems"] = {code: kind._asdict() for code, kind in KINDS.items()}
    components = description["components"]
    schemas = components["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    components["schemas"] = {name: _plain(schemas[name]) for name in sorted(schemas)}
    components["headers"] = _HEADERS
    for operations in description["paths"].values():
        for operation in operations.values():
            _complete(operation)
            _add_examples(operation)
    return description


def _plain(schema: Any) -> Any:
    """Return a schema without what pydantic adds for Python.

    That is titles made of names, docstrings of enums, and defaults, which generators of clients
    take for values that are always there.
    """
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    unwanted = {"title", "default"} | ({"description"} if "enum" in schema else set())
    return {
        key: value if key == "examples" else _plain(value)
        for key, value in schema.items()
        if key not in unwanted or isinstance(value, dict)
    }


def _complete(operation: dict[str, Any]) -> None:
    """Add the problems that each operation may have, and the headers of all responses."""
    responses = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):  # FastAPI's own form of faults.
        del responses["422"]
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = _parameter_schema(parameter["schema"])
    for status, response in problem_responses(*_EVERY).items():
        present = responses.setdefault(str(status), response)
        if present is not response:
            _merge(present, response)
    for status, response in responses.items():
        names = ("RateLimit-Policy", "RateLimit", *_HEADERS_BY_STATUS.get(status, ()))
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    operation["responses"] = dict(sorted(responses.items()))


def _parameter_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter, which cannot be null, and has its description beside it."""
    plain = {key: value for key, value in schema.items() if key not in ("title", "description")}
    [*variants] = (kind for kind in plain.pop("anyOf", ()) if kind != {"type": "null"})
    return {**(variants[0] if variants else {}), **plain}


def _add_examples(operation: dict[str, Any]) -> None:
    """Add the examples of an operation. FastAPI would drop what is null in them."""
    name = operation["operationId"]
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    bodies += [
        operation["responses"][status]
        for status in ("200", "201")
        if status in operation["responses"]
    ]
    for body, example in zip(bodies, EXAMPLES.get(name, ()), strict=True):
        body["content"]["application/json"]["example"] = example


def _merge(present: dict[str, Any], other: dict[str, Any]) -> None:
    """Add the codes of one response with problems to another one of the same status."""
    present["description"] += f", or {other['description']}"
    for media_type, media in other["content"].items():
        present["content"][media_type]["examples"] |= media["examples"]
