"""Every field of a link, and of the changes of a link, passes through all layers."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_type_hints

import pytest
from pydantic_core import to_json

from atajo.links.v1 import links_pb2 as pb
from gateway.api import models
from gateway.backends import ports
from gateway.backends.links import parse_link, to_changes
from gateway.functions.imports import ImportedRow
from gateway.functions.owned_links import ChangesPayload
from services.links.api.messages import (
    parse_import_row,
    parse_link_changes,
    parse_new_link,
    to_link,
)
from services.links.application.creations import Creations
from services.links.application.ports import LinkStore
from services.links.domain.creations import NewLink
from services.links.domain.imports import check_row, fingerprint
from services.links.domain.link import OWNER_FIELDS, Link
from services.links.domain.owner import Account
from services.links.domain.url import UrlPolicy
from services.shared.rpc.fields import to_message
from tests.support import field_values, link_operations

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BARE = Link("barelink", "https://a.example/", Account("one"), NOW)
INTERNAL = {
    *("owner", "created_url", "removed_at", "blocked", "blocklist", "exempt", "exempt_since")
}
"""The fields of a link that its owner does not see, or sees as part of another field."""
SHOWN = {field.name for field in fields(Link)} - INTERNAL
COMPUTED = {"state", "reason"}
"""What the owner sees besides."""
SETTABLE = {"url", "ended_url", "domain", *OWNER_FIELDS}
"""The fields that an owner changes."""
CREATED = SETTABLE - {"public_statistics"} | {"code"}
"""The fields that a creation can set."""
IMPORTED = CREATED - {"ended_url"} | {"created_at"}
"""The fields that an import can set."""
VALUES = {**field_values.values(Link), "code": "abcdefgh", "domain": "go.example"}
LATER = field_values.MOMENT + timedelta(days=100)
MOVED: dict[str, Any] = {"created_url": BARE.url, "changed_at": NOW}
"""What changes with the URL."""
URLS = UrlPolicy("https://atajo.example", further=["https://go.example"])


async def test_stores_keep_every_field_of_a_new_link(store: LinkStore) -> None:
    link = field_values.filled(Link)
    assert await store.links.add(link) == link
    assert await store.links.find(link.code) == link


async def test_stores_keep_every_change_of_a_field(store: LinkStore) -> None:
    values = {
        name: value
        for name, value in field_values.values(Link).items()
        if name not in ("code", "owner", "created_at")  # They never change.
    }
    await store.links.add(BARE)
    for given in (values, dict.fromkeys(values)):
        wanted = replace(BARE, **{name: value for name, value in given.items() if value})
        wanted = replace(wanted, scan_code=values["scan_code"])  # It stays.

        def change(link: Link, wanted: Link = wanted) -> Link:
            return wanted

        await link_operations.edit(store, [BARE.code], change, NOW)
        assert await store.links.find(BARE.code) == wanted


def test_the_owner_sees_every_field_that_is_not_internal() -> None:
    names = SHOWN | COMPUTED
    assert {field.name for field in fields(ports.Link)} == names
    assert set(pb.Link.DESCRIPTOR.fields_by_name) == names


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_field_of_a_link_arrives_in_the_gateway(name: str) -> None:
    value = field_values.values(Link)[name]
    message = to_link(replace(BARE, **{name: value}), NOW)
    received = parse_link(pb.Link.FromString(message.SerializeToString()))
    assert getattr(received, name) == value


def test_owners_set_fields_of_a_link() -> None:
    """Besides, they choose the code of a new link."""
    assert {*OWNER_FIELDS} < SHOWN


def test_changes_have_the_same_fields_in_every_layer() -> None:
    on_the_wire = {"expiry" if name == "expires_at" else name for name in SETTABLE}
    assert set(pb.LinkChanges.DESCRIPTOR.fields_by_name) == on_the_wire
    assert all(field.has_presence for field in pb.LinkChanges.DESCRIPTOR.fields), "emptying it"
    assert set(get_type_hints(ports.LinkChanges)) == SETTABLE
    assert set(ChangesPayload.model_fields) == SETTABLE
    assert set(models.LinkChanges.model_fields) == SETTABLE


@pytest.mark.parametrize("payload", [ChangesPayload, models.LinkChanges])
@pytest.mark.parametrize("name", sorted(SETTABLE))
def test_a_change_of_a_field_passes_every_layer(
    name: str, payload: type[ChangesPayload | models.LinkChanges]
) -> None:
    changes = payload.model_validate_json(to_json({name: VALUES[name]})).as_port_value()
    sent = to_changes(changes).SerializeToString()
    received = parse_link_changes(pb.LinkChanges.FromString(sent))
    assert received.edit(URLS, NOW)(BARE) == replace(
        BARE, **{name: VALUES[name]}, **(MOVED if name == "url" else {})
    )


@pytest.mark.parametrize("name", sorted(CREATED))
def test_a_field_of_a_new_link_passes_every_layer(name: str) -> None:
    given = {"url": BARE.url, name: VALUES[name]}
    new = models.NewLink.model_validate_json(to_json(given)).as_port_value()
    sent = to_message(pb.NewLink, new).SerializeToString()
    received = parse_new_link(pb.NewLink.FromString(sent))
    assert isinstance(received, NewLink)
    draft = received.draft(Account("one"), URLS, NOW)
    assert draft == replace(BARE, **{"code": "", **given})


def test_new_links_have_the_same_fields_in_every_layer() -> None:
    assert {field.name for field in fields(ports.NewLink)} == CREATED
    assert set(pb.NewLink.DESCRIPTOR.fields_by_name) == CREATED
    assert set(models.NewLink.model_fields) == CREATED


async def test_a_repeated_creation_returns_every_field(store: LinkStore) -> None:
    creations = Creations(store, URLS, lambda: NOW)
    given = {name: VALUES[name] for name in CREATED}
    values = {name: value for name, value in given.items() if name not in ("url", "code")}
    new = NewLink(given["url"], given["code"], values)
    for _ in range(2):
        created = await creations.run(Account("one"), b"key", bytes(32), [new])
        [link] = created.record.outcomes
        assert isinstance(link, Link)
        assert {name: getattr(link, name) for name in given} == given
    assert await store.links.find(given["code"]) == link


@pytest.mark.parametrize("name", sorted(IMPORTED))
def test_a_field_of_an_imported_row_passes_every_layer(name: str) -> None:
    given = {"code": BARE.code, "url": BARE.url, name: VALUES[name]}
    row = ImportedRow.model_validate_json(to_json({"row": 7, **given})).as_port_value()
    sent = to_message(pb.ImportRow, row).SerializeToString()
    received = parse_import_row(pb.ImportRow.FromString(sent))
    assert received.number == 7
    link = check_row(received, URLS).link(Account("one"), LATER)
    assert link == replace(BARE, **{"created_at": LATER, **given})


def test_imported_rows_have_the_same_fields_in_every_layer() -> None:
    assert {field.name for field in fields(ports.ImportRow)} == IMPORTED | {"number"}
    assert set(pb.ImportRow.DESCRIPTOR.fields_by_name) == IMPORTED | {"number"}
    assert set(ImportedRow.model_fields) == IMPORTED | {"row"}


@pytest.mark.parametrize("name", sorted(SETTABLE))
def test_undoing_an_import_spares_a_link_with_a_changed_field(name: str) -> None:
    assert fingerprint(replace(BARE, **{name: VALUES[name]})) != fingerprint(BARE)
