"""Long calls of one caller leave the event loop to others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.links.application import time_slices
from services.links.application.ports import LinkStore
from services.links.application.time_slices import SLICE_SECONDS, TimeSlices
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.creations import NewLink
from services.links.domain.imports import ImportRow
from services.links.domain.owner import ANONYMOUS, Account
from services.links.domain.url import UrlPolicy
from tests.support import in_process_services
from tests.support.link_operations import Service

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ONE = Account("one")
VALUES_PER_SLICE = 2


class Turns:
    """Counts the turns of the event loop, and how many values were checked in each.

    Checking a value takes half a slice of a clock that runs at no other time.
    """

    def __init__(self) -> None:
        self.turn = 0
        self.seconds = 0.0
        self.checked: Counter[int] = Counter()

    def check(self, value: str) -> str:
        self.checked[self.turn] += 1
        self.seconds += SLICE_SECONDS / VALUES_PER_SLICE
        return value

    def match(self, url: str) -> BlocklistMatch | None:
        self.check(url)
        return None

    @asynccontextmanager
    async def counting(self) -> AsyncIterator[None]:
        async def count() -> None:
            while True:
                self.turn += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        try:
            yield
        finally:
            counting.cancel()


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    turns = Turns()
    monkeypatch.setattr(time_slices, "perf_counter", lambda: turns.seconds)
    return turns


async def check_import(service: Service, urls: Sequence[str]) -> object:
    rows = [ImportRow(number, f"code-{number}", url) for number, url in enumerate(urls)]
    return await service.imports.check(ONE, rows)


async def import_links(service: Service, urls: Sequence[str]) -> object:
    rows = [ImportRow(number, f"code-{number}", url) for number, url in enumerate(urls)]
    return await service.imports.run(ONE, "import-aaaaaaaaaaaaaaa", rows)


async def create_account_links(service: Service, urls: Sequence[str]) -> object:
    return await service.creations.run(ONE, b"key", bytes(32), [NewLink(url) for url in urls])


async def create_links(service: Service, urls: Sequence[str]) -> object:
    creations = [(f"code{number:04}", url, ANONYMOUS, "") for number, url in enumerate(urls)]
    return await service.commands.create_all(creations)


CALLS = (check_import, import_links, create_account_links, create_links)


@pytest.mark.parametrize("call", CALLS)
async def test_a_call_with_many_urls_holds_the_event_loop_for_one_slice_at_a_time(
    store: LinkStore, turns: Turns, call: Callable[[Service, Sequence[str]], Awaitable[object]]
) -> None:
    service = Service(store, UrlPolicy("https://atajo.example", turns), lambda: NOW)
    async with turns.counting():
        await call(service, [f"https://a.example/{number}" for number in range(50)])

    assert turns.checked.total() == 50
    assert max(turns.checked.values()) == VALUES_PER_SLICE


async def test_calls_take_turns(turns: Turns) -> None:
    slices = TimeSlices()
    given = [[f"{call} {number}" for number in range(10)] for call in range(20)]
    async with turns.counting():
        results = await asyncio.gather(*(slices.map(turns.check, values) for values in given))

    assert results == given
    assert max(turns.checked.values()) == VALUES_PER_SLICE


async def test_all_computations_of_a_process_share_the_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[TimeSlices] = []
    initialize = TimeSlices.__init__

    def count(slices: TimeSlices) -> None:
        made.append(slices)
        initialize(slices)

    monkeypatch.setattr(TimeSlices, "__init__", count)
    async with in_process_services.links(tmp_path, "https://atajo.example"):
        assert len(made) == 1


async def test_an_error_ends_its_call_only(turns: Turns) -> None:
    def refuse(value: str) -> str:
        raise ValueError(value)

    slices = TimeSlices()
    with pytest.raises(ValueError, match="a"):
        await slices.map(refuse, ["a", "b"])

    assert await slices.map(turns.check, ["c"]) == ["c"]
    assert await slices.map(turns.check, []) == []
