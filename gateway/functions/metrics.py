"""Metrics of the functions."""

from __future__ import annotations

from prometheus_client import Counter

LINKS_CREATED = Counter("atajo_links_created", "Links created, repeated creations included.")
LIMITED = Counter("atajo_limited", "Calls rejected by a rate or concurrency limit.", ["limit"])
