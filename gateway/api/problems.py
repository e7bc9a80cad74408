"""Errors as Problem Details (RFC 9457): one table from reasons to codes and statuses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from gateway.support.json_bodies import BodyTooLarge, BodyTruncated
from services.shared import edge_table, errors
from services.shared.errors import AppError

MEDIA_TYPE = "application/problem+json"
DOCUMENTATION: str = edge_table.read()["pages"]["api"]["path"]
"""Path of the page that explains each code, in a section with its name."""
DEFAULT_RETRY_SECONDS = 2


class Kind(NamedTuple):
    """A code with its status, and an example of its detail."""

    status: int
    title: str
    detail: str


KINDS: Mapping[str, Kind] = {
    "invalid_input": Kind(
        400, "Invalid input", "The request does not match the description: see `errors`."
    ),
    "invalid_json": Kind(400, "Invalid JSON", "The body is not JSON in UTF-8."),
    "key_required": Kind(401, "API key required", "Send a key: `Authorization: Bearer <key>`."),
    "invalid_key": Kind(401, "Invalid API key", "The key is unknown, revoked or expired."),
    "insufficient_scope": Kind(403, "Scope missing", "The key needs the scope links:write."),
    "not_found": Kind(404, "Not found", "This account has no such link."),
    "method_not_allowed": Kind(405, "Method not allowed", "Use one of the methods in Allow."),
    "code_taken": Kind(409, "Code taken", "This code is taken."),
    "in_progress": Kind(
        409, "In progress", "The first request with this Idempotency-Key is in progress."
    ),
    "body_too_large": Kind(413, "Body too large", "The body has more than 65536 bytes."),
    "unsupported_media_type": Kind(
        415, "Unsupported media type", "The body must be of type application/json, in UTF-8."
    ),
    "url_refused": Kind(422, "Destination refused", "This link cannot be shortened."),
    "code_reserved": Kind(422, "Code reserved", "This code is reserved."),
    "invalid_url": Kind(422, "Invalid destination", "The URL is not a valid http or https URL."),
    "invalid_ended_url": Kind(
        422, "Invalid destination after expiry", "The URL is not a valid http or https URL."
    ),
    "invalid_domain": Kind(422, "Invalid domain", "This is none of the domains of this instance."),
    "invalid_title": Kind(
        422, "Invalid title", "A title has up to 100 characters and no control characters."
    ),
    "invalid_tags": Kind(
        422, "Invalid tags", "A tag has 1 to 30 characters and no control characters."
    ),
    "invalid_expiry": Kind(422, "Invalid expiry", "The expiry is not within years 1 to 9999."),
    "invalid_query": Kind(
        422, "Invalid query", "A search text has up to 999 characters and no control characters."
    ),
    "invalid_cursor": Kind(422, "Invalid cursor", "This cursor belongs to another query."),
    "invalid_range": Kind(422, "Invalid range", "A range begins before it ends."),
    "invalid_timezone": Kind(422, "Invalid time zone", "There is no such time zone."),
    "account_full": Kind(422, "Account full", "An account has at most 1,000,000 links."),
    "too_many_links": Kind(422, "Too many links", "There are more than 100,000 links."),
    "too_many_urls": Kind(422, "Too many changes", "The destination changed too often."),
    "idempotency_mismatch": Kind(
        422, "Idempotency-Key reused", "This Idempotency-Key belongs to another request."
    ),
    "rate_limited": Kind(429, "Too many requests", "Too many requests of this account."),
    "internal": Kind(500, "Internal error", "Something went wrong on our side."),
    "overloaded": Kind(503, "Overloaded", "Too many concurrent requests."),
    "unavailable": Kind(503, "Unavailable", "A service is unavailable."),
    "timeout": Kind(504, "Timeout", "A service did not answer in time."),
}
"""Every code of a problem. Codes are stable."""

_CODES: Mapping[str, str] = {
    **{code.upper(): code for code in KINDS},
    "NO_LINK": "not_found",
    "TOO_MANY_CODES": "too_many_links",
    "TOO_MANY_REQUESTS": "rate_limited",
    "TOO_MANY_SHORT_CODES": "rate_limited",
    "TOO_MANY_QUERIES": "overloaded",
    "TOO_MANY_READS": "overloaded",
}
"""Codes by the reason of an AppError. Other reasons go by the class of the error."""

_CLASSES: tuple[tuple[type[AppError], str], ...] = (
    (BodyTooLarge, "body_too_large"),
    (BodyTruncated, "invalid_json"),
    (errors.InvalidArgument, "invalid_input"),
    (errors.Unauthenticated, "invalid_key"),
    (errors.NotFound, "not_found"),
    (errors.AlreadyExists, "code_taken"),
    (errors.ResourceExhausted, "overloaded"),
    (errors.Unavailable, "unavailable"),
    (errors.DeadlineExceeded, "timeout"),
)

FaultCode = Literal["missing", "unknown", "type", "too_short", "too_long", "out_of_range", "value"]
_FAULTS: Mapping[str, FaultCode] = {
    "missing": "missing",
    "extra_forbidden": "unknown",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "too_short": "too_short",
    "too_long": "too_long",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
}
"""Codes of faults by pydantic's type of error. Other types that end in `_type` are `type`."""
_MAX_FAULTS = 100


