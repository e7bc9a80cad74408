"""What the analytics service counts beside what every process does."""

from __future__ import annotations

from prometheus_client import Counter

from services.analytics.domain import VisitKind

VISITS_COUNTED = Counter(
    "atajo_visits_counted", "Visits added to the store, once each, by who visited.", ["kind"]
)
BATCHES_APPLIED = Counter(
    "atajo_visit_batches_applied",
    "Batches of visits by what became of them: applied, repeated (it had been, so nothing "
    "changed) or refused, whose visits the gateway then counts as lost.",
    ["result"],
)
# There from the start: a rate over a series needs its zero.
for _kind in VisitKind:
    VISITS_COUNTED.labels(_kind.value)
for _result in ("applied", "repeated", "refused"):
    BATCHES_APPLIED.labels(_result)
