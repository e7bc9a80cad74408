"""Fixtures with the whole product, and the scheduling of tests on several workers.

Each worker has its own instance of the session fixtures.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.mongo import server
from tests.support.product import Product
from tests.support.worker_lock import WorkerLock
from tests.system.e2e.stage import built_product

pytest_plugins = ["tests.support.store_fixtures"]


@pytest.fixture(scope="session")
def mongo_server(request: pytest.FixtureRequest) -> str:
    """The URL of the MongoDB server that all workers share. Fails the test if there is none."""
    try:
        return server.shared(_folder_of_run(request.config))
    except server.NoServer as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture
def mongo_url(mongo_server: str) -> Iterator[str]:
    """The URL of a new MongoDB database for one test."""
    with server.database(mongo_server) as url:
        yield url


STORES = ["sqlite", pytest.param("mongodb", marks=pytest.mark.slow)]
"""Kinds of stores of the whole product. A few tests on MongoDB are not slow."""


@contextmanager
def store_of_product(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the store of a `Product`, for a fixture with the parameters `STORES`."""
    if request.param == "sqlite":
        yield ""
    else:
        with server.database(request.getfixturevalue("mongo_server")) as url:
            yield url


@pytest.fixture(scope="session", params=STORES)
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The whole product, for tests that do not stop any process."""
    if (
        request.param == "sqlite"
    ):  # They share one, since an idle product takes a twentieth of a core.
        yield request.getfixturevalue("product_with_pages")
        return
    folder = tmp_path_factory.mktemp("product")
    with store_of_product(request) as store, Product(folder, store=store) as started:
        started.start()
        yield started


@pytest.fixture(scope="session")
def product_with_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product with its built pages. A test that stops a process starts it again."""
    with built_product(tmp_path_factory.mktemp("pages")) as started:
        started.start()
        yield started


def _folder_of_run(config: pytest.Config) -> Path:
    """Return the folder that all workers of a run share. It contains the folder of each."""
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    folder = factory.getbasetemp()
    # The environment is no indication: a run that a test starts inherits the worker's variables.
    return folder.parent if hasattr(config, "workerinput") else folder


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep the MongoDB server that a worker starts running until all workers have ended."""
    if not hasattr(session.config, "workerinput"):
        lifeline = server.lifeline(_folder_of_run(session.config))
        session.config.add_cleanup(lambda: os.close(lifeline))


def pytest_configure() -> None:
    """Restore the default signal handlers.

    A shell ignores the terminal's signals in background jobs, and child processes inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


_MAX_WORKERS = 8
"""Each has its own product, browser and databases."""


def pytest_xdist_auto_num_workers() -> int:
    """Return the workers of `-n auto`: two more than cores, since most tests mainly wait."""
    return min((os.cpu_count() or 1) + 2, _MAX_WORKERS)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test that is marked `alone` while no other worker runs a test."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    with WorkerLock(_folder_of_run(item.config)).hold(
        exclusive=bool(item.get_closest_marker("alone"))
    ):
        return (yield)


_OPTIONAL_MARKS = ("cluster", "engine")
"""Marks of tests that need special infrastructure. They run only if `-m` names the mark."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests with optional marks, and sort the others on workers."""
    marks = [mark for mark in _OPTIONAL_MARKS if mark not in config.option.markexpr]
    deselected = [item for item in items if any(map(item.get_closest_marker, marks))]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in deselected]
    if hasattr(config, "workerinput"):
        items[:] = _interleaved(items)


_LONG_SECONDS = 240
"""A file with a test whose timeout is at least that long starts early, so as not to end last."""


def _interleaved(items: list[pytest.Item]) -> list[pytest.Item]:
    """Sort the tests: first those marked `alone`, then files of all folders interleaved.

    A later `alone` test would make all workers wait. The tests of a folder are similar: page tests
    keep the cores busy, fault tests mostly wait. The files with long tests, which mostly wait, are
    spread over the first half.
    """
    folders: dict[Path, dict[Path, list[pytest.Item]]] = {}
    for item in items:
        folders.setdefault(item.path.parent, {}).setdefault(item.path, []).append(item)
    positions: dict[Path, float] = {}
    for files in folders.values():
        for number, (path, tests) in enumerate(files.items()):
            position = number / len(files)
            positions[path] = position / 2 if any(map(_is_long, tests)) else position
    return sorted(
        items,
        key=lambda item: (not item.get_closest_marker("alone"), positions[item.path], item.path),
    )


def _is_long(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("timeout")
    return marker is not None and marker.args[0] >= _LONG_SECONDS
