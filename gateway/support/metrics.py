"""Makes metrics from plain integers."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.core import CounterMetricFamily, Metric


def labeled_counter(name: str, help_text: str, label: str, counts: Mapping[str, float]) -> Metric:
    """Return a counter with one label, from its values by the label's value."""
    family = CounterMetricFamily(name, help_text, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family
