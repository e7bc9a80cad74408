"""What is told of the visits over a span: added up day by day, as a store hands them out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from heapq import nlargest, nsmallest

from services.analytics.domain.periods import Span, StepLength
from services.analytics.domain.visits import (
    HOURS_A_DAY,
    OTHER_NAMES,
    Breakdown,
    Day,
    Dimension,
    Hours,
)

MAX_TOP = 100
"""Most links that are told by their people."""
MAX_TOLD_NAMES = 1000
"""Most names that an answer has in one dimension: as many hosts in each of seven, as long as can
be, were half of gRPC's 4 MB. The people of the others are told as `OTHER_NAMES`."""
_MOST_HELD_NAMES = 100_000
"""Most names that are held while they are added up, 10 MB in one dimension. Past it the smaller
half counts as `OTHER_NAMES`."""
_LINK, _UNKNOWN = "link", ""


@dataclass(frozen=True, slots=True)
class Figures:
    """How many visited. `visitors` were told apart within UTC days."""

    people: int
    bots: int
    visitors: int


@dataclass(frozen=True, slots=True)
class StepFigures:
    """The same for one step; in an hour visitors are not told apart."""

    start: datetime
    people: int
    bots: int
    visitors: int | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that is told of some links over a span."""

    first: date
    last: date
    step: StepLength
    totals: Figures
    previous: Figures | None
    """Of the span of the same length before."""
    series: list[StepFigures]
    breakdowns: dict[Dimension, list[tuple[str, int]]]
    """People by name, most first, of every UTC day that the span touches. Those whose name is
    unknown have an empty one."""
    top: list[tuple[str, int]]
    """Links with people in the span, most first, by code."""
    kept_from: date | None
    """The first day that is kept, where the span begins before it."""


class Sums:
    """Adds up the days that a span touches. Its hours and days outside the span count nowhere but
    in breakdowns."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self._steps = span.steps()
        self._first = span.days.start
        outside = len(self._steps)
        # By hour of the days touched and by day: the step, or one past the last.
        self._step_of_hour = [outside] * (span.hours.start - self._first * HOURS_A_DAY)
        for number, step in enumerate(self._steps):
            self._step_of_hour += [number] * len(step.hours)
        self._step_of_hour += [outside] * (len(span.days) * HOURS_A_DAY - len(self._step_of_hour))
        self._step_of_day = self._places_of_days()
        self._people = [0] * (outside + 1)
        self._bots = [0] * (outside + 1)
        self._visitors = [0] * (outside + 1)
        self._people_of: dict[str, int] = {}
        self._visitors_of: dict[str, int] = {}
        self._touched = 0
        self._names: dict[Dimension, dict[str, int]] = {dimension: {} for dimension in Dimension}

    @property
    def span(self) -> Span:
        """Of which these are the sums."""
        return self._span

    def take(self, code: str, day: Day) -> None:
        """Add a day of a link that the span touches."""
        people, visitors = self._take(day)
        if people or visitors:
            self.take_people(code, people)
            self._visitors_of[code] = self._visitors_of.get(code, 0) + visitors

    def take_together(self, day: Day) -> None:
        """Add a day of several links, all of it in the span."""
        self._take(day)

    def take_people(self, code: str, people: int) -> None:
        """Add to the people whom a link had in the span, by which it is one of the first."""
        self._people_of[code] = self._people_of.get(code, 0) + people

    def _take(self, day: Day) -> tuple[int, int]:
        """Add a day. Return its people in the span, and the visitors of all of it."""
        number = day.day - self._first
        hour = number * HOURS_A_DAY
        step = self._step_of_hour[hour]
        if step == self._step_of_hour[hour + HOURS_A_DAY - 1] != len(self._steps):
            inside = day.people
            self._people[step] += day.people
            self._bots[step] += day.bots
        else:
            people, bots = day.hours()
            inside = self._add(self._people, hour, people)
            self._add(self._bots, hour, bots)
        visitors = min(day.visitors, day.people)
        self._touched += day.people
        self._visitors[self._step_of_day[number]] += visitors
        for dimension, breakdown in day.breakdowns.items():
            self._add_names(dimension, breakdown)
        return inside, visitors

    def figures(self) -> Figures:
        """All of the span."""
        if self._span.rolling:  # No day of the zone is whole: those of the UTC days, within reason.
            visitors = sum(
                min(visitors, self._people_of[code]) for code, visitors in self._visitors_of.items()
            )
        else:
            visitors = sum(self._visitors[:-1])
        return Figures(sum(self._people[:-1]), sum(self._bots[:-1]), visitors)

    def told(self, previous: Figures | None, top: int, kept_from: int | None = None) -> Statistics:
        """What there is to tell, with the figures of the span before and at most `top` links.

        `kept_from` is the first UTC day that is kept, None where all are.
        """
        hourly = self._span.step is StepLength.HOUR
        series = [
            StepFigures(step.start, people, bots, None if hourly else visitors)
            for step, people, bots, visitors in zip(
                self._steps, self._people, self._bots, self._visitors, strict=False
            )
        ]
        visited = ((code, people) for code, people in self._people_of.items() if people)
        return Statistics(
            self._span.first,
            self._span.last,
            self._span.step,
            self.figures(),
            previous,
            series,
            {dimension: self._breakdown(dimension) for dimension in Dimension},
            nsmallest(min(top, MAX_TOP), visited, key=_most_first),
            _date_of(kept_from) if kept_from is not None and self._first < kept_from else None,
        )

    def _places_of_days(self) -> list[int]:
        """The step to which the visitors of each UTC day count, or one past the last."""
        days, running = self._span.days, self._span.running
        if self._span.step is StepLength.HOUR:
            # It is only known whether they are in the span.
            return [0 if self._counts(day) else len(self._steps) for day in days]
        # Those of a day count to the date of its noon, which is an hour's beginning (`date_of`).
        places = self._step_of_hour[HOURS_A_DAY // 2 :: HOURS_A_DAY]
        if running in days:
            place = len(self._steps)
            if self._counts(running):
                firsts = [step.first for step in self._steps]
                place = bisect_right(firsts, self._span.date_of(running)) - 1
            places[running - self._first] = place
        return places

    def _counts(self, day: int) -> bool:
        """Whether the visitors of a UTC day count to a date of the span."""
        return self._span.first <= self._span.date_of(day) <= self._span.last

    def _add(self, sums: list[int], first: int, by_hour: Hours) -> int:
        """Add a day's visits to their steps by hour. Return how many of them are in the span."""
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
        if len(names) > _MOST_HELD_NAMES:
            self._names[dimension] = _gathered(names, _MOST_HELD_NAMES // 2)

    def _breakdown(self, dimension: Dimension) -> list[tuple[str, int]]:
        names = self._names[dimension]
        unknown = self._touched - sum(names.values())
        if unknown:
            place = _LINK if dimension is Dimension.SOURCE else _UNKNOWN
            names = names | {place: names.get(place, 0) + unknown}
        if len(names) > MAX_TOLD_NAMES:
            names = _gathered(names, MAX_TOLD_NAMES)
        return sorted(names.items(), key=_most_first)


def _date_of(day: int) -> date:
    """The date of a UTC day."""
    return datetime.fromtimestamp(day * HOURS_A_DAY * 3600, UTC).date()


def _most_first(named: tuple[str, int]) -> tuple[int, str]:
    name, people = named
    return -people, name


def _gathered(names: Mapping[str, int], most: int) -> dict[str, int]:
    """At most so many names, the largest; the people of the others count as `OTHER_NAMES`."""
    largest = dict(nlargest(most - 1, names.items(), key=lambda named: named[1]))
    others = sum(names.values()) - sum(largest.values())
    return largest | {OTHER_NAMES: largest.get(OTHER_NAMES, 0) + others}
