"""Which replica is responsible, and which one while that is away."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.backends import replicas as replicas_module
from gateway.backends.replicas import Replicas, assign, find_addresses, may_be_several
from gateway.visits.lanes import LANES, find_lane
from services.shared.errors import AppError, DeadlineExceeded, InvalidArgument, Unavailable

KEYS = range(1, LANES + 1)
ADDRESSES = [f"10.0.0.{n}:50051" for n in range(6)]


def owners(addresses: list[str]) -> dict[int, str]:
    return {key: address for address, keys in assign(KEYS, addresses).items() for key in keys}


def test_a_replica_that_comes_or_goes_changes_only_its_own_keys() -> None:
    for count in range(1, len(ADDRESSES)):
        before, after = owners(ADDRESSES[:count]), owners(ADDRESSES[: count + 1])
        assert before.keys() == after.keys() == set(KEYS)
        moved = {key for key in KEYS if before[key] != after[key]}
        assert moved == {key for key in KEYS if after[key] == ADDRESSES[count]}
        assert owners(ADDRESSES[count::-1]) == after, "the order does not matter"


@pytest.mark.parametrize("count", range(2, 6))
def test_replicas_have_similar_shares(count: int) -> None:
    shares = Counter(owners(ADDRESSES[:count]).values())
    assert len(shares) == count
    assert max(shares.values()) <= 1.5 * LANES / count


def test_codes_are_in_all_lanes() -> None:
    lanes = Counter(find_lane(f"code{n:04}") for n in range(6400))
    assert lanes.keys() == set(KEYS)
    assert max(lanes.values()) < 200


@pytest.mark.parametrize(
    ("target", "several"),
    [
        ("dns:///atajo-analytics:50051", True),
        ("analytics:50051", True),
        ("ipv4:127.0.0.1:1,127.0.0.1:2", True),
        ("127.0.0.1:50051", False),
        ("dns:///127.0.0.1:50051", False),
        ("[::1]:50051", False),
        ("ipv4:127.0.0.1:1", False),
        ("unix:/run/atajo/analytics.sock", False),
        ("dns://127.0.0.1:53/analytics:50051", False),
    ],
)
async def test_a_name_or_a_list_may_stand_for_several_replicas(target: str, several: bool) -> None:
    assert may_be_several(target) is several
    if not several:
        assert await find_addresses(target) == {target}


async def test_a_name_is_resolved_and_a_list_split() -> None:
    assert await find_addresses("ipv4:127.0.0.1:1,127.0.0.1:2") == {"127.0.0.1:1", "127.0.0.1:2"}
    assert await find_addresses("dns:///localhost:50051") == {"127.0.0.1:50051"}


async def test_replicas_with_addresses_of_both_families_count_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    four = [(socket.AF_INET, (f"192.0.2.{n}", 50051)) for n in (1, 2)]
    six = [(socket.AF_INET6, (f"2001:db8::{n}", 50051, 0, 0)) for n in (1, 2)]
    known: list[tuple[socket.AddressFamily, tuple[Any, ...]]] = []

    async def resolve(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        return [(family, socket.SOCK_STREAM, 6, "", address) for family, address in known]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    known[:] = [*six, *four]
    assert await find_addresses("analytics:50051") == {"192.0.2.1:50051", "192.0.2.2:50051"}
    known[:] = six
    assert await find_addresses("analytics:50051") == {
        "[2001:db8::1]:50051",
        "[2001:db8::2]:50051",
    }


class Fleet:
    """Replicas that a test takes away."""

    def __init__(self) -> None:
        self.addresses = set(ADDRESSES[:3])
        self.errors: dict[str, AppError] = {}
        self.failure: Exception = OSError("There is no such name.")
        """Raised if there are no addresses."""
        self.busy: set[str] = set()
        """Replicas that are ready, but do not answer in time."""
        self.checked = asyncio.Event()
        self.closed: list[str] = []
        self.replicas = Replicas("dns:///analytics:50051", lambda address: Client(self, address))

    async def call(self) -> dict[str, list[int]]:
        """Call all keys. Return which replica took which."""
        self.asked = Counter[str]()
        taken: dict[str, list[int]] = {}

        async def call(client: Client, keys: list[int]) -> None:
            self.asked[client.address] += 1
            await asyncio.sleep(0)
            if error := self.errors.get(client.address):
                raise error
            if client.address in self.busy:
                raise DeadlineExceeded("Late.")
            taken.setdefault(client.address, []).extend(keys)

        await self.replicas.call(KEYS, call)
        return {address: sorted(keys) for address, keys in taken.items()}


class Client:
    """A client of a replica."""

    def __init__(self, fleet: Fleet, address: str) -> None:
        self.address = address
        self._fleet = fleet

    async def check(self) -> None:
        self._fleet.checked.set()
        if error := self._fleet.errors.get(self.address):
            raise error

    async def close(self) -> None:
        self._fleet.closed.append(self.address)


@pytest.fixture
async def fleet(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Fleet]:
    fleet = Fleet()

    async def find(_: str) -> set[str]:
        if not fleet.addresses:
            raise fleet.failure
        return set(fleet.addresses)

    monkeypatch.setattr(replicas_module, "find_addresses", find)
    monkeypatch.setattr(replicas_module, "RESOLVE_SECONDS", 0.0)
    monkeypatch.setattr(replicas_module, "RESOLVE_AFTER_FAILURE_SECONDS", 0.0)
    monkeypatch.setattr(replicas_module, "CHECK_SECONDS", 0.01)
    yield fleet
    await fleet.replicas.close()


@pytest.mark.parametrize("error", [Unavailable("Away."), DeadlineExceeded("Late.")])
async def test_the_next_replica_takes_over_until_the_first_is_ready_again(
    fleet: Fleet, error: AppError
) -> None:
    everything = assign(KEYS, ADDRESSES[:3])
    assert await fleet.call() == everything
    away, *others = ADDRESSES[:3]
    fleet.errors[away] = error
    for asked in (1, 0):  # It is only asked whether it is ready.
        assert await fleet.call() == assign(KEYS, others)
        assert fleet.asked[away] == asked
    fleet.checked.clear()
    await fleet.checked.wait()
    assert await fleet.call() == assign(KEYS, others)

    fleet.errors.clear()
    fleet.checked.clear()
    await fleet.checked.wait()
    await asyncio.sleep(0)
    assert await fleet.call() == everything


async def test_replicas_are_called_while_all_seem_to_be_away(fleet: Fleet) -> None:
    fleet.errors = dict.fromkeys(ADDRESSES, Unavailable("The store is away.", "STORE_UNAVAILABLE"))
    for _ in range(2):
        with pytest.raises(Unavailable) as raised:
            await fleet.call()
        assert raised.value.reason == "STORE_UNAVAILABLE"
        assert max(fleet.asked.values()) == 1
    fleet.errors.clear()
    assert sum(map(len, (await fleet.call()).values())) == LANES


async def test_a_replica_of_an_earlier_version_is_not_away(fleet: Fleet) -> None:
    earlier, *others = ADDRESSES[:3]
    fleet.errors[earlier] = Unavailable("A batch has unknown fields.", "LATER_VERSION")
    for _ in range(2):
        assert await fleet.call() == assign(KEYS, others)
        assert fleet.asked[earlier] == 1


async def test_what_one_replica_refuses_is_lost_after_all_others_have_counted(
    fleet: Fleet,
) -> None:
    refusing, away, _ = ADDRESSES[:3]
    fleet.errors = {
        refusing: InvalidArgument("Malformed.", "INVALID_BATCH"),
        away: Unavailable("Away."),
    }
    with pytest.raises(InvalidArgument):
        await fleet.call()
    assert set(fleet.asked) == set(ADDRESSES[:3])


async def test_the_keys_of_a_busy_replica_stay_there(fleet: Fleet) -> None:
    """Elsewhere, the work that it goes on with would be done a second time."""
    everything = assign(KEYS, ADDRESSES[:3])
    busy, *others = ADDRESSES[:3]
    fleet.busy = {busy}
    for _ in range(2):
        with pytest.raises(DeadlineExceeded):
            await fleet.call()
        assert fleet.asked == Counter(ADDRESSES[:3]), "each once"
    fleet.errors[others[0]] = Unavailable("Away.")
    with pytest.raises(DeadlineExceeded):
        await fleet.call()
    fleet.busy.clear()
    fleet.errors.clear()
    fleet.checked.clear()
    await fleet.checked.wait()
    await asyncio.sleep(0)
    assert await fleet.call() == everything


async def test_replicas_follow_the_name(fleet: Fleet) -> None:
    await fleet.call()
    fleet.addresses = set(ADDRESSES[1:5])
    assert await fleet.call() == assign(KEYS, ADDRESSES[1:5])
    assert fleet.closed == ADDRESSES[:1]
    fleet.addresses = set()  # The name server is away.
    assert await fleet.call() == assign(KEYS, ADDRESSES[1:5])
    assert fleet.replicas.are_several
    fleet.addresses = {ADDRESSES[0]}
    assert await fleet.call() == {ADDRESSES[0]: list(KEYS)}
    assert not fleet.replicas.are_several


async def test_a_name_server_that_does_not_answer_is_asked_once(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question takes a thread, and threads also sync the journal."""
    asked: list[asyncio.Future[set[str]]] = []

    async def find(_: str) -> set[str]:
        asked.append(asyncio.get_running_loop().create_future())
        return await asked[-1]

    known = await fleet.call()
    monkeypatch.setattr(replicas_module, "find_addresses", find)
    monkeypatch.setattr(replicas_module, "_RESOLVE_WAIT_SECONDS", 0.0)
    for _ in range(3):
        assert await fleet.call() == known
    assert len(asked) == 1
    asked[0].set_result(set(ADDRESSES))
    await asyncio.sleep(0)
    assert await fleet.call() == assign(KEYS, ADDRESSES)


@pytest.mark.parametrize("failure", [OSError("There is none."), UnicodeError("It is invalid.")])
async def test_a_name_without_addresses_is_an_error_that_passes(
    fleet: Fleet, failure: Exception
) -> None:
    fleet.addresses, fleet.failure = set(), failure
    with pytest.raises(Unavailable):
        await fleet.call()
    fleet.addresses = set(ADDRESSES)
    assert await fleet.call() == assign(KEYS, ADDRESSES)
