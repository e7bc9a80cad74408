"""Limits by client IP address, also for clients with many addresses."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import ExitStack
from ipaddress import ip_network

import pytest
from starlette.requests import Request

from gateway.support.client_ip import ClientIpFinder
from gateway.support.rate_limits import (
    CALLS,
    LARGE_CALLS,
    MAX_LARGE_CALLS_BY_ACCOUNT,
    MAX_WINDOWS,
    PROFILES,
    CalendarRateLimiter,
    CallLimiter,
    ClientConcurrencyLimiter,
    Networks,
    Rate,
    RateLimiter,
    to_networks,
)
from services.shared.errors import ResourceExhausted


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def networks(address: str, forwarded: str = "") -> Networks:
    """Return what a request is counted under, behind trusted proxies in 10.0.0.0/8."""
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (address, 1), "headers": headers}
    return to_networks(ClientIpFinder([ip_network("10.0.0.0/8")]).of(Request(scope)))


def is_allowed(limit: RateLimiter, address: str) -> bool:
    """Whether one more call of this address is allowed."""
    try:
        limit.hit(networks(address))
    except ResourceExhausted:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("300/minute", Rate(300, 60)),
        ("1/3seconds", Rate(1, 3)),
        ("2000/second", Rate(2000, 1)),
        ("30/1hour", Rate(30, 3600)),
        (" 5/2days ", Rate(5, 172_800)),
    ],
)
def test_a_rate_is_parsed(text: str, rate: Rate) -> None:
    assert Rate.parse(text) == rate


@pytest.mark.parametrize(
    "text", ["", "300", "0/minute", "-1/minute", "1.5/minute", "300/0minutes", "300/week", "/hour"]
)
def test_an_invalid_rate_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="a limit is written like"):
        Rate.parse(text)


def test_a_window_begins_with_the_first_call_and_ends_at_retry_after(clock: Clock) -> None:
    limit = RateLimiter("create", Rate(3, 60), clock)
    assert is_allowed(limit, "192.0.2.1")
    clock.now += 50
    assert [is_allowed(limit, "192.0.2.1") for _ in range(4)] == [True, True, False, False]
    with pytest.raises(ResourceExhausted) as refused:
        limit.hit(networks("192.0.2.1"))
    assert refused.value.reason == "TOO_MANY_REQUESTS"
    assert refused.value.retry_after == 10
    assert is_allowed(limit, "192.0.2.2")
    clock.now += 10
    assert [is_allowed(limit, "192.0.2.1") for _ in range(4)] == [True, True, True, False]


def test_a_window_of_the_calendar_ends_with_the_day(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", clock)
    clock.now = 86_400 * 20_000 - 100
    limit = CalendarRateLimiter("import_rows", Rate(3, 86_400), "Too many rows.", "TOO_MANY_ROWS")
    limit.hit(networks("192.0.2.1"), 3).take_back(1)
    with pytest.raises(ResourceExhausted, match="Too many rows") as refused:
        limit.hit(networks("192.0.2.1"), 2)
    assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_ROWS", 100)
    clock.now += 100
    limit.hit(networks("192.0.2.1"), 3)


def test_calls_taken_back_after_their_window_leave_the_next_one_as_it_is(clock: Clock) -> None:
    limit = RateLimiter("import_rows", Rate(3, 60), clock)
    reserved = limit.reserve(networks("2001:db8::1"), 5)
    assert reserved.calls == 3
    clock.now += 60
    limit.hit(networks("2001:db8::1"), 3)
    reserved.take_back(3)
    assert not is_allowed(limit, "2001:db8::1")


def test_an_ipv4_mapped_address_is_the_ipv4_address(clock: Clock) -> None:
    limit = RateLimiter("create", Rate(1, 60), clock)
    limit.hit(networks("192.0.2.1"))
    assert not is_allowed(limit, "::ffff:192.0.2.1")
    with pytest.raises(ResourceExhausted):
        limit.hit(networks("10.1.1.1", "203.0.113.5, 192.0.2.1, 10.0.0.7"))
    limit.hit(networks("192.0.2.9", "192.0.2.1"))  # This address is not trusted.


def test_an_ipv6_address_counts_for_its_64_and_its_48(clock: Clock) -> None:
    limit = RateLimiter("create", Rate(2, 60), clock)
    household = [is_allowed(limit, f"2001:db8:1:1::{n:x}") for n in range(1, 100)]
    assert household.count(True) == 2
    # Rejected calls are not counted, so the /48 has the rest of its limit.
    others = [is_allowed(limit, f"2001:db8:1:{n:x}::1") for n in range(2, 100)]
    assert others == [True] * 30 + [False] * 68
    assert is_allowed(limit, "2001:db8:2:1::1")
    clock.now += 60
    assert is_allowed(limit, "2001:db8:1:1::1")


def test_one_network_evicts_no_other_client(clock: Clock) -> None:
    limit = RateLimiter("create", Rate(300, 60), clock)
    for _ in range(300):
        limit.hit(networks("192.0.2.1"))
    let = sum(is_allowed(limit, f"2001:db8:1:{n:x}::1") for n in range(1 << 16))
    assert let == 16 * 300
    assert not is_allowed(limit, "192.0.2.1")


def numbered(n: int) -> Networks:
    return (n.to_bytes(4, "big"),)


def test_any_number_of_addresses_takes_bounded_memory(clock: Clock) -> None:
    limit = RateLimiter("create", Rate(1, 60), clock)
    tracemalloc.start()
    try:
        for n in range(2 * MAX_WINDOWS):
            limit.hit(numbered(n))
        full, _ = tracemalloc.get_traced_memory()
        assert full < 30 << 20
        # The oldest were evicted, and the most recent are still counted.
        limit.hit(numbered(0))
        with pytest.raises(ResourceExhausted):
            limit.hit(numbered(2 * MAX_WINDOWS - 1))
        clock.now += 60
        for n in range(
            MAX_WINDOWS // 2
        ):  # Ended windows are dropped faster than new ones are added.
            limit.hit(numbered(n))
        left, _ = tracemalloc.get_traced_memory()
        assert left < 0.8 * full
    finally:
        tracemalloc.stop()


def has_room(limit: ClientConcurrencyLimiter, address: str) -> bool:
    try:
        with limit.hold(networks(address)):
            return True
    except ResourceExhausted:
        return False


def test_running_calls_are_limited_by_address_and_network() -> None:
    limit = ClientConcurrencyLimiter("profile", PROFILES)
    by_address, by_network = PROFILES.by_network
    with ExitStack() as under_way:
        for n in range(by_network):
            address = f"2001:db8:1:{n // by_address:x}::{n:x}"
            under_way.enter_context(limit.hold(networks(address)))
            if n == by_address - 1:
                assert not has_room(limit, address)
        assert not has_room(limit, "2001:db8:1:ffff::1")
        assert has_room(limit, "2001:db8:2:1::1")
        assert has_room(limit, "192.0.2.1")
    assert has_room(limit, "2001:db8:1:ffff::1")


def test_running_calls_of_all_clients_are_limited() -> None:
    for by_network in (True, False):
        limit = ClientConcurrencyLimiter("profile", PROFILES, by_network)
        with ExitStack() as under_way:
            for n in range(PROFILES.total):
                address = f"192.0.2.{n}" if by_network else "192.0.2.1"
                under_way.enter_context(limit.hold(networks(address)))
            assert not has_room(limit, "198.51.100.1")
        assert has_room(limit, "198.51.100.1")


def test_running_large_calls_are_limited_by_account() -> None:
    for by_network in (True, False):
        limit = CallLimiter(by_network)
        allowed = MAX_LARGE_CALLS_BY_ACCOUNT if by_network else LARGE_CALLS.total
        with ExitStack() as under_way:
            for _ in range(allowed):
                under_way.enter_context(limit.hold_account("a"))
            with pytest.raises(ResourceExhausted) as refused, limit.hold_account("a"):
                pass
            assert refused.value.retry_after == 1
            if by_network:
                with limit.hold_account("b"):
                    pass
        with limit.hold_account("a"):
            pass


def test_running_calls_with_a_body_are_limited() -> None:
    limit = CallLimiter()
    by_address = CALLS.by_network[0]
    with ExitStack() as under_way:
        for n in range(CALLS.total):
            client = networks(f"192.0.2.{n // by_address}")
            under_way.enter_context(limit.hold(client, is_large=False))
            if n == by_address - 1:
                with pytest.raises(ResourceExhausted), limit.hold(client, is_large=False):
                    pass
        with pytest.raises(ResourceExhausted), limit.hold(networks("::1"), is_large=False):
            pass
    with limit.hold(networks("::1"), is_large=True):
        pass
