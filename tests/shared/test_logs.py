"""Throttled logging of repeated events."""

from __future__ import annotations

from structlog.testing import capture_logs

from services.shared.observability import logs


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_event_is_logged_once_a_minute_with_the_number_of_occurrences() -> None:
    clock = Clock()
    log = logs.Throttled(__name__, clock=clock)
    with capture_logs() as lines:
        assert [log.info("refused", reason="LIMIT") for _ in range(3)] == [True, False, False]
        clock.now += 60
        assert log.info("refused", reason="LIMIT")
    line = {"event": "refused", "log_level": "info", "reason": "LIMIT"}
    assert lines == [line, {**line, "times": 3}]


def test_events_beyond_max_lines_are_counted() -> None:
    clock = Clock()
    log = logs.Throttled(__name__, clock=clock, max_lines=3)
    with capture_logs() as lines:
        for _ in range(2):
            written = [log.info("refused", reason="LIMIT") for _ in range(5)]
            assert written == [True, True, True, False, False]
            clock.now += 60
    assert [line.get("times") for line in lines] == [None, None, None, 3, None, None]


def test_causes_are_throttled_separately() -> None:
    log = logs.Throttled(__name__, clock=Clock())
    causes: list[dict[str, object]] = [
        {"reason": "AWAY"},
        {"reason": "SLOW"},
        {"exc_info": ValueError("a")},
        {"exc_info": KeyError("b")},
    ]
    with capture_logs() as lines:
        for cause in causes + causes:
            log.error("failed", **cause)
    assert [{k: line[k] for k in line.keys() & {"reason", "exc_info"}} for line in lines] == causes


def test_the_number_of_separate_causes_is_limited() -> None:
    log = logs.Throttled(__name__, clock=Clock())
    with capture_logs() as lines:
        for number in range(3 * logs.MAX_CAUSES):
            log.warning("failed", reason=f"R{number}")
        log.warning("else", reason="R0")
    assert len(lines) == logs.MAX_CAUSES + 2
    assert lines[-1]["event"] == "else"
