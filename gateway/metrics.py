"""Metrics of the gateway.

The redirect path counts in plain integers, which become metrics when `/metrics` is read. The
counters of the client library take a lock each time, which would cost it a tenth of its time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from prometheus_client import Counter, Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from gateway.redirects.invalidation import ChangeFollower
from gateway.redirects.resolver import Resolver
from gateway.visits.enrichment.visitor_key import VisitorKeys
from gateway.visits.pipeline import VisitPipeline
from services.shared.observability.metrics import LATENCY_BUCKETS

HTTP_SECONDS = Histogram(
    "http_request_duration_seconds",
    "Time from a request's arrival to the end of its answer, short addresses apart.",
    ["route", "method", "status"],
    buckets=LATENCY_BUCKETS,
)
HTTP_REJECTED = Counter(
    "atajo_http_rejected",
    "What came over HTTP and was not served as sent, by reason: invalid, no HTTP request, and "
    "too_long, headers without end, both answered with 400; late, one that did not come whole "
    "in time, cut off; upgrade, a request to speak another "
    "protocol, answered as if it did not ask; broke, answered with 500 as reading it failed for an "
    "error nobody foresaw, whose traceback is in the log.",
    ["reason"],
)
for _reason in ("invalid", "too_long", "late", "upgrade", "broke"):
    HTTP_REJECTED.labels(_reason)
LINKS_CREATED = Counter("atajo_links_created", "Links stored, repetitions of one included.")
LIMITED = Counter(
    "atajo_limited", "Calls refused because their address had made too many, by limit.", ["limit"]
)

# Seconds. Measured: from memory 4 us by the shortcut and 60 us through the application, looked up
# 3 ms, 99 of 100 within 50; a look-up is given up after 2 s.
_BOUNDS = (
    0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005,
    0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5,
)  # fmt: skip
_RESULTS = ("found", "not_found", "ended", "failed")


class RedirectMetrics:
    """Responses to short addresses by result, with a histogram of their duration in seconds."""

    def __init__(self) -> None:
        self.counts = {result: [0] * (len(_BOUNDS) + 1) for result in _RESULTS}
        self.sums = dict.fromkeys(_RESULTS, 0.0)

    def observe(self, result: str, seconds: float) -> None:
        """Count one response, which took so many seconds."""
        self.counts[result][bisect_left(_BOUNDS, seconds)] += 1
        self.sums[result] += seconds


class GatewayCollector(Collector):
    """Turns the plain integers into metrics when `/metrics` is read."""

    def __init__(
        self,
        redirects: RedirectMetrics,
        resolver: Resolver,
        changes: ChangeFollower,
        visits: VisitPipeline,
        keys: VisitorKeys,
    ) -> None:
        self._redirects = redirects
        self._resolver = resolver
        self._changes = changes
        self._visits = visits
        self._keys = keys

    def collect(self) -> Iterable[Metric]:
        yield from self._of_redirects()
        yield from self._of_cache()
        yield from self._of_changes()
        yield from self._of_visits()
        yield from self._of_visitors()
        yield from self._of_journal()

    def _of_redirects(self) -> Iterable[Metric]:
        redirects = CounterMetricFamily(
            "atajo_redirects",
            "Answers to short addresses by result: found, sent to where its link leads; not_found, "
            "no such link; ended, its link is expired, removed or blocked; failed, it could not be "
            "looked up.",
            labels=["result"],
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
            redirects.add_metric([result], total)
            duration.add_metric([result], buckets, self._redirects.sums[result])
        yield redirects
        yield duration

    def _of_cache(self) -> Iterable[Metric]:
        resolver = self._resolver
        entries = GaugeMetricFamily(
            "atajo_cache_entries",
            "Codes in memory: link, which have a link; absent, which have none.",
            labels=["kind"],
        )
        entries.add_metric(["link"], len(resolver))
        entries.add_metric(["absent"], resolver.absent)
        yield entries
        yield GaugeMetricFamily(
            "atajo_cache_bytes", "Memory that the links in memory take.", value=resolver.bytes
        )
        yield GaugeMetricFamily(
            "atajo_cache_limit_bytes",
            "Memory they may take; beyond it those go that were not asked for the longest.",
            value=resolver.limit_bytes,
        )
        yield _counter(
            "atajo_cache_lookups",
            "Codes asked for by what memory could tell: hit; stale, served as it was while it is "
            "looked up again; miss, looked up while its visitor waits.",
            "result",
            resolver.lookups,
        )
        yield CounterMetricFamily(
            "atajo_lookup_faults",
            "Look-ups that ended with an error nobody foresaw; the log has its traceback.",
            value=resolver.faults,
        )

    def _of_changes(self) -> Iterable[Metric]:
        changes = self._changes
        yield GaugeMetricFamily(
            "atajo_changes_age_seconds",
            "For how long links has not told all that changed: about a second at most. While it "
            "grows, what is in memory is not changed.",
            value=changes.age_seconds,
        )
        yield _counter(
            "atajo_changes_polls",
            "Answers of links to what changed, by result: heard; lost, it does not know all "
            "changes any more and all of memory is looked up anew; failed, there was none; broke, "
            "it could not be applied, and the log has the traceback.",
            "result",
            changes.polls,
        )
        yield CounterMetricFamily(
            "atajo_changes_told",
            "Changes of links that were told, whether of what is in memory or not.",
            value=changes.told,
        )

    def _of_visits(self) -> Iterable[Metric]:
        yield _counter(
            "atajo_visits", "Visits taken down, by who visited.", "kind", self._visits.visits
        )
        yield _counter(
            "atajo_visit_batches",
            "Batches of visits sent to analytics by what became of it: acknowledged; refused, "
            "whose visits are lost; failed, which is sent again.",
            "result",
            self._visits.batches,
        )
        yield CounterMetricFamily(
            "atajo_visits_lost",
            "Answered visits that will never be counted: the journal had no room for them or "
            "could not be read back, or analytics refused them.",
            value=self._visits.lost,
        )
        yield GaugeMetricFamily(
            "atajo_visits_pending",
            "Visits in the journal that analytics has not acknowledged; at least so many while "
            "atajo_visits_restoring is 1.",
            value=self._visits.pending,
        )
        yield GaugeMetricFamily(
            "atajo_visits_restoring",
            "1 while visits of an earlier run are being read back from the journal, else 0.",
            value=self._visits.restoring,
        )
        yield GaugeMetricFamily(
            "atajo_visit_flush_lag_seconds",
            "Age of the oldest visit that analytics has not acknowledged; one of an earlier run, "
            "or one that may still be found, is as old as this run.",
            value=self._visits.lag_seconds,
        )

    def _of_visitors(self) -> Iterable[Metric]:
        yield _counter(
            "atajo_visits_unknown",
            "People whose visits analytics has, and of whom this is not known: browser, by their "
            "User-Agent; country, by their address.",
            "dimension",
            self._visits.unknown,
        )
        yield _counter(
            "atajo_visitor_key_requests",
            "Questions for the key of the day, under which visitors are told apart, by result: "
            "changed, there is a key now; refused, it was another day's and is not used; failed, "
            "there was no answer.",
            "result",
            self._keys.asked,
        )
        yield GaugeMetricFamily(
            "atajo_visitor_key_known",
            "1 while there is a key of the day; while it is 0, people count and visitors do not.",
            value=self._keys.has_key,
        )

    def _of_journal(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            "atajo_visit_journal_bytes",
            "Bytes of the visit journal, whose files wait for analytics.",
            value=self._visits.journal_bytes,
        )
        yield GaugeMetricFamily(
            "atajo_visit_journal_limit_bytes",
            "Bytes the visit journal may have: its room, or less where its disk leaves less. "
            "Visits past it are lost.",
            value=self._visits.journal_limit_bytes,
        )


def _counter(name: str, text: str, label: str, counts: Mapping[str, float]) -> Metric:
    """A counter with one label, from plain integers by the label's value."""
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family
