"""The product on the cluster, as tests that know processes see it."""

from __future__ import annotations

from pathlib import Path

from tests.cluster import cluster
from tests.product import PROCESSES, SERVICES, Product


class ClusterProduct(Product):
    """Every pod of a component stands for its process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.url = cluster.URL
        self._wanted: dict[str, int] = {}

    def start(self, *names: str) -> None:
        """Give components back the pods that `kill` took, and wait until they are found."""
        for name in names or PROCESSES:
            if wanted := self._wanted.pop(name, 0):
                cluster.scale(name, wanted)
                if name in SERVICES:
                    cluster.await_found(name)

    def kill(self, *names: str) -> None:
        """Take all pods of components away."""
        for name in names or PROCESSES:
            self._wanted[name] = cluster.replicas(name)
            cluster.scale(name, 0)
