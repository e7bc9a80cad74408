"""Verification of passwords in threads, and fair queueing for the threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import bcrypt
import pytest
from prometheus_client import REGISTRY

from services.auth.__main__ import export_load
from services.auth.application.password_verifier import PasswordVerifier
from services.auth.domain.errors import LoginsBusy


class Gate:
    """Replaces bcrypt. Blocks every check until it is opened."""

    def __init__(self) -> None:
        self.verified: list[bytes] = []
        self.open = threading.Event()
        self.reached = threading.Event()
        self.blocks_expensive_only = False

    def checkpw(self, password: bytes, password_hash: bytes) -> bool:
        if not (self.blocks_expensive_only and password_hash.startswith(b"$2b$10$")):
            self.reached.set()
            self.open.wait(30)
        self.verified.append(password)
        return True


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate = Gate()
    monkeypatch.setattr(bcrypt, "checkpw", gate.checkpw)
    return gate


@pytest.fixture
async def verifier() -> AsyncIterator[PasswordVerifier]:
    verifier = PasswordVerifier(threads=1, max_waiting=3)
    yield verifier
    await verifier.close()


def verify(
    verifier: PasswordVerifier, password: str, network: str = "192.0.2.1", cost: int = 10
) -> asyncio.Task[bool]:
    """Start a check against a hash of this cost."""
    return asyncio.create_task(verifier.verify(password.encode(), f"$2b${cost}$...", network))


async def wait_until_blocked(gate: Gate) -> None:
    """Wait until the gate blocks a check. All checks started before are in the queue by then."""
    assert await asyncio.to_thread(gate.reached.wait, 30)


async def test_passwords_are_verified(verifier: PasswordVerifier) -> None:
    for right in (b"right", b"x" * 72):  # bcrypt compares all 72 bytes.
        password_hash = bcrypt.hashpw(right, bcrypt.gensalt(4)).decode()
        assert await verifier.verify(right, password_hash, "192.0.2.1")
        for wrong in (b"", right[:-1] + b"y", right.swapcase(), b"\0"):
            assert not await verifier.verify(wrong, password_hash, "192.0.2.1")


async def test_a_full_queue_rejects_further_checks(verifier: PasswordVerifier, gate: Gate) -> None:
    running = [verify(verifier, str(n)) for n in range(4)]
    await wait_until_blocked(gate)

    assert (verifier.running("standard"), verifier.waiting("standard")) == (1, 3)
    with pytest.raises(LoginsBusy) as busy:
        await verify(verifier, "one more")
    assert busy.value.reason == "LOGINS_BUSY"
    assert busy.value.retry_after in range(1, 6)

    gate.open.set()
    assert await asyncio.gather(*running) == [True] * 4
    assert await verify(verifier, "later")
    assert (verifier.running("standard"), verifier.waiting("standard")) == (0, 0)


async def test_gauges_show_running_and_waiting_checks(
    verifier: PasswordVerifier, gate: Gate
) -> None:
    def gauge(name: str, lane: str) -> float | None:
        return REGISTRY.get_sample_value(f"atajo_password_checks_{name}", {"lane": lane})

    export_load(verifier)
    tasks = [verify(verifier, "standard") for _ in range(3)]
    tasks.append(verify(verifier, "expensive", cost=11))
    await wait_until_blocked(gate)
    for lane, running, waiting in (("standard", 1, 2), ("expensive", 1, 0)):
        assert (gauge("running", lane), gauge("waiting", lane)) == (running, waiting)
        slots = REGISTRY.get_sample_value("atajo_password_check_slots", {"lane": lane})
        assert slots == 1
    gate.open.set()
    await asyncio.gather(*tasks)
    assert {gauge(name, lane) for name in ("running", "waiting") for lane in verifier.slots} == {0}


async def test_a_check_cancelled_while_waiting_does_not_run(
    verifier: PasswordVerifier, gate: Gate
) -> None:
    running = verify(verifier, "running")
    await wait_until_blocked(gate)
    waiting = [verify(verifier, "waiting") for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)

    last = verify(verifier, "last")
    gate.open.set()
    await asyncio.gather(running, last)
    assert gate.verified == [b"running", b"last"]


async def test_a_check_cancelled_while_running_keeps_its_thread(
    verifier: PasswordVerifier, gate: Gate
) -> None:
    running = verify(verifier, "running")
    await wait_until_blocked(gate)
    running.cancel()
    await asyncio.wait([running])
    later = verify(verifier, "later")
    await asyncio.sleep(0)

    assert (verifier.running("standard"), verifier.waiting("standard")) == (1, 1)
    gate.open.set()
    assert await later
    assert gate.verified == [b"running", b"later"]


async def test_a_check_cancelled_as_it_gets_its_thread_passes_it_on(
    verifier: PasswordVerifier, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = verify(verifier, "first")
    await wait_until_blocked(gate)
    second, third = (verify(verifier, name) for name in ("second", "third"))
    await asyncio.sleep(0)
    release: Any = verifier._release_thread

    def release_and_cancel(lane: object) -> None:
        release(lane)
        second.cancel()  # It has a thread but has not resumed yet.

    monkeypatch.setattr(verifier, "_release_thread", release_and_cancel)
    gate.open.set()

    async with asyncio.timeout(30):
        assert list(await asyncio.gather(first, third)) == [True, True]
    assert second.cancelled()
    assert gate.verified == [b"first", b"third"]


async def test_closing_cancels_waiting_checks(gate: Gate) -> None:
    verifier = PasswordVerifier(threads=1, max_waiting=3)
    tasks = [verify(verifier, str(n)) for n in range(4)]
    await wait_until_blocked(gate)

    closing = asyncio.create_task(verifier.close())
    await asyncio.wait(tasks[1:])
    gate.open.set()
    await closing
    await tasks[0]
    assert gate.verified == [b"0"]


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_expensive_hashes_leave_threads_for_standard_ones(gate: Gate, threads: int) -> None:
    """Regardless of their number and the number of networks."""
    verifier = PasswordVerifier(threads, max_waiting=500)
    costs = [11, 12, 13, 14]
    gate.blocks_expensive_only = True
    expensive = [verify(verifier, f"{n}", f"192.0.2.{n}", costs[n % 4]) for n in range(40)]
    await wait_until_blocked(gate)
    assert verifier.running("expensive") == verifier.slots["expensive"] == max(1, threads // 4)

    standard = [verify(verifier, "standard", f"192.0.2.{n}") for n in range(40)]
    async with asyncio.timeout(30):
        assert all(await asyncio.gather(*standard))
    assert not any(task.done() for task in expensive)
    gate.open.set()
    assert all(await asyncio.gather(*expensive))
    await verifier.close()


async def test_expensive_hashes_get_a_thread_while_many_standard_ones_wait(gate: Gate) -> None:
    verifier = PasswordVerifier(threads=2, max_waiting=500)
    standard = [verify(verifier, f"{n}", "192.0.2.1") for n in range(20)]
    await wait_until_blocked(gate)
    expensive = verify(verifier, "expensive", "192.0.2.2", cost=14)
    await asyncio.sleep(0)
    gate.open.set()
    await asyncio.gather(*standard, expensive)
    await verifier.close()

    assert gate.verified.index(b"expensive") <= 4


async def test_networks_share_thread_time_equally(gate: Gate) -> None:
    verifier = PasswordVerifier(threads=1, max_waiting=500)
    greedy = [verify(verifier, f"greedy {n}", "192.0.2.1", cost=14) for n in range(20)]
    await wait_until_blocked(gate)
    modest = [verify(verifier, f"modest {n}", "192.0.2.2", cost=11) for n in range(20)]
    other = verify(verifier, "other", "2001:db8::/64", cost=12)
    gate.open.set()
    await asyncio.gather(*greedy, *modest, other)
    await verifier.close()

    order = [password.decode() for password in gate.verified]
    # One runs already. Then the others are served until they have used as much time: eight checks
    # at cost 11 take as long as one at cost 14.
    assert order[0] == "greedy 0"
    assert set(order[1:3]) == {"modest 0", "other"}
    assert order.index("greedy 1") == 10
    assert order[10:] == [
        "greedy 1",
        *(f"modest {n}" for n in range(8, 16)),
        "greedy 2",
        *(f"modest {n}" for n in range(16, 20)),
        *(f"greedy {n}" for n in range(3, 20)),
    ]


async def test_a_network_gains_nothing_by_sending_one_check_at_a_time(gate: Gate) -> None:
    verifier = PasswordVerifier(threads=1, max_waiting=500)
    running = verify(verifier, "greedy", "192.0.2.1", cost=14)
    await wait_until_blocked(gate)
    modest = [verify(verifier, f"modest {n}", "192.0.2.2", cost=11) for n in range(20)]
    await asyncio.sleep(0)
    running.add_done_callback(
        lambda _: again.append(verify(verifier, "again", "192.0.2.1", cost=11))
    )
    again: list[asyncio.Task[bool]] = []
    gate.open.set()
    await asyncio.gather(running, *modest)
    await asyncio.gather(*again)
    await verifier.close()

    # The exact position depends on when the event loop learns that the check has ended.
    assert gate.verified.index(b"again") >= 8


async def test_a_network_that_was_idle_does_not_wait_for_others_to_catch_up(gate: Gate) -> None:
    gate.open.set()
    verifier = PasswordVerifier(threads=1, max_waiting=500)
    for _ in range(50):
        await verify(verifier, "before", "192.0.2.1", cost=14)
    gate.open.clear()
    gate.reached.clear()
    running = verify(verifier, "new", "192.0.2.2", cost=11)
    await wait_until_blocked(gate)
    queue = [verify(verifier, f"new {n}", "192.0.2.2", cost=11) for n in range(40)]
    returning = verify(verifier, "returning", "192.0.2.1", cost=11)
    gate.open.set()
    await asyncio.gather(running, *queue, returning)
    await verifier.close()

    # Only its last check counts against it.
    assert gate.verified[50:].index(b"returning") <= 9


async def test_a_full_queue_admits_a_network_with_fewer_waiting_checks(gate: Gate) -> None:
    verifier = PasswordVerifier(threads=1, max_waiting=4)
    greedy = [verify(verifier, f"greedy {n}", "192.0.2.1") for n in range(5)]
    await wait_until_blocked(gate)

    modest = [verify(verifier, f"modest {n}", "192.0.2.2") for n in range(2)]
    with pytest.raises(LoginsBusy):
        await verify(verifier, "greedy 5", "192.0.2.1")
    with pytest.raises(LoginsBusy):
        await verify(verifier, "modest 2", "192.0.2.2")
    gate.open.set()
    outcomes = await asyncio.gather(*greedy, return_exceptions=True)

    # The newest checks of the network with the most were rejected.
    assert [type(each) for each in outcomes] == [bool] * 3 + [LoginsBusy] * 2
    assert await asyncio.gather(*modest) == [True, True]
    assert verifier.waiting("standard") == 0
    await verifier.close()
