"""Metrics of visits, visitors and the journal, from plain integers."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.support.metrics import labeled_counter
from gateway.visits.enrichment.visitor_key import VisitorKeys
from gateway.visits.pipeline import VisitPipeline


class VisitCollector(Collector):
    """Turns the plain integers into metrics when `/metrics` is read."""

    def __init__(self, visits: VisitPipeline, keys: VisitorKeys) -> None:
        self._visits = visits
        self._keys = keys

    def collect(self) -> Iterable[Metric]:
        yield labeled_counter(
            "atajo_visits", "Visits recorded, by kind of visitor.", "kind", self._visits.visits
        )
        yield labeled_counter(
            "atajo_visit_batches",
            "Batches of visits sent to analytics by result: acknowledged; refused, whose visits "
            "are lost; failed, which are sent again.",
            "result",
            self._visits.sender.batches,
        )
        yield CounterMetricFamily(
            "atajo_visits_lost",
            "Visits that will never be counted: the journal had no room for them or could not be "
            "read back, or analytics refused them.",
            value=self._visits.lost,
        )
        yield GaugeMetricFamily(
            "atajo_visits_pending",
            "Visits in the journal that analytics has not acknowledged; a lower bound while "
            "atajo_visits_restoring is 1.",
            value=self._visits.pending,
        )
        yield GaugeMetricFamily(
            "atajo_visits_restoring",
            "1 while visits of an earlier run are being read back from the journal, else 0.",
            value=self._visits.journal.restoring,
        )
        yield GaugeMetricFamily(
            "atajo_visit_flush_lag_seconds",
            "Age of the oldest visit that analytics has not acknowledged. Visits of an earlier run "
            "count from the start of this one.",
            value=self._visits.lag_seconds,
        )
        yield labeled_counter(
            "atajo_visits_unknown",
            "Visits of people that analytics has acknowledged without this dimension: browser, "
            "from the User-Agent; country, from the IP address.",
            "dimension",
            self._visits.sender.unknown,
        )
        yield labeled_counter(
            "atajo_visitor_key_requests",
            "Requests for the day's visitor key by result: changed, there is a key now; refused, "
            "it was the key of another day and is not used; failed, analytics did not answer.",
            "result",
            self._keys.requests,
        )
        yield GaugeMetricFamily(
            "atajo_visitor_key_known",
            "1 while the gateway has the day's visitor key. While it is 0, people are counted but "
            "visitors are not.",
            value=self._keys.has_key,
        )
        yield GaugeMetricFamily(
            "atajo_visit_journal_bytes",
            "Size of the visit journal.",
            value=self._visits.journal.size,
        )
        yield GaugeMetricFamily(
            "atajo_visit_journal_limit_bytes",
            "Maximum size of the visit journal: ATAJO_JOURNAL_BYTES, or less if its disk has less. "
            "Visits beyond it are lost.",
            value=self._visits.journal.limit,
        )
