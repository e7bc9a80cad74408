"""The rules with windows of seconds instead of days."""

from __future__ import annotations

import re

EVERY = "1s"
"""Scrape and evaluation interval for these rules."""
# In order and far enough apart that burn rates still use two windows. The day for which a component
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
    """Return the rules with every duration replaced. Raises KeyError for an unknown one."""
    return _DURATION.sub(lambda match: match[1] + _SHORT[match[2]], rules)
