"""Messages and values with the same fields convert into each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum

import pytest

from atajo.analytics.v1 import analytics_pb2
from atajo.auth.v1 import auth_pb2
from atajo.links.v1 import links_pb2
from services.shared.rpc.fields import (
    TIME_ERRORS,
    enum_members,
    enum_numbers,
    from_message,
    read_fields,
    to_datetime,
    to_message,
    to_timestamp,
)

NOW = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)
LATER_VERSION = 99
"""A number that no enum of this version has."""


class Scope(Enum):
    LINKS_READ = "read"
    LINKS_WRITE = "write"
    STATISTICS_READ = "statistics"


class Reason(IntEnum):
    SPAM = 70
    OTHER = 80


class Unknown(Enum):
    NEITHER = "neither"


@dataclass
class Creator:
    id: str
    created_at: datetime


@dataclass
class Key:
    id: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None
    created_by: Creator | None


@dataclass
class Step:
    start: str
    people: int
    visitors: int | None


@dataclass
class Statistics:
    totals: Step
    series: list[Step]


@dataclass
class Match:
    reason: Reason


@dataclass
class NamedMatch:
    reason: str


@dataclass
class Link:
    tags: frozenset[str]
    reason: Reason | None


def test_every_kind_of_field_is_read() -> None:
    message = auth_pb2.Key(
        id="one",
        scopes=[auth_pb2.SCOPE_STATISTICS_READ, auth_pb2.SCOPE_LINKS_READ],
        created_at=to_timestamp(NOW),
        created_by=auth_pb2.Creator(id="two", created_at=to_timestamp(NOW)),
    )
    key = Key("one", (Scope.STATISTICS_READ, Scope.LINKS_READ), NOW, None, Creator("two", NOW))
    assert from_message(Key, message) == key
    message.ClearField("created_by")
    assert from_message(Key, message).created_by is None
    assert from_message(Link, links_pb2.Link(tags=["a"], reason=links_pb2.BLOCK_REASON_SPAM)) == (
        Link(frozenset("a"), Reason.SPAM)
    )


def test_every_kind_of_field_is_written() -> None:
    @dataclass
    class FullKey(Key):
        name: str = "Key"
        prefix: str = ""
        last_used_at: datetime | None = None

    @dataclass
    class FullCreator(Creator):
        browser: str = "Firefox"
        system: str = ""

    creator = FullCreator("two", NOW)
    key = FullKey("one", (Scope.LINKS_WRITE,), NOW, None, creator)
    assert to_message(auth_pb2.Key, key, prefix="ata") == auth_pb2.Key(
        id="one",
        name="Key",
        prefix="ata",
        scopes=[auth_pb2.SCOPE_LINKS_WRITE],
        created_at=to_timestamp(NOW),
        created_by=auth_pb2.Creator(id="two", created_at=to_timestamp(NOW), browser="Firefox"),
    )
    with pytest.raises(AttributeError):
        to_message(auth_pb2.Key, creator)


def test_repeated_messages_and_optional_numbers_are_read() -> None:
    series = [analytics_pb2.Step(start="a", visitors=0), analytics_pb2.Step(start="b", people=2)]

    @dataclass
    class Response:
        series: list[Step]

    found = from_message(Response, analytics_pb2.GetStatisticsResponse(series=series))
    assert found.series == [Step("a", 0, 0), Step("b", 2, None)]


def test_numbers_of_a_later_version_are_left_out_none_or_an_error() -> None:
    key = auth_pb2.Key(scopes=[auth_pb2.SCOPE_LINKS_READ, LATER_VERSION])  # type: ignore[list-item]
    assert from_message(Key, key).scopes == (Scope.LINKS_READ,)
    for number in (LATER_VERSION, links_pb2.BLOCK_REASON_UNSPECIFIED):
        link = links_pb2.Link(reason=number)  # type: ignore[arg-type]
        assert from_message(Link, link).reason is None
        match = links_pb2.BlocklistMatch(reason=number)  # type: ignore[arg-type]
        with pytest.raises(KeyError):
            from_message(Match, match)


def test_a_given_value_may_have_another_type() -> None:
    assert from_message(NamedMatch, links_pb2.BlocklistMatch(), reason="spam").reason == "spam"


def test_a_field_that_the_message_lacks_has_to_be_given() -> None:
    with pytest.raises(AttributeError):
        from_message(Statistics, links_pb2.Link())
    step = Step("a", 1, None)
    assert from_message(Statistics, links_pb2.Link(), totals=step, series=[]) == (
        Statistics(step, [])
    )


def test_members_have_the_numbers_of_their_names() -> None:
    numbers = enum_numbers(Reason, links_pb2.BlockReason)
    assert numbers == {
        Reason.SPAM: links_pb2.BLOCK_REASON_SPAM,
        Reason.OTHER: links_pb2.BLOCK_REASON_OTHER,
    }
    assert enum_members(Reason, links_pb2.BlockReason) == {
        number: reason for reason, number in numbers.items()
    }
    with pytest.raises(ValueError, match="NEITHER"):
        enum_numbers(Unknown, links_pb2.BlockReason)


def test_fields_are_read_by_name_without_empty_ones() -> None:
    changes = links_pb2.LinkChanges(title="", tags=links_pb2.Tags())
    assert read_fields(changes) == {"title": "", "tags": links_pb2.Tags()}
    assert read_fields(links_pb2.Expiry(expires_at=to_timestamp(NOW))) == {"expires_at": NOW}
    expiry = links_pb2.Expiry()
    expiry.expires_at.seconds = 1 << 40
    with pytest.raises(TIME_ERRORS):
        read_fields(expiry)


def test_times_keep_their_microseconds() -> None:
    timestamp = to_timestamp(NOW)
    assert timestamp is not None
    assert to_datetime(timestamp) == NOW
    assert to_timestamp(None) is None
