"""The values of the REST API, as its description shows them.

Requests are strict: unknown keys and other types are faults. What a service refuses beyond these
rules is 422.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gateway.api.problems import Problem
from gateway.backends import ports
from gateway.backends.ports import LinkOrder, RecentPeriod, Scope
from gateway.redirects.resolution import BlockReason, LinkState
from gateway.support.timestamps import TimestampOutOfRange, parse_timestamp
from services.shared import link_codes

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
MAX_BULK_LINKS = 100
_WITHOUT_NUL = r"^[^\x00]*$"
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def _datetime(value: Any) -> datetime:
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "a timestamp is a string")
    try:
        return parse_timestamp(value)
    except TimestampOutOfRange:
        # It is valid by the description, and within a day of the nearest time that can be stored.
        return _FIRST if value.startswith("0001") else _LAST


def _date(value: str) -> str:
    date.fromisoformat(value)
    return value


Timestamp = Annotated[
    datetime,
    PlainValidator(_datetime),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A timestamp of a request, in ISO 8601 with an offset."""
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A timestamp of a response, in UTC."""
Url = Annotated[str, Field(min_length=3, max_length=999, pattern=_WITHOUT_NUL)]
Title = Annotated[str, Field(max_length=100, pattern=_WITHOUT_NUL)]
Tag = Annotated[str, Field(min_length=1, max_length=30, pattern=_WITHOUT_NUL)]
Tags = Annotated[list[Tag], Field(max_length=10)]
Domain = Annotated[str, Field(min_length=1, max_length=259, pattern=_WITHOUT_NUL)]
CODE_PATTERN = f"^{link_codes.PATTERN}$"
Code = Annotated[str, Field(pattern=CODE_PATTERN)]
Day = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", json_schema_extra={"format": "date"}),
    AfterValidator(_date),
]

TITLE = "Title, empty for none."
TAGS = "Tags in this order. Duplicates are dropped."
EXPIRES_AT = "When it expires, null for never. A time in the past expires it at once."
ENDED_URL = "Where it leads after it expired, null for nowhere."
DOMAIN = "Host of the short URL, with its port if it has one: one of the instance's domains."


class Request(BaseModel):
    """A value that clients send."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class NewLink(Request):
    """A link to create."""

    url: Url = Field(
        description="Destination. Without a scheme, `http://` is added.",
        examples=["https://example.com/spring-sale"],
    )
    code: Code | None = Field(
        default=None,
        description="The ending of the short URL. Case-sensitive. Random if it is null.",
        examples=["spring-sale"],
    )
    title: Title = Field(default="", description=TITLE, examples=["Spring sale"])
    tags: Tags = Field(default=[], description=TAGS, examples=[["sale", "2026"]])
    expires_at: Timestamp | None = Field(
        default=None, description=EXPIRES_AT, examples=["2026-06-30T23:59:59+02:00"]
    )
    ended_url: Url | None = Field(
        default=None, description=ENDED_URL, examples=["https://example.com/"]
    )
    domain: Domain | None = Field(
        default=None,
        description=f"{DOMAIN} Null for that of the public URL.",
        examples=["atajo.example"],
    )

    def as_port_value(self) -> ports.NewLink:
        """Return the link for links, which has the same names. Null is the default there."""
        return ports.NewLink(
            **{name: value for name, value in vars(self).items() if value is not None}
        )


class NewLinks(Request):
    """Links to create. Each counts as one call."""

    links: Annotated[list[NewLink], Field(min_length=1, max_length=MAX_BULK_LINKS)]


