"""The three services as the gateway sees them (`gateway/ports.py`), kept in memory.

What a service refuses is decided by its own domain here, too: no rule stands twice. The contract
suites of tests/contract run over each of these and over the service itself behind its client.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import bcrypt

from gateway.ports import Session
from gateway.profiles import StoredLink
from gateway.resolution import Changes, Resolution
from gateway.visits.ledger import Batch
from services.analytics import domain as analytics
from services.auth import domain as auth
from services.links import domain as links
from services.runtime.errors import Unavailable

SESSION = timedelta(hours=1)
PAGE_SIZE = 500


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
        if account is None:
            raise auth.NoAccount("There is no account with this e-mail address.")
        given = auth.password_bytes(password)
        if given is None or not bcrypt.checkpw(given, account.password_hash.encode()):
            raise auth.WrongPassword("The password is wrong.")
        token = secrets.token_urlsafe()
        self._sessions[token] = account.id
        expires_at = datetime.now(UTC) + SESSION
        return Session(token, expires_at, account.username, device or secrets.token_urlsafe())

    async def account_of(self, token: str) -> str:
        self._reach("account_of")
        if token not in self._sessions:
            raise auth.InvalidToken("This is no session token.")
        return self._sessions[token]


class FakeLinks(Fake):
    """Links in memory, of a product that is reached at `public_url`."""

    def __init__(self, public_url: str) -> None:
        super().__init__()
        self._urls = links.UrlPolicy(public_url)
        self._links: dict[str, links.Link] = {}
        self._changed: dict[str, Resolution | None] = {}
        self._announced: list[str] = []

    async def create(self, code: str, url: str, creator: str | None) -> str:
        self._reach("create")
        owner = links.NOBODY if creator is None else links.Account(creator)
        links.check_code(code, owner)
        wanted = links.Link(code, self._urls.normalize(url), owner, datetime.now(UTC))
        held = self._links.setdefault(code, wanted)
        if not held.same_as(wanted):
            raise links.CodeTaken("This code is taken.")
        return held.url

    def change(self, code: str, resolution: Resolution | None) -> None:
        """What somebody does to a link that ends so; None removes it for good."""
        self._changed[code] = resolution
        self._announced.append(code)

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        self._reach("resolve")
        if len(codes) > links.MAX_CODES:
            raise links.TooManyCodes("These are too many codes.")
        found = {code: self._resolution(code) for code in codes}
        return {code: resolution for code, resolution in found.items() if resolution is not None}

    async def changes(self, mark: int | None) -> Changes:
        self._reach("changes")
        codes = set() if mark is None else set(self._announced[mark:])
        now = {code: self._resolution(code) for code in codes}
        return Changes(
            len(self._announced),
            {code: resolution for code, resolution in now.items() if resolution is not None},
            frozenset(code for code, resolution in now.items() if resolution is None),
            more=False,
            lost=False,
        )

    def _resolution(self, code: str) -> Resolution | None:
        if code in self._changed:
            return self._changed[code]
        return Resolution.active(self._links[code].url) if code in self._links else None

    async def of_account(self, account: str) -> AsyncIterator[list[StoredLink]]:
        self._reach("of_account")
        made = [
            StoredLink(link.code, link.url, link.created_at)
            for link in reversed(self._links.values())
            if link.owner == links.Account(account)
        ]
        for start in range(0, len(made), PAGE_SIZE):
            yield made[start : start + PAGE_SIZE]


class FakeAnalytics(Fake):
    """Visits in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.closed: dict[str, int] = {}
        """Last batch of each journal that was said to be closed empty."""
        self._last: dict[str, int] = {}
        self._people: Counter[str] = Counter()

    async def record(self, batch: Batch) -> None:
        self._reach("record")
        visits = tuple(
            analytics.VisitCount(
                visit.code,
                visit.hour,
                analytics.VisitKind(visit.kind),
                {analytics.Dimension.REFERRER: visit.referrer_host},
                count,
            )
            for visit, count in batch.counts.items()
        )
        analytics.check_batch(analytics.Batch(batch.gateway_id, batch.number, visits))
        if batch.number <= self._last.get(batch.gateway_id, 0):
            return
        self._last[batch.gateway_id] = batch.number
        for visit in visits:
            if visit.kind is analytics.VisitKind.PERSON:
                self._people[visit.code] += visit.count

    async def close_gateway(self, gateway_id: str, number: int) -> None:
        self._reach("close_gateway")
        analytics.check_number(gateway_id, number)
        self.closed[gateway_id] = number

    async def people(self, codes: Sequence[str]) -> dict[str, int]:
        self._reach("people")
        if len(codes) > analytics.MAX_CODES:
            raise analytics.TooManyCodes("These are too many codes.")
        return {code: self._people[code] for code in codes if code in self._people}
