"""The three services as the gateway sees them (`gateway/ports.py`), kept in memory.

What a service refuses is decided by its own domain here, too: no rule stands twice. The contract
suites of tests/contract run over each of these and over the service itself behind its client.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

import bcrypt

from gateway import owners, ports
from gateway.ports import Session
from gateway.resolution import BlockReason, Changes, LinkState, Resolution, Resolutions
from gateway.views import Totals
from gateway.visits import lines
from gateway.visits.batch import Batch
from services.analytics.application.ports import AnalyticsStore, Names
from services.analytics.application.query import Queries
from services.analytics.domain import periods as spans
from services.analytics.domain import statistics as sums
from services.analytics.domain import visits as analytics
from services.auth import domain as auth
from services.links import domain as links
from services.links import reports
from services.links.codes import CodeTaken, check_code, codes_of, drawn_scan_codes
from services.links.edits import Edit, Expiry, LinkChanges, removal, restoration
from services.links.listing import (
    MAX_LIMIT,
    MAX_LIMIT_WITHOUT_TOTAL,
    InvalidCursor,
    LinkOrder,
    Listing,
    Place,
    Position,
    Wanted,
    check_limit,
    text_of,
)
from services.links.urls import UrlPolicy
from services.runtime.errors import Unavailable

SESSION = timedelta(hours=1)
MOST_CLAIMED = 1000


class Fake:
    """What a test can do to each of them, and learn from it."""

    def __init__(self) -> None:
        self.away = False
        """Whether it cannot be reached: each call then raises Unavailable."""
        self.calls: Counter[str] = Counter()
        """Calls by name, those in vain included."""

    async def check(self) -> None:
        self._reach("check")

    def _reach(self, call: str) -> None:
        self.calls[call] += 1
        if self.away:
            raise Unavailable("The service is away.")


class FakeAuth(Fake):
    """Accounts and sessions in memory; it counts no attempts."""

    def __init__(self) -> None:
        super().__init__()
        self._accounts: dict[str, auth.Account] = {}
        self._sessions: dict[str, str] = {}

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        self._reach("register")
        wanted = auth.new_account(email, password_hash, salt, username, datetime.now(UTC))
        held = self._accounts.setdefault(wanted.email_key, wanted)
        if not held.same_as(wanted):
            raise auth.EmailTaken("An account with this e-mail address exists.")

    async def login(self, email: str, password: str, client_address: str, device: str) -> Session:
        self._reach("login")
        try:
            account = self._accounts.get(auth.key_of(auth.checked_email(email)))
        except auth.InvalidEmail:
            account = None
        if account is None or account.closed:
            raise auth.NoAccount("There is no account with this e-mail address.")
        _check(account, password)
        token, expires_at = self._session_of(account)
        return Session(token, expires_at, account.username, device or secrets.token_urlsafe())

    async def account_of(self, token: str) -> str:
        self._reach("account_of")
        return self._account_in(token).id

    async def change_password(
        self, token: str, password: str, new_hash: str, new_salt: str, client_address: str
    ) -> tuple[str, datetime]:
        self._reach("change_password")
        made = auth.new_account("a@b", new_hash, new_salt, "a", datetime.now(UTC))
        account = self._account_in(token)
        _check(account, password)
        changed = replace(account, password_hash=made.password_hash, salt=made.salt)
        self._end(changed)
        return self._session_of(changed)

    async def close_account(self, token: str, password: str, client_address: str) -> None:
        self._reach("close_account")
        account = self._account_in(token)
        _check(account, password)
        self._end(replace(account, closed=True))

    def _account_in(self, token: str) -> auth.Account:
        if token not in self._sessions:
            raise auth.InvalidToken("This is no session token.")
        account = self._sessions[token]
        return next(one for one in self._accounts.values() if one.id == account)

    def _end(self, account: auth.Account) -> None:
        """Store an account, whose sessions end."""
        self._accounts[account.email_key] = account
        self._sessions = {t: owner for t, owner in self._sessions.items() if owner != account.id}

    def _session_of(self, account: auth.Account) -> tuple[str, datetime]:
        token = secrets.token_urlsafe()
        self._sessions[token] = account.id
        return token, datetime.now(UTC) + SESSION


def _check(account: auth.Account, password: str) -> None:
    given = auth.password_bytes(password)
    if given is None or not bcrypt.checkpw(given, account.password_hash.encode()):
        raise auth.WrongPassword("The password is wrong.")


class FakeLinks(Fake):
    """Links in memory, of a product that is reached at `public_url`."""

    def __init__(self, public_url: str) -> None:
        super().__init__()
        self.most_claimed = MOST_CLAIMED
        """Links that one step of a claim moves."""
        self.most_claims: int | None = None
        """After so many steps of claims it is away to them."""
        self.people: Counter[str] = Counter()
        """By which links are ranked."""
        self._urls = UrlPolicy(public_url)
        self._links: dict[str, links.Link] = {}
        self._histories: dict[str, list[links.FormerUrl]] = {}
        self._rankings: dict[str, list[str]] = {}
        self._answers: dict[str, Resolution | None] = {}
        self._reports: dict[tuple[str, BlockReason], str] = {}
        self._announced: list[str] = []

    def answer(self, code: str, resolution: Resolution | None) -> None:
        """Whatever somebody does to a link that ends so; None removes it for good."""
        self._answers[code] = resolution
        self._announced.append(code)

    def do(self, code: str, edit: Edit) -> None:
        """What the operator, or time, does to a link."""
        self._edit([self._links[code]], edit, datetime.now(UTC))

    async def create(self, code: str, url: str, owner: owners.Owner | None) -> Resolution:
        self._reach("create")
        whose = links.NOBODY if owner is None else _owner(owner)
        check_code(code, whose)
        wanted = links.Link(code, self._urls.normalize(url), whose, datetime.now(UTC))
        if self._scanned(code):
            raise CodeTaken("This code is taken.")
        if not wanted.repeats(self._links.setdefault(code, wanted)):
            raise CodeTaken("This code is taken.")
        return _resolution(self._links[code].resolution())

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        self._reach("resolve")
        if len(codes) > links.MAX_CODES:
            raise links.TooManyCodes("These are too many codes.")
        return self._resolutions(codes)

    async def changes(self, cursor: str | None) -> Changes:
        self._reach("changes")
        codes = set() if cursor is None else set(self._announced[int(cursor) :])
        now = {code: self._resolution(code) for code in codes}
        return Changes(
            str(len(self._announced)),
            {code: resolution for code, resolution in now.items() if resolution is not None},
            frozenset(code for code, resolution in now.items() if resolution is None),
            more=False,
            truncated=False,
        )

    async def get(self, owner: owners.Owner, code: str) -> tuple[ports.Link, list[ports.FormerUrl]]:
        self._reach("get")
        now = datetime.now(UTC)
        [link] = self._held(owner, [code], now)
        history = [ports.FormerUrl(one.url, one.until) for one in self._histories.get(code, [])]
        return _link(link, now), history

    async def preview(self, code: str) -> ports.Link:
        self._reach("preview")
        now = datetime.now(UTC)
        link = self._links.get(code) or self._scanned(code)
        if link is None or link.is_gone_at(now):
            raise links.NoLink("There is no such link.")
        return replace(_link(link, now), tags=())

    async def query(self, owner: owners.Owner, query: ports.Query) -> ports.Page:
        self._reach("query")
        now = datetime.now(UTC)
        check_limit(query.limit, MAX_LIMIT if query.with_total else MAX_LIMIT_WITHOUT_TOTAL)
        state = links.LinkState(query.state.value) if query.state else None
        listing = Listing(
            _owner(owner),
            Wanted(text_of(query.text), state),
            LinkOrder(query.order.value),
        )
        end = listing.end(query.cursor) if query.cursor else None
        found = self._wanted(listing, now)
        page, cursor = self._page(listing, found, end, query.limit)
        total = len(found) if query.with_total else 0
        return ports.Page([_link(link, now) for link in page], total, cursor)

    async def owned_codes(self, owner: owners.Owner) -> list[str]:
        self._reach("owned_codes")
        every = Listing(_owner(owner), Wanted(), LinkOrder.NEWEST)
        codes = [link.code for link in self._wanted(every, datetime.now(UTC))]
        if len(codes) > links.MAX_OWNED_CODES:
            raise links.TooManyLinks("These are too many links.")
        return codes

    async def check_statistics_access(self, caller: owners.Owner | None, code: str) -> None:
        self._reach("check_statistics_access")
        who = links.NOBODY if caller is None else _owner(caller)
        link = self._links.get(code)
        if link is None or not link.shows_statistics_to(who, datetime.now(UTC)):
            raise links.NoLink("There is no such link.")

    async def change(
        self, owner: owners.Owner, code: str, changes: ports.LinkChanges
    ) -> tuple[ports.Link, Resolutions]:
        self._reach("change")
        now = datetime.now(UTC)
        edit = LinkChanges(
            url=changes.get("url"),
            title=changes.get("title"),
            tags=changes.get("tags"),
            expiry=Expiry(changes["expires_at"]) if "expires_at" in changes else None,
            ended_url=(changes["ended_url"] or "") if "ended_url" in changes else None,
            public_statistics=changes.get("public_statistics"),
        ).edit(self._urls, now)
        self._edit(self._held(owner, [code], now), edit, now)
        return _link(self._links[code], now), self._edited([code])

    async def remove(self, owner: owners.Owner, codes: Sequence[str]) -> Resolutions:
        self._reach("remove")
        now = datetime.now(UTC)
        self._edit(self._held(owner, codes, now), removal(now), now)
        return self._edited(codes)

    async def restore(self, owner: owners.Owner, codes: Sequence[str]) -> Resolutions:
        self._reach("restore")
        now = datetime.now(UTC)
        self._edit(self._held(owner, codes, now), restoration(), now)
        return self._edited(codes)

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        self._reach("report")
        reports.statement_of(details, contact, datetime.now(UTC))
        link = self._links.get(code) or self._scanned(code)
        if link is None:
            raise links.NoLink("There is no such link.")
        return self._reports.setdefault((link.code, reason), secrets.token_urlsafe(12))

    async def create_scan_code(self, owner: owners.Owner, code: str) -> tuple[str, Resolutions]:
        self._reach("create_scan_code")
        [link] = self._held(owner, [code], datetime.now(UTC))
        free = (one for one in drawn_scan_codes() if self._resolution(one) is None)
        scan_code = link.scan_code or next(free)
        self._links[code] = replace(link, scan_code=scan_code)
        self._announced.append(scan_code)
        return scan_code, self._resolutions([scan_code])

    async def claim(self, guest: owners.Guest, account: owners.Account) -> tuple[int, bool]:
        self._reach("claim")
        await asyncio.sleep(0)
        if self.most_claims is not None:
            if not self.most_claims:
                raise Unavailable("The service is away.")
            self.most_claims -= 1
        held = [link for link in self._links.values() if link.owner == _owner(guest)]
        for link in held[: self.most_claimed]:
            self._links[link.code] = replace(link, owner=_owner(account))
        return len(held[: self.most_claimed]), len(held) > self.most_claimed

    def _edited(self, codes: Sequence[str]) -> Resolutions:
        """What edited links answer now, by their codes and scan codes."""
        scan_codes = [scan_code for code in codes if (scan_code := self._links[code].scan_code)]
        return self._resolutions([*codes, *scan_codes])

    def _resolutions(self, codes: Sequence[str]) -> dict[str, Resolution]:
        found = {code: self._resolution(code) for code in codes}
        return {code: resolution for code, resolution in found.items() if resolution is not None}

    def _resolution(self, code: str) -> Resolution | None:
        if code in self._answers:
            return self._answers[code]
        if link := self._scanned(code):
            return _resolution(link.resolution().by(code))
        return _resolution(self._links[code].resolution()) if code in self._links else None

    def _scanned(self, scan_code: str) -> links.Link | None:
        """The link that has a scan code."""
        every = self._links.values()
        return next((one for one in every if scan_code and one.scan_code == scan_code), None)

    def _held(self, owner: owners.Owner, codes: Sequence[str], now: datetime) -> list[links.Link]:
        """An owner's links under all of the codes. Raises TooManyCodes, NoLink."""
        if len(codes) > links.MAX_NAMED:
            raise links.TooManyCodes("These are too many codes.")
        found = [self._links.get(code) for code in codes]
        held = [link for link in found if link and link.owner == _owner(owner)]
        if len(held) < len(codes) or any(link.is_gone_at(now) for link in held):
            raise links.NoLink("There is no such link.")
        return held

    def _edit(self, held: Sequence[links.Link], edit: Edit, now: datetime) -> None:
        for link in held:
            edited = self._links[link.code] = edit.of(link)
            if edited.resolution() != link.resolution() or edited.scan_code != link.scan_code:
                self._announced += codes_of([edited])
            if edited.url != link.url:
                self._histories.setdefault(link.code, []).insert(0, links.FormerUrl(link.url, now))

    def _wanted(self, listing: Listing, now: datetime) -> list[links.Link]:
        """All links of a listing, in its order."""
        found = [
            link
            for link in self._links.values()
            if link.owner == listing.owner and listing.wanted.includes(link, now)
        ]
        found.sort(key=_age, reverse=listing.order is not LinkOrder.OLDEST)
        if listing.order is LinkOrder.MOST_VIEWED:
            found.sort(key=lambda link: -self.people[link.code])
        return found

    def _page(
        self,
        listing: Listing,
        found: list[links.Link],
        end: Position | Place | None,
        limit: int,
    ) -> tuple[list[links.Link], str]:
        """A page from where the last one ended, and the cursor of the next."""
        if listing.order is not LinkOrder.MOST_VIEWED:
            if isinstance(end, Position):
                oldest = listing.order is LinkOrder.OLDEST
                at = (end.created_at, end.code)
                found = [one for one in found if (_age(one) > at if oldest else _age(one) < at)]
            page = found[:limit]
            if len(found) <= limit:
                return page, ""
            return page, listing.cursor(Position(page[-1].created_at, page[-1].code))
        if isinstance(end, Place):
            key, start = end.key, end.start
        else:
            key, start = secrets.token_urlsafe(8), 0
            self._rankings[key] = [link.code for link in found]
        if key not in self._rankings:
            raise InvalidCursor("This ranking is not kept any more.")
        still = {link.code: link for link in found}
        ranking, to = self._rankings[key], start + limit
        page = [still[code] for code in ranking[start:to] if code in still]
        return page, listing.cursor(Place(key, to)) if to < len(ranking) else ""


