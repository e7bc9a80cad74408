"""The product's guarantees on Kubernetes, tested on the cluster: `make kind-test`."""

from __future__ import annotations

import http.client
import json
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from deploy.monitoring.prometheus import Prometheus, rules
from tests.deployment.cluster import cluster
from tests.deployment.cluster.conftest import Note
from tests.deployment.cluster.load import VISITORS, assert_nothing_failed, bounded_load
from tests.deployment.cluster.product import ClusterProduct
from tests.support.gateway_client import GatewayClient, new_code
from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.waiting import PROPAGATION_SECONDS

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1500)]

CONNECTION_AGE = 33.0
"""Seconds after which every caller has resolved its replicas again (services.shared.rpc.server)."""


def test_the_end_to_end_suite_passes_through_nginx(note: Note) -> None:
    command = [sys.executable, "-m", "pytest", "-m", "cluster", "tests/system/e2e"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    note(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout[-5000:]


def test_helm_test_passes(note: Note) -> None:
    cluster.helm("test", "atajo", "--timeout", "3m")
    note(cluster.kubectl("logs", "atajo-test").strip())


def test_an_upgrade_to_a_new_image_fails_nothing(product: ClusterProduct, note: Note) -> None:
    tag = f"next-{time.time():.0f}"
    for name in ("app", "web"):
        (old,) = {pod.image for pod in cluster.pods() if pod.image.startswith(f"atajo/{name}:")}
        image = f"atajo/{name}:{tag}"
        dockerfile = f"FROM {old}\nLABEL upgraded={tag}\n"
        cluster.run("docker", "build", "--tag", image, "-", given=dockerfile)
        cluster.run("kind", "load", "docker-image", image, "--name", cluster.NAME)
    started = time.monotonic()
    with bounded_load(product) as account:
        cluster.upgrade(f"image.tag={tag}")
    running = {pod.image for pod in cluster.pods()}
    assert running == {f"atajo/app:{tag}", f"atajo/web:{tag}"}
    note(f"{account}; {time.monotonic() - started:.0f} s")
    assert_nothing_failed(account)


def test_every_workload_scales_to_three_and_back(product: ClusterProduct, note: Note) -> None:
    before = {component: cluster.replicas(component) for component in cluster.KINDS}
    for component in cluster.KINDS:
        cluster.scale(component, 1)
    with bounded_load(product) as account:
        for component in cluster.KINDS:
            cluster.scale(component, 3)
        time.sleep(CONNECTION_AGE)
        spread = {component: _spread(component, product) for component in cluster.SHARING}
        for component in cluster.KINDS:
            cluster.scale(component, 1)
    for component, number in before.items():
        cluster.scale(component, number)
    note(f"{account}; shares of the work by pod: {spread}")
    for component, shares in spread.items():
        assert len(shares) == 3, component
        assert min(shares) > 0, f"a replica of {component} got nothing to do: {shares}"
    assert_nothing_failed(account)


def _spread(component: str, product: ClusterProduct) -> list[int]:
    """Return each pod's share of a component's new work in percent."""
    with ExitStack() as stack:
        before = {pod.name: cluster.work(pod) for pod in cluster.pods(component)}
        # Concurrent enough that nginx opens new connections.
        connections = [_connect(stack) for _ in range(48)]
        with ThreadPoolExecutor(len(connections)) as pool:
            for _ in range(5):
                list(pool.map(_ask_for_something_unknown, connections))
        done = [cluster.work(pod) - before[pod.name] for pod in cluster.pods(component)]
    return [round(100 * each / max(1.0, sum(done))) for each in done]


def _connect(stack: ExitStack) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(cluster.URL.removeprefix("http://"), timeout=30)
    stack.callback(connection.close)
    return connection


def _ask_for_something_unknown(connection: http.client.HTTPConnection) -> None:
    payload = '{"data": {"token": "unknown"}}'
    for method, path, body in (("GET", "/unknown_", None), ("POST", "/showProfile", payload)):
        connection.request(method, path, body, {"content-type": "application/json"})
        connection.getresponse().read()


def test_a_pod_that_is_deleted_fails_nothing(product: ClusterProduct, note: Note) -> None:
    with bounded_load(product) as account:
        victims = cluster.pods()
        for pod in victims:
            cluster.delete(pod)
    note(f"{len(victims)} pods one after another; {account}")
    assert_nothing_failed(account)


def test_a_pod_that_is_killed_loses_nothing(product: ClusterProduct, note: Note) -> None:
    """Requests in progress may fail, or be counted without a response."""
    with bounded_load(product) as account:
        victims = cluster.pods()
        for pod in victims:
            cluster.kill(pod)
            account.kills += 1
    note(f"SIGKILL to {len(victims)} pods; {account}; counted unanswered: {account.surplus}")
    assert account.surplus <= account.load.unanswered.total() + VISITORS * len(victims)


def test_a_block_holds_on_every_gateway_though_links_is_killed(
    product: ClusterProduct, note: Note
) -> None:
    """Blocks a link and a host with the command in the operator's pod."""
    host = f"{secrets.token_hex(4)}.example"  # An earlier run may have left a block.
    link = product.shorten("https://example.com/")
    page = product.shorten(f"https://www.{host}/login")
    with ExitStack() as stack:
        gateways = [product, *(_reached(stack, pod) for pod in cluster.pods("gateway"))]

        def all_answer(status: int) -> bool:
            return all(
                gateway.visit(code).status_code == status
                for gateway in gateways
                for code in (link, page)
            )

        admin = stack.enter_context(cluster.operating())
        assert all_answer(302)
        with ThreadPoolExecutor(1) as pool:
            killed = pool.submit(cluster.kill, cluster.pods("links")[0])
            admin("block", f"{cluster.URL}/{link}", "spam", "kind-test")
            admin("block", host, "phishing", "kind-test")
            cluster.wait_until(lambda: all_answer(451), "the blocks hold", PROPAGATION_SECONDS)
            killed.result()
        assert all_answer(451)
        assert product.data("accessLink", {"code": page})["reason"] == "phishing"
        told = admin("decisions").splitlines()  # Newest first.
        admin("unblock", link)
        admin("unblock", host)
        cluster.wait_until(lambda: all_answer(302), "what was freed leads on", PROPAGATION_SECONDS)
    decided = [next(line for line in told if what in line) for what in (link, host)]
    note(f"asked of nginx and {len(gateways) - 1} gateways; decided: {'; '.join(decided)}")
    assert all("  block  " in line for line in decided)


def _reached(stack: ExitStack, gateway: cluster.Pod) -> GatewayClient:
    """Return a client of a gateway without nginx."""
    url = f"http://{_forwarded(stack, gateway, cluster.HTTP_PORT)}"
    return stack.enter_context(GatewayClient(url))


def _forwarded(stack: ExitStack, pod: cluster.Pod, port: int) -> str:
    """Return the local host:port that is forwarded to a port of a pod."""
    return stack.enter_context(closing(cluster.PortForward(pod, port))).address


def test_a_report_waits_for_the_operator_though_links_is_killed(
    product: ClusterProduct, note: Note
) -> None:
    code = product.shorten("https://example.com/")
    report = {
        "code": code,
        "reason": "phishing",
        "details": "asks for a PIN",
        "contact": "ana@example.com",
    }
    first = product.data("reportLink", report)
    for pod in cluster.pods("links"):
        cluster.kill(pod)
    cluster.await_found("links")
    assert product.data("reportLink", report) == first, "one report, told twice"
    with cluster.operating() as admin:
        (told,) = [each for each in _reports(admin).split("\n\n") if code in each]
        admin("dismiss", code, "kind-test")
        left = _reports(admin)
        decided = next(line for line in admin("decisions").splitlines() if code in line)
    note(f"{' '.join(told.split())}; {decided}")
    assert "phishing, 2 times" in told
    assert told.count("ana@example.com: asks for a PIN") == 2
    assert code not in left, "what was dismissed waits no more"
    assert "dismiss" in decided


def _reports(admin: Callable[..., str]) -> str:
    """Return all pages of waiting reports."""
    pages = [admin("reports")]
    while rest := re.search(r"AFTER=(\S+)", pages[-1]):
        pages.append(admin("reports", rest[1]))
    return "\n\n".join(pages)


_LISTS = "atajo-kind-test-lists"


def test_a_blocklist_in_a_config_map_takes_effect(product: ClusterProduct, note: Note) -> None:
    """When an upgrade mounts it, when it changes without replacing pods, and when it is removed."""
    listed, later = (
        product.shorten(f"https://shop.{host}/") for host in ("listed.example", "later.example")
    )

    def answers(first: int, second: int) -> bool:
        asked = [product.visit(code).status_code for code in (listed, later)]
        return asked == [first, second]

    try:
        with bounded_load(product) as account:
            _publish("listed.example")
            cluster.upgrade(f"links.blocklists.configMap={_LISTS}")
            cluster.wait_until(lambda: answers(451, 302), "what is listed is blocked")
            refused = product.call(
                "createShortLink", {"code": new_code(), "url": "https://listed.example/new"}
            )
            pods = {pod.container for pod in cluster.pods("links")}
            changed = time.monotonic()
            _publish("later.example")
            cluster.wait_until(lambda: answers(302, 451), "the change is followed")
            seconds = time.monotonic() - changed
            assert {pod.container for pod in cluster.pods("links")} == pods
            cluster.upgrade("links.blocklists.configMap=")
            cluster.wait_until(lambda: answers(302, 302), "what no list names leads on")
    finally:
        cluster.kubectl("delete", "configmap", _LISTS, "--ignore-not-found")
    note(f"a change of the ConfigMap was followed in {seconds:.0f} s; {account}")
    assert refused.status_code == 400
    assert refused.json()["error"]["details"]["reason"] == "URL_REFUSED"
    assert_nothing_failed(account)


def _publish(host: str) -> None:
    """Create a ConfigMap with a list of one host."""
    lists = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _LISTS},
        "data": {"phishing.txt": f"{host}\n"},
    }
    cluster.kubectl("apply", "-f", "-", given=json.dumps(lists))


