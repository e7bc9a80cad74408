"""Fair queueing between client networks: a bounded queue and a scheduler.

No network can fill the queue or use up the capacity while others wait.
"""

from __future__ import annotations

import secrets

from services.auth.domain.errors import LoginsBusy
from services.shared.fair_queue import FairQueue

_MAX_FINISH_TAGS = 10_000
"""Maximum networks that the scheduler remembers. It forgets the least recently served one."""
_MAX_RETRY_SECONDS = 5
"""Maximum pause that a rejected client is asked to make."""


def create_login_queue(max_waiting: int) -> FairQueue[str]:
    """Return a queue of log-ins by client network. It rejects with LoginsBusy."""
    return FairQueue(max_waiting, _reject)


class FairScheduler:
    """Chooses the network to serve next, so that networks that compete get equal shares.

    This is start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queuing: A Scheduling
    Algorithm for Integrated Services Packet Switching Networks", SIGCOMM 1996) with equal weights.
    Virtual time advances to the start tag of the work in service. The start tag of a network's next
    piece of work is the finish tag of its last one, or the current virtual time if that is later.
    The network with the lowest start tag is served first. Expensive work therefore delays only its
    own network, and a network that was idle neither pays for nor gains from its absence.
    """

    def __init__(self) -> None:
        self._finish_tags: dict[str, int] = {}
        self._virtual_time = 0

    def start_tag(self, network: str) -> int:
        """Return the virtual time at which the network's next piece of work starts."""
        return max(self._virtual_time, self._finish_tags.get(network, 0))

    def serve(self, network: str, cost: int) -> None:
        """Record that a piece of work of a network starts now."""
        self._virtual_time = self.start_tag(network)
        self._finish_tags.pop(network, None)
        self._finish_tags[network] = self._virtual_time + cost
        if len(self._finish_tags) > _MAX_FINISH_TAGS:
            del self._finish_tags[next(iter(self._finish_tags))]


def _reject(is_new: bool) -> LoginsBusy:
    """Return the rejection, with a random pause so that clients do not return all at once."""
    return LoginsBusy(
        "Too many log-ins at once.", retry_after=1 + secrets.randbelow(_MAX_RETRY_SECONDS)
    )
