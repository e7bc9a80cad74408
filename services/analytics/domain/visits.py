"""Counts of visits: rows as gateways send them, and a link's days and totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum

from services.shared.timestamps import EPOCH

HOURS_PER_DAY = 24
# The calendar's whole range. A gateway with a wrong clock can still deliver its visits; rejecting
# its batch would block all later ones.
LAST_HOUR = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(hours=1)
LAST_DAY = LAST_HOUR // HOURS_PER_DAY


class VisitKind(Enum):
    """Who visited."""

    PERSON = "person"
    BOT = "bot"


class Dimension(IntEnum):
    """The properties by which people are broken down, each one separately.

    Stores contain the values. Never reuse one. They are integers because those hash without a call
    of Python code, six or seven times per visit.
    """

    REFERRER = 1
    """Host of the referring page, such as `news.example`."""
    DEVICE = 2
    """`desktop`, `phone`, `tablet` or `other`."""
    BROWSER = 3
    """Without its version, such as `Firefox`."""
    SYSTEM = 4
    """The operating system without its version, such as `Android`."""
    LANGUAGE = 5
    """The primary subtag of the preferred language, such as `es`."""
    COUNTRY = 6
    """Two letters, such as `CL`."""
    SOURCE = 7
    """`link` or `qr`."""


Breakdown = Mapping[str, int]
"""People by name in one dimension, without those whose name is unknown."""
Hours = Mapping[int, int]
"""Visits by hour of a UTC day. Hours without visits are absent."""


@dataclass(slots=True)
class VisitCount:
    """The number of equal visits. `hour` is in whole UTC hours since the Unix epoch.

    `names` has a name for each known dimension. An empty name is unknown, too. Rows with equal
    names should share one mapping, because each mapping in a batch is processed only once.
    """

    code: str
    hour: int
    kind: VisitKind
    names: Mapping[Dimension, str]
    count: int


@dataclass(frozen=True, slots=True)
class Totals:
    """All visits of a link."""

    people: int
    bots: int


@dataclass(frozen=True, slots=True)
class Day:
    """A UTC day of a link, or of several links together."""

    day: int
    """In whole days since the Unix epoch."""
    people: int
    bots: int
    visitors: int
    """The estimate of the day's sketch; 0 without a sketch."""
    breakdowns: Mapping[Dimension, Breakdown]
    """Dimensions without known names are absent."""
    hours: Callable[[], tuple[Hours, Hours]] = field(compare=False)
    """Returns people and bots by hour. Decodes them on demand, since most readers need only the
    sums."""

    @classmethod
    def from_hours(
        cls,
        day: int,
        people: Hours,
        bots: Hours,
        breakdowns: Mapping[Dimension, Breakdown],
        visitors: int,
    ) -> Day:
        """Create a day from its visits by hour."""
        sums = sum(people.values()), sum(bots.values())
        return cls(day, *sums, visitors, breakdowns, lambda: (people, bots))


def utc_day(moment: datetime) -> int:
    """Return the UTC day of a moment, in whole days since the Unix epoch."""
    return (moment - EPOCH) // timedelta(days=1)
