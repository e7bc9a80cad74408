"""The parts of a log-in: limits on failures, verification in threads, session tokens."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bcrypt
import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from services.auth.__main__ import show_password_checks
from services.auth.application.attempt_limiter import AttemptLimiter, Rule
from services.auth.application.device_tokens import DeviceTokens
from services.auth.application.password_hasher import Hasher
from services.auth.application.ports import Attempt
from services.auth.application.session_tokens import Tokens
from services.auth.domain.account import InvalidToken, LoginsBusy, TooManyAttempts, WrongPassword
from services.auth.storage.sqlite import MIGRATIONS, SqliteAttemptStore
from services.shared import sqlite

SECRET = "a signing secret of the tests, more than 32 bytes"
START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
WINDOW = timedelta(minutes=15)


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteAttemptStore]:
    async with sqlite.opened(f"sqlite:///{tmp_path}/auth.db", MIGRATIONS) as database:
        yield SqliteAttemptStore(database)


@pytest.fixture
def limiter(store: SqliteAttemptStore, clock: Clock) -> AttemptLimiter:
    # The account's own rule is given first: the order of the rules must not matter.
    rules = [Rule(5, "account"), Rule(2, "address"), Rule(3, "browser"), Rule(3, "session")]
    return AttemptLimiter(store, SECRET, rules, WINDOW, clock, 50)


async def fail(limiter: AttemptLimiter, address: str, account: str = "ana") -> None:
    with pytest.raises(WrongPassword):
        async with limiter.attempt(account, address):
            raise WrongPassword("no")


async def refused(limiter: AttemptLimiter, address: str, account: str = "ana") -> float | None:
    with pytest.raises(TooManyAttempts) as limited:
        async with limiter.attempt(account, address):
            pytest.fail("the attempt was let through")
    return limited.value.retry_after


async def test_failures_of_an_account_are_limited_by_address(
    limiter: AttemptLimiter, clock: Clock
) -> None:
    await fail(limiter, "192.0.2.1")
    clock.time += timedelta(minutes=5)
    await fail(limiter, "192.0.2.1")

    assert await refused(limiter, "192.0.2.1") == 600
    await fail(limiter, "192.0.2.2")
    await fail(limiter, "192.0.2.1", account="bea")
    clock.time += timedelta(minutes=10)
    await fail(limiter, "192.0.2.1")


async def test_who_need_not_wait_is_not_turned_away_from_a_full_room(
    store: SqliteAttemptStore, clock: Clock
) -> None:
    limiter = AttemptLimiter(store, SECRET, [Rule(5, "address")], WINDOW, clock, 1)

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
    # The turn is the second's, though it did not take it up yet: this one waits behind it.
    third = asyncio.create_task(log_in())
    await asyncio.gather(second, third)


async def test_failures_of_an_account_are_limited_over_all_addresses(
    limiter: AttemptLimiter, clock: Clock
) -> None:
    for number in range(5):
        await fail(limiter, f"192.0.2.{number}")

    assert await refused(limiter, "192.0.2.100") == 900
    await fail(limiter, "192.0.2.100", account="bea")
    clock.time += WINDOW
    await fail(limiter, "192.0.2.100")


async def test_what_is_refused_by_address_does_not_use_up_the_account(
    limiter: AttemptLimiter, store: SqliteAttemptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        await fail(limiter, "192.0.2.1")
    with monkeypatch.context() as patch:
        # Not even for a moment, in which others would be refused.
        take, asked = store.take, set()

        async def watched(key: str, limit: int, window: timedelta, now: datetime) -> Attempt:
            asked.add(limit)
            return await take(key, limit, window, now)

        patch.setattr(store, "take", watched)
        for _ in range(10):
            await refused(limiter, "192.0.2.1")
        assert asked == {2}

    for number in range(2, 5):
        await fail(limiter, f"192.0.2.{number}")
    await refused(limiter, "192.0.2.5")


async def test_what_is_refused_by_the_account_does_not_use_up_an_address(
    limiter: AttemptLimiter, clock: Clock
) -> None:
    for number in range(5):
        await fail(limiter, f"192.0.2.{number}")
    clock.time += timedelta(minutes=14)
    for _ in range(10):
        await refused(limiter, "192.0.2.100")
    clock.time += timedelta(minutes=1)  # The account's window is over; one by address is not.

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
async def test_an_address_is_one_machine_or_household(
    limiter: AttemptLimiter, one: str, same: str, other: str
) -> None:
    await fail(limiter, one)
    await fail(limiter, same)

    await refused(limiter, one)
    await refused(limiter, same)
    await fail(limiter, other)


@pytest.mark.parametrize("kind", ["browser", "session"])
async def test_a_known_browser_and_a_session_have_attempts_of_their_own(
    limiter: AttemptLimiter, clock: Clock, kind: str
) -> None:
    async def fail_from(own: str, address: str = "192.0.2.1", account: str = "ana") -> None:
        with pytest.raises(WrongPassword):
            async with limiter.attempt(account, address, **{kind: own}):
                raise WrongPassword("no")

    for number in range(5):
        await fail(limiter, f"192.0.2.{number}")
    await refused(limiter, "192.0.2.1")
    for number in range(3):  # Wherever they come from.
        await fail_from("one", f"198.51.100.{number}")

    with pytest.raises(TooManyAttempts) as limited:
        await fail_from("one")
    assert limited.value.retry_after == 900
    await fail_from("another")
    await fail_from("one", account="bea")
    clock.time += WINDOW
    await fail_from("one")
    # Neither the address's two nor the account's five were used up by any of it.
    for number in range(2, 7):
        await fail(limiter, f"192.0.2.{number}")
    await refused(limiter, "192.0.2.1")


V4, OTHER_V4 = "192.0.2.1", "192.0.2.2"
V6 = [f"2001:db8:0:{number:x}::1" for number in range(51)]


@pytest.mark.parametrize(
    ("crowd", "modest"),
    [
        ([(V4, None)] * 51, (OTHER_V4, None)),
        ([(V4, None)] * 51, (V4, "a session")),
        # However many addresses it has, a network of IPv6 has the places of one.
        ([(address, "a session") for address in V6], (OTHER_V4, None)),
    ],
    ids=["of an address", "of the session's network", "of a network of IPv6"],
)
async def test_a_crowd_leaves_room_for_others(
    limiter: AttemptLimiter, crowd: list[tuple[str, str | None]], modest: tuple[str, str | None]
) -> None:
    release = asyncio.Event()

    async def right(address: str, session: str | None) -> None:
        async with limiter.attempt("ana", address, session=session):
            await release.wait()

    many = [asyncio.create_task(right(*each)) for each in crowd]
    await asyncio.sleep(0)
    two = [asyncio.create_task(right(*modest)) for _ in range(2)]
    refused, _ = await asyncio.wait(many, return_when=asyncio.FIRST_COMPLETED)
    release.set()

    await asyncio.gather(*two)
    assert {type(task.exception()) for task in refused} == {LoginsBusy}
    await asyncio.wait(many)


async def test_an_attempt_that_did_not_fail_is_given_back(limiter: AttemptLimiter) -> None:
    for _ in range(10):
        async with limiter.attempt("ana", "192.0.2.1"):
            pass
        with pytest.raises(LoginsBusy):
            async with limiter.attempt("ana", "192.0.2.1"):
                raise LoginsBusy("no")

    await fail(limiter, "192.0.2.1")
    await fail(limiter, "192.0.2.1")
    await refused(limiter, "192.0.2.1")


async def test_an_attempt_whose_caller_gave_up_is_given_back(limiter: AttemptLimiter) -> None:
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


async def test_attempts_under_way_in_other_replicas_count(
    store: SqliteAttemptStore, clock: Clock
) -> None:
    first, second, third = (
        AttemptLimiter(store, SECRET, [Rule(2, "address")], WINDOW, clock, 50) for _ in range(3)
    )
    async with first.attempt("ana", "192.0.2.1"), second.attempt("ana", "192.0.2.1"):
        await refused(third, "192.0.2.1")
    await fail(third, "192.0.2.1")


async def test_without_rules_there_are_no_limits(store: SqliteAttemptStore, clock: Clock) -> None:
    limiter = AttemptLimiter(store, SECRET, [], WINDOW, clock, 50)
    for _ in range(20):
        await fail(limiter, "192.0.2.1")


async def test_right_passwords_that_come_at_once_take_turns_and_fill_no_count(
    limiter: AttemptLimiter,
) -> None:
    async def right() -> None:
        async with limiter.attempt("ana", "192.0.2.1"):
            await asyncio.sleep(0)

    await asyncio.gather(*(right() for _ in range(50)))
    crowd = await asyncio.gather(*(right() for _ in range(100)), return_exceptions=True)
    assert {type(outcome) for outcome in crowd} == {type(None), LoginsBusy}


class Gate:
    """Stands in for bcrypt: holds every verification up until it is opened."""

    def __init__(self) -> None:
        self.verified: list[bytes] = []
        self.open = threading.Event()
        self.reached = threading.Event()
        self.holds_expensive_only = False

    def checkpw(self, password: bytes, password_hash: bytes) -> bool:
        if not (self.holds_expensive_only and password_hash.startswith(b"$2b$10$")):
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
async def hasher() -> AsyncIterator[Hasher]:
    hasher = Hasher(threads=1, max_waiting=3)
    yield hasher
    await hasher.close()


def verify(
    hasher: Hasher, password: str, network: str = "192.0.2.1", cost: int = 10
) -> asyncio.Task[bool]:
    """Have a password checked against a hash of some cost."""
    return asyncio.create_task(hasher.verify(password.encode(), f"$2b${cost}$...", network))


async def held_up(gate: Gate) -> None:
    """Wait until the gate holds a check up, and all that was sent meanwhile is in the queue."""
    assert await asyncio.to_thread(gate.reached.wait, 30)


async def test_passwords_are_verified(hasher: Hasher) -> None:
    for right in (b"right", b"x" * 72):  # Each is looked at to its end.
        password_hash = bcrypt.hashpw(right, bcrypt.gensalt(4)).decode()
        assert await hasher.verify(right, password_hash, "192.0.2.1")
        for wrong in (b"", right[:-1] + b"y", right.swapcase(), b"\0"):
            assert not await hasher.verify(wrong, password_hash, "192.0.2.1")


async def test_one_more_than_may_wait_is_refused(hasher: Hasher, gate: Gate) -> None:
    running = [verify(hasher, str(n)) for n in range(4)]
    await held_up(gate)

    assert (hasher.running("standard"), hasher.waiting("standard")) == (1, 3)
    with pytest.raises(LoginsBusy) as busy:
        await verify(hasher, "one more")
    assert busy.value.reason == "LOGINS_BUSY"
    assert busy.value.retry_after in range(1, 6)

    gate.open.set()
    assert await asyncio.gather(*running) == [True] * 4
    assert await verify(hasher, "later")
    assert (hasher.running("standard"), hasher.waiting("standard")) == (0, 0)


async def test_gauges_say_what_runs_and_what_waits(hasher: Hasher, gate: Gate) -> None:
    def shown(name: str, lane: str) -> float | None:
        return REGISTRY.get_sample_value(f"atajo_password_checks_{name}", {"lane": lane})

    show_password_checks(hasher)
    tasks = [verify(hasher, "standard") for _ in range(3)]
    tasks.append(verify(hasher, "expensive", cost=11))
    await held_up(gate)
    for lane, running, waiting in (("standard", 1, 2), ("expensive", 1, 0)):
        assert (shown("running", lane), shown("waiting", lane)) == (running, waiting)
        slots = REGISTRY.get_sample_value("atajo_password_check_slots", {"lane": lane})
        assert slots == 1
    gate.open.set()
    await asyncio.gather(*tasks)
    assert {shown(name, lane) for name in ("running", "waiting") for lane in hasher.slots} == {0}


async def test_who_gave_up_while_waiting_costs_nothing(hasher: Hasher, gate: Gate) -> None:
    running = verify(hasher, "running")
    await held_up(gate)
    waiting = [verify(hasher, "waiting") for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)

    last = verify(hasher, "last")
    gate.open.set()
    await asyncio.gather(running, last)
    assert gate.verified == [b"running", b"last"]


async def test_who_gave_up_while_it_ran_does_not_free_the_thread(
    hasher: Hasher, gate: Gate
) -> None:
    running = verify(hasher, "running")
    await held_up(gate)
    running.cancel()
    await asyncio.wait([running])
    later = verify(hasher, "later")
    await asyncio.sleep(0)

    assert (hasher.running("standard"), hasher.waiting("standard")) == (1, 1)
    gate.open.set()
    assert await later
    assert gate.verified == [b"running", b"later"]


async def test_who_gives_up_in_the_moment_of_its_turn_passes_it_on(
    hasher: Hasher, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = verify(hasher, "first")
    await held_up(gate)
    second, third = (verify(hasher, name) for name in ("second", "third"))
    await asyncio.sleep(0)
    end: Any = hasher._end

    def end_and_cancel(lane: object) -> None:
        end(lane)
        second.cancel()  # It has its turn, and does not know yet.

    monkeypatch.setattr(hasher, "_end", end_and_cancel)
    gate.open.set()

    async with asyncio.timeout(30):
        assert list(await asyncio.gather(first, third)) == [True, True]
    assert second.cancelled()
    assert gate.verified == [b"first", b"third"]


async def test_closing_drops_what_waits(gate: Gate) -> None:
    hasher = Hasher(threads=1, max_waiting=3)
    tasks = [verify(hasher, str(n)) for n in range(4)]
    await held_up(gate)

    closing = asyncio.create_task(hasher.close())
    await asyncio.wait(tasks[1:])
    gate.open.set()
    await closing
    await tasks[0]
    assert gate.verified == [b"0"]


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_expensive_hashes_leave_threads_for_others(gate: Gate, threads: int) -> None:
    """However many come, and from however many networks."""
    hasher = Hasher(threads, max_waiting=500)
    costs = [11, 12, 13, 14]
    gate.holds_expensive_only = True
    expensive = [verify(hasher, f"{n}", f"192.0.2.{n}", costs[n % 4]) for n in range(40)]
    await held_up(gate)
    assert hasher.running("expensive") == hasher.slots["expensive"] == max(1, threads // 4)

    standard = [verify(hasher, "standard", f"192.0.2.{n}") for n in range(40)]
    async with asyncio.timeout(30):
        assert all(await asyncio.gather(*standard))
    assert not any(task.done() for task in expensive)
    gate.open.set()
    assert all(await asyncio.gather(*expensive))
    await hasher.close()


async def test_expensive_hashes_have_their_thread_while_many_others_wait(gate: Gate) -> None:
    hasher = Hasher(threads=2, max_waiting=500)
    standard = [verify(hasher, f"{n}", "192.0.2.1") for n in range(20)]
    await held_up(gate)
    expensive = verify(hasher, "expensive", "192.0.2.2", cost=14)
    await asyncio.sleep(0)
    gate.open.set()
    await asyncio.gather(*standard, expensive)
    await hasher.close()

    assert gate.verified.index(b"expensive") <= 4


async def test_an_address_gets_its_share_however_much_another_sends(gate: Gate) -> None:
    hasher = Hasher(threads=1, max_waiting=500)
    greedy = [verify(hasher, f"greedy {n}", "192.0.2.1", cost=14) for n in range(20)]
    await held_up(gate)
    modest = [verify(hasher, f"modest {n}", "192.0.2.2", cost=11) for n in range(20)]
    other = verify(hasher, "other", "2001:db8::/64", cost=12)
    gate.open.set()
    await asyncio.gather(*greedy, *modest, other)
    await hasher.close()

    order = [password.decode() for password in gate.verified]
    # One runs already. Then it is the turn of the others, until they have had as much: eight
    # checks of cost 11 are one of cost 14.
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


async def test_who_has_had_much_does_not_go_first_by_asking_one_at_a_time(gate: Gate) -> None:
    hasher = Hasher(threads=1, max_waiting=500)
    running = verify(hasher, "greedy", "192.0.2.1", cost=14)
    await held_up(gate)
    modest = [verify(hasher, f"modest {n}", "192.0.2.2", cost=11) for n in range(20)]
    await asyncio.sleep(0)
    running.add_done_callback(lambda _: again.append(verify(hasher, "again", "192.0.2.1", cost=11)))
    again: list[asyncio.Task[bool]] = []
    gate.open.set()
    await asyncio.gather(running, *modest)
    await asyncio.gather(*again)
    await hasher.close()

    # How many more go first depends on how soon the event loop hears that the check has ended.
    assert gate.verified.index(b"again") >= 8


async def test_who_comes_after_a_while_does_not_wait_for_what_others_had(gate: Gate) -> None:
    gate.open.set()
    hasher = Hasher(threads=1, max_waiting=500)
    for _ in range(50):
        await verify(hasher, "before", "192.0.2.1", cost=14)
    gate.open.clear()
    gate.reached.clear()
    running = verify(hasher, "new", "192.0.2.2", cost=11)
    await held_up(gate)
    queue = [verify(hasher, f"new {n}", "192.0.2.2", cost=11) for n in range(40)]
    back = verify(hasher, "back", "192.0.2.1", cost=11)
    gate.open.set()
    await asyncio.gather(running, *queue, back)
    await hasher.close()

    # It owes no more than what it had last.
    assert gate.verified[50:].index(b"back") <= 9


async def test_a_full_queue_takes_in_who_has_fewer_waiting(gate: Gate) -> None:
    hasher = Hasher(threads=1, max_waiting=4)
    greedy = [verify(hasher, f"greedy {n}", "192.0.2.1") for n in range(5)]
    await held_up(gate)

    modest = [verify(hasher, f"modest {n}", "192.0.2.2") for n in range(2)]
    with pytest.raises(LoginsBusy):
        await verify(hasher, "greedy 5", "192.0.2.1")
    with pytest.raises(LoginsBusy):
        await verify(hasher, "modest 2", "192.0.2.2")
    gate.open.set()
    outcomes = await asyncio.gather(*greedy, return_exceptions=True)

    # The last to come made room, and were told so.
    assert [type(each) for each in outcomes] == [bool] * 3 + [LoginsBusy] * 2
    assert await asyncio.gather(*modest) == [True, True]
    assert hasher.waiting("standard") == 0
    await hasher.close()


def tokens_at(moment: datetime, secret: str = SECRET) -> Tokens:
    return Tokens(secret, lambda: moment)


def read(tokens: Tokens, token: str) -> tuple[str, int]:
    """The account and the session number that a token says."""
    claims = tokens.read(token)
    return claims.account_id, claims.generation


def now() -> datetime:
    return datetime.now(UTC)


def test_a_token_stands_for_its_account_for_four_hours() -> None:
    issued_at = now()
    token, expires_at = tokens_at(issued_at).issue("ana", 7)
    claims = jwt.decode(token, options={"verify_signature": False})

    assert read(tokens_at(issued_at), token) == ("ana", 7)
    assert expires_at == issued_at.replace(microsecond=0) + timedelta(hours=4)
    assert len(claims.pop("jti")) == 24
    assert claims == {
        "iss": "atajo",
        "sub": "ana",
        "session": 7,
        "iat": int(issued_at.timestamp()),
        "exp": int(expires_at.timestamp()),
    }
    assert jwt.get_unverified_header(token)["alg"] == "HS256"


@pytest.mark.parametrize("years", [-20, 20])
def test_a_token_ends_by_the_clock_of_the_service(years: int) -> None:
    issued_at = now() + timedelta(days=365 * years)
    token, expires_at = tokens_at(issued_at).issue("ana", 0)

    assert read(tokens_at(expires_at - timedelta(microseconds=1)), token) == ("ana", 0)
    with pytest.raises(InvalidToken):
        tokens_at(expires_at).read(token)


def test_a_replica_whose_clock_is_a_minute_behind_takes_a_token() -> None:
    token, _ = tokens_at(START + timedelta(minutes=1)).issue("ana", 0)
    assert read(tokens_at(START), token) == ("ana", 0)


@pytest.mark.parametrize("ahead", [timedelta(seconds=61), timedelta(days=1), timedelta(days=3650)])
def test_what_a_clock_signed_that_ran_ahead_is_not_valid(ahead: timedelta) -> None:
    later = START + ahead
    token, _ = tokens_at(later).issue("ana", 0)
    device_token = devices_at(later).issue("ana", "")

    with pytest.raises(InvalidToken):
        tokens_at(START).read(token)
    assert devices_at(START).browser_of(device_token, "ana") is None
    assert read(tokens_at(later), token) == ("ana", 0)
    assert devices_at(later).browser_of(device_token, "ana")


def test_a_session_keeps_its_id_and_no_two_have_the_same() -> None:
    tokens = tokens_at(now())
    token, _ = tokens.issue("ana", 0)
    same, other = tokens.read(token), tokens.read(tokens.issue("ana", 0)[0])
    assert tokens.read(token) == same
    assert same.session_id != other.session_id


def signed(secret: str = SECRET, algorithm: str = "HS256", **changes: object) -> str:
    claims: dict[str, object] = {
        "iss": "atajo",
        "sub": "ana",
        "session": 3,
        "jti": "a session",
        "iat": int(now().timestamp()),
        "exp": int(now().timestamp()) + 60,
    }
    claims |= changes
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, secret, algorithm)


def test_the_samples_of_bad_tokens_differ_from_a_good_one_by_their_fault_alone() -> None:
    assert read(tokens_at(now()), signed()) == ("ana", 3)


def _segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "token",
    [
        *("", ".", "..", "...", "garbage", "a.b.c", "\0", "é.é.é", "\ud800", "null"),
        "x" * 1_000_000,
        "." * 1_000_000,
        base64.urlsafe_b64encode(b"[" * 300).decode() + ".e30.x",
        base64.urlsafe_b64encode(b"[" * 700_000).decode() + ".e30.x",
        f"{_segment({'alg': 'none'})}.{_segment({'iss': 'atajo', 'sub': 'ana'})}.",
        f"{_segment({'alg': ['HS256']})}.{_segment({})}.eA",
        f"{_segment({'alg': 'HS256', 'kid': 1})}.{_segment({})}.eA",
        f"{_segment({'alg': 'HS256', 'b64': False, 'crit': ['b64']})}..eA",
        f"{_segment([])}.{_segment([])}.eA",
        signed()[:-2],
        signed() + "A",
        " " + signed(),
        signed(secret="another secret, which is as long as it has to be"),
        signed(algorithm="HS512", secret=SECRET * 2),
        signed(exp=int(now().timestamp()) - 1),
        signed(exp=None),
        signed(sub=None),
        signed(sub=7),
        signed(iat=None),
        signed(iat=int(now().timestamp()) + 600),
        signed(exp=int(now().timestamp()) + 5 * 3600),
        signed(session=None),
        signed(jti=None),
        signed(iss=None),
        signed(iss="other"),
        tokens_at(now() - timedelta(hours=4, seconds=1)).issue("ana", 0)[0],
    ],
    ids=lambda token: token[:20].encode("unicode_escape").decode(),
)
def test_every_other_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidToken) as refusal:
        tokens_at(now()).read(token)
    assert refusal.value.reason == "INVALID_TOKEN"


def devices_at(moment: datetime, secret: str = SECRET) -> DeviceTokens:
    return DeviceTokens(secret, lambda: moment)


def claims_of(device_token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(device_token, options={"verify_signature": False})
    return claims


def test_a_device_token_stands_for_its_account_for_a_year() -> None:
    device_token = devices_at(START).issue("ana", "")
    browser = devices_at(START).browser_of(device_token, "ana")

    last = START + timedelta(days=365) - timedelta(seconds=1)
    assert browser
    assert devices_at(last).browser_of(device_token, "ana") == browser
    assert devices_at(last + timedelta(seconds=1)).browser_of(device_token, "ana") is None
    assert devices_at(START).browser_of(device_token, "bea") is None
    assert devices_at(START).browser_of(devices_at(START).issue("ana", ""), "ana") != browser


def test_a_browser_of_several_accounts_keeps_them_each_for_a_year_of_its_own() -> None:
    later = START + timedelta(days=100)
    first = devices_at(START).issue("ana", "")
    both = devices_at(later).issue("bea", first)

    browser = devices_at(START).browser_of(first, "ana")
    assert devices_at(later).browser_of(both, "ana") == browser
    assert devices_at(later).browser_of(both, "bea") == browser
    assert devices_at(later).browser_of(first, "bea") is None
    after = START + timedelta(days=365)
    assert devices_at(after).browser_of(both, "ana") is None
    assert devices_at(after).browser_of(both, "bea") == browser
    again = devices_at(later).issue("ana", both)
    assert devices_at(after).browser_of(again, "ana") == browser


def test_a_device_token_is_short_and_knows_those_that_logged_in_last() -> None:
    device_token = ""
    accounts = [f"{number:024x}" for number in range(20)]
    for number, account in enumerate(accounts):
        device_token = devices_at(START + timedelta(seconds=number)).issue(account, device_token)

    known = [account for account in accounts if devices_at(START).browser_of(device_token, account)]
    assert known == accounts[-5:]
    assert len(device_token) <= 1000


def test_a_device_token_says_nothing_of_its_accounts() -> None:
    tokens = [devices_at(START).issue("ana", "") for _ in range(2)]
    assert "ana" not in json.dumps([claims_of(device_token) for device_token in tokens])
    assert len({tag for device_token in tokens for tag in claims_of(device_token)["known"]}) == 2


def test_a_device_token_is_no_token_and_a_token_no_device_token() -> None:
    device_token = devices_at(START).issue("ana", "")
    claims = {**claims_of(device_token), "iss": "atajo", "sub": "ana"}
    for other in (device_token, jwt.encode(claims, _signing_key(devices_at(START)), "HS256")):
        with pytest.raises(InvalidToken):
            tokens_at(START).read(other)
    token, _ = tokens_at(START).issue("ana", 0)
    resigned = jwt.encode(claims_of(device_token), SECRET, "HS256")
    for other in (token, resigned):
        assert devices_at(START).browser_of(other, "ana") is None


def _signing_key(tokens: DeviceTokens) -> bytes:
    key = tokens._signer._key
    assert isinstance(key, bytes)
    return key


@pytest.mark.parametrize(
    "device_token",
    ["", "garbage", "a.b.c", "\0", "\ud800", "x" * 1_000_000, f"{_segment([])}.{_segment([])}.eA"],
)
def test_what_is_no_device_token_is_as_none(device_token: str) -> None:
    assert devices_at(START).browser_of(device_token, "ana") is None
    issued = devices_at(START).issue("ana", device_token)
    assert devices_at(START).browser_of(issued, "ana")


def test_a_device_token_of_another_secret_is_as_none() -> None:
    device_token = devices_at(START, "another secret, which is as long as it has to be").issue(
        "ana", ""
    )
    assert devices_at(START).browser_of(device_token, "ana") is None
    browser = devices_at(START).browser_of(devices_at(START).issue("ana", device_token), "ana")
    assert browser != claims_of(device_token)["jti"]


@given(st.text() | st.text(alphabet='ey.{}[]"aAbB-_=019').map(lambda text: f"{text}.{text}.x"))
def test_no_text_is_a_token(text: str) -> None:
    with pytest.raises(InvalidToken):
        tokens_at(now()).read(text)
