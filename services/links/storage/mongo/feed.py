"""The change feed of links in MongoDB: which updates it contains (`services.shared.mongo.feed`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pymongo.database import Database as PyMongoDatabase

from services.links.application.ports import MAX_CHANGES
from services.shared.mongo import Database, Document
from services.shared.mongo.feed import MongoFeed

_RESOLUTION_FIELDS = ("url", "expires_at", "ended_url", "removed_at", "blocked", "scan_code")
"""Fields that decide the resolution of a link."""
_EVENTS: Document = {
    "$or": [
        # A purge replaces the document.
        {"operationType": {"$in": ["replace", "delete"]}},
        {
            "operationType": "update",
            "$or": [
                {"updateDescription.removedFields": {"$in": _RESOLUTION_FIELDS}},
                *(
                    {f"updateDescription.updatedFields.{name}": {"$exists": True}}
                    for name in _RESOLUTION_FIELDS
                ),
            ],
        },
    ]
}


def open_feed(database: Database) -> MongoFeed:
    """Return the feed of codes and scan codes whose resolutions changed."""
    return MongoFeed(database, "links_changes", "links", _EVENTS, MAX_CHANGES, _scan_codes)


def _scan_codes(db: PyMongoDatabase[Document], codes: Sequence[str]) -> Iterable[str]:
    with_scan_code = {"_id": {"$in": codes}, "scan_code": {"$ne": None}}
    return (one["scan_code"] for one in db.links.find(with_scan_code, {"scan_code": 1}))
