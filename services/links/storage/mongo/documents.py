"""A link as a document of MongoDB's collection `links`.

    _id                the code; it stays when the link is purged, so that it is never free again
    url                absent once the link is purged
    creator            the owner (`owner_encoding`); absent for nobody
    created_at
    title, tags, changed_at, created_url, expires_at, ended_url, public_statistics, removed_at,
    blocked, listed, spared, spared_at, scan_code
                       as in `Link`; absent where empty or false
    host_key, ended_host_key
                       the hosts of url and ended_url (`hosts.host_key`)
    bin                true while the link is removed, else absent; the indexes have it in front
    folded             the text that searches look through (`Link.searched`); absent for nobody
    people             how often people visited it; absent for never
    history            previous URLs, the most recent last: {url, until}
    reports, reported, reports_waiting, reports_decided_at
                       see `reports`
    removed            true once it is purged: nothing but `_id` is left besides

A scan code is a document of its own, so that `_id` decides whether it is free. It has one field:

    scan_of            the code of the link

Moments are microseconds since the Unix epoch: a date of MongoDB has milliseconds. An absent field
is queried with null, which indexes hold for it.
"""

from __future__ import annotations

from datetime import datetime

from services.links.domain.block import BlockReason
from services.links.domain.host import host_at, host_key
from services.links.domain.link import FormerUrl, Link
from services.links.storage.owner_encoding import owner_of, value_of
from services.shared.mongo import Document
from services.shared.timestamps import micros_of, moment_of

PURGED: Document = {"removed": True}
"""The fields of a purged link or scan code, besides its code."""
RESOLVED = dict.fromkeys(
    (
        "url",
        "creator",
        "created_at",
        "expires_at",
        "ended_url",
        "removed_at",
        "blocked",
        "scan_code",
    ),
    1,
)
"""Projection: the fields that `link_of` needs for a resolution."""
LINK = RESOLVED | dict.fromkeys(
    (
        "title",
        "tags",
        "changed_at",
        "created_url",
        "public_statistics",
        "listed",
        "spared",
        "spared_at",
    ),
    1,
)
"""Projection: all fields that `link_of` reads. History and reports may take megabytes."""


def document_of(link: Link) -> Document:
    """The document of a new link."""
    return {"_id": link.code, **_fields(link)}


def link_of(document: Document) -> Link | None:
    """The link of a document; None for a purged link or a scan code."""
    if "url" not in document:
        return None
    blocked = document.get("blocked")
    return Link(
        document["_id"],
        document["url"],
        owner_of(document.get("creator")),
        moment_of(document["created_at"]),
        document.get("title", ""),
        tuple(document.get("tags", ())),
        _moment(document, "changed_at"),
        document.get("created_url", ""),
        _moment(document, "expires_at"),
        document.get("ended_url", ""),
        document.get("public_statistics", False),
        _moment(document, "removed_at"),
        BlockReason(blocked) if blocked else None,
        document.get("listed", ""),
        document.get("spared", False),
        _moment(document, "spared_at"),
        document.get("scan_code", ""),
    )


def links_of(documents: list[Document]) -> list[Link]:
    """The links of those documents that hold one."""
    return [link for one in documents if (link := link_of(one))]


def history_of(document: Document) -> list[FormerUrl]:
    """The previous URLs of a link, the most recent first."""
    return [
        FormerUrl(one["url"], moment_of(one["until"]))
        for one in reversed(document.get("history", ()))
    ]


def update_of(old: Link, new: Link, now: datetime) -> Document:
    """The update that changes the document of a link; empty if there is nothing to change.

    A URL that changes moves into the history.
    """
    before, after = _fields(old), _fields(new)
    changed = {name: value for name, value in after.items() if value != before.get(name)}
    update: Document = {
        "$set": changed,
        "$unset": dict.fromkeys(before.keys() - after.keys(), ""),
    }
    if new.url != old.url:
        update["$push"] = {"history": {"url": old.url, "until": micros_of(now)}}
    return {operator: fields for operator, fields in update.items() if fields}


def _fields(link: Link) -> Document:
    """The fields of a link, besides its code, that are neither empty nor false."""
    owner = value_of(link.owner)
    fields: Document = {
        "url": link.url,
        "creator": owner,
        "created_at": micros_of(link.created_at),
        "title": link.title or None,
        "tags": list(link.tags) or None,
        "changed_at": _micros(link.changed_at),
        "created_url": link.created_url or None,
        "expires_at": _micros(link.expires_at),
        "ended_url": link.ended_url or None,
        "public_statistics": link.public_statistics or None,
        "removed_at": _micros(link.removed_at),
        "bin": True if link.removed_at else None,
        "blocked": link.blocked.value if link.blocked else None,
        "listed": link.listed or None,
        "spared": link.spared or None,
        "spared_at": _micros(link.spared_at),
        "scan_code": link.scan_code or None,
        "host_key": host_key(host_at(link.url)),
        "ended_host_key": host_key(host_at(link.ended_url)) if link.ended_url else None,
        "folded": None if owner is None else link.searched(),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros_of(moment)


def _moment(document: Document, name: str) -> datetime | None:
    return moment_of(document[name]) if name in document else None
