"""The product on the cluster, as tests that know processes see it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from tests.deployment.cluster import cluster
from tests.support.product import PROCESSES, SERVICES, Product


class ClusterProduct(Product):
    """Every pod of a component stands for its process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.url = cluster.URL
        self._wanted: dict[str, int] = {}
        self._ways: dict[str, cluster.PortForward] = {}

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

    def admin_address(self, name: str) -> str:
        """Where a pod of a service is found that serves the operator. Raises OSError."""
        way = self._ways.get(name)
        if way is None or way.is_lost:
            ready = [pod for pod in cluster.pods(name) if pod.ready]
            if not ready:
                raise OSError(f"no pod of {name} is ready")
            way = self._ways[name] = cluster.PortForward(ready[0], cluster.ADMIN_PORT)
        return way.address

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for way in self._ways.values():
            way.close()
        super().__exit__(kind, error, trace)
