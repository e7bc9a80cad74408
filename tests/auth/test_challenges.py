"""Challenges: signed, of one purpose, valid for five minutes and once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.auth.application.challenges import LIFETIME, Challenges, InvalidChallenge
from services.auth.storage.sqlite.attempts import SqliteAttemptStore
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.shared import sqlite

SECRET = "a signing secret of the tests, more than 32 bytes"
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def replicas(tmp_path: Path, clock: Clock) -> AsyncIterator[list[Challenges]]:
    """Two replicas with one secret and one store."""
    async with sqlite.open_database(f"sqlite:///{tmp_path}/auth.db", MIGRATIONS) as database:
        store = SqliteAttemptStore(database)
        yield [Challenges(SECRET, store, clock) for _ in range(2)]


async def test_a_challenge_is_valid_once_on_any_replica(replicas: list[Challenges]) -> None:
    first, second = replicas
    challenge_id = second.check(first.issue("login"), "login")

    async def use(replica: Challenges) -> bool:
        try:
            await replica.use(challenge_id)
        except InvalidChallenge:
            return False
        return True

    assert sum(await asyncio.gather(*(use(replica) for replica in replicas * 10))) == 1


async def test_a_challenge_is_valid_for_five_minutes(
    replicas: list[Challenges], clock: Clock
) -> None:
    challenge = replicas[0].issue("login")
    clock.now = NOW + LIFETIME - timedelta(seconds=1)
    challenge_id = replicas[0].check(challenge, "login")
    await replicas[0].use(challenge_id)
    # While another replica, whose clock is behind, may accept it, it stays used.
    clock.now = NOW + LIFETIME + timedelta(seconds=60)
    with pytest.raises(InvalidChallenge):
        replicas[0].check(challenge, "login")
    with pytest.raises(InvalidChallenge):
        await replicas[0].use(challenge_id)


@pytest.mark.parametrize("purpose", ["Login", "login ", "", "add account session"])
def test_a_challenge_is_of_one_purpose(replicas: list[Challenges], purpose: str) -> None:
    with pytest.raises(InvalidChallenge):
        replicas[0].check(replicas[0].issue("login"), purpose)


@pytest.mark.parametrize("wrong", [b"", b"\xff", b"a.b.c", b"x" * 10_000])
def test_nonsense_is_no_challenge(replicas: list[Challenges], wrong: bytes) -> None:
    with pytest.raises(InvalidChallenge):
        replicas[0].check(wrong, "login")


def test_another_secret_signs_other_challenges(replicas: list[Challenges], clock: Clock) -> None:
    other = Challenges(f"{SECRET}!", replicas[0]._uses, clock)
    with pytest.raises(InvalidChallenge):
        replicas[0].check(other.issue("login"), "login")
