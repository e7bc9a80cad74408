"""Metrics of the automatic backups, which the local run makes beside the gateway."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from services.shared.backups import find_last_backup


class BackupCollector(Collector):
    """Reads the folder at each scrape: the newest backup is the last one that succeeded."""

    def __init__(self, folder: Path, hours: float) -> None:
        self._folder = folder
        self._seconds = hours * 3600

    def collect(self) -> Iterable[Metric]:
        last = find_last_backup(self._folder)
        yield GaugeMetricFamily(
            "atajo_backup_last_success_timestamp_seconds",
            "Unix time at which the newest automatic backup began; 0 before the first. Absent "
            "without automatic backups.",
            value=last.timestamp() if last else 0,
        )
        yield GaugeMetricFamily(
            "atajo_backup_interval_seconds",
            "Time between automatic backups, ATAJO_BACKUP_HOURS. Absent without them.",
            value=self._seconds,
        )
