"""Limits on failed attempts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.auth.application.attempt_limiter import AttemptLimiter, FailureLimit
from services.auth.application.ports import AttemptResult
from services.auth.domain.errors import LoginsBusy, TooManyAttempts, WrongPassword
from services.auth.storage.sqlite.attempts import SqliteAttemptStore
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.shared import sqlite

SECRET = "a signing secret of the tests, more than 32 bytes"
START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
WINDOW = timedelta(minutes=15)


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteAttemptStore]:
    async with sqlite.open_database(f"sqlite:///{tmp_path}/auth.db", MIGRATIONS) as database:
        yield SqliteAttemptStore(database)


@pytest.fixture
def limiter(store: SqliteAttemptStore, clock: Clock) -> AttemptLimiter:
    # The order of the limits must not matter.
    limits = [
        FailureLimit(5, "account"),
        FailureLimit(2, "address"),
        FailureLimit(3, "browser"),
        FailureLimit(3, "session"),
    ]
    return AttemptLimiter(store, SECRET, limits, WINDOW, clock, 50)


async def fail(limiter: AttemptLimiter, client_ip: str, account: str = "ana") -> None:
    with pytest.raises(WrongPassword):
        async with limiter.attempt(account, client_ip):
            raise WrongPassword("no")


async def expect_rejection(
    limiter: AttemptLimiter, client_ip: str, account: str = "ana"
) -> float | None:
    """Expect the rejection of an attempt. Return the seconds after which to retry."""
    with pytest.raises(TooManyAttempts) as limited:
        async with limiter.attempt(account, client_ip):
            pytest.fail("the attempt was granted")
    return limited.value.retry_after


async def test_failures_are_limited_per_client_ip(limiter: AttemptLimiter, clock: Clock) -> None:
    await fail(limiter, "192.0.2.1")
    clock.time += timedelta(minutes=5)
    await fail(limiter, "192.0.2.1")

    assert await expect_rejection(limiter, "192.0.2.1") == 600
    await fail(limiter, "192.0.2.2")
    await fail(limiter, "192.0.2.1", account="bea")
    clock.time += timedelta(minutes=10)
    await fail(limiter, "192.0.2.1")


async def test_a_full_queue_does_not_reject_an_attempt_that_need_not_wait(
    store: SqliteAttemptStore, clock: Clock
) -> None:
    limiter = AttemptLimiter(store, SECRET, [FailureLimit(5, "address")], WINDOW, clock, 1)

    async def log_in(account: str = "ana") -> None:
        async with limiter.attempt(account, "192.0.2.1"):
            pass

    async with limiter.attempt("ana", "192.0.2.1"):
        second = asyncio.create_task(log_in())
        await asyncio.sleep(0)
        with pytest.raises(LoginsBusy):
            await log_in()
        await log_in("bea")
        assert not second.done()
    # The second may run but has not started yet. The third must wait for it.
    third = asyncio.create_task(log_in())
    await asyncio.gather(second, third)


async def test_failures_are_limited_per_account(limiter: AttemptLimiter, clock: Clock) -> None:
    for number in range(5):
        await fail(limiter, f"192.0.2.{number}")

    assert await expect_rejection(limiter, "192.0.2.100") == 900
    await fail(limiter, "192.0.2.100", account="bea")
    clock.time += WINDOW
    await fail(limiter, "192.0.2.100")


async def test_attempts_rejected_by_client_ip_do_not_count_for_the_account(
    limiter: AttemptLimiter, store: SqliteAttemptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        await fail(limiter, "192.0.2.1")
    with monkeypatch.context() as patch:
        # Not even briefly, since others would be rejected meanwhile.
        acquire, limits = store.acquire, set()

        async def watched(
            counter: str, limit: int, window: timedelta, now: datetime
        ) -> AttemptResult:
            limits.add(limit)
            return await acquire(counter, limit, window, now)

        patch.setattr(store, "acquire", watched)
        for _ in range(10):
            await expect_rejection(limiter, "192.0.2.1")
        assert limits == {2}

    for number in range(2, 5):
        await fail(limiter, f"192.0.2.{number}")
    await expect_rejection(limiter, "192.0.2.5")


async def test_attempts_rejected_by_account_do_not_count_for_the_client_ip(
    limiter: AttemptLimiter, clock: Clock
) -> None:
    for number in range(5):
        await fail(limiter, f"192.0.2.{number}")
    clock.time += timedelta(minutes=14)
    for _ in range(10):
        await expect_rejection(limiter, "192.0.2.100")
    # The account's window ends now. A window of the client IP would not.
    clock.time += timedelta(minutes=1)

    for _ in range(2):
        await fail(limiter, "192.0.2.100")


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
        ("2001:db8::1", "2001:db8:0:0:ffff::9", "2001:db8:0:1::1"),
        ("fe80::1%eth0", "fe80::2", "fe80:0:0:1::1"),
        ("", "", "192.0.2.1"),
        ("unix:/run/x", "unix:/run/x", "unix:/run/y"),
    ],
)
async def test_client_ips_of_one_ipv6_64_share_a_limit(
    limiter: AttemptLimiter, one: str, same: str, other: str
) -> None:
    await fail(limiter, one)
    await fail(limiter, same)

    await expect_rejection(limiter, one)
    await expect_rejection(limiter, same)
    await fail(limiter, other)


@pytest.mark.parametrize("kind", ["browser", "session"])
async def test_known_browsers_and_sessions_have_separate_limits(
    limiter: AttemptLimiter, clock: Clock, kind: str
) -> None:
    async def fail_from(id_: str, client_ip: str = "192.0.2.1", account: str = "ana") -> None:
        browser, session = (id_, None) if kind == "browser" else (None, id_)
        with pytest.raises(WrongPassword):
            async with limiter.attempt(account, client_ip, browser, session):
                raise WrongPassword("no")

    for number in range(5):
        await fail(limiter, f"192.0.2.{number}")
    await expect_rejection(limiter, "192.0.2.1")
    for number in range(3):  # From any client IP.
        await fail_from("one", f"198.51.100.{number}")

    with pytest.raises(TooManyAttempts) as limited:
        await fail_from("one")
    assert limited.value.retry_after == 900
    await fail_from("another")
    await fail_from("one", account="bea")
    clock.time += WINDOW
    await fail_from("one")
    # None of this counted for the client IP or the account.
    for number in range(2, 7):
        await fail(limiter, f"192.0.2.{number}")
    await expect_rejection(limiter, "192.0.2.1")


V4, OTHER_V4 = "192.0.2.1", "192.0.2.2"
V6 = [f"2001:db8:0:{number:x}::1" for number in range(51)]


@pytest.mark.parametrize(
    ("crowd", "modest"),
    [
        ([(V4, None)] * 51, (OTHER_V4, None)),
        ([(V4, None)] * 51, (V4, "a session")),
        # An IPv6 /48 has one share, however many client IPs it uses.
        ([(client_ip, "a session") for client_ip in V6], (OTHER_V4, None)),
    ],
    ids=["one client IP", "log-ins in the session's network", "an IPv6 network"],
)
async def test_one_network_cannot_fill_the_queue(
    limiter: AttemptLimiter, crowd: list[tuple[str, str | None]], modest: tuple[str, str | None]
) -> None:
    release = asyncio.Event()

    async def right(client_ip: str, session: str | None) -> None:
        async with limiter.attempt("ana", client_ip, session=session):
            await release.wait()

    many = [asyncio.create_task(right(*each)) for each in crowd]
    await asyncio.sleep(0)
    two = [asyncio.create_task(right(*modest)) for _ in range(2)]
    evicted, _ = await asyncio.wait(many, return_when=asyncio.FIRST_COMPLETED)
    release.set()

    await asyncio.gather(*two)
    assert {type(task.exception()) for task in evicted} == {LoginsBusy}
    await asyncio.wait(many)


async def test_an_attempt_that_did_not_fail_is_released(limiter: AttemptLimiter) -> None:
    for _ in range(10):
        async with limiter.attempt("ana", "192.0.2.1"):
            pass
        with pytest.raises(LoginsBusy):
            async with limiter.attempt("ana", "192.0.2.1"):
                raise LoginsBusy("no")

    await fail(limiter, "192.0.2.1")
    await fail(limiter, "192.0.2.1")
    await expect_rejection(limiter, "192.0.2.1")


async def test_a_cancelled_attempt_is_released(limiter: AttemptLimiter) -> None:
    under_way = asyncio.Event()

    async def attempt() -> None:
        async with limiter.attempt("ana", "192.0.2.1"):
            under_way.set()
            await asyncio.Event().wait()

    for _ in range(4):
        under_way.clear()
        task = asyncio.create_task(attempt())
        async with asyncio.timeout(5):
            await under_way.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    await fail(limiter, "192.0.2.1")


async def test_running_attempts_in_other_replicas_count(
    store: SqliteAttemptStore, clock: Clock
) -> None:
    first, second, third = (
        AttemptLimiter(store, SECRET, [FailureLimit(2, "address")], WINDOW, clock, 50)
        for _ in range(3)
    )
    async with first.attempt("ana", "192.0.2.1"), second.attempt("ana", "192.0.2.1"):
        await expect_rejection(third, "192.0.2.1")
    await fail(third, "192.0.2.1")


async def test_without_limits_all_attempts_are_granted(
    store: SqliteAttemptStore, clock: Clock
) -> None:
    limiter = AttemptLimiter(store, SECRET, [], WINDOW, clock, 50)
    for _ in range(20):
        await fail(limiter, "192.0.2.1")


async def test_concurrent_right_passwords_run_one_at_a_time(
    limiter: AttemptLimiter,
) -> None:
    async def right() -> None:
        async with limiter.attempt("ana", "192.0.2.1"):
            await asyncio.sleep(0)

    await asyncio.gather(*(right() for _ in range(50)))
    crowd = await asyncio.gather(*(right() for _ in range(100)), return_exceptions=True)
    assert {type(outcome) for outcome in crowd} == {type(None), LoginsBusy}
