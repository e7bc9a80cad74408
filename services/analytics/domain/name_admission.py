"""Randomized admission: decides which names a link's day stores once it has many.

Clients choose some of the names, such as referrers, and can invent any number of them. The number
of stored names is therefore bounded, and frequent names must survive a flood of invented ones.
"""

from __future__ import annotations

from heapq import nlargest
from random import Random

from services.analytics.domain.visits import Breakdown

MAX_NAMES = 100
"""Maximum names that a link's day stores in one dimension."""
OTHER_NAMES = "*"
"""Counts the people whose own name is not stored."""
_MAX_CONTENDERS = 20
"""Maximum new names of a batch that compete for a place in a full day."""
_SAMPLE_SIZE = 8
"""Number of random stored names from which the candidate for eviction is chosen."""

_NONE: Breakdown = {}


def admit_names(added: Breakdown, stored: Breakdown, random: Random) -> tuple[Breakdown, Breakdown]:
    """Decide under which names to count the people of `added` in a day with the names `stored`.

    Returns the people to add by name, and the stored names to delete with their people. The people
    of deleted names are included in those to add to `OTHER_NAMES`.

    A stored name keeps counting, and a new name takes a free place. Once a day has `MAX_NAMES`, a
    new name with `n` people competes with a stored one with `m`, and replaces it with probability
    n / (n + m). The stored one is the least frequent of `_SAMPLE_SIZE` random names. The people of
    the loser count as `OTHER_NAMES`, so the sum over all names stays exact.

    This is randomized admission (Ben Basat et al., "Randomized admission policy for efficient
    top-k and frequency estimation", 2017) with two changes. A new name starts with its own people,
    so no count is an overestimate. It therefore starts as the least frequent name and must not be
    the next one evicted: the candidate comes from a random sample, which almost never contains only
    frequent names, and seldom the newest one.
    """
    if len(added) + len(stored) <= MAX_NAMES:  # There is space for all.
        return added, _NONE
    new = {name: people for name, people in added.items() if name not in stored}
    new.pop(OTHER_NAMES, None)
    stored_count = len(stored) - (OTHER_NAMES in stored)
    if not new and stored_count <= MAX_NAMES:
        return added, _NONE
    counted = {name: people for name, people in added.items() if name not in new}
    names = {name: people + counted.get(name, 0) for name, people in stored.items()}
    names.pop(OTHER_NAMES, None)
    evicted: dict[str, int] = {}
    others = 0

    def evict(name: str) -> int:
        if name in stored:
            evicted[name] = stored[name]
        counted.pop(name, None)
        return names.pop(name)

    while len(names) > MAX_NAMES:  # Two writers added names concurrently.
        others += evict(min(names, key=names.__getitem__))
    places = list(names)
    # The most frequent first. The limit bounds the time for a batch with many names.
    free = MAX_NAMES - len(places)
    contenders = nlargest(free + _MAX_CONTENDERS, new.items(), key=lambda item: item[1])
    for name, people in contenders:
        if len(places) < MAX_NAMES:
            places.append(name)
        else:
            place = min(
                random.choices(range(MAX_NAMES), k=_SAMPLE_SIZE), key=lambda at: names[places[at]]
            )
            if random.random() * (people + names[places[place]]) >= people:
                others += people
                continue
            others += evict(places[place])
            places[place] = name
        names[name] = counted[name] = people
    others += sum(new.values()) - sum(people for _, people in contenders)
    if others:
        counted[OTHER_NAMES] = counted.get(OTHER_NAMES, 0) + others
    return counted, evicted
