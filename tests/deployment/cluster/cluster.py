"""Controls the product on the kind cluster of `make kind-up` by kubectl, Helm and the node."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.support.ports import free_port
from tests.support.processes import ROOT

NAME = os.environ.get("KIND_CLUSTER") or "atajo"
CONTEXT = f"kind-{NAME}"
NAMESPACE = "atajo"
URL = "http://localhost:8080"
KINDS = {
    "web": "deployment",
    "gateway": "statefulset",
    "auth": "deployment",
    "links": "deployment",
    "analytics": "deployment",
    "reconciler": "deployment",
}
"""The kind of each workload of the product."""
SHARING = tuple(name for name in KINDS if name != "reconciler")
"""Workloads whose pods share the work. One pod of the reconciler does all of it."""
HTTP_PORT, ADMIN_PORT, METRICS_PORT = 8000, 50052, 9090
TIMEOUT_SECONDS = 240.0
FOUND_SECONDS = 20.0
"""Seconds until gateways and the cluster's DNS find a name again."""


@dataclass(frozen=True)
class Pod:
    """A pod that is not terminating."""

    name: str
    component: str
    ready: bool
    restarts: int
    container: str
    """Its container's id."""
    image: str


def run(*command: str, given: str | None = None) -> str:
    """Return a command's output. Raises RuntimeError with its errors."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:6])}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def kubectl(*arguments: str, given: str | None = None) -> str:
    """Return the output of kubectl in the product's namespace."""
    return run("kubectl", "--context", CONTEXT, "--namespace", NAMESPACE, *arguments, given=given)


def helm(*arguments: str) -> str:
    """Return the output of Helm in the product's namespace."""
    return run("helm", "--kube-context", CONTEXT, "--namespace", NAMESPACE, *arguments)


def found(*arguments: str) -> list[dict[str, Any]]:
    """Return the objects that `kubectl get` finds."""
    items: list[dict[str, Any]] = json.loads(kubectl("get", *arguments, "-o", "json"))["items"]
    return items


def pods(component: str = "") -> list[Pod]:
    """Return the pods of the product's workloads (`KINDS`), or of one component."""
    components = component or ",".join(KINDS)
    selector = f"app.kubernetes.io/name=atajo,app.kubernetes.io/component in ({components})"
    return [
        _pod(item)
        for item in found("pods", "--selector", selector)
        if "deletionTimestamp" not in item["metadata"]
    ]


def _pod(item: dict[str, Any]) -> Pod:
    component = item["metadata"]["labels"]["app.kubernetes.io/component"]
    statuses = item["status"].get("containerStatuses", [])
    status: dict[str, Any] = statuses[0] if statuses else {}
    return Pod(
        item["metadata"]["name"],
        component,
        bool(status.get("ready")),
        int(status.get("restartCount", 0)),
        str(status.get("containerID", "")).rpartition("/")[2],
        item["spec"]["containers"][0]["image"],
    )


def wait_until(condition: Callable[[], bool], what: str, seconds: float = TIMEOUT_SECONDS) -> None:
    """Wait until a condition holds. Raises AssertionError."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"Awaited in vain: {what}"
        time.sleep(0.3)


def await_rollout(component: str) -> None:
    """Wait until a workload has exactly its desired pods, and all are ready."""
    kind = KINDS.get(component, "statefulset")
    kubectl("rollout", "status", f"{kind}/atajo-{component}", f"--timeout={TIMEOUT_SECONDS:.0f}s")
    wait_until(
        lambda: all(pod.ready for pod in pods(component)) and not _leaving(component),
        f"{component} settles",
    )


def _leaving(component: str) -> bool:
    items = found("pods", "--selector", f"app.kubernetes.io/component={component}")
    return any("deletionTimestamp" in item["metadata"] for item in items)


def await_all() -> None:
    """Wait until every workload is complete."""
    for component in (*KINDS, "mongodb"):
        await_rollout(component)


def replicas(component: str) -> int:
    """Return the desired replicas of a workload."""
    replicas = kubectl(
        "get", f"{KINDS[component]}/atajo-{component}", "-o", "jsonpath={.spec.replicas}"
    )
    return int(replicas)


def scale(component: str, number: int) -> None:
    """Scale a workload and wait for its pods."""
    kubectl("scale", f"{KINDS[component]}/atajo-{component}", f"--replicas={number}")
    await_rollout(component)


def delete(pod: Pod) -> None:
    """Delete a pod gracefully, and wait until the workload is complete again."""
    kubectl("delete", "pod", pod.name, "--wait=true")
    wait_until(lambda: pod.name not in _containers(pod), f"{pod.name} is gone")
    await_rollout(pod.component)


def _containers(old: Pod) -> set[str]:
    return {each.name for each in pods(old.component) if each.container == old.container}


def kill(pod: Pod) -> None:
    """Send SIGKILL to every process of a pod's container, and wait until it runs again."""
    # The kernel kills the others with the first one, so kill may not find them.
    script = f"grep -ls {pod.container} /proc/[0-9]*/cgroup | cut -d/ -f3 | xargs -r kill -9; true"
    run("docker", "exec", node(), "sh", "-c", script)
    wait_until(
        lambda: any(
            each.name == pod.name and each.container != pod.container and each.ready
            for each in pods(pod.component)
        ),
        f"{pod.name} runs again",
    )
    await_rollout(pod.component)


