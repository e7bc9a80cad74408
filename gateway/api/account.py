"""The account of a key."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from gateway.api import models
from gateway.api.problems import problem_responses
from gateway.api.requests import AnyKey, ServicesOf, StrictRoute
from gateway.backends.ports import LinkQuery, Scope
from gateway.use_cases.json_values import to_json

router = APIRouter(tags=["Account"], route_class=StrictRoute)


@router.get(
    "/account",
    operation_id="getAccount",
    summary="Get the account of the key",
    response_model=models.Account,
    response_description="The account.",
    responses=problem_responses("overloaded"),
)
async def get_account(key: AnyKey, services: ServicesOf) -> Any:
    """Get the name of the account, how many links it has, and what the key may do."""
    page = await services.links.query(key.account, LinkQuery(limit=1))
    return {
        "username": key.username,
        "links": page.total,
        "key": {
            "name": key.name,
            "scopes": [scope for scope in Scope if scope in key.scopes],
            "expires_at": to_json(key.expires_at),
        },
    }
