"""A link as a document of MongoDB's collection `links`, and what is asked of such documents.

    _id                the code; that of a purged link stays, so that it is never free again
    url                where it leads; absent once it is purged
    creator            the owner: the id of an account as text, or the hash of a guest's key as
                       bytes; absent for nobody
    created_at
    title, tags, changed_at, created_url, expires_at, ended_url, public_statistics, removed_at,
    blocked, listed, spared, spared_at
                       as in `Link`; absent where they say nothing
    host, ended_host   the hosts of url and ended_url (`Link.hosts`); absent where the version
                       before wrote the document, until they are noted
    host_key, ended_host_key
                       the same turned round (`hosts.host_key`)
    bin                true while it is removed, else absent: `removed_at` as a yes or no, which an
                       index of links in their order can have in front
    folded             what a text is looked for in (`Link.searched`); absent for links of nobody,
                       which no list has, and where the version before wrote the document
    people             how often people visited it, as of a while ago; absent for never
    scan_code          its scan code; absent for none
    scan_wanted        the scan code that it is being given; absent at all other times
    rev                how often it was edited; absent for never
    formers, history   how many URLs it led to before, and which: {url, until}, the last one last;
                       absent for none
    reports, reported, reports_waiting, reports_decided_at
                       see `reports_mongo`
    removed            true once it is purged: nothing else is left but `_id`

A scan code is a document, too, so that `_id` decides whether it is free: it has nothing else but

    scan_of            the code of the link

and once that link is purged it is as any other purged one. The version before, which knows no scan
codes, takes it for that all the while.

Moments are microseconds since the Unix epoch: a date of MongoDB has milliseconds.

A field that says nothing is absent and asked for with null, which stands for absence in an index,
too: documents of the version before, which had no such fields, are in every list that they belong
to. (MongoDB 6.0.5 answers null from an index alone, where no field of it is a list.)
"""

from __future__ import annotations

import re
from datetime import datetime

from services.links.blocks import BlockReason
from services.links.domain import (
    MAX_FORMER_URLS,
    RESTORABLE_FOR,
    Account,
    FormerUrl,
    Guest,
    Link,
    LinkState,
    TooManyUrls,
)
from services.links.hosts import host_at, host_key
from services.links.listing import Position, Wanted
from services.links.stored import owner_of, value_of
from services.runtime.moments import micros_of, moment_of
from services.runtime.mongo import Document

_MAX_PATTERN_LENGTH = 16
"""Characters of a searched text up to which it is looked for by a regular expression."""
PURGED: Document = {"removed": True}
"""What is left of a link that was purged, beside its code."""
LINK = dict.fromkeys(
    (
        "url",
        "creator",
        "created_at",
        "title",
        "tags",
        "changed_at",
        "created_url",
        "expires_at",
        "ended_url",
        "public_statistics",
        "removed_at",
        "blocked",
        "listed",
        "spared",
        "spared_at",
        "scan_code",
    ),
    1,
)
"""The fields of a `Link`; `link_of` reads them."""
SCAN_OF = {"scan_of": 1}
"""The field of a scan code."""
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
"""Those that `link_of` needs for what decides what a short address answers."""
EDITED = LINK | {"rev": 1, "formers": 1}
"""Those that `change_of` needs."""
SCANNED = LINK | {"scan_wanted": 1}
"""Those that decide which scan code a link gets."""


def document_of(link: Link) -> Document:
    """The document of a new link."""
    document = {"_id": link.code, **_fields(link)}
    if "creator" in document:
        document["folded"] = link.searched()
    return document


def link_of(document: Document) -> Link | None:
    """The link of a document; None of one that was purged, and of a scan code."""
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


def history_of(document: Document) -> list[FormerUrl]:
    """The URLs that a link led to before, the last one first."""
    return [
        FormerUrl(one["url"], moment_of(one["until"]))
        for one in reversed(document.get("history", ()))
    ]


