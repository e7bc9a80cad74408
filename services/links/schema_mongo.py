"""Indexes of links in a MongoDB database.

Those of an owner's links leave out links of nobody, and codes alone are asked for where they are
enough: then the index answers.

    links_of_creator   all links of an owner by age: `by_owner`, and what a claim finds
    links_by_age       pages of the links in a list, or of the removed ones, in either direction,
                       their number, and the codes of all in a list. The conditions of states
                       follow the order: a list of the expired ones passes over the others without
                       reading their documents
    links_by_views     rankings, in their order
    links_searched     what a text is looked for in, of an owner's links by age
    links_unfolded     those by age that have nothing a text is looked for in
    links_removed      what was removed, the first first; it has nothing else in it
    links_owned        codes with an owner, in their order, however many of nobody are between them
    links_by_host, links_by_ended_host
                       hosts that links lead to, and the links of one, in the order of codes
    links_by_host_key, links_by_ended_host_key
                       the links of a host and of those below it
    links_unkeyed, links_unkeyed_ended
                       the links of a host that a version without such keys made, and none of the
                       others, of which it may have a million
    links_listed       links that a blocklist blocked, in the order of codes
    links_reported     links with reports that wait, the most often reported first, and how many
                       reports of each wait
    links_decided      links with reports that were decided on, for those that are to be forgotten

Where two of them would do, the query names the one that is meant: the server looks at its first
hundred finds, which say nothing of what lies behind them, as all that an owner has removed.

A text may be anywhere, so a search looks through all links of its owner. A page of it ends where it
is full, its number takes them all. To read the documents takes four times as long as an index that
has `folded`, a hundred bytes a link: so that of the links of a search is read from `links_searched`
alone. Documents of the version before, which have none, are in `links_unfolded`, and nothing else.
A ranking of a search is rare, and reads the documents in the order of `links_by_views`.
"""

from __future__ import annotations

from pymongo import ASCENDING, DESCENDING, IndexModel

from services.links import decisions_mongo as decisions
from services.runtime.mongo import Document, Schema

BY_AGE, BY_VIEWS = "links_by_age", "links_by_views"
SEARCHED, UNFOLDED = "links_searched", "links_unfolded"
UNKEYED, UNKEYED_ENDED = "links_unkeyed", "links_unkeyed_ended"
OWNED_CODES, LISTED = "links_owned", "links_listed"

_OWNED_BY_AGE = [
    ("creator", DESCENDING),
    ("bin", DESCENDING),
    ("created_at", DESCENDING),
    ("_id", DESCENDING),
]
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
                    *_OWNED_BY_AGE,
                    ("blocked", DESCENDING),
                    ("expires_at", DESCENDING),
                    ("removed_at", DESCENDING),
                ],
                name=BY_AGE,
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
                name=BY_VIEWS,
                partialFilterExpression=OWNED,
            ),
            IndexModel(
                [("removed_at", ASCENDING), ("_id", ASCENDING)],
                name="links_removed",
                partialFilterExpression={"removed_at": {"$exists": True}},
            ),
            IndexModel(
                [("_id", ASCENDING), ("creator", ASCENDING)],
                name=OWNED_CODES,
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
                name=LISTED,
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
    {
        "links": [
            IndexModel(
                [*_OWNED_BY_AGE, ("folded", DESCENDING)],
                name=SEARCHED,
                partialFilterExpression={"folded": {"$exists": True}},
            ),
            IndexModel(
                _OWNED_BY_AGE,
                name=UNFOLDED,
                partialFilterExpression={**OWNED, "folded": None},
            ),
            IndexModel(
                [("host", ASCENDING), ("_id", ASCENDING)],
                name=UNKEYED,
                partialFilterExpression={"host": {"$exists": True}, "host_key": None},
            ),
            IndexModel(
                [("ended_host", ASCENDING), ("_id", ASCENDING)],
                name=UNKEYED_ENDED,
                partialFilterExpression={"ended_host": {"$exists": True}, "ended_host_key": None},
            ),
        ]
    },
)