def _age(link: links.Link) -> tuple[datetime, str]:
    return link.created_at, link.code


def _owner(owner: owners.Owner) -> links.Account | links.Guest:
    match owner:
        case owners.Account(account):
            return links.Account(account)
        case owners.Guest(key_hash):
            return links.Guest(key_hash)


def _resolution(resolution: links.Resolution) -> Resolution:
    return Resolution(
        LinkState(resolution.state.value),
        resolution.url,
        resolution.expires_at,
        resolution.ended_url,
        BlockReason(resolution.reason.value) if resolution.reason else None,
        resolution.link_code,
    )


def _link(link: links.Link, now: datetime) -> ports.Link:
    return ports.Link(
        link.code,
        link.url,
        link.created_at,
        link.title,
        link.tags,
        LinkState(link.state_at(now).value),
        BlockReason(link.blocked.value) if link.blocked else None,
        link.changed_at,
        link.expires_at,
        link.ended_url,
        link.public_statistics,
        link.scan_code,
    )


class FakeAnalytics(Fake):
    """Visits in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.now: Callable[[], float] = time.time
        """By which a day's key is made, in seconds since the Unix epoch."""
        self.visits: list[analytics.VisitCount] = []
        """Every row that was counted."""
        self.visitors: dict[tuple[int, str], set[int]] = {}
        """Numbers of visitors by day and code."""
        self._keys: dict[int, bytes] = {}
        self._last: dict[str, int] = {}
        self._visits: Counter[tuple[str, analytics.VisitKind]] = Counter()

    async def record(self, batch: Batch) -> None:
        self._reach("record")
        visits = tuple(
            analytics.VisitCount(
                visit.code,
                visit.hour,
                analytics.VisitKind(visit.kind),
                {analytics.Dimension.REFERRER: visit.referrer_host, **_names(visit.facts)},
                count,
            )
            for visit, count in batch.counts.items()
        )
        visitors = {place: frozenset(numbers) for place, numbers in batch.visitors.items()}
        analytics.check_batch(analytics.Batch(batch.gateway_id, batch.number, visits, visitors))
        if batch.number <= self._last.get(batch.gateway_id, 0):
            return
        self._last[batch.gateway_id] = batch.number
        self.visits += visits
        for place, numbers in visitors.items():
            self.visitors.setdefault(place, set()).update(numbers)
        for visit in visits:
            self._visits[visit.code, visit.kind] += visit.count

    async def visitor_key(self) -> tuple[int, bytes]:
        self._reach("visitor_key")
        day = int(self.now()) // 86_400
        self._keys = {day: self._keys.get(day) or secrets.token_bytes(32)}
        return day, self._keys[day]

    async def statistics(
        self,
        codes: Sequence[str],
        span: ports.Span,
        timezone: str,
        top: int,
        owner: owners.Owner | None = None,
    ) -> ports.Statistics:
        self._reach("statistics")
        wanted: spans.Recent | spans.Dates
        match span:
            case ports.RecentSpan():
                wanted = spans.Recent(span.value)
            case ports.Dates(first, last):
                wanted = spans.Dates.of(first, last)
        counted = cast(AnalyticsStore, _Counted(self.visits, self.visitors))
        service = Queries(counted, lambda: datetime.now(UTC))
        return _statistics(await service.statistics(codes, wanted, timezone, top))

    async def recent_people(
        self, codes: Sequence[str], owner: owners.Owner | None = None
    ) -> dict[str, list[int]]:
        self._reach("recent_people")
        counted = cast(AnalyticsStore, _Counted(self.visits, self.visitors))
        service = Queries(counted, lambda: datetime.fromtimestamp(self.now(), UTC))
        return await service.recent_people(codes)

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        self._reach("totals")
        if len(codes) > analytics.MAX_CODES:
            raise analytics.TooManyCodes("These are too many codes.")
        visited = {code for code, _ in self._visits}
        person, bot = analytics.VisitKind.PERSON, analytics.VisitKind.BOT
        return {
            code: Totals(self._visits[code, person], self._visits[code, bot])
            for code in codes
            if code in visited
        }


