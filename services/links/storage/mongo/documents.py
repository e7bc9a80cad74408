"""Links as documents of the collection `links`.

    _id                the code; a purge keeps it, so that it is never free again
    url                absent once the link is purged
    creator            the owner (`link_encoding`); absent for an anonymous link
    others of `FIELDS` fields of `Link`; absent if empty or false
    host_key, ended_host_key
                       the hosts of url and ended_url (`hosts.host_key`)
    bin                true while the link is removed, else absent; the second key of the indexes
    folded             `Link.search_text`; absent for an anonymous link
    people             number of visits by people; absent for none
    history            previous URLs, the most recent last: {url, until}
    reports, reported, reports_waiting, reports_decided_at
                       see `reports`
    removed            true once it is purged; only `_id` is left besides

A scan code is a document of its own, so that `_id` keeps it unique. It has one field:

    scan_of            the code of the link

Times are microseconds since the Unix epoch, since a BSON date has only milliseconds. Queries match
an absent field as null, as indexes store it.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime
from operator import attrgetter
from typing import Any

from services.links.domain.block import BlockReason
from services.links.domain.host import host_at, host_key
from services.links.domain.link import FormerUrl, Link
from services.links.domain.owner import ANONYMOUS
from services.links.storage.link_encoding import Field, check_text, decode_owner, encode_owner
from services.shared.mongo import Document
from services.shared.timestamps import from_micros, to_micros
from services.shared.unreadable_records import decode_each

PURGED: Document = {"removed": True}
"""The fields of a purged link or scan code beside `_id`."""


_CONVERTED = {
    "code": Field("_id"),
    "owner": Field("creator", encode_owner, decode_owner),
    "created_at": Field("created_at", to_micros, from_micros),
    "tags": Field("tags", list, tuple),
    "changed_at": Field("changed_at", to_micros, from_micros),
    "expires_at": Field("expires_at", to_micros, from_micros),
    "removed_at": Field("removed_at", to_micros, from_micros),
    "blocked": Field("blocked", attrgetter("value"), BlockReason),
    "blocklist": Field("listed"),
    "exempt": Field("spared"),
    "exempt_since": Field("spared_at", to_micros, from_micros),
}
FIELDS = {
    field.name: _CONVERTED.get(field.name, Field(field.name)) for field in dataclasses.fields(Link)
}
"""The field of a document for every field of `Link`: by default its own, as it is.

Empty and false values are absent.
"""
_READ = [(name, *field) for name, field in FIELDS.items()]
LINK = {field.name: 1 for field in FIELDS.values() if field.name != "_id"}
"""Projection: all fields that `decode_link` reads: no history or reports, which may be large."""
RESOLUTION_FIELDS = ("url", "expires_at", "ended_url", "removed_at", "blocked", "scan_code")
"""Fields that decide the resolution of a link."""
RESOLVED = dict.fromkeys((*RESOLUTION_FIELDS, "creator", "created_at"), 1)
"""Projection: the fields that `decode_link` needs for a resolution."""


def encode_link(link: Link) -> Document:
    """Return the document of a new link."""
    return {"_id": link.code, **_fields(link)}


def decode_link(document: Document) -> Link | None:
    """Return the link of a document; None for a purged link or a scan code.

    Raises if it cannot be read.
    """
    if "url" not in document and "created_at" not in document:
        return None
    values: dict[str, Any] = {"owner": ANONYMOUS}
    for field, name, _, decode in _READ:
        if name in document:
            value = document[name]
            values[field] = decode(value) if decode else value
    return check_text(Link(**values))


def decode_links(documents: list[Document], unreadable: set[str] | None = None) -> list[Link]:
    """Return the links of those documents that have one that can be read.

    Adds the codes of the others to `unreadable`.
    """
    links = decode_each("link", documents, decode_link, read_code, unreadable)
    return [link for link in links if link]


def read_code(document: Document) -> object:
    return document["_id"]


def decode_history(document: Document) -> list[FormerUrl]:
    """Return the previous URLs of a link, the most recent first."""
    return list(
        decode_each(
            "former_url",
            reversed(document.get("history", ())),
            lambda former: FormerUrl(former["url"], from_micros(former["until"])),
            lambda _: document["_id"],
        )
    )


def encode_update(old: Link, new: Link, now: datetime) -> Document:
    """Return the update from one version of a link to the next; empty if they are equal.

    A changed URL moves into the history.
    """
    before, after = _fields(old), _fields(new)
    changed = {name: value for name, value in after.items() if value != before.get(name)}
    update: Document = {
        "$set": changed,
        "$unset": dict.fromkeys(before.keys() - after.keys(), ""),
    }
    if new.url != old.url:
        update["$push"] = {"history": {"url": old.url, "until": to_micros(now)}}
    return {operator: fields for operator, fields in update.items() if fields}


def _fields(link: Link) -> Document:
    """Return the fields of a link beside `_id` that are neither empty nor false."""
    stored: Document = {
        name: encode(value) if encode else value
        for field, (name, encode, _) in FIELDS.items()
        if field != "code" and (value := getattr(link, field))
    }
    stored["bin"] = True if link.removed_at else None
    stored["folded"] = None if stored["creator"] is None else link.search_text()
    stored["host_key"] = host_key(host_at(link.url))
    stored["ended_host_key"] = host_key(host_at(link.ended_url)) if link.ended_url else None
    return {name: value for name, value in stored.items() if value is not None}
