"""Metrics of the use cases."""

from __future__ import annotations

from prometheus_client import Counter

LINKS_CREATED = Counter("atajo_links_created", "Links created, repeated creations included.")
