"""Every query of a dashboard or rule returns data of the product in a real Prometheus.

The product is used in every way. Then its parts are stopped and fail, so that metrics of failures
have data, too. The values of the panels under load are written to reports/panels.md.
"""

from __future__ import annotations

import math
import re
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest

from deploy.monitoring.prometheus import Prometheus, rules
from tests.deployment.monitoring.queries import PanelQuery, all_selectors, panel_queries
from tests.deployment.monitoring.rules import RUNBOOKS, SLO
from tests.deployment.monitoring.rules import rules as all_rules
from tests.support.load_generator import Load
from tests.support.nginx import Nginx
from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.product import PROCESSES, SERVICES, Product

_TIMEOUT = 45.0
"""Seconds from the last failure until every query has data."""
_REPORT = ROOT / "reports" / "panels.md"
_SMALL = 32 << 10
"""Maximum bytes of a service's files while its store fails."""
_METRIC = re.compile(r"\b(?:atajo[_:]|process_|(?:grpc|http)_\w+_seconds)[a-z0-9_:]*")
_BURN = "atajo:objective_burn:ratio"
"""Exists only while a budget burns. The objectives are known from another series."""

Answer = list[dict[str, Any]]


class Watched:
    """A product under load, and the Prometheus that scrapes it."""

    def __init__(self, product: Product, web: Nginx, prometheus: Prometheus) -> None:
        self.product = product
        self._web = web
        self.prometheus = prometheus

    def look(self) -> None:
        """Scrape the processes at their current addresses."""
        metrics = {name: self.product.metrics_url(name) for name in PROCESSES}
        metrics["web"] = self._web.metrics_url
        self.prometheus.look_at({job: url.split("/")[2] for job, url in metrics.items()})

    def ask(self, expr: str) -> Answer:
        """Return the series with a value. A quantile without data has none."""
        series = self.prometheus.ask(expr)
        return [one for one in series if not math.isnan(float(one["value"][1]))]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("product")
    (folder / "lists").mkdir()
    (folder / "lists" / "phishing.txt").write_text("phish.example\n")
    settings = {
        "ATAJO_BLOCKLIST_DIR": str(folder / "lists"),
        "ATAJO_BACKUP_DIR": str(folder / "backups"),
        "ATAJO_BACKUP_HOURS": "24",
    }
    with (
        Product(folder, settings) as product,
        Prometheus(folder / "prometheus", free_port(), rules("x"), every="1s") as prometheus,
    ):
        product.start()
        (folder / "web").mkdir()
        with Nginx(folder / "web", product.address("gateway"), product.url) as web:
            watched = Watched(product, web, prometheus)
            watched.look()
            with _used(product):
                yield watched


@pytest.fixture(scope="module")
def suffered(watched: Watched) -> Watched:
    """Return the same after its services were stopped briefly, and then their stores failed."""
    product = watched.product
    product.kill(*SERVICES)
    _await(watched, 'count(up{job!="web"} == 0) == 3')
    product.start(*SERVICES)
    watched.look()
    with _small_files(product):
        _await(watched, 'count(count by (job) (atajo_store_seconds_count{result="error"})) == 3')
        # On a slow machine, many calls have succeeded. Fail until a budget burns for long enough.
        _await(watched, f'{_BURN}{{severity="page"}} > 0.05')
    return watched


@contextmanager
def _used(product: Product) -> Iterator[None]:
    """Use all functions and the REST API continuously."""
    token = product.log_in(product.register())
    codes = [product.shorten(f"https://example.com/{n}", token) for n in range(20)]
    email = product.register()
    over = threading.Event()

    def do_what_else_there_is() -> None:
        while not over.wait(0.1):
            product.visit(codes[0], {"user-agent": "curl/8"})
            with suppress(httpx.RemoteProtocolError):  # A profile ends early when links is stopped.
                product.call("showProfile", {"token": token})
            product.call("showStatistics", {"token": token, "code": codes[0]})
            product.call("verifyUser", {"email": email, "password": "wrong"})
            product.http.get(f"{product.url}/api/v1/links")

    other = threading.Thread(target=do_what_else_there_is)
    other.start()
    try:
        with Load(product, token, codes, visitors=2, makers=1, callers=1, members=1, pause=0.02):
            yield
    finally:
        over.set()
        other.join()


@contextmanager
def _small_files(product: Product) -> Iterator[None]:
    """Let the services' files not grow, as on a full disk."""
    limits = {
        pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in map(product.pid, SERVICES)
    }
    for pid, (_, hard_limit) in limits.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_SMALL, hard_limit))
    try:
        yield
    finally:
        for pid, limit in limits.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)


def _await(watched: Watched, expr: str) -> Answer:
    deadline = time.monotonic() + _TIMEOUT
    while not (answer := watched.ask(expr)):
        assert time.monotonic() < deadline, f"nothing feeds {expr}"
        time.sleep(0.2)
    return answer


def test_every_panel_has_data(watched: Watched) -> None:
    _await(watched, 'count_over_time(up{job="gateway"}[20s]) >= 15')
    values = []
    for query in panel_queries():
        answer = _await(watched, query.expr)
        for series in answer:
            assert query.legend_labels <= series["metric"].keys(), f"{query}: {series['metric']}"
        values.append((query, answer))
    _write_report(values)


def test_every_selector_matches(suffered: Watched) -> None:
    for selector in sorted(all_selectors()):
        _await(suffered, selector.replace(_BURN, "atajo:objective_budget:ratio"))


def test_every_rule_that_records_gives_something(suffered: Watched) -> None:
    for rule in all_rules():
        if not rule.is_alert:
            _await(suffered, rule.series)


def test_every_rule_is_evaluated_without_fault(suffered: Watched) -> None:
    groups = suffered.prometheus.get("rules")["groups"]
    evaluated = [rule for group in groups for rule in group["rules"]]
    assert len(evaluated) == len(all_rules())
    assert not [rule["lastError"] for rule in evaluated if rule["health"] != "ok"]


def test_every_metric_the_documents_name_is_there(suffered: Watched) -> None:
    names = suffered.prometheus.get("label/__name__/values")
    for path in (SLO, *RUNBOOKS.glob("*.md")):
        for word in _METRIC.findall(path.read_text(encoding="utf-8")):
            assert any(name.startswith(word) for name in names), f"{path.name}: {word}"


def _write_report(values: list[tuple[PanelQuery, Answer]]) -> None:
    lines = ["| dashboard | row | panel | unit | values |", "|---|---|---|---|---|"]
    for query, answer in values:
        shown = ", ".join(f"{_name(query, one)} {float(one['value'][1]):.4g}" for one in answer[:6])
        more = f", … {len(answer)} in all" if len(answer) > 6 else ""
        cells = (query.dashboard, query.row, query.panel, query.unit, shown + more)
        lines.append("| " + " | ".join(cells) + " |")
    _REPORT.parent.mkdir(exist_ok=True)
    _REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _name(query: PanelQuery, series: dict[str, Any]) -> str:
    name = query.legend
    for label in query.legend_labels:
        name = name.replace("{{" + label + "}}", series["metric"][label])
    return name