def test_a_replaced_gateway_sends_its_journal(product: ClusterProduct, note: Note) -> None:
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    answered = 0
    product.kill("analytics")
    try:
        for pod in cluster.pods("gateway"):
            for _ in range(20):
                answered += product.visit(code).status_code == 302
            cluster.kill(pod)
            cluster.delete(next(each for each in cluster.pods("gateway") if each.name == pod.name))
    finally:
        product.start("analytics")
    back = time.monotonic()
    cluster.wait_until(lambda: product.views(token)[code] == answered, f"{answered} views")
    seconds = time.monotonic() - back
    note(
        f"each gateway killed and replaced while analytics was away: {answered} visits answered, "
        f"all counted {seconds:.0f} s after it was back"
    )
    assert answered == 60


_before_restart: dict[str, str] = {}
"""A link that was created before the node restarted, and its owner's token."""


def test_data_outlives_a_restart_of_the_node(product: ClusterProduct, note: Note) -> None:
    if not _before_restart:
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/kept", token)
        assert product.visit(code).status_code == 302
        cluster.wait_until(lambda: product.views(token)[code] == 1, "one view")
        _before_restart[code] = token
        note("made")
        return
    ((code, token),) = _before_restart.items()
    assert product.data("accessLink", {"code": code})["longUrl"] == [
        {"long_link": "https://example.com/kept"}
    ]
    assert product.views(token) == {code: 1}
    note("an account, its link and its view are there")


