"""Adapts the product on the cluster to tests that control processes."""

from __future__ import annotations

from pathlib import Path

from tests.deployment.cluster import cluster
from tests.support.product import PROCESSES, SERVICES, Product


class ClusterProduct(Product):
    """All pods of a component stand for its process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.url = cluster.URL
        self._replicas: dict[str, int] = {}
        self._ways: dict[str, cluster.PortForward] = {}

    def start(self, *names: str) -> None:
        """Restore the pods that `kill` removed, and wait until they are reachable."""
        for name in names or PROCESSES:
            if replicas := self._replicas.pop(name, 0):
                cluster.scale(name, replicas)
                if name in SERVICES:
                    cluster.await_found(name)

    def kill(self, *names: str) -> None:
        """Remove all pods of components."""
        for name in names or PROCESSES:
            self._replicas[name] = cluster.replicas(name)
            cluster.scale(name, 0)

    def admin_address(self, name: str) -> str:
        """Return the admin address of a pod of a service. Raises OSError."""
        way = self._ways.get(name)
        if way is None or way.is_lost:
            ready = [pod for pod in cluster.pods(name) if pod.ready]
            if not ready:
                raise OSError(f"no pod of {name} is ready")
            way = self._ways[name] = cluster.PortForward(ready[0], cluster.ADMIN_PORT)
        return way.address

    def metric(self, series: str, process: str = "gateway") -> float:
        """Return the sum of a series without labels over the pods of a component."""
        return sum(
            value
            for pod in cluster.pods(process)
            for name, _, value in cluster.samples(pod)
            if name == series
        )

    def __exit__(self, *error: object) -> None:
        for way in self._ways.values():
            way.close()
        super().__exit__(*error)
