"""Visitors of several gateways, who measure when a change takes effect and that it stays."""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tests.support.http_connection import Connection, NotReachedError
from tests.support.thread_group import ThreadGroup
from tests.support.waiting import wait_until

VISITORS = 2
"""Visitors per gateway."""
PAUSE = 0.005
"""Seconds between two visits, so that visits do not saturate the machine."""

Answer = tuple[int, str]
"""Status and Location of a response to a short URL."""
REMOVED, PURGED, AWAY, BLOCKED = (410, ""), (404, ""), (503, ""), (451, "")


class Visitors(ThreadGroup):
    """Visits all codes at each gateway in turn until the block ends.

    `urls` has the initial destination of each code. `expect` announces later responses, in order.
    `lives` names the gateways that may be killed, and returns the number of their start, 0 while
    one is down. Such a gateway may answer 503 for codes it does not know since its start.
    """

    def __init__(
        self,
        gateways: Sequence[str],
        urls: Mapping[str, str],
        *,
        pause: float = PAUSE,
        lives: Mapping[str, Callable[[], int]] | None = None,
    ) -> None:
        super().__init__(
            partial(self._visit, gateway, number)
            for gateway in gateways
            for number in range(VISITORS)
        )
        self.gateways = gateways
        self.codes = list(urls)
        self.answers: dict[tuple[str, str], Answer] = {}
        """Last response of a gateway to a code."""
        self.visits: dict[str, int] = defaultdict(int)
        """Number of responses of each gateway."""
        self.failures: list[str] = []
        """Responses that went back to an earlier state, and unexpected ones."""
        self._pause = pause
        self._lives = lives or {}
        self._expected: dict[str, list[Answer]] = {code: [(302, url)] for code, url in urls.items()}
        self._reached: dict[tuple[str, str], int] = defaultdict(int)
        """Index of the expected response that a gateway has reached for a code."""
        self._requested_at: dict[tuple[str, str], float] = {}
        """Time of the request with the last response of a gateway to a code."""
        self._seen: dict[tuple[str, Answer], float] = {}
        """Time when any gateway last gave this response to a code."""
        self._lock = threading.Lock()

    def expect(self, codes: Sequence[str], answer: Answer) -> None:
        """Accept this response to codes from now on; after it, no earlier one."""
        with self._lock:
            for code in codes:
                self._expected[code].append(answer)

    def await_round(self) -> None:
        """Wait until all codes were requested again at each gateway."""
        with self._lock:
            more = VISITORS * len(self.codes)
            target = {gateway: self.visits[gateway] + more for gateway in self.gateways}
        wait_until(lambda: all(self.visits[gateway] >= n for gateway, n in target.items()))

    def seconds_until_so(self, codes: Sequence[str], since: float) -> float:
        """Wait until all gateways give the latest expected response to requests after `since`.

        Returns the seconds after `since` until the last one did.
        """
        target = {code: self._expected[code][-1] for code in codes}
        asked = [(gateway, code) for gateway in self.gateways for code in codes]

        def are_so() -> bool:
            with self._lock:
                return all(
                    self._requested_at.get(one, 0.0) > since and self.answers[one] == target[one[1]]
                    for one in asked
                )

        wait_until(are_so)
        with self._lock:
            others = [
                at
                for (code, answer), at in self._seen.items()
                if target.get(code, answer) != answer
            ]
        return max(others, default=since) - since

    def are(self, codes: Sequence[str], answer: Answer) -> bool:
        """Return whether this is the last response of all gateways to codes."""
        return all(
            self.answers[gateway, code] == answer for gateway in self.gateways for code in codes
        )

    def _visit(self, gateway: str, number: int) -> None:
        connection = Connection(gateway, 10)
        life_of = self._lives.get(gateway)
        known: set[tuple[int, str]] = set()
        start = number * len(self.codes) // VISITORS
        for code in itertools.islice(itertools.cycle(self.codes), start, None):
            if self._stopping.wait(self._pause):
                break
            reached = self._reached[gateway, code]
            life, asked = life_of() if life_of else 1, time.monotonic()
            try:
                status, _ = connection.ask("GET", f"/{code}")
            except (NotReachedError, OSError):
                if life_of is None:
                    raise
                continue
            answer = (status, connection.location)
            now = time.monotonic()
            is_same_life = life_of is None or 0 < life == life_of()
            with self._lock:
                self.visits[gateway] += 1
                self.answers[gateway, code], self._requested_at[gateway, code] = answer, asked
                self._seen[code, answer] = now
                expected = self._expected[code]
                is_known = is_same_life and (life_of is None or (life, code) in known)
                # The absence of a link is cached only briefly.
                may_be_away = not is_known or expected[reached] == PURGED
                if answer in expected[reached:]:
                    if is_same_life:
                        known.add((life, code))
                    reached = expected.index(answer, reached)
                    self._reached[gateway, code] = max(reached, self._reached[gateway, code])
                elif not (answer == AWAY and may_be_away):
                    self.failures.append(f"{gateway}/{code}: {answer}, not {expected[reached]}")
        connection.close()
