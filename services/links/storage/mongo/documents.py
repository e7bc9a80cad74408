"""Links as documents of the collection `links`.

    _id                the code; a purge keeps it, so that it is never free again
    url                absent once the link is purged
    creator            the owner (`owner_encoding`); absent for an anonymous link
    created_at
    title, tags, changed_at, created_url, expires_at, ended_url, public_statistics, removed_at,
    blocked, listed, spared, spared_at, scan_code
                       as in `Link` (listed: `blocklist`, spared: `exempt`, spared_at:
                       `exempt_since`); absent if empty or false
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

from datetime import datetime

from services.links.domain.block import BlockReason
from services.links.domain.host import host_at, host_key
from services.links.domain.link import FormerUrl, Link
from services.links.storage.owner_encoding import owner_of, value_of
from services.shared.mongo import Document
from services.shared.timestamps import from_micros, to_micros

PURGED: Document = {"removed": True}
"""The fields of a purged link or scan code beside `_id`."""
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
"""Projection: all fields that `link_of` reads, without history and reports, which may be large."""


def document_of(link: Link) -> Document:
    """Return the document of a new link."""
    return {"_id": link.code, **_fields(link)}


def link_of(document: Document) -> Link | None:
    """Return the link of a document; None for a purged link or a scan code."""
    if "url" not in document:
        return None
    blocked = document.get("blocked")
    return Link(
        code=document["_id"],
        url=document["url"],
        owner=owner_of(document.get("creator")),
        created_at=from_micros(document["created_at"]),
        title=document.get("title", ""),
        tags=tuple(document.get("tags", ())),
        changed_at=_moment(document, "changed_at"),
        created_url=document.get("created_url", ""),
        expires_at=_moment(document, "expires_at"),
        ended_url=document.get("ended_url", ""),
        public_statistics=document.get("public_statistics", False),
        removed_at=_moment(document, "removed_at"),
        blocked=BlockReason(blocked) if blocked else None,
        blocklist=document.get("listed", ""),
        exempt=document.get("spared", False),
        exempt_since=_moment(document, "spared_at"),
        scan_code=document.get("scan_code", ""),
    )


def links_of(documents: list[Document]) -> list[Link]:
    """Return the links of those documents that have one."""
    return [link for one in documents if (link := link_of(one))]


def history_of(document: Document) -> list[FormerUrl]:
    """Return the previous URLs of a link, the most recent first."""
    return [
        FormerUrl(one["url"], from_micros(one["until"]))
        for one in reversed(document.get("history", ()))
    ]


def update_of(old: Link, new: Link, now: datetime) -> Document:
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
    owner = value_of(link.owner)
    fields: Document = {
        "url": link.url,
        "creator": owner,
        "created_at": to_micros(link.created_at),
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
        "listed": link.blocklist or None,
        "spared": link.exempt or None,
        "spared_at": _micros(link.exempt_since),
        "scan_code": link.scan_code or None,
        "host_key": host_key(host_at(link.url)),
        "ended_host_key": host_key(host_at(link.ended_url)) if link.ended_url else None,
        "folded": None if owner is None else link.search_text(),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(document: Document, name: str) -> datetime | None:
    return from_micros(document[name]) if name in document else None
