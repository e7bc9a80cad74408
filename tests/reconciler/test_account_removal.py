"""The job that removes closed accounts."""

from __future__ import annotations

import pytest

from services.admin import removal
from services.reconciler.account_removal import MAX_SWEPT, AccountRemoval
from services.shared.errors import InvalidArgument, Unavailable
from tests.reconciler.fakes import Broken, Clock, World


async def test_links_of_a_closed_account_are_withdrawn_at_once_and_deleted_once_settled() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": "closed" for n in range(2300)} | {"other---": "open"}
    world.counts = dict.fromkeys(world.owners, 1)
    world.closed = ["closed"]
    job = AccountRemoval(world.services, clock)

    assert [await job.run() for _ in range(3)] == [True, True, False]
    assert len(world.removed) == 2300
    clock.now += removal.SETTLE_SECONDS - 1
    world.owners["late----"] = "closed"
    assert not await job.run()
    assert "late----" in world.removed, "it stops in the next run"
    clock.now += removal.SETTLE_SECONDS - 1
    assert not await job.run()
    assert not world.purged, "further links may still arrive"
    clock.now += 1
    await job.run()

    assert world.owners == {"other---": "open"}
    assert world.counts == {"other---": 1}
    assert world.gone == ["closed"]
    assert not await job.run()


async def test_a_run_searches_few_of_many_closed_accounts_for_further_links() -> None:
    world, clock = World(), Clock()
    world.closed = [f"id{number}" for number in range(3 * MAX_SWEPT)]
    job = AccountRemoval(world.services, clock)
    await job.run()
    searched: list[str] = []
    remove = world.remove_account_links

    async def note(account: str) -> tuple[int, bool]:
        searched.append(account)
        return await remove(account)

    world.remove_account_links = note  # type: ignore[method-assign]
    for number in range(1, 4):
        clock.now += 1
        await job.run()
        assert len(set(searched)) == len(searched) == number * MAX_SWEPT, "each in its turn"


async def test_a_large_account_does_not_delay_withdrawing_links_of_the_next() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": f"large{n % 3}" for n in range(15_000)}
    world.closed = ["large0", "large1", "large2"]

    def take_time(name: str) -> None:
        if name == "purge_links":
            clock.now += 0.6

    world.before = take_time
    job = AccountRemoval(world.services, clock)
    while await job.run():
        pass
    clock.now += removal.SETTLE_SECONDS
    assert await job.run()
    assert 0 < len(world.purged) <= 3000, "a run has a time limit"
    world.owners["small---"] = "small"
    world.closed.append("small")
    assert await job.run()
    assert "small---" in world.removed
    assert "large0" in world.closed


async def test_a_refused_call_for_one_account_does_not_delay_others() -> None:
    world, clock = World(), Clock()
    world.closed = ["bad", "good"]
    remove = world.remove_account_links

    async def refuse(account: str) -> tuple[int, bool]:
        if account == "bad":
            raise InvalidArgument("No.")
        return await remove(account)

    world.remove_account_links = refuse  # type: ignore[method-assign]
    job = AccountRemoval(world.services, clock)
    for _ in range(2):
        with pytest.raises(InvalidArgument):
            await job.run()
        clock.now += removal.SETTLE_SECONDS
    assert world.gone == ["good"]


async def test_another_process_completes_an_interrupted_account_removal() -> None:
    def closed() -> World:
        world = World()
        world.owners = {f"code{n:05}": "id" for n in range(120)}
        world.counts = dict.fromkeys(world.owners, 1)
        world.closed = ["id"]
        return world

    async def finish(world: World) -> None:
        clock = Clock()
        job = AccountRemoval(world.services, clock)
        while world.closed:
            await job.run()
            clock.now += removal.SETTLE_SECONDS

    whole = closed()
    await finish(whole)
    assert len(whole.calls) > 8
    for broken_at in range(len(whole.calls)):
        world = closed()
        world.before = Broken(broken_at)
        with pytest.raises(Unavailable):
            await finish(world)
        world.before = lambda name: None
        await finish(world)
        assert (world.owners, world.counts, world.gone) == ({}, {}, ["id"])
