"""Metrics of the analytics service."""

from __future__ import annotations

from prometheus_client import Counter

from services.analytics.domain.visits import Dimension, VisitKind
from services.shared import unreadable_records

VISITS_COUNTED = Counter(
    "atajo_visits_counted", "Visits added to the store, by kind of visitor.", ["kind"]
)
BATCHES_APPLIED = Counter(
    "atajo_visit_batches_applied",
    "Batches of visits, of a lane each if the gateway divides them, by result: applied; repeated, "
    "it had been applied before and changed nothing; refused, the gateway counts its visits as "
    "lost; deferred, it has values or fields of a later version, and the gateway resends it until "
    "such a version counts it.",
    ["result"],
)
NAMES_GATHERED = Counter(
    "atajo_visit_names_gathered",
    "People counted under * instead of their name, because their link's day had enough names "
    "already, by dimension.",
    ["dimension"],
)
KEYS_MADE = Counter("atajo_visitor_keys_made", "Daily visitor keys created.")
KEYS_DELETED = Counter("atajo_visitor_keys_deleted", "Expired visitor keys deleted from the store.")
DAYS_DELETED = Counter(
    "atajo_statistics_deleted", "Days of links deleted at the end of their retention period."
)
unreadable_records.expect("totals", "day", "aggregate")
# A rate needs the initial zero.
for _kind in VisitKind:
    VISITS_COUNTED.labels(_kind.value)
for _result in ("applied", "repeated", "refused", "deferred"):
    BATCHES_APPLIED.labels(_result)
for _dimension in Dimension:
    NAMES_GATHERED.labels(_dimension.name.lower())
