"""Indexes of links in a MongoDB database. Shard keys: docs/performance.md.

A step of `SCHEMA` is never changed once released, so it contains no constants that queries use.

`_id` is the only unique key, so it stays unique across shards, and every update names it.

Indexes of an owner's links exclude anonymous links. Queries for codes are covered by their index.

    links_by_age       pages of an owner's links by age, and their number. The fields of states come
                       last, so that a list of expired links skips other links within the index
    links_by_views     rankings
    links_searched     the search texts, by age
    links_removed      removed links, in the order of removal
    links_owned        codes of links with an owner
    links_by_host_key, links_by_ended_host_key
                       the links of a host and of its subdomains, in the order of their codes
    links_listed       links that a blocklist blocked, in the order of their codes
    links_reported     links with pending reports, the most often reported first
    links_decided      links with reports that were decided on

Queries name their index if several would do: the planner compares the first hundred results, which
say nothing about the rest, such as all links that an owner removed.

A search scans all links of its owner. An index with `folded` (100 bytes a link) takes a quarter of
the time of reading the documents. A ranking of a search is rare and reads the documents in the
order of `links_by_views`.
"""

from __future__ import annotations

from pymongo import ASCENDING, DESCENDING, IndexModel

from services.shared.mongo import Document, Schema

BY_AGE, BY_VIEWS, SEARCHED = "links_by_age", "links_by_views", "links_searched"
OWNED_CODES, LISTED = "links_owned", "links_listed"
BY_HOST_KEY, BY_ENDED_HOST_KEY = "links_by_host_key", "links_by_ended_host_key"
OWNED: Document = {"creator": {"$exists": True}}
"""Matches links with an owner."""


def _index(name: str, keys: str, field: str) -> IndexModel:
    """Return an index of the documents that have a field.

    `keys` are names of fields, ascending, or descending after a minus.
    """
    return IndexModel(
        [
            (key.removeprefix("-"), DESCENDING if key[0] == "-" else ASCENDING)
            for key in keys.split()
        ],
        name=name,
        partialFilterExpression={field: {"$exists": True}},
    )


def _expiring(name: str, seconds: int) -> IndexModel:
    return IndexModel("changed_at", name=name, expireAfterSeconds=seconds)


SCHEMA: Schema = (
    {
        "links": [
            _index(
                "links_by_age",
                "-creator -bin -created_at -_id -blocked -expires_at -removed_at",
                "creator",
            ),
            _index(
                "links_by_views",
                "-creator -bin -people -created_at -_id -blocked -expires_at -removed_at",
                "creator",
            ),
            _index("links_searched", "-creator -bin -created_at -_id -folded", "folded"),
            _index("links_removed", "removed_at _id", "removed_at"),
            _index("links_owned", "_id creator", "creator"),
            _index("links_by_host_key", "host_key _id", "host_key"),
            _index("links_by_ended_host_key", "ended_host_key _id", "ended_host_key"),
            _index("links_listed", "_id listed", "listed"),
            _index("links_reported", "-reported _id reports_waiting", "reported"),
            _index("links_decided", "reports_decided_at", "reports_decided_at"),
        ],
        "decisions": [
            IndexModel([("decided_at", DESCENDING), ("_id", DESCENDING)], name="decisions_by_age")
        ],
        "counts": [_expiring("counts_old", 3600)],
        "count_changes": [_expiring("count_changes_old", 7200)],
        "rankings": [_expiring("rankings_old", 7200)],
        "ranked_codes": [_expiring("ranked_codes_old", 7200)],
    },
    {
        "imports": [
            IndexModel(
                [("creator", ASCENDING), ("started_at", DESCENDING), ("_id", DESCENDING)],
                name="imports_by_creator",
            ),
            IndexModel("started_at", name="imports_by_age"),
        ],
        "import_rows": [
            _index("import_rows_by_code", "_id.import code", "fingerprint"),
        ],
        "import_days": [IndexModel("day", name="import_days_by_day")],
    },
    {
        "creations": [
            IndexModel(
                [("creator", ASCENDING), ("created_at", ASCENDING)], name="creations_by_creator"
            ),
            # An hour after the record is over, which allows for the error of the server's clock.
            _expiring("creations_old", 90_000),
        ],
    },
    {"decisions": [_index("decisions_by_call", "call", "call")]},
)
