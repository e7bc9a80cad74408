"""Operations on the links of an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Response

from gateway.api import models
from gateway.api.description import PREFIX
from gateway.api.idempotency import Idempotency, IdempotencyOf
from gateway.api.limits import Admission
from gateway.api.problems import from_error, problem_responses
from gateway.api.requests import (
    AdmissionOf,
    LinksEditor,
    LinksReader,
    LinksWriter,
    ServicesOf,
    StrictRoute,
)
from gateway.backends.ports import Link, VerifiedKey
from gateway.use_cases.links import LinkPresenter
from gateway.use_cases.services import Services
from services.shared.errors import AppError

router = APIRouter(prefix="/links", tags=["Links"], route_class=StrictRoute)

CodeInPath = Annotated[
    str,
    Path(
        pattern=models.CODE_PATTERN,
        description="The ending of the short URL. Case-sensitive.",
        examples=["spring-sale"],
    ),
]
_BODY = ("invalid_input", "invalid_json", "body_too_large", "unsupported_media_type")
_IDEMPOTENCY = ("idempotency_mismatch", "in_progress")
_FIELDS = (
    *("invalid_url", "url_refused", "invalid_title", "invalid_tags", "invalid_expiry"),
    *("invalid_ended_url", "invalid_domain"),
)


@router.get(
    "",
    operation_id="listLinks",
    summary="List links",
    response_model=models.LinkPage,
    response_description="A page of links.",
    response_model_exclude_unset=True,
    responses=problem_responses(
        "invalid_input", "insufficient_scope", "invalid_query", "invalid_cursor", "overloaded"
    ),
)
async def list_links(
    key: LinksReader, services: ServicesOf, query: Annotated[models.LinksQuery, Query()]
) -> Any:
    """List the links of the account page by page.

    A list never repeats a link, and has each link that was there throughout. The order by views may
    lag by five seconds.
    """
    page = await services.links.query(key.account, query.as_port_value())
    return {
        "items": await services.presenter.all(page.links),
        "total": page.total,
        "cursor": page.cursor or None,
    }


@router.post(
    "",
    operation_id="createLink",
    summary="Create a link",
    status_code=201,
    response_model=models.Link,
    response_model_exclude_unset=True,
    response_description="The link. `Location` is its path in this API.",
    responses=problem_responses(
        *_BODY,
        *_IDEMPOTENCY,
        *_FIELDS,
        *("insufficient_scope", "code_taken", "code_reserved", "account_full"),
    ),
)
async def create_link(
    key: LinksWriter,
    services: ServicesOf,
    idempotency: IdempotencyOf,
    admission: AdmissionOf,
    link: Annotated[models.NewLink, Body()],
    response: Response,
) -> Any:
    """Create a link, which works at once."""
    [outcome] = await _create([link], key, services, idempotency, admission)
    if isinstance(outcome, AppError):
        raise outcome
    response.headers["Location"] = f"{PREFIX}/links/{outcome.code}"
    return services.presenter.created(outcome)


@router.post(
    "/bulk",
    operation_id="createLinks",
    summary="Create up to 100 links",
    response_model=models.BulkResult,
    response_model_exclude_unset=True,
    response_description="The outcome of each link, in the order of the request.",
    responses=problem_responses(*_BODY, *_IDEMPOTENCY, "insufficient_scope", "account_full"),
)
async def create_links(
    key: LinksWriter,
    services: ServicesOf,
    idempotency: IdempotencyOf,
    admission: AdmissionOf,
    links: Annotated[models.NewLinks, Body()],
) -> Any:
    """Create links, each with an outcome of its own. Each link counts as one call."""
    outcomes = await _create(links.links, key, services, idempotency, admission)
    return {"results": [_result(outcome, services.presenter) for outcome in outcomes]}


@router.get(
    "/{code}",
    operation_id="getLink",
    summary="Get a link",
    response_description="The link.",
    response_model=models.Link,
    response_model_exclude_unset=True,
    responses=problem_responses("insufficient_scope", "not_found"),
)
async def get_link(code: CodeInPath, key: LinksReader, services: ServicesOf) -> Any:
    """Get a link of the account, in every state."""
    link, _ = await services.links.get(key.account, code)
    return await services.presenter.one(link)


@router.patch(
    "/{code}",
    operation_id="changeLink",
    summary="Change a link",
    response_description="The changed link.",
    response_model=models.Link,
    response_model_exclude_unset=True,
    responses=problem_responses(
        *_BODY, *_FIELDS, "insufficient_scope", "not_found", "too_many_urls"
    ),
)
async def change_link(
    code: CodeInPath,
    key: LinksEditor,
    services: ServicesOf,
    changes: Annotated[models.LinkChanges, Body()],
) -> Any:
    """Apply all changes, or none. They hold everywhere within five seconds."""
    link = await services.editor.change(key.account, code, changes.as_port_value())
    return await services.presenter.one(link)


@router.delete(
    "/{code}",
    operation_id="removeLink",
    summary="Remove a link",
    status_code=204,
    response_class=Response,
    response_description="The link is removed.",
    responses=problem_responses("insufficient_scope", "not_found"),
)
async def remove_link(code: CodeInPath, key: LinksEditor, services: ServicesOf) -> None:
    """Remove a link. It stops within five seconds, and can be restored for 30 days.

    May be repeated.
    """
    await services.editor.remove(key.account, [code])


@router.post(
    "/{code}/restore",
    operation_id="restoreLink",
    summary="Restore a removed link",
    response_description="The link.",
    response_model=models.Link,
    response_model_exclude_unset=True,
    responses=problem_responses("insufficient_scope", "not_found"),
)
async def restore_link(code: CodeInPath, key: LinksEditor, services: ServicesOf) -> Any:
    """Undo a removal of the last 30 days. May be repeated."""
    await services.editor.restore(key.account, [code])
    link, _ = await services.links.get(key.account, code)
    return await services.presenter.one(link)


async def _create(
    links: Sequence[models.NewLink],
    key: VerifiedKey,
    services: Services,
    idempotency: Idempotency,
    admission: Admission,
) -> list[Link | AppError]:
    """Count and create links, each with an outcome of its own."""
    new = [link.as_port_value() for link in links]
    admission.quota.check(len(new) - 1)  # The request itself counted as one.
    counted = services.limits.count_links(admission.client, new)
    admission.quota.hit(len(new) - 1)
    created = await services.editor.create_all(
        key.account, new, idempotency.key, idempotency.fingerprint
    )
    counted.settle(created)
    return created.outcomes


def _result(outcome: Link | AppError, presenter: LinkPresenter) -> dict[str, Any]:
    if isinstance(outcome, AppError):
        error = from_error(outcome)
        return {"status": error.status, "problem": error.as_json()}
    return {"status": 201, "link": presenter.created(outcome)}
