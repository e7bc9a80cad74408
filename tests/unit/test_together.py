"""Questions that are asked once for all who ask the same."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from gateway.together import Together
from services.runtime.errors import Unavailable


class Asking:
    """Who is asked: it answers once it is let, and tells how often it was asked what."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: Counter[str] = Counter()
        self.let = asyncio.Event()
        self.let.set()
        self.away = False
        self.together = Together(self._answer, seconds=1.0, most=3, clock=lambda: self.now)

    async def _answer(self, question: str) -> str:
        self.asked[question] += 1
        count = self.asked[question]
        await self.let.wait()
        if self.away:
            raise Unavailable("It is away.")
        return f"{question} {count}"


async def test_the_same_question_is_asked_once_a_second() -> None:
    asking = Asking()
    for now, expected in ((0.0, "a 1"), (0.9, "a 1"), (1.0, "a 2"), (1.9, "a 2"), (2.0, "a 3")):
        asking.now = now
        assert await asking.together.of("a") == expected
    assert await asking.together.of("b") == "b 1"


async def test_those_who_ask_at_once_wait_for_one_answer() -> None:
    asking = Asking()
    asking.let.clear()
    waiting = [asyncio.create_task(asking.together.of("a")) for _ in range(100)]
    await asyncio.sleep(0)
    # Who leaves takes it from nobody else, were it the first.
    for gone in (waiting[0], waiting[50]):
        gone.cancel()
    await asyncio.sleep(0)
    asking.let.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, str)] == ["a 1"] * 98
    assert asking.asked == {"a": 1}


async def test_an_error_is_told_to_all_who_wait_and_not_kept() -> None:
    asking = Asking()
    asking.away = True
    both = await asyncio.gather(
        asking.together.of("a"), asking.together.of("a"), return_exceptions=True
    )
    assert [type(error) for error in both] == [Unavailable, Unavailable]
    assert asking.asked == {"a": 1}
    with pytest.raises(Unavailable):
        await asking.together.of("a")
    asking.away = False
    assert await asking.together.of("a") == "a 3"


async def test_all_leave_and_the_answer_is_there_for_the_next() -> None:
    asking = Asking()
    asking.let.clear()
    waiting = asyncio.create_task(asking.together.of("a"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    asking.let.set()
    assert await asking.together.of("a") == "a 1"


async def test_a_bounded_number_of_answers_is_kept() -> None:
    asking = Asking()
    for question in "abcd":
        assert await asking.together.of(question) == f"{question} 1"
    for question, expected in (("d", "d 1"), ("b", "b 1"), ("a", "a 2"), ("b", "b 2")):
        assert await asking.together.of(question) == expected