def change_of(held: Document, old: Link, new: Link, now: datetime) -> tuple[Document, Document]:
    """What makes a link another: the condition that it is as it was read, and the update.

    Raises TooManyUrls.
    """
    as_read = {
        "_id": old.code,
        "url": {"$exists": True},
        "creator": held.get("creator"),
        "rev": held.get("rev"),
    }
    before, after = _fields(old), _fields(new)
    changed = {name: value for name, value in after.items() if value != before.get(name)}
    if "creator" in after:
        changed["folded"] = new.searched()
    gone = dict.fromkeys(before.keys() - after.keys(), "")
    counts = {"rev": 1}
    update: Document = {"$inc": counts}
    if changed:
        update["$set"] = changed
    if gone:
        update["$unset"] = gone
    if new.url != old.url:
        if held.get("formers", 0) >= MAX_FORMER_URLS:
            raise TooManyUrls(f"A link leads to {MAX_FORMER_URLS + 1} URLs at most, in its life.")
        counts["formers"] = 1
        update["$push"] = {"history": {"url": old.url, "until": micros_of(now)}}
    return as_read, update


def wanted_of(owner: Account | Guest, wanted: Wanted, now: datetime) -> Document:
    """The query for those of an owner's links that are wanted."""
    query: Document = {"creator": value_of(owner), "bin": None, **_in_state(wanted.state, now)}
    if wanted.text:
        query["$and"] = [{"$or": [*_with_text(wanted.text)]}]
    return query


def removed_and_shown(now: datetime) -> Document:
    """The conditions of a removed link that is not gone."""
    return {"bin": True, "removed_at": {"$gt": micros_of(now - RESTORABLE_FOR)}}


def searches_of(owner: Account | Guest, wanted: Wanted, now: datetime) -> tuple[Document, Document]:
    """The same for a text as two queries: for documents of this version, and of the one before."""
    query = wanted_of(owner, Wanted(state=wanted.state), now)
    folded, unfolded = _with_text(wanted.text)
    return {**query, **folded}, {**query, **unfolded}


def behind(after: Position, *, oldest: bool) -> Document:
    """The query for what comes behind a position in a list by age, the oldest or newest first."""
    edge, beyond = ("$gte", "$gt") if oldest else ("$lte", "$lt")
    at = micros_of(after.created_at)
    return {
        "created_at": {edge: at},
        "$or": [{"created_at": {beyond: at}}, {"_id": {beyond: after.code}}],
    }


def hosts_of(document: Document) -> Document:
    """The fields that say where a document of the version before leads."""
    hosts = _hosts("", document["url"])
    if "ended_url" in document:
        hosts |= _hosts("ended_", document["ended_url"])
    return hosts


def _with_text(text: str) -> tuple[Document, Document]:
    """The conditions that a document has a text somewhere: of this version, and of the one before.

    That one, which knew no titles, wrote down nothing folded.

    A regular expression takes time proportional to the lengths of both texts where they repeat
    themselves: MongoDB 6.0.5 took 3.3 s for 2,000 links of 990 characters and a text of 500. So a
    long text is looked for by `$indexOfBytes`, which took 50 ms. That reads the documents, and for
    100,000 ordinary links takes twice as long as a regular expression.
    """
    escaped = re.escape(text)
    anywhere = {"$regex": escaped, "$options": "i"}
    unfolded = {"folded": None, "$or": [{"_id": anywhere}, {"url": anywhere}]}
    if len(text) <= _MAX_PATTERN_LENGTH:
        return {"folded": {"$regex": escaped}}, unfolded
    position = {"$indexOfBytes": ["$folded", {"$literal": text}]}
    return {"folded": {"$exists": True}, "$expr": {"$gte": [position, 0]}}, unfolded


def _in_state(state: LinkState | None, now: datetime) -> Document:
    """The conditions of a state, in their form that an index answers."""
    over = {"$lte": micros_of(now)}
    match state:
        case None:
            return {}
        case LinkState.BLOCKED:
            return {"blocked": {"$gt": ""}}
        case LinkState.REMOVED:
            return removed_and_shown(now)
        case LinkState.EXPIRED:
            return {"blocked": None, "expires_at": over}
        case LinkState.ACTIVE:
            return {"blocked": None, "expires_at": {"$not": over}}


def _fields(link: Link) -> Document:
    """The fields of a link that say something, beside its code."""
    fields: Document = {
        "url": link.url,
        "creator": value_of(link.owner),
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
        **_hosts("", link.url),
        **(_hosts("ended_", link.ended_url) if link.ended_url else {}),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _hosts(which: str, url: str) -> Document:
    host = host_at(url)
    return {f"{which}host": host, f"{which}host_key": host_key(host)}


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros_of(moment)


def _moment(document: Document, name: str) -> datetime | None:
    return moment_of(document[name]) if name in document else None