def test_mongodb_restarts(product: ClusterProduct, note: Note) -> None:
    (server,) = cluster.pods("mongodb")
    token = product.log_in(product.register())
    code = product.shorten("https://example.com/", token)
    cluster.delete(server)
    cluster.await_all()
    assert product.visit(code).headers["location"] == "https://example.com/"
    cluster.wait_until(lambda: product.views(token)[code] == 1, "one view")
    note("its data is there")


_PROBE = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"


def _stranger_reaches(name: str, host: str, port: int, labels: str) -> bool:
    """Return whether a pod with these labels can connect."""
    image = cluster.pods("gateway")[0].image
    security = (
        '{"spec": {"securityContext": {"runAsNonRoot": true, "runAsUser": 10001,'
        ' "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [{"name": "probe",'
        f' "image": "{image}", "command": ["python", "-c", "{_PROBE}", "{host}", "{port}"],'
        ' "securityContext": {"allowPrivilegeEscalation": false,'
        ' "capabilities": {"drop": ["ALL"]}}}]}}'
    )
    command = ["run", name, f"--image={image}", "--restart=Never", f"--labels={labels}"]
    cluster.kubectl(*command, f"--overrides={security}")
    try:
        ended = ("Succeeded", "Failed")
        phase = ("get", "pod", name, "-o", "jsonpath={.status.phase}")
        cluster.wait_until(lambda: cluster.kubectl(*phase) in ended, f"{name} ends")
        return cluster.kubectl(*phase) == "Succeeded"
    finally:
        cluster.kubectl("delete", "pod", name, "--grace-period=0", "--force")


