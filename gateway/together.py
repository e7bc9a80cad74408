"""Questions that many ask at once, or one after the other within a moment, asked once for all."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False)
class _Asked(Generic[Answer]):
    """A question that was asked, with its answer once that is there."""

    answering: asyncio.Task[Answer]
    at: float


class Together(Generic[Question, Answer]):
    """Gives each answer to whoever asks the same within `seconds` of the question. For one loop.

    `most` answers are kept, those that were asked for last. An error is told to those who wait for
    it, and not kept. `clock` is in seconds.
    """

    def __init__(
        self,
        ask: Callable[[Question], Coroutine[Any, Any, Answer]],
        seconds: float,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._asked: OrderedDict[Question, _Asked[Answer]] = OrderedDict()
        self._answering: set[asyncio.Task[Answer]] = set()

    async def of(self, question: Question) -> Answer:
        """The answer to a question. Raises what asking it raises.

        Who leaves takes it from nobody else: it is asked to its end.
        """
        asked = self._asked.get(question)
        if asked is None or self._clock() - asked.at >= self._seconds:
            asked = self._begin(question)
        return await asyncio.shield(asked.answering)

    def _begin(self, question: Question) -> _Asked[Answer]:
        answering = asyncio.get_running_loop().create_task(self._ask(question))
        asked = self._asked[question] = _Asked(answering, self._clock())
        self._asked.move_to_end(question)
        if len(self._asked) > self._most:
            self._asked.popitem(last=False)
        self._answering.add(answering)  # The loop itself holds tasks weakly.

        def end(ended: asyncio.Task[Answer]) -> None:
            self._answering.discard(ended)
            # Whoever waits is told of an error; to who left it is nothing.
            if (ended.cancelled() or ended.exception()) and self._asked.get(question) is asked:
                del self._asked[question]

        answering.add_done_callback(end)
        return asked