def node() -> str:
    """The container that is the cluster's node."""
    return run("kind", "get", "nodes", "--name", NAME).split()[0]


def restart_node() -> None:
    """Restart the node, and wait until the product is complete."""
    before = {pod.container for pod in pods()}
    run("docker", "restart", node())
    wait_until(_api_answers, "the API server answers")
    wait_until(
        lambda: all(pod.ready and pod.container not in before for pod in pods()),
        "every container was started anew",
    )
    await_all()


def _api_answers() -> bool:
    try:
        return bool(pods())
    except RuntimeError:
        return False


def samples(pod: Pod) -> list[tuple[str, dict[str, str], float]]:
    """Return a pod's metrics: name, labels and value."""
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod.name}:{METRICS_PORT}/proxy/metrics"
    families = text_string_to_metric_families(kubectl("get", "--raw", path))
    return [
        (sample.name, sample.labels, sample.value)
        for family in families
        for sample in family.samples
    ]


def await_found(service: str) -> None:
    """Wait until every gateway reaches a service whose pods were all gone."""

    def is_found(gateway: Pod) -> bool:
        up = "atajo_dependency_up"
        return any(
            name == up and labels["dependency"] == service and value == 1
            for name, labels, value in samples(gateway)
        )

    wait_until(lambda: all(map(is_found, pods("gateway"))), f"{service} is found", FOUND_SECONDS)


class PortForward:
    """Forwards a port of this machine to a port of a pod. Raises OSError if that fails."""

    def __init__(self, pod: Pod, port: int) -> None:
        local = free_port()
        self.address = f"127.0.0.1:{local}"
        command = ["kubectl", "--context", CONTEXT, "--namespace", NAMESPACE, "port-forward"]
        self._process = subprocess.Popen(
            [*command, f"pod/{pod.name}", f"{local}:{port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: self.is_lost or _takes(local), f"{pod.name} is reached")
        if self.is_lost:
            raise OSError(f"{pod.name} is not reached")

    @property
    def is_lost(self) -> bool:
        """Whether it is broken: kubectl exits when nobody answers at the other end."""
        return self._process.poll() is not None

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def _takes(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextmanager
def operating() -> Iterator[Callable[..., str]]:
    """Run the operator's command in its pod (docs/operations/kubernetes.md) and return its output.

    Repeats it if a pod that it called was killed. Raises RuntimeError.
    """
    deployment = "deployment/atajo-admin"

    def admin(*arguments: str) -> str:
        command = ("exec", deployment, "--", "python", "-m", "services.admin", *arguments)
        for _ in range(3):
            with suppress(RuntimeError):
                return kubectl(*command)
        return kubectl(*command)

    kubectl("scale", deployment, "--replicas=1")
    try:
        kubectl("rollout", "status", deployment, f"--timeout={TIMEOUT_SECONDS:.0f}s")
        yield admin
    finally:
        kubectl("scale", deployment, "--replicas=0")


def upgrade(setting: str) -> None:
    """Change one value of the release, and wait until every workload is complete."""
    chart = str(ROOT / "charts" / "atajo")
    helm("upgrade", "atajo", chart, "--reuse-values", "--set", setting, "--wait", "--timeout=8m")
    await_all()


def work(pod: Pod) -> float:
    """Return a pod's work: calls, redirects, or nginx's current connections."""
    name, label, prefix = {
        "web": ("nginx_connections_active", "", ""),
        "gateway": ("atajo_redirects_total", "", ""),
    }.get(pod.component, ("grpc_server_handling_seconds_count", "grpc_service", "atajo."))
    return sum(
        value
        for sample, labels, value in samples(pod)
        if sample == name and labels.get(label, "").startswith(prefix)
    )