_NOTHING_OUT = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: nothing-out}
spec: {podSelector: {matchLabels: {probe: shut}}, policyTypes: [Egress]}
"""


def test_network_policies_refuse_a_stranger(note: Note) -> None:
    assert _stranger_reaches("probe-web", "atajo-web", 80, "probe=open")
    cluster.kubectl("apply", "-f", "-", given=_NOTHING_OUT)
    try:
        enforced = not _stranger_reaches("probe-shut", "atajo-web", 80, "probe=shut")
    finally:
        cluster.kubectl("delete", "networkpolicy", "nothing-out")
    if not enforced:
        note("not shown: this cluster's network does not enforce policies")
        return
    inner = {"gateway": [8000], "auth": [50051], "links": [50051, 50052], "mongodb": [27017]}
    for host, port in ((host, port) for host, ports in inner.items() for port in ports):
        probe = f"probe-{host}-{port}"
        assert not _stranger_reaches(probe, f"atajo-{host}", port, "probe=open"), probe
    note("a pod that is no part of the product reaches the pages and nothing else")


def test_prometheus_scrapes_every_pod(tmp_path: Path, note: Note) -> None:
    pods = cluster.pods()
    names = {pod.name.removeprefix("atajo-") for pod in pods}
    with ExitStack() as stack:
        targets = {
            pod.name.removeprefix("atajo-"): _forwarded(stack, pod, cluster.METRICS_PORT)
            for pod in pods
        }
        prometheus = Prometheus(tmp_path, free_port(), rules("docs/operations/runbooks"))
        prometheus.look_at(targets)
        with prometheus:

            def scraped() -> set[str]:
                return {each["metric"]["instance"] for each in prometheus.ask("up == 1")}

            cluster.wait_until(lambda: scraped() == names, "every pod is scraped")
            series = prometheus.ask("count by (instance) ({__name__=~'(atajo|nginx)_.+'})")
            groups = prometheus.get("rules")["groups"]
    assert {each["metric"]["instance"] for each in series} == names
    faulty = [rule["name"] for group in groups for rule in group["rules"] if rule.get("lastError")]
    assert not faulty
    note(f"{len(names)} of {len(pods)} pods up; {len(groups)} groups of rules without an error")
