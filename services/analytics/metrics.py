"""What the analytics service counts beside what every process does."""

from __future__ import annotations

from prometheus_client import Counter

from services.analytics.domain.visits import OTHER_NAMES, Breakdown, Dimension, VisitKind

VISITS_COUNTED = Counter(
    "atajo_visits_counted", "Visits added to the store, once each, by who visited.", ["kind"]
)
BATCHES_APPLIED = Counter(
    "atajo_visit_batches_applied",
    "Batches of visits by what became of them: applied, repeated (it had been, so nothing "
    "changed) or refused, whose visits the gateway then counts as lost.",
    ["result"],
)
NAMES_GATHERED = Counter(
    "atajo_visit_names_gathered",
    "People counted under * rather than their name, as their link's day had enough others, by "
    "dimension.",
    ["dimension"],
)
KEYS_MADE = Counter("atajo_visitor_keys_made", "Keys of a day made, to tell its visitors apart.")
KEYS_DELETED = Counter(
    "atajo_visitor_keys_deleted", "Keys of days that were over deleted from the store."
)
DAYS_DELETED = Counter(
    "atajo_statistics_deleted", "Days of links deleted, as they were kept for long enough."
)
# There from the start: a rate over a series needs its zero.
for _kind in VisitKind:
    VISITS_COUNTED.labels(_kind.value)
for _result in ("applied", "repeated", "refused"):
    BATCHES_APPLIED.labels(_result)
for _dimension in Dimension:
    NAMES_GATHERED.labels(_dimension.name.lower())


def note_gathered(dimension: Dimension, added: Breakdown, counted: Breakdown) -> None:
    """Note how many of the people of `added` were counted under `OTHER_NAMES` for want of room."""
    if gathered := counted.get(OTHER_NAMES, 0) - added.get(OTHER_NAMES, 0):
        NAMES_GATHERED.labels(dimension.name.lower()).inc(gathered)
