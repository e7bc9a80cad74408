"""Indexes of links in a MongoDB database. Shard keys: docs/performance.md.

`_id` is the only unique key, so it stays unique across shards, and every update names it.

Indexes of an owner's links leave out links without an owner. Where only codes are needed, the index
answers alone.

    links_by_age       pages of an owner's links by age, and their number. The fields of states come
                       last, so that a list of expired links skips the others without reading them
    links_by_views     rankings
    links_searched     the text that searches look through, by age
    links_removed      removed links, the first removed first
    links_owned        codes of links with an owner
    links_by_host_key, links_by_ended_host_key
                       the links of a host and of its subdomains, in the order of their codes
    links_listed       links that a blocklist blocked, in the order of their codes
    links_reported     links with waiting reports, the most often reported first
    links_decided      links with reports that were decided on

Queries name the index where several would do: the planner's trial of a hundred results says nothing
of what follows them, such as all links that an owner removed.

A search looks through all links of its owner. An index with `folded` (100 bytes a link) takes a
quarter of the time that reading the documents takes. A ranking of a search is rare and reads the
documents in the order of `links_by_views`.
"""

from __future__ import annotations

from pymongo import ASCENDING, DESCENDING, IndexModel

from services.shared.mongo import Document, Schema

BY_AGE, BY_VIEWS, SEARCHED = "links_by_age", "links_by_views", "links_searched"
OWNED_CODES, LISTED = "links_owned", "links_listed"
BY_HOST_KEY, BY_ENDED_HOST_KEY = "links_by_host_key", "links_by_ended_host_key"
OWNED: Document = {"creator": {"$exists": True}}
"""Matches links with an owner."""

_STATE = [("blocked", DESCENDING), ("expires_at", DESCENDING), ("removed_at", DESCENDING)]
_AGE = [("created_at", DESCENDING), ("_id", DESCENDING)]
_SHOWN = [("creator", DESCENDING), ("bin", DESCENDING)]


def _index(name: str, keys: list[tuple[str, int]], field: str) -> IndexModel:
    """An index of the documents that have a field."""
    return IndexModel(keys, name=name, partialFilterExpression={field: {"$exists": True}})


SCHEMA: Schema = (
    {
        "links": [
            _index(BY_AGE, [*_SHOWN, *_AGE, *_STATE], "creator"),
            _index(BY_VIEWS, [*_SHOWN, ("people", DESCENDING), *_AGE, *_STATE], "creator"),
            _index(SEARCHED, [*_SHOWN, *_AGE, ("folded", DESCENDING)], "folded"),
            _index("links_removed", [("removed_at", ASCENDING), ("_id", ASCENDING)], "removed_at"),
            _index(OWNED_CODES, [("_id", ASCENDING), ("creator", ASCENDING)], "creator"),
            _index(BY_HOST_KEY, [("host_key", ASCENDING), ("_id", ASCENDING)], "host_key"),
            _index(
                BY_ENDED_HOST_KEY,
                [("ended_host_key", ASCENDING), ("_id", ASCENDING)],
                "ended_host_key",
            ),
            _index(LISTED, [("_id", ASCENDING), ("listed", ASCENDING)], "listed"),
            _index(
                "links_reported",
                [("reported", DESCENDING), ("_id", ASCENDING), ("reports_waiting", ASCENDING)],
                "reported",
            ),
            _index("links_decided", [("reports_decided_at", ASCENDING)], "reports_decided_at"),
        ],
        "decisions": [
            IndexModel([("decided_at", DESCENDING), ("_id", DESCENDING)], name="decisions_by_age")
        ],
        **{
            collection: [IndexModel("changed_at", name=f"{collection}_old", expireAfterSeconds=age)]
            for collection, age in {
                "counts": 3600,
                "count_changes": 7200,
                "rankings": 7200,
                "ranked_codes": 7200,
            }.items()
        },
    },
)
