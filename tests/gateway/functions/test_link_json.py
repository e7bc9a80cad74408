"""Which fields of a link its owner and strangers see."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from gateway.backends.ports import Link, LinkPreview
from gateway.functions.link_json import link_json
from gateway.functions.preview import preview_json
from gateway.redirects.resolution import BlockReason, LinkState

LATER = datetime(2026, 3, 1, tzinfo=UTC)
LINK = Link(
    code="abcdefgh",
    url="https://example.com/a",
    title="",
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
    changed_at=None,
    state=LinkState.ACTIVE,
    reason=None,
    tags=(),
    expires_at=None,
    ended_url="",
    public_statistics=False,
    scan_code="",
)
OTHERS: dict[str, Any] = {
    "code": "ABCDEFGH",
    "url": "https://example.com/b",
    "title": "Title",
    "created_at": LATER,
    "changed_at": LATER,
    "state": LinkState.REMOVED,
    "reason": BlockReason.SPAM,
    "tags": ("tag",),
    "expires_at": LATER,
    "ended_url": "https://example.com/ended",
    "public_statistics": True,
    "scan_code": "SCANC0DE",
}
"""Another value of every field of a link."""
PUBLIC_FIELDS = {"code", "url", "title", "created_at", "changed_at", "state", "reason"}
"""The fields of a link that strangers may see. Decide on privacy before you add one."""


def test_an_owner_sees_every_field_of_a_link() -> None:
    assert {one.name for one in fields(Link)} == set(OTHERS)
    for name, other in OTHERS.items():
        assert link_json(replace(LINK, **{name: other}), None) != link_json(LINK, None), name


def test_strangers_see_public_fields_of_a_link_only() -> None:
    assert {one.name for one in fields(LinkPreview)} == PUBLIC_FIELDS
    for name in set(OTHERS) - PUBLIC_FIELDS:
        changed = replace(LINK, **{name: OTHERS[name]})
        assert preview_json(changed) == preview_json(LINK), name
    assert preview_json(LINK).keys() == {
        *("code", "long_link", "host", "state", "reason", "created_at", "changed_at"),
        *("title", "warnings"),
    }
