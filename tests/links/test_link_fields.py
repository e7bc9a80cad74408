"""Every field of a link, and of the changes of a link, passes through all layers."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from atajo.links.v1 import links_pb2 as pb
from gateway.backends import link_messages, ports
from gateway.functions.owned_links import ChangesPayload
from services.links.api.messages import link_changes_of, new_link_of, write_link
from services.links.application.creations import Creations
from services.links.application.ports import LinkStore
from services.links.domain.creations import NewLink
from services.links.domain.edit import Edit, Expiry, LinkChanges
from services.links.domain.imports import fingerprint
from services.links.domain.link import Link
from services.links.domain.owner import Account
from services.links.domain.url import UrlPolicy
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
NEW = {**field_values.values(NewLink), "code": "abcdefgh", "tags": ("a", "b")}
CHANGES = field_values.values(ports.LinkChanges)


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

        await link_operations.edit(store, [BARE.code], Edit(change), NOW)
        assert await store.links.find(BARE.code) == wanted


def test_the_owner_sees_every_field_that_is_not_internal() -> None:
    names = SHOWN | COMPUTED
    assert {field.name for field in fields(ports.Link)} == names
    assert set(pb.Link.DESCRIPTOR.fields_by_name) == names


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_field_of_a_link_arrives_in_the_gateway(name: str) -> None:
    value = field_values.values(Link)[name]
    message = pb.Link()
    write_link(message, replace(BARE, **{name: value}), NOW)
    received = link_messages.link_of(pb.Link.FromString(message.SerializeToString()))
    assert getattr(received, name) == value


def test_changes_have_the_same_fields_in_every_layer() -> None:
    domain = {field.name for field in fields(LinkChanges)}
    assert set(pb.LinkChanges.DESCRIPTOR.fields_by_name) == domain
    assert all(field.has_presence for field in pb.LinkChanges.DESCRIPTOR.fields), "emptying it"
    names = {"expires_at" if name == "expiry" else name for name in domain}
    assert CHANGES.keys() == names
    assert ChangesPayload.model_fields.keys() == names


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_a_field_passes_every_layer(name: str) -> None:
    value = CHANGES[name]
    payload: dict[str, Any] = {name: value.isoformat() if isinstance(value, datetime) else value}
    changes = ChangesPayload.model_validate(payload).as_port_value()
    assert changes == {name: value}

    sent = link_messages.changes_message(changes).SerializeToString()
    received = link_changes_of(pb.LinkChanges.FromString(sent))
    assert received == LinkChanges(
        **{"expiry": Expiry(value)} if name == "expires_at" else {name: value}
    )

    changed = received.edit(UrlPolicy("https://atajo.example"), NOW).apply(BARE)
    stored = tuple(value) if isinstance(value, list) else value
    assert getattr(changed, name) == stored


def test_new_links_have_the_same_fields_in_every_layer() -> None:
    names = {field.name for field in fields(NewLink)}
    assert {field.name for field in fields(ports.NewLink)} == names
    assert set(pb.NewLink.DESCRIPTOR.fields_by_name) == names


@pytest.mark.parametrize("name", sorted(field.name for field in fields(NewLink)))
def test_a_field_of_a_new_link_passes_every_layer(name: str) -> None:
    value = NEW[name]
    given = ports.NewLink(**{"url": "", name: value})
    sent = link_messages.new_link_message(given).SerializeToString()
    received = new_link_of(pb.NewLink.FromString(sent))
    assert isinstance(received, NewLink)
    assert received == NewLink(**{"url": "", name: value})


async def test_a_repeated_creation_returns_every_field(store: LinkStore) -> None:
    creations = Creations(store, UrlPolicy("https://atajo.example"), lambda: NOW)
    for _ in range(2):
        created = await creations.run(Account("one"), b"key", bytes(32), [NewLink(**NEW)])
        [link] = created.record.outcomes
        assert isinstance(link, Link)
        assert {name: getattr(link, name) for name in NEW} == NEW
    assert await store.links.find(NEW["code"]) == link


@pytest.mark.parametrize("name", sorted(field.name for field in fields(LinkChanges)))
def test_undoing_an_import_spares_a_link_with_a_changed_field(name: str) -> None:
    field = "expires_at" if name == "expiry" else name
    changed = replace(BARE, **{field: field_values.values(Link)[field]})
    assert fingerprint(changed) != fingerprint(BARE)
