"""Records the result of each test on the cluster in reports/kind-test.md."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from tests.deployment.cluster import cluster
from tests.deployment.cluster.product import ClusterProduct
from tests.support.processes import ROOT

REPORT = ROOT / "reports" / "kind-test.md"
_ROWS: list[str] = []
_STARTED = time.monotonic()

Note = Callable[[str], None]


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Note:
    """Receives a test's results."""
    return lambda text: record_property("note", text)


@pytest.fixture(scope="module", params=["as installed", "after a node restart"], autouse=True)
def stage(request: pytest.FixtureRequest) -> str:
    """Run every test twice."""
    cluster.await_all()
    if request.param == "after a node restart":
        cluster.restart_node()
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterProduct]:
    """Return the product, as a browser on this machine reaches it."""
    with ClusterProduct(tmp_path_factory.mktemp("cluster")) as product:
        yield product


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add a row, and write the report so far, so that an interrupted run has one, too."""
    if not report.nodeid.startswith("tests/deployment/cluster/"):
        return
    if report.when != "call" and report.outcome == "passed":
        return
    step, _, stage = report.nodeid.rpartition("::")[2].removeprefix("test_").partition("[")
    notes = "; ".join(str(text) for name, text in report.user_properties if name == "note")
    _ROWS.append(
        f"| {step.replace('_', ' ')} | {stage.rstrip(']')} | {report.outcome} "
        f"| {report.duration:.0f} s | {notes} |"
    )
    _write()


def _write() -> None:
    versions = cluster.kubectl("version", "-o", "yaml").split("serverVersion:")[-1]
    server = next(line for line in versions.splitlines() if "gitVersion" in line).split()[-1]
    pods = [*cluster.pods(), *cluster.pods("mongodb")]
    images = sorted({pod.image for pod in pods})
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(
        f"""# make kind-test

Kubernetes {server}, {len(pods)} pods, images {", ".join(images)}.
{time.monotonic() - _STARTED:.0f} s so far. Figures are of one run.

| step | stage | result | took | figures |
|---|---|---|---|---|
"""
        + "\n".join(_ROWS)
        + "\n",
        encoding="utf-8",
    )