@dataclass(frozen=True)
class _Counted:
    """What statistics are made of, as the service reads it from its store."""

    visits: Sequence[analytics.VisitCount]
    visitors: Mapping[tuple[int, str], set[int]]

    async def days(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, analytics.Day], None],
        names: Names,
    ) -> None:
        every = analytics.Batch("all", 1, tuple(self.visits))
        for (day, code), one in analytics.sums_of(every).items():
            if code in codes and first <= day <= last:
                visitors = len(self.visitors.get((day, code), ()))
                take(code, analytics.Day.of(day, one.people, one.bots, one.names, visitors))

    async def visited(
        self,
        codes: Sequence[str],
        first: int,
        last: int,
        take: Callable[[str, list[range], int], None],
    ) -> None:
        visited = {(one.code, one.hour // analytics.HOURS_A_DAY) for one in self.visits}
        for code, day in visited:
            if code in codes and first <= day <= last:
                take(code, [range(day, day + 1)], 0)

    async def first_day(self, codes: Sequence[str]) -> int | None:
        days = (one.hour // analytics.HOURS_A_DAY for one in self.visits if one.code in codes)
        return min(days, default=None)


def _statistics(found: sums.Statistics) -> ports.Statistics:
    return ports.Statistics(
        found.first.isoformat(),
        found.last.isoformat(),
        ports.StepLength(found.step.value),
        _figures(found.totals),
        _figures(found.previous) if found.previous else None,
        [
            ports.Step(step.start.isoformat(), step.people, step.bots, step.visitors)
            for step in found.series
        ],
        {
            ports.Dimension(dimension.name.lower()): people
            for dimension, people in found.breakdowns.items()
        },
        found.top,
        found.kept_from.isoformat() if found.kept_from else "",
    )


def _figures(figures: sums.Figures) -> ports.Figures:
    return ports.Figures(figures.people, figures.bots, figures.visitors)


def _names(facts: str) -> dict[analytics.Dimension, str]:
    known = lines.facts_of(facts)._asdict()
    known.pop("visitor")
    return {analytics.Dimension[name.upper()]: value for name, value in known.items() if value}
