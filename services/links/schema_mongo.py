"""Indexes of links in a MongoDB database.

Those of an owner's links leave out links of nobody, and codes alone are asked for where they are
enough: then the index answers.

    links_of_creator   all links of an owner by age: `by_owner`, and what a claim finds
    links_by_age       pages of the links in a list, or of the removed ones, in either direction,
                       their number, and the codes of all in a list. The conditions of states
                       follow the order: a list of the expired ones passes over the others without
                       reading their documents
    links_by_views     rankings, in their order
    links_removed      what was removed, the first first; it has nothing else in it
    links_owned        codes with an owner, in their order, however many of nobody are between them
    links_by_host, links_by_ended_host
                       hosts that links lead to, and the links of one, in the order of codes
    links_by_host_key, links_by_ended_host_key
                       the links of a host and of those below it
    links_listed       links that a blocklist blocked, in the order of codes
    links_reported     links with reports that wait, the most often reported first, and how many
                       reports of each wait
    links_decided      links with reports that were decided on, for those that are to be forgotten

No index helps with a text that may be anywhere: a search looks through all links of its owner. A
page of it ends where it is full, its number takes them all. `folded` is in no index, where it would
take more room than the links do.
"""

from __future__ import annotations

from pymongo import ASCENDING, DESCENDING, IndexModel

from services.links import decisions_mongo as decisions
from services.runtime.mongo import Document, Schema

OWNED: Document = {"creator": {"$exists": True}}
"""What the indexes of owners' links have in them: links of nobody would only take room."""

SCHEMA: Schema = (
    {
        "links": [
            IndexModel(
                [("creator", DESCENDING), ("created_at", DESCENDING), ("_id", DESCENDING)],
                name="links_of_creator",
                partialFilterExpression=OWNED,
            )
        ]
    },
    {
        "links": [
            IndexModel(
                [
                    ("creator", DESCENDING),
                    ("bin", DESCENDING),
                    ("created_at", DESCENDING),
                    ("_id", DESCENDING),
                    ("blocked", DESCENDING),
                    ("expires_at", DESCENDING),
                    ("removed_at", DESCENDING),
                ],
                name="links_by_age",
                partialFilterExpression=OWNED,
            ),
            IndexModel(
                [
                    ("creator", DESCENDING),
                    ("bin", DESCENDING),
                    ("people", DESCENDING),
                    ("created_at", DESCENDING),
                    ("_id", DESCENDING),
                    ("blocked", DESCENDING),
                    ("expires_at", DESCENDING),
                    ("removed_at", DESCENDING),
                ],
                name="links_by_views",
                partialFilterExpression=OWNED,
            ),
            IndexModel(
                [("removed_at", ASCENDING), ("_id", ASCENDING)],
                name="links_removed",
                partialFilterExpression={"removed_at": {"$exists": True}},
            ),
            IndexModel(
                [("_id", ASCENDING), ("creator", ASCENDING)],
                name="links_owned",
                partialFilterExpression=OWNED,
            ),
        ],
        "rankings": [IndexModel("tidied_at", name="rankings_tidied", expireAfterSeconds=0)],
        "ranked_codes": [IndexModel("tidied_at", name="ranked_codes_tidied", expireAfterSeconds=0)],
    },
    {
        "links": [
            IndexModel(
                [("host", ASCENDING), ("_id", ASCENDING)],
                name="links_by_host",
                partialFilterExpression={"host": {"$exists": True}},
            ),
            IndexModel(
                [("ended_host", ASCENDING), ("_id", ASCENDING)],
                name="links_by_ended_host",
                partialFilterExpression={"ended_host": {"$exists": True}},
            ),
            IndexModel(
                [("_id", ASCENDING), ("listed", ASCENDING)],
                name="links_listed",
                partialFilterExpression={"listed": {"$exists": True}},
            ),
        ]
    },
    {
        "links": [
            IndexModel(
                [("reported", DESCENDING), ("_id", ASCENDING), ("reports_waiting", ASCENDING)],
                name="links_reported",
                partialFilterExpression={"reported": {"$exists": True}},
            ),
            IndexModel(
                [("reports_decided_at", ASCENDING)],
                name="links_decided",
                partialFilterExpression={"reports_decided_at": {"$exists": True}},
            ),
        ]
    },
    decisions.INDEXES,
    {
        "links": [
            IndexModel(
                [("host_key", ASCENDING), ("_id", ASCENDING)],
                name="links_by_host_key",
                partialFilterExpression={"host_key": {"$exists": True}},
            ),
            IndexModel(
                [("ended_host_key", ASCENDING), ("_id", ASCENDING)],
                name="links_by_ended_host_key",
                partialFilterExpression={"ended_host_key": {"$exists": True}},
            ),
        ]
    },
)