class Fault(BaseModel):
    """One fault of a request."""

    pointer: str = Field(
        description="Where it is, as a JSON pointer in a URI fragment: into the body, "
        "`#/query/NAME` for a query parameter, `#/header/NAME` for a header.",
        examples=["#/tags/0"],
    )
    code: FaultCode = Field(examples=["too_long"])


class Problem(BaseModel):
    """Why a request failed (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(
        description="The section about this code in the documentation.",
        examples=[f"{DOCUMENTATION}#code_taken"],
    )
    title: str = Field(description="What the code means.", examples=["Code taken"])
    status: int = Field(description="Status of the response.", examples=[409])
    detail: str = Field(description="An explanation for people.", examples=["This code is taken."])
    code: str = Field(description="Stable: callers may branch on it.", examples=["code_taken"])
    errors: list[Fault] = Field(
        default=[], description="Faults of the request. Only with `invalid_input`."
    )


class ApiError(Exception):
    """An error with a code of `KINDS`, and the headers that belong to it."""

    def __init__(
        self,
        code: str,
        detail: str = "",
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status, self.title, example = KINDS[code]
        self.detail = detail or example
        self.faults = faults
        self.headers = dict(headers or {})

    def as_json(self) -> dict[str, Any]:
        """Return the problem. `errors` is absent if there are no faults."""
        problem = Problem(
            type=f"{DOCUMENTATION}#{self.code}",
            title=self.title,
            status=self.status,
            detail=self.detail,
            code=self.code,
        )
        if self.faults:
            problem.errors = list(self.faults)
        return problem.model_dump(exclude_unset=True)

    def response(self) -> Response:
        """Return the response."""
        return _ProblemResponse(self.as_json(), self.status, self.headers)


class _ProblemResponse(JSONResponse):
    media_type = MEDIA_TYPE


def from_error(error: Exception) -> ApiError:
    """Return the API's error for any error that a request raised."""
    match error:
        case ApiError():
            return error
        case AppError():
            return _from_app_error(error)
        case RequestValidationError():
            return _from_faults(error)
        case HTTPException(status_code=405, headers=headers):
            return ApiError("method_not_allowed", headers=headers)
        case HTTPException(status_code=404):
            return ApiError("not_found", f"There is nothing at this path. See {DOCUMENTATION}.")
        case HTTPException(status_code=400):
            return ApiError("invalid_json")
        case _:
            return ApiError("internal")


def _from_app_error(error: AppError) -> ApiError:
    code = _CODES.get(error.reason) or next(
        (code for kind, code in _CLASSES if isinstance(error, kind)), "internal"
    )
    headers = {}
    if KINDS[code].status in (429, 503):
        wait = error.retry_after if isinstance(error, errors.ResourceExhausted) else None
        seconds = DEFAULT_RETRY_SECONDS if wait is None else max(1, math.ceil(wait))
        headers["Retry-After"] = str(seconds)
    return ApiError(code, error.message, headers=headers)


def _from_faults(invalid: RequestValidationError) -> ApiError:
    """Return the error for a request that does not match the description.

    An invalid path is no path of the API.
    """
    found = invalid.errors()
    if any(error["loc"][0] == "path" for error in found):
        return ApiError("not_found")
    return ApiError("invalid_input", faults=[_parse_fault(error) for error in found[:_MAX_FAULTS]])


def _parse_fault(error: Mapping[str, Any]) -> Fault:
    """Return the fault for an error of pydantic."""
    source, *path = error["loc"]
    parts = path if source == "body" else [source, *path]
    pointer = "".join(f"/{_escaped(str(part))}" for part in parts)
    kind = error["type"]
    code = _FAULTS.get(kind) or ("type" if kind.endswith("_type") else "value")
    return Fault(pointer=f"#{pointer}", code=code)


def _escaped(part: str) -> str:
    """Return a token of a JSON pointer (RFC 6901) for a URI fragment."""
    return quote(part.replace("~", "~0").replace("/", "~1"), safe="~!$&'()*+,;=:@")


def problem_responses(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Return the responses with these codes, for FastAPI's `responses`, by status."""
    by_status: dict[int | str, dict[str, Any]] = {}
    for code in sorted(codes, key=lambda code: KINDS[code].status):
        kind = KINDS[code]
        response = by_status.setdefault(kind.status, {"description": "", "content": {}})
        response["description"] += f"{', or ' if response['description'] else ''}`{code}`"
        media = response["content"].setdefault(
            MEDIA_TYPE, {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": {}}
        )
        faults = [Fault(pointer="#/url", code="missing")] if code == "invalid_input" else []
        value = ApiError(code, faults=faults).as_json()
        media["examples"][code] = {"summary": kind.title, "value": value}
    return by_status
