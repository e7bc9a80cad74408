"""The image `atajo`, run by `docker run` with a port, a volume and nothing else."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest

from tests.deployment.images.all_in_one import AllInOne, new_volume, running
from tests.deployment.images.engine import RESTRICTIONS, TAG, engine, inspect_image
from tests.support.load_generator import Load
from tests.support.waiting import wait_until

pytestmark = pytest.mark.engine

STOP_SECONDS = 10.0
HEALTHY_SECONDS = 60.0
KILLS = 20
EARLIER_TAG = os.environ.get("ATAJO_TEST_EARLIER_IMAGE") or TAG
"""Tag of the image that the tested one upgrades; by default itself."""
DATA_FILES = {"auth.sqlite3", "links.sqlite3", "analytics.sqlite3", "journal", "token-secret"}
_READY = ("supervisor", "ready")
_PORTS = """
import socket
for port in (8080, *range(9090, 9095)):
    socket.create_connection(("127.0.0.1", port)).close()
"""
_SORT = """
import os, sqlite3
store = sqlite3.connect("/data/sorted")
store.execute("PRAGMA cache_size = -100")
store.execute("CREATE TABLE things (name)")
names = ((os.urandom(200),) for _ in range(30_000))
store.executemany("INSERT INTO things VALUES (?)", names)
store.execute("CREATE INDEX things_by_name ON things (name)")
"""


@pytest.fixture
def volume() -> Iterator[str]:
    with new_volume() as name:
        yield name


@pytest.fixture(params=[(), RESTRICTIONS], ids=["plain", "restricted"])
def atajo(request: pytest.FixtureRequest, volume: str) -> Iterator[AllInOne]:
    with running(volume, request.param) as container:
        yield container


def test_it_serves_and_stops_with_a_port_and_a_volume_alone(atajo: AllInOne) -> None:
    code = atajo.shorten("https://example.com/")
    assert atajo.visit(code).headers["location"] == "https://example.com/"
    page = atajo.http.get(f"{atajo.url}/register")
    assert page.status_code == 200
    assert "<script" in page.text
    wait_until(lambda: atajo.state["Health"]["Status"] == "healthy", HEALTHY_SECONDS)

    assert "backup" in atajo.run("atajo", "--help")
    assert "https://example.com/" in atajo.run("atajo", "why", code)

    assert atajo.stop() < STOP_SECONDS
    assert atajo.state["ExitCode"] == 0
    written = engine("diff", atajo.container)
    assert not written, f"written outside the volume: {written}"
    records = [json.loads(line) for line in atajo.logs().splitlines()]
    assert [(record["service"], record["event"]) for record in records].count(_READY) == 1


def test_its_data_belongs_to_its_user_alone(atajo: AllInOne) -> None:
    atajo.shorten("https://example.com/")
    listed = atajo.run("find", "/data", "-maxdepth", "1", "-printf", r"%f %U:%G %m\n")
    found = {name: (owner, mode) for name, owner, mode in map(str.split, listed.splitlines())}
    assert found.keys() >= DATA_FILES
    assert {owner for owner, _ in found.values()} == {"10001:10001"}
    assert found["token-secret"][1] == "600"
    assert {mode for _, mode in found.values()} <= {"600", "700"}


def test_a_sort_that_exceeds_the_memory_of_a_store_needs_the_volume_alone(atajo: AllInOne) -> None:
    """SQLite writes temporary files: for an index in a schema upgrade, for example."""
    atajo.run("python", "-c", _SORT)
    assert not engine("diff", atajo.container)


def test_metrics_are_there_and_not_published(atajo: AllInOne) -> None:
    atajo.run("python", "-c", _PORTS)
    published = engine("port", atajo.container)
    assert re.findall(r"^(\d+)/tcp -> 127\.", published, re.MULTILINE) == ["8080"]
    assert inspect_image(f"atajo/atajo:{TAG}")["Config"]["ExposedPorts"] == {"8080/tcp": {}}


def test_a_second_container_over_the_volume_ends_with_one_line(
    atajo: AllInOne, volume: str
) -> None:
    second = AllInOne(volume)
    try:
        assert second.await_end() == 1
        (line,) = second.logs().splitlines()
        assert "is in use by another run" in line
    finally:
        second.remove()
    assert atajo.visit(atajo.shorten("https://example.com/")).status_code == 302


@pytest.mark.timeout(600)
def test_kills_lose_no_acknowledged_link_and_count_each_visit_once(volume: str) -> None:
    with running(volume, RESTRICTIONS, {"ATAJO_LIMITS": "off"}) as atajo:
        token = atajo.log_in(atajo.register())
        codes = [atajo.shorten(f"https://example.com/{number}", token) for number in range(5)]
        with Load(atajo, token, codes, visitors=3, makers=2) as load:
            for kill in range(KILLS):
                load.await_more(visits=20 * (kill % 4 + 1), created=5)
                atajo.kill()
                atajo.start()
            load.await_more(visits=100, created=10)
        load.check_created_and_counted()


def test_an_upgrade_keeps_links_visits_and_sessions(volume: str) -> None:
    """Without EARLIER=, a container of the same version replaces another."""
    with running(volume, tag=EARLIER_TAG) as earlier:
        email = earlier.register()
        token = earlier.log_in(email)
        code = earlier.shorten("https://example.com/", token)
        assert earlier.visit(code).status_code == 302
        earlier.stop()
    with running(volume) as atajo:
        assert atajo.visit(code).headers["location"] == "https://example.com/"
        atajo.await_views(token, {code: 2})
        atajo.log_in(email)
