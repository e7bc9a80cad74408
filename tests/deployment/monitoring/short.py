"""The rules with their windows in seconds, for those who cannot wait for days."""

from __future__ import annotations

import re

EVERY = "1s"
"""How often Prometheus looks and evaluates then."""
# In order and far enough apart: a budget still burns in two windows. The day for which a component
# is remembered must outlast a drill.
_SHORT = {
    "2m": "4s",
    "5m": "6s",
    "10m": "6s",
    "30m": "10s",
    "1h": "15s",
    "15m": "20s",
    "6h": "25s",
    "3d": "35s",
    "30d": "1m",
    "1d": "10m",
}
_DURATION = re.compile(r"(\[|\boffset |\bfor: )(\w+)")


def shortened(rules: str) -> str:
    """The rules with every duration replaced. Raises KeyError for one that has no counterpart."""
    return _DURATION.sub(lambda match: match[1] + _SHORT[match[2]], rules)
