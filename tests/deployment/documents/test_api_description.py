"""The description of the REST API: complete, and compatible with the last release."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gateway.api.app import create_app
from gateway.api.problems import KINDS
from tests.deployment.documents.breaking_changes import breaking_changes
from tests.support.processes import ROOT

DESCRIPTION = create_app().openapi()
RELEASED = ROOT / "tests" / "deployment" / "documents" / "released_openapi.json"
"""The description of the last release. A release replaces it by docs/reference/openapi.json."""
OPERATIONS = [
    (f"{method.upper()} {path}", operation)
    for path, operations in DESCRIPTION["paths"].items()
    for method, operation in operations.items()
]
Json = dict[str, Any]
Change = Callable[[Json], object]


def validator(schema: Json) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": DESCRIPTION["components"]})


def media_of(operation: Json) -> Iterator[Json]:
    """Yield the bodies of an operation's request and responses."""
    yield from operation.get("requestBody", {}).get("content", {}).values()
    for response in operation["responses"].values():
        yield from response.get("content", {}).values()


def test_nothing_breaks_clients_of_the_last_release() -> None:
    assert breaking_changes(json.loads(RELEASED.read_text(encoding="utf-8")), DESCRIPTION) == []


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for _, operation in OPERATIONS]
    assert len(set(ids)) == len(ids) == 10


@pytest.mark.parametrize(("name", "operation"), OPERATIONS)
def test_each_operation_has_examples_that_match(name: str, operation: Json) -> None:
    for media in media_of(operation):
        examples = [one["value"] for one in media.get("examples", {}).values()]
        examples += [media["example"]] if "example" in media else []
        assert examples, name
        for example in examples:
            validator(media["schema"]).validate(example)
    for parameter in operation.get("parameters", []):
        assert parameter["description"], parameter


@pytest.mark.parametrize(("name", "operation"), OPERATIONS)
def test_each_operation_names_its_errors(name: str, operation: Json) -> None:
    statuses = set(operation["responses"])
    assert {"401", "429", "500", "503", "504"} <= statuses
    assert ("403" in statuses) == (name != "GET /account")
    assert {"400", "413", "415", "422"} <= statuses or "requestBody" not in operation
    assert ("404" in statuses) == ("{code}" in name)
    for status, response in operation["responses"].items():
        assert {"RateLimit", "RateLimit-Policy"} <= response["headers"].keys()
        assert ("Retry-After" in response["headers"]) == (status in ("429", "503"))
        if not status.startswith("2"):
            [media] = response["content"].values()
            assert {KINDS[code].status for code in media["examples"]} == {int(status)}


def test_every_code_is_in_the_description() -> None:
    named = {
        code
        for _, each in OPERATIONS
        for media in media_of(each)
        for code in media.get("examples", ())
    }
    assert set(KINDS) - named == {"method_not_allowed"}


def _link(description: Json) -> Json:
    link: Json = description["components"]["schemas"]["Link"]
    return link


def _new_link(description: Json) -> Json:
    link: Json = description["components"]["schemas"]["NewLink"]
    return link


def _list_links(description: Json) -> Json:
    operation: Json = description["paths"]["/links"]["get"]
    return operation


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["paths"].pop("/account"),
        lambda d: d["paths"]["/links"].pop("post"),
        lambda d: _list_links(d).update(operationId="links"),
        lambda d: _list_links(d).update(security=[{"apiKey": ["links:write"]}]),
        lambda d: _list_links(d)["parameters"].pop(),
        lambda d: _list_links(d)["parameters"][0].update(required=True),
        lambda d: _list_links(d)["responses"].pop("422"),
        lambda d: _list_links(d)["responses"]["200"]["headers"].pop("RateLimit"),
        lambda d: _list_links(d)["responses"]["200"].update(content={}),
        lambda d: _link(d)["properties"].pop("title"),
        lambda d: _link(d)["required"].remove("title"),
        lambda d: _link(d)["properties"]["title"].update(type="integer"),
        lambda d: _link(d)["properties"].update(
            title={"anyOf": [{"type": "string"}, {"type": "null"}]}
        ),
        lambda d: d["components"]["schemas"]["LinkState"]["enum"].append("asleep"),
        lambda d: d["components"]["schemas"]["LinkOrder"]["enum"].remove("oldest"),
        lambda d: _new_link(d)["required"].append("title"),
        lambda d: _new_link(d)["properties"].pop("tags"),
        lambda d: _new_link(d)["properties"]["url"].update(maxLength=998),
        lambda d: _new_link(d)["properties"]["url"].update(minLength=4),
        lambda d: _new_link(d)["properties"]["tags"]["items"].update(maxLength=20),
        lambda d: _new_link(d)["properties"]["code"].update(anyOf=[{"type": "string"}]),
        lambda d: d.update(servers=[{"url": "/api/v2"}]),
    ],
)
def test_a_breaking_change_is_found(change: Change) -> None:
    changed = copy.deepcopy(DESCRIPTION)
    change(changed)
    assert breaking_changes(DESCRIPTION, changed) != []


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["paths"].update({"/new": {"get": {}}}),
        lambda d: _list_links(d)["parameters"].append(
            {"in": "query", "name": "new", "required": False, "schema": {"type": "string"}}
        ),
        lambda d: _link(d)["properties"].update(new={"type": "string"}),
        lambda d: _new_link(d)["properties"].update(new={"type": "string"}),
        lambda d: _new_link(d)["properties"]["url"].update(maxLength=1200),
        lambda d: _new_link(d)["properties"].update(
            title={"anyOf": [{"type": "string"}, {"type": "null"}]}
        ),
        lambda d: d["components"]["schemas"]["LinkOrder"]["enum"].append("random"),
        lambda d: d.update(info={}),
        lambda d: None,
    ],
)
def test_a_compatible_change_is_none(change: Change) -> None:
    changed = copy.deepcopy(DESCRIPTION)
    change(changed)
    assert breaking_changes(DESCRIPTION, changed) == []
