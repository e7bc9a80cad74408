"""The job that purges links removed 30 days ago."""

from __future__ import annotations

from services.reconciler.link_purge import LinkPurge
from services.shared.errors import Unavailable
from tests.reconciler.fakes import Broken, World


async def test_links_removed_long_ago_are_purged_with_their_counts() -> None:
    world = World()
    world.old = [f"old{n:05}" for n in range(2100)]
    world.counts = dict.fromkeys((*world.old, "kept----"), 1)
    job = LinkPurge(world.services)

    assert [await job.run() for _ in range(4)] == [True, True, True, False]
    assert len(world.purged) == 2100
    assert world.counts == {"kept----": 1}


async def test_the_next_run_completes_an_interrupted_purge() -> None:
    for broken_at in range(5):
        world = World()
        world.old = [f"old{n:05}" for n in range(250)]
        world.counts = dict.fromkeys(world.old, 1)
        world.before = Broken(broken_at)
        job = LinkPurge(world.services)
        for _ in range(2):
            try:
                await job.run()
            except Unavailable:
                assert not world.purged
        assert len(world.purged) == 250
        assert not world.counts
