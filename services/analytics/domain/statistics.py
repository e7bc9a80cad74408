"""Statistics of a period, built from days as a store returns them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from heapq import nlargest, nsmallest

from services.analytics.domain.name_admission import OTHER_NAMES
from services.analytics.domain.periods import Period, StepLength
from services.analytics.domain.visits import HOURS_PER_DAY, Breakdown, Day, Dimension, Hours
from services.shared.timestamps import EPOCH

MAX_TOP = 100
"""Maximum links in a ranking."""
MAX_RETURNED_NAMES = 1000
"""Maximum names per dimension in a response. The maximum in all seven dimensions, with hosts of the
maximum length, takes half of gRPC's 4 MB. The people of further names count as `OTHER_NAMES`."""
_MAX_NAMES_IN_MEMORY = 100_000
"""Maximum names per dimension while days are added up: 10 MB. Beyond it, the smaller half counts as
`OTHER_NAMES`."""
_LINK, _UNKNOWN = "link", ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of visits. `visitors` are distinct within each UTC day."""

    people: int
    bots: int
    visitors: int


@dataclass(frozen=True, slots=True)
class StepFigures:
    """The figures of a step. Steps of an hour have no visitors."""

    start: datetime
    people: int
    bots: int
    visitors: int | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of some links over a period."""

    first: date
    last: date
    step: StepLength
    totals: Figures
    previous: Figures | None
    """The figures of the previous period of the same length."""
    series: list[StepFigures]
    breakdowns: dict[Dimension, list[tuple[str, int]]]
    """People by name, most people first, over all UTC days that overlap the period. The name of
    people without a known one is empty."""
    top: list[tuple[str, int]]
    """Codes of links with people in the period, most people first."""
    retained_from: date | None
    """The first date that has not been deleted, if the period begins before it."""


