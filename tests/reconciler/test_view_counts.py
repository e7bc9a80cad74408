"""The job that copies view counts from analytics to links."""

from __future__ import annotations

import pytest

from services.reconciler import view_counts
from services.reconciler.view_counts import ViewCounts
from services.shared.errors import Unavailable
from tests.reconciler.fakes import Clock, World


async def follow(job: ViewCounts) -> None:
    while await job.run():
        pass


async def test_the_first_run_copies_all_counts_and_later_ones_the_changes() -> None:
    world = World()
    world.owners = {f"code{n:05}": "id" for n in range(2500)}
    world.counts = {code: n for n, code in enumerate(world.owners, 1)}
    job = ViewCounts(world.services, Clock())
    await job.run()
    assert world.views == world.counts
    assert world.cursor == "0"

    world.visit("code00007", "code00008")
    world.visit("code00007")
    calls = len(world.calls)
    await follow(job)
    assert world.views == world.counts
    assert world.cursor == "2"
    assert "codes_after" not in world.calls[calls:], "only changed counts are copied"
    world.calls.clear()
    await follow(job)
    assert world.calls == ["views_cursor", "view_changes"], "nothing was visited"


async def test_the_cursor_is_stored_once_all_counts_are_copied() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": "id" for n in range(2500)}
    world.counts = dict.fromkeys(world.owners, 1)

    def take_time(name: str) -> None:
        if name == "views_of":
            clock.now += view_counts.COPY_SECONDS

    world.before = take_time
    job = ViewCounts(world.services, clock)
    await job.run()
    assert len(world.views) == 1000
    world.visit("code00001", "code02400")
    await job.run()
    assert len(world.views) == 2000 + 1
    assert world.views["code00001"] == 2, "changes are copied during the copy of all counts"
    assert world.cursor is None

    # Another process starts again.
    job = ViewCounts(world.services, clock)
    while world.cursor is None:
        await job.run()
    assert world.views == world.counts
    assert world.cursor == "1"


async def test_a_restart_continues_at_the_cursor_or_copies_all_of_a_truncated_feed() -> None:
    world = World()
    world.owners = {"one-----": "id", "two-----": "id"}
    await ViewCounts(world.services).run()
    world.visit("one-----")
    world.visit("two-----")
    world.calls.clear()
    await follow(ViewCounts(world.services))
    assert world.views == {"one-----": 1, "two-----": 1}
    assert "views_of" not in world.calls

    world.visit("one-----")
    world.visit("two-----")
    world.deleted = 3
    await follow(ViewCounts(world.services))
    assert world.views == {"one-----": 2, "two-----": 2}
    assert world.cursor == "4"


async def test_pages_read_before_an_error_are_stored() -> None:
    world = World()
    world.cursor = "0"
    for n in range(4):
        world.visit(f"code000{n}")

    def fail(name: str) -> None:
        if name == "view_changes" and world.calls.count("view_changes") == 3:
            raise Unavailable("Away.")

    world.before = fail
    job = ViewCounts(world.services)
    with pytest.raises(Unavailable):
        await job.run()
    assert (world.views, world.cursor) == ({"code0000": 1, "code0001": 1}, "2")
    await job.run()
    assert (world.views, world.cursor) == (world.counts, "4")


async def test_an_idle_cursor_is_stored_once_a_minute() -> None:
    """On MongoDB the cursor advances with writes other than visits."""
    world, clock = World(), Clock()
    world.owners = {"one-----": "id"}
    job = ViewCounts(world.services, clock)
    await job.run()
    stored = world.cursor
    world.calls.clear()
    for _ in range(3):
        world.visit()
        await follow(job)
    assert "store_views" not in world.calls
    assert world.cursor == stored
    read = world.calls.count("view_changes")
    world.visit("one-----")
    await follow(job)
    assert world.calls.count("view_changes") == read + 1, "the job continues after the idle pages"
    assert (world.views, world.cursor) == ({"one-----": 1}, "4")

    world.visit()
    clock.now += view_counts.IDLE_STORE_SECONDS
    await follow(job)
    assert world.cursor == "5"
    world.visit()
    await follow(job)
    assert world.cursor == "5"


async def test_counts_are_copied_again_after_links_was_restored() -> None:
    world = World()
    world.owners = {"one-----": "id", "two-----": "id"}
    job = ViewCounts(world.services)
    await job.run()
    for _ in range(3):
        world.visit("one-----")
        await follow(job)
    world.views, world.cursor = {"one-----": 1}, "1"
    await follow(job)
    assert world.views == {"one-----": 3}