class LinkChanges(Request):
    """Changes of a link: at least one. Absent fields stay as they are."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    url: Url = Field(default="", description="New destination.")
    title: Title = Field(default="", description=TITLE)
    tags: Tags = Field(default=[], description=TAGS)
    expires_at: Timestamp | None = Field(default=None, description=EXPIRES_AT)
    ended_url: Url | None = Field(default=None, description=ENDED_URL)
    public_statistics: bool = Field(
        default=False, description="Whether everybody may see its statistics."
    )
    domain: Domain = Field(default="", description=DOMAIN)

    @model_validator(mode="after")
    def _has_changes(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("too_short", "at least one change is required")
        return self

    def as_port_value(self) -> ports.LinkChanges:
        present: Any = self.model_dump(exclude_unset=True)
        changes: ports.LinkChanges = present
        return changes


class LinksQuery(BaseModel):
    """Which links to list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Annotated[str, Field(max_length=999, pattern=_WITHOUT_NUL)] = Field(
        default="",
        description="Text to find in codes, destinations, titles and tags, regardless of case.",
        examples=["sale"],
    )
    state: LinkState | None = Field(
        default=None, description="Without it, links of every state except removed."
    )
    order: LinkOrder = Field(default=LinkOrder.NEWEST, description="Order of the list.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="Links on a page.")
    cursor: Annotated[str, Field(min_length=1, max_length=200, pattern=_WITHOUT_NUL)] | None = (
        Field(
            default=None,
            description="`cursor` of the previous page, for the same query, state and order.",
        )
    )

    def as_port_value(self) -> ports.LinkQuery:
        return ports.LinkQuery(self.query, self.state, self.order, self.limit, self.cursor or "")


class StatisticsQuery(BaseModel):
    """Which period to report."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    period: RecentPeriod | None = Field(
        default=None,
        alias="range",
        description="A period that ends now, `30 days` by default. Instead of `from` and `to`.",
    )
    first: Day | None = Field(
        default=None,
        alias="from",
        description="First day, with `to`: at most 3,653 days.",
        examples=["2026-01-01"],
    )
    last: Day | None = Field(
        default=None, alias="to", description="Last day, included.", examples=["2026-01-31"]
    )
    timezone: Annotated[str, Field(min_length=1, max_length=64, pattern=_WITHOUT_NUL)] = Field(
        default="UTC", description="IANA time zone of days and steps.", examples=["Europe/Madrid"]
    )


class Response(BaseModel):
    """A value that the gateway sends."""

    model_config = ConfigDict(extra="forbid")


class Link(Response):
    """A link, as its owner sees it."""

    code: str = Field(description="The ending of the short URL.", examples=["spring-sale"])
    short_link: str = Field(description="The same as `code`.", examples=["spring-sale"])
    short_url: str = Field(
        description="The whole short URL.", examples=["https://atajo.example/spring-sale"]
    )
    long_link: str = Field(description="Destination.", examples=["https://example.com/spring-sale"])
    title: str = Field(examples=["Spring sale"])
    tags: list[str] = Field(examples=[["sale", "2026"]])
    state: LinkState
    reason: BlockReason | None = Field(description="Why it is blocked, null if it is not.")
    created_at: Time = Field(examples=["2026-03-01T09:30:00.000Z"])
    changed_at: Time | None = Field(description="When its destination last changed.")
    expires_at: Time | None = Field(examples=["2026-06-30T21:59:59.000Z"])
    ended_url: str | None = Field(description=ENDED_URL, examples=["https://example.com/"])
    public_statistics: bool
    views: int | None = Field(
        description="Visits of people. Null while they cannot be counted.", examples=[1204]
    )
    bots: int | None = Field(
        description="Visits of bots. Null while they cannot be counted.", examples=[87]
    )
    scan_code: str = Field(
        default="",
        description="The ending of the short URL in its QR codes. Absent if it has none.",
        examples=["8K2-M0QX"],
    )
    domain: str = Field(description=DOMAIN, examples=["atajo.example"])


class LinkPage(Response):
    """A page of links."""

    items: list[Link]
    total: int = Field(description="Links on all pages.", examples=[1])
    cursor: str | None = Field(description="Where the next page starts, null on the last one.")


class Created(Response):
    """A link that was created."""

    status: Literal[201]
    link: Link


class NotCreated(Response):
    """A link that was not created, and why."""

    status: int = Field(description="Status of the problem.", examples=[409])
    problem: Problem


class BulkResult(Response):
    """The outcomes, in the order of the request."""

    results: list[Created | NotCreated]


class Range(Response):
    """The period, in days of the time zone."""

    model_config = ConfigDict(populate_by_name=True)

    first: str = Field(alias="from", examples=["2026-02-01"])
    last: str = Field(alias="to", examples=["2026-03-02"])
    step: Literal["hour", "day", "week", "month"] = Field(examples=["day"])
    timezone: str = Field(examples=["UTC"])


class Figures(Response):
    """Visits of people and bots, and daily visitors."""

    people: int = Field(examples=[1204])
    bots: int = Field(examples=[87])
    visitors: int = Field(examples=[903])


class Step(Response):
    """One step of the period."""

    start: Time = Field(examples=["2026-03-01T00:00:00+00:00"])
    people: int = Field(examples=[40])
    bots: int = Field(examples=[3])
    visitors: int | None = Field(
        description="Daily visitors, null for steps of an hour.", examples=[31]
    )


class NamedPeople(Response):
    """Visits of people by name. An empty name stands for unknown, `*` for all names not listed."""

    name: str = Field(examples=["example.org"])
    people: int = Field(examples=[310])


class LinkPeople(Response):
    """Visits of people by link."""

    code: str = Field(examples=["spring-sale"])
    people: int = Field(examples=[1204])


class Breakdowns(Response):
    """Visits of people by what is known of them, most frequent first, over UTC days."""

    referrer: list[NamedPeople]
    device: list[NamedPeople]
    browser: list[NamedPeople]
    system: list[NamedPeople]
    language: list[NamedPeople]
    country: list[NamedPeople]
    source: list[NamedPeople]


class LinkStatistics(Response):
    """Visits of a link over a period."""

    range: Range
    totals: Figures
    previous: Figures | None = Field(description="Of the period before, null for `all`.")
    series: list[Step] = Field(description="All steps, oldest first.")
    breakdowns: Breakdowns
    kept_from: str = Field(
        default="",
        description="First day that is kept, if the period begins before it. Absent otherwise.",
        examples=["2025-03-02"],
    )


class Statistics(LinkStatistics):
    """Visits of all links of an account over a period, without removed ones."""

    top: list[LinkPeople] = Field(description="The 100 most visited links.")


class Key(Response):
    """The API key of the request."""

    name: str = Field(examples=["Newsletter"])
    scopes: list[Scope]
    expires_at: Time | None


class Account(Response):
    """The account of an API key."""

    username: str = Field(examples=["Ana"])
    links: int = Field(description="Links that are not removed.", examples=[120])
    key: Key