class StatisticsBuilder:
    """Adds up the days that overlap a period. Their visits outside the period count only in
    breakdowns."""

    def __init__(self, period: Period) -> None:
        self.period = period
        self._steps = period.steps()
        self._first_day = period.days.start
        outside = len(self._steps)
        # The step of each hour of the overlapping days, and of each day. Those outside the period
        # have the number after the last step.
        self._step_of_hour = [outside] * (period.hours.start - self._first_day * HOURS_PER_DAY)
        for number, step in enumerate(self._steps):
            self._step_of_hour += [number] * len(step.hours)
        self._step_of_hour += [outside] * (
            len(period.days) * HOURS_PER_DAY - len(self._step_of_hour)
        )
        self._step_of_day = self._find_steps_of_days()
        self._people = [0] * (outside + 1)
        self._bots = [0] * (outside + 1)
        self._visitors = [0] * (outside + 1)
        self._people_by_code: dict[str, int] = {}
        self._visitors_by_code: dict[str, int] = {}
        self._people_in_days = 0
        self._names: dict[Dimension, dict[str, int]] = {dimension: {} for dimension in Dimension}

    def add_link_day(self, code: str, day: Day) -> None:
        """Add a day of a link that overlaps the period."""
        people, visitors = self._add_day(day)
        if people or visitors:
            self.add_link_people(code, people)
            self._visitors_by_code[code] = self._visitors_by_code.get(code, 0) + visitors

    def add_group_day(self, day: Day) -> None:
        """Add a day of several links, which must lie in the period."""
        self._add_day(day)

    def add_link_people(self, code: str, people: int) -> None:
        """Add to the people of a link in the period, for the ranking of links."""
        self._people_by_code[code] = self._people_by_code.get(code, 0) + people

    def figures(self) -> Figures:
        """Return the figures of the whole period."""
        if self.period.is_rolling:
            # 24 hours cover no whole date. Count the visitors of both UTC days, but no more than
            # each link's people in the period.
            visitors = sum(
                min(visitors, self._people_by_code[code])
                for code, visitors in self._visitors_by_code.items()
            )
        else:
            visitors = sum(self._visitors[:-1])
        return Figures(sum(self._people[:-1]), sum(self._bots[:-1]), visitors)

    def build(
        self, previous: Figures | None, top: int, retained_from: int | None = None
    ) -> Statistics:
        """Return the statistics, with the figures of the previous period and at most `top` links.

        `retained_from` is the first UTC day that has not been deleted; None if nothing is deleted.
        """
        hourly = self.period.step is StepLength.HOUR
        series = [
            StepFigures(step.start, people, bots, None if hourly else visitors)
            for step, people, bots, visitors in zip(
                self._steps, self._people, self._bots, self._visitors, strict=False
            )
        ]
        visited = ((code, people) for code, people in self._people_by_code.items() if people)
        first_retained = None
        if retained_from is not None and self._first_day < retained_from:
            first_retained = (EPOCH + timedelta(days=retained_from)).date()
        return Statistics(
            self.period.first,
            self.period.last,
            self.period.step,
            self.figures(),
            previous,
            series,
            {dimension: self._build_breakdown(dimension) for dimension in Dimension},
            nsmallest(min(top, MAX_TOP), visited, key=_most_people_first),
            first_retained,
        )

    def _add_day(self, day: Day) -> tuple[int, int]:
        """Add a day. Return its people in the period, and the visitors of the whole day."""
        number = day.day - self._first_day
        hour = number * HOURS_PER_DAY
        step = self._step_of_hour[hour]
        if step == self._step_of_hour[hour + HOURS_PER_DAY - 1] != len(self._steps):
            inside = day.people
            self._people[step] += day.people
            self._bots[step] += day.bots
        else:
            people, bots = day.hours()
            inside = self._add_hours(self._people, hour, people)
            self._add_hours(self._bots, hour, bots)
        visitors = min(day.visitors, day.people)
        self._people_in_days += day.people
        self._visitors[self._step_of_day[number]] += visitors
        for dimension, breakdown in day.breakdowns.items():
            self._add_names(dimension, breakdown)
        return inside, visitors

    def _add_hours(self, sums: list[int], first: int, by_hour: Hours) -> int:
        """Add a day's visits to their steps by hour. Return how many are in the period."""
        inside = 0
        for hour, count in by_hour.items():
            step = self._step_of_hour[first + hour]
            sums[step] += count
            if step != len(self._steps):
                inside += count
        return inside

    def _add_names(self, dimension: Dimension, breakdown: Breakdown) -> None:
        names = self._names[dimension]
        for name, people in breakdown.items():
            names[name] = names.get(name, 0) + people
        if len(names) > _MAX_NAMES_IN_MEMORY:
            self._names[dimension] = _keep_largest(names, _MAX_NAMES_IN_MEMORY // 2)

    def _build_breakdown(self, dimension: Dimension) -> list[tuple[str, int]]:
        names = self._names[dimension]
        unknown = self._people_in_days - sum(names.values())
        if unknown:
            name = _LINK if dimension is Dimension.SOURCE else _UNKNOWN
            names = names | {name: names.get(name, 0) + unknown}
        if len(names) > MAX_RETURNED_NAMES:
            names = _keep_largest(names, MAX_RETURNED_NAMES)
        return sorted(names.items(), key=_most_people_first)

    def _find_steps_of_days(self) -> list[int]:
        """Return the step to which the visitors of each UTC day count."""
        days, current_day = self.period.days, self.period.current_day
        if self.period.step is StepLength.HOUR:
            # Visitors have no hour. What matters is whether they count to the period.
            return [0 if self._counts_to_period(day) else len(self._steps) for day in days]
        # Those of a day count to the date at its noon, see `Period.visitor_date`. The hour that
        # begins at noon is in that date.
        steps = self._step_of_hour[HOURS_PER_DAY // 2 :: HOURS_PER_DAY]
        if current_day in days:
            number = len(self._steps)
            if self._counts_to_period(current_day):
                firsts = [step.first for step in self._steps]
                number = bisect_right(firsts, self.period.visitor_date(current_day)) - 1
            steps[current_day - self._first_day] = number
        return steps

    def _counts_to_period(self, day: int) -> bool:
        """Return whether the visitors of a UTC day count to a date of the period."""
        return self.period.first <= self.period.visitor_date(day) <= self.period.last


def _most_people_first(item: tuple[str, int]) -> tuple[int, str]:
    name, people = item
    return -people, name


def _keep_largest(names: Mapping[str, int], max_names: int) -> dict[str, int]:
    """Return the `max_names` largest. The people of the others count as `OTHER_NAMES`."""
    largest = dict(nlargest(max_names - 1, names.items(), key=lambda item: item[1]))
    others = sum(names.values()) - sum(largest.values())
    return largest | {OTHER_NAMES: largest.get(OTHER_NAMES, 0) + others}
