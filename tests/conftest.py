"""The product, started once for all tests that leave it running.

Each worker of a run has one of its own, as it has everything of this scope.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.beside import Turns
from tests.support.mongo import server
from tests.support.product import Product
from tests.system.e2e.stage import built_product

pytest_plugins = ["tests.support.stores"]


@pytest.fixture(scope="session")
def mongo_server(request: pytest.FixtureRequest) -> str:
    """The URL of a MongoDB server, one for all workers. A test fails if there is none."""
    try:
        return server.shared(_folder_of_run(request.config))
    except server.NoServer as missing:
        pytest.fail(str(missing), pytrace=False)


@pytest.fixture
def mongo_url(mongo_server: str) -> Iterator[str]:
    """The URL of a MongoDB database of the test's own."""
    with server.database(mongo_server) as url:
        yield url


STORES = ["sqlite", pytest.param("mongodb", marks=pytest.mark.slow)]
"""What the whole product runs on; a smoke over MongoDB is not slow."""


@contextmanager
def store_of_product(request: pytest.FixtureRequest) -> Iterator[str]:
    """What a `Product` takes as its store, for a fixture whose parameters are `STORES`."""
    if request.param == "sqlite":
        yield ""
    else:
        with server.database(request.getfixturevalue("mongo_server")) as url:
            yield url


@pytest.fixture(scope="session", params=STORES)
def product(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The whole product, for tests that do not stop a part of it."""
    if request.param == "sqlite":  # One is enough: an idle product takes a twentieth of a core.
        yield request.getfixturevalue("product_with_pages")
        return
    folder = tmp_path_factory.mktemp("product")
    with store_of_product(request) as store, Product(folder, store=store) as started:
        started.start()
        yield started


@pytest.fixture(scope="session")
def product_with_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product with its built pages. Who stops a part of it starts it again."""
    with built_product(tmp_path_factory.mktemp("pages")) as started:
        started.start()
        yield started


def _folder_of_run(config: pytest.Config) -> Path:
    """Return the folder that all workers of a run share: each has its own in it."""
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    folder = factory.getbasetemp()
    # The environment does not tell: a run that a worker's test starts inherits the worker's.
    return folder.parent if hasattr(config, "workerinput") else folder


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Let the MongoDB server that a worker starts run until all workers have ended."""
    if not hasattr(session.config, "workerinput"):
        held = server.lifeline(_folder_of_run(session.config))
        session.config.add_cleanup(lambda: os.close(held))


def pytest_configure() -> None:
    """Let all that is started here hear what it is sent: a shell lets what it starts in the
    background ignore the signals of a terminal, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


_MOST_WORKERS = 8
"""Each has a product, a browser and a database of its own."""


def pytest_xdist_auto_num_workers() -> int:
    """Workers of `-n auto`: two more than there are cores, since most tests wait for something."""
    return min((os.cpu_count() or 1) + 2, _MOST_WORKERS)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that is marked `alone` wait until no other worker runs one, and them for it."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    with Turns(_folder_of_run(item.config)).turn(alone=bool(item.get_closest_marker("alone"))):
        return (yield)


_ASKED_FOR = ("cluster", "engine")
"""Marks of what not every machine has: a test that bears one runs where `-m` names it."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for, and have workers begin what is left in a good order."""
    marks = [mark for mark in _ASKED_FOR if mark not in config.option.markexpr]
    left_out = [item for item in items if any(map(item.get_closest_marker, marks))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    if hasattr(config, "workerinput"):
        items[:] = _mixed(items)


_LONG_SECONDS = 240
"""A file with a test that has so much time or more begins early, so that it is not the last."""


def _mixed(items: list[pytest.Item]) -> list[pytest.Item]:
    """Tests that must be alone, then those of all folders in turn, a file at a time.

    Whoever must be alone later waits for all that has begun, and all others for it. Tests of one
    folder are alike: those of pages keep the cores busy, and those of faults wait. So those that
    take long, and mostly wait, are spread over the first half.
    """
    folders: dict[Path, dict[Path, list[pytest.Item]]] = {}
    for item in items:
        folders.setdefault(item.path.parent, {}).setdefault(item.path, []).append(item)
    places: dict[Path, float] = {}
    for files in folders.values():
        for number, (path, tests) in enumerate(files.items()):
            place = number / len(files)
            places[path] = place / 2 if any(map(_is_long, tests)) else place
    return sorted(
        items,
        key=lambda item: (not item.get_closest_marker("alone"), places[item.path], item.path),
    )


def _is_long(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("timeout")
    return marker is not None and marker.args[0] >= _LONG_SECONDS
