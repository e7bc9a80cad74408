"""Which fields of a link its owner and strangers see."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import get_type_hints

import pytest

from gateway.api import models
from gateway.backends.ports import Link, LinkChanges, LinkPreview
from gateway.functions.preview import preview_json
from gateway.redirects.resolution import LinkState
from gateway.use_cases.json_values import link_json
from services.shared.origins import Origins
from tests.support import field_values
from tests.support.processes import ROOT

LINK = Link(
    code="abcdefgh",
    url="https://example.com/a",
    title="",
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
    changed_at=None,
    state=LinkState.ACTIVE,
    reason=None,
)
ORIGINS = Origins("https://s.example:8443", ("https://go.example",))
OTHERS = {**field_values.values(Link), "domain": "go.example"}
"""Another value of every field of a link."""
PUBLIC_FIELDS = {"code", "url", "title", "created_at", "changed_at", "state", "reason"}
"""The fields of a link that strangers may see. Decide on privacy before you add one."""


def test_an_owner_sees_every_field_of_a_link() -> None:
    for name, other in OTHERS.items():
        changed = link_json(replace(LINK, **{name: other}), None, ORIGINS)
        assert changed != link_json(LINK, None, ORIGINS), name


def test_an_owner_sees_the_whole_short_url() -> None:
    assert link_json(LINK, None, ORIGINS)["short_url"] == "https://s.example:8443/abcdefgh"


@pytest.mark.parametrize(
    ("domain", "shown"),
    [
        ("", "https://s.example:8443"),
        ("go.example", "https://go.example"),
        ("gone.example", "https://s.example:8443"),
    ],
)
def test_the_domain_of_a_link_is_that_of_its_short_url(domain: str, shown: str) -> None:
    link = link_json(replace(LINK, domain=domain), None, ORIGINS)
    assert link["short_url"] == f"{shown}/abcdefgh"
    assert link["domain"] == shown.removeprefix("https://")


def test_the_pages_know_every_field_of_an_answer() -> None:
    source = (ROOT / "web/src/api/functions/links.ts").read_text(encoding="utf-8")
    schema = re.search(r"^const link = v.object\({\n(.*?)^}\);", source, re.DOTALL | re.MULTILINE)
    assert schema
    known = set(re.findall(r"^  (\w+)", schema[1], re.MULTILINE))
    shown = link_json(field_values.filled(Link), None, ORIGINS).keys()
    assert known == shown - {"short_link"} | {"recent"}


def test_the_pages_can_change_every_field_that_owners_change() -> None:
    source = (ROOT / "web/src/api/functions/links.ts").read_text(encoding="utf-8")
    names = re.search(r"^type Changeable =([^;]*);", source, re.MULTILINE)
    assert names
    changeable = {*re.findall(r"'(\w+)'", names[1]), "url"}
    assert changeable == get_type_hints(LinkChanges).keys()


def test_the_description_has_every_field_of_an_answer() -> None:
    shown = link_json(field_values.filled(Link), None, ORIGINS).keys()
    assert models.Link.model_fields.keys() == shown


def test_strangers_see_public_fields_of_a_link_only() -> None:
    assert {one.name for one in fields(LinkPreview)} == PUBLIC_FIELDS
    for name in set(OTHERS) - PUBLIC_FIELDS:
        changed = replace(LINK, **{name: OTHERS[name]})
        assert preview_json(changed) == preview_json(LINK), name
    assert preview_json(LINK).keys() == {
        *("code", "long_link", "host", "state", "reason", "created_at", "changed_at"),
        *("title", "warnings"),
    }
