"""Metrics of the gateway.

The redirect path counts in plain integers, read when somebody looks: a client library's locked
counters would cost it a tenth of its time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from prometheus_client import Counter, Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from gateway.visits.pipeline import VisitPipeline
from services.runtime.metrics import LATENCY_BUCKETS

HTTP_SECONDS = Histogram(
    "http_request_duration_seconds",
    "Time from a request's arrival to the end of its answer, short addresses apart.",
    ["route", "method", "status"],
    buckets=LATENCY_BUCKETS,
)
LINKS_CREATED = Counter("atajo_links_created", "Links stored, repetitions of one included.")

# Seconds; a redirect from memory takes some 20 microseconds, one that is looked up a millisecond.
_BOUNDS = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5)
_RESULTS = ("found", "not_found", "failed")


class RedirectMetrics:
    """What became of short addresses, and how fast."""

    def __init__(self) -> None:
        self.counts = {result: [0] * (len(_BOUNDS) + 1) for result in _RESULTS}
        self.sums = dict.fromkeys(_RESULTS, 0.0)

    def observe(self, result: str, seconds: float) -> None:
        """Count one answer."""
        self.counts[result][bisect_left(_BOUNDS, seconds)] += 1
        self.sums[result] += seconds


class GatewayCollector(Collector):
    """Turns the plain integers into metrics when `/metrics` is read."""

    def __init__(self, redirects: RedirectMetrics, visits: VisitPipeline) -> None:
        self._redirects = redirects
        self._visits = visits

    def collect(self) -> Iterable[Metric]:
        answered = CounterMetricFamily(
            "atajo_redirects", "Answers to short addresses by result.", labels=["result"]
        )
        duration = HistogramMetricFamily(
            "atajo_redirect_duration_seconds",
            "Time from a short address's arrival to the end of its answer.",
            labels=["result"],
        )
        for result, counts in self._redirects.counts.items():
            total = 0
            buckets: list[tuple[str, float]] = []
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), list(counts), strict=True):
                total += count
                buckets.append((bound, total))
            answered.add_metric([result], total)
            duration.add_metric([result], buckets, self._redirects.sums[result])
        yield answered
        yield duration

        taken = CounterMetricFamily(
            "atajo_visits", "Visits taken down, by who visited.", labels=["kind"]
        )
        for kind, visits in self._visits.visits.items():
            taken.add_metric([kind], visits)
        yield taken
        yield CounterMetricFamily(
            "atajo_visits_lost",
            "Answered visits that will never be counted: the journal had no room for them.",
            value=self._visits.lost,
        )
        yield GaugeMetricFamily(
            "atajo_visits_pending",
            "Visits in the journal that analytics has not acknowledged.",
            value=self._visits.pending,
        )
        yield GaugeMetricFamily(
            "atajo_visit_flush_lag_seconds",
            "Age of the oldest visit that analytics has not acknowledged.",
            value=self._visits.lag_seconds,
        )
