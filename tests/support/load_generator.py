"""Visitors, makers of links and members who note what they are answered, and go on regardless."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import secrets
import select
import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.support.crew import Crew
from tests.support.product import BROWSER, Product, new_code, registration
from tests.support.waiting import CHANGED, await_that

PATIENCE = 60.0
_MOST_OWNED = 100
"""Links of an owner, each of which is looked at in the end."""
AWAY = (503, 504)
"""What a part that is away is answered as."""


@dataclass(frozen=True, eq=False)
class Guise:
    """What a visitor shows, and under which names it is to be counted."""

    headers: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    """By dimension; a name that is left out is unknown, but for the source, which is `link`."""
    is_bot: bool = False
    scans: bool = False
    """Whether it comes by a link's scan code, to links that have one."""


PERSON = Guise(
    {"user-agent": BROWSER}, {"device": "desktop", "browser": "Chrome", "system": "Linux"}
)
GUISES = (
    PERSON,
    Guise(
        {
            **PERSON.headers,
            "accept-language": "es-CL,es;q=0.9",
            "referer": "https://news.example/a",
        },
        {**PERSON.names, "language": "es", "referrer": "news.example"},
    ),
    Guise(
        {
            "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) "
            "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
            "accept-language": "en-US,en;q=0.9",
            "x-forwarded-for": "8.8.8.8",
        },
        {
            "device": "phone",
            "browser": "Safari",
            "system": "iOS",
            "language": "en",
            "country": "US",
        },
    ),
    Guise(
        {
            "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:142.0) "
            "Gecko/20100101 Firefox/142.0",
            "accept-language": "ja",
            "referer": "https://search.example/?q=camino",
            "x-forwarded-for": "133.11.0.1",
        },
        {
            "device": "desktop",
            "browser": "Firefox",
            "system": "Windows",
            "language": "ja",
            "country": "JP",
            "referrer": "search.example",
        },
    ),
    Guise(
        {
            "user-agent": "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 "
            "(KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
            "accept-language": "de-CH,de;q=0.9",
            "x-forwarded-for": "8.8.4.4",
        },
        {
            "device": "phone",
            "browser": "Chrome",
            "system": "Android",
            "language": "de",
            "country": "US",
            "source": "qr",
        },
        scans=True,
    ),
    Guise({"user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)"}, is_bot=True),
)
"""A forwarded address counts where the product trusts this machine as a proxy."""


class NotReachedError(Exception):
    """Nobody listened: nothing can have been done."""


class Connection:
    """A connection kept open, cheap enough for many. Raises NotReachedError or OSError.

    With `repeats` it sends a request again, once and on a new connection, that the kept one ended
    without a byte of an answer, as browsers do: a server may close a connection that has rested
    in the moment in which the next request is under way.
    """

    def __init__(
        self, url: str, seconds: float, *, repeats: bool = False, client_ip: str = ""
    ) -> None:
        self._repeats = repeats
        self.location = ""
        """Where the last answer led."""
        self._http = http.client.HTTPConnection(
            url.removeprefix("http://"),
            timeout=seconds,
            source_address=(client_ip, 0) if client_ip else None,
        )

    def ask(
        self, method: str, path: str, data: object = None, guise: Guise | None = None
    ) -> tuple[int, bytes]:
        """One request, as a person with a browser or as what `guise` says.

        Returns the status and the body.
        """
        if self._http.sock is not None and _ended(self._http.sock):
            self._http.close()
        is_kept = self._http.sock is not None
        if not is_kept:
            self._connect()
        headers = dict((guise or PERSON).headers)
        body = None
        if data is not None:
            headers["content-type"] = "application/json"
            body = json.dumps({"data": data}).encode()
        try:
            try:
                response = self._send(method, path, body, headers)
            except ConnectionError:
                if not (is_kept and self._repeats):
                    raise
                self._http.close()
                self._connect()
                response = self._send(method, path, body, headers)
            self.location = response.getheader("location", "")
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise OSError(str(error)) from error

    def close(self) -> None:
        self._http.close()

    def _connect(self) -> None:
        try:
            self._http.connect()
        except OSError as error:
            self._http.close()
            raise NotReachedError from error

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """The answer's head. Raises ConnectionError where the connection ended before it."""
        self._http.request(method, path, body, headers)
        return self._http.getresponse()


def fill_journal(url: str, code: str) -> None:
    """Follow a short URL until a journal of a mebibyte is full, while nobody takes its visits.

    250 clients send 20 long referrers each, as many as one client adds to a link.
    """
    host = ".".join(["x" * 60] * 4)
    url = url.replace("localhost", "127.0.0.1")
    for client in range(1, 251):
        connection = Connection(url, PATIENCE, client_ip=f"127.1.0.{client}")
        for n in range(20):
            guise = Guise({**PERSON.headers, "referer": f"https://h{n}.{client}.{host}/"})
            status, _ = connection.ask("GET", f"/{code}", guise=guise)
            assert status == 302
        connection.close()


def _ended(kept: socket.socket) -> bool:
    """Whether the other side has closed a connection on which nothing is under way."""
    return bool(select.select([kept], [], [], 0)[0])


@dataclass
class Kept:
    """What an owner was told of a link."""

    url: str
    owner: dict[str, str]
    """Whose it is, as a call says it: `token` or `guest`."""
    title: str = ""
    removed: bool = False
    history: tuple[str, ...] = ()
    """Where it led before, the last one first."""
    scan_code: str | None = None
    sure: bool = True
    """Whether no call about it was without an answer at the end."""


class Load(Crew):
    """Threads that use the product, bounded in number and pace, until the block ends.

    `answered` are visits of people, by short address or function, whose answer arrived whole: each
    must be counted once. `unanswered` are those whose connection broke: each may have been counted
    or not. `seen` and `unseen` are the same by code and guise, bots among them. `created` are the
    links of the account whose success arrived, `anonymous` those of nobody, `registered` the
    accounts, `owned` the links of owners who change and remove them, restore them, give them scan
    codes and take them along to the account. What no answer may ever be is in `failures`.

    `scan_codes` are those of some of the `codes`, for guises that scan; a visit by one counts for
    its link.

    `life` tells which life of the gateway this is, 0 while there is none: a code that was
    answered in a life must be answered for the rest of it. `repeats` is a connection's.
    """

    def __init__(
        self,
        product: Product,
        token: str,
        codes: list[str],
        *,
        visitors: int,
        makers: int,
        callers: int = 0,
        members: int = 0,
        owners: int = 0,
        pause: float = 0.0,
        life: Callable[[], int] = lambda: 0,
        guises: Sequence[Guise] = (PERSON,),
        scan_codes: Mapping[str, str] | None = None,
        repeats: bool = False,
    ) -> None:
        super().__init__(
            [
                *(partial(self._visit, n) for n in range(visitors)),
                *(partial(self._access, n) for n in range(callers)),
                *(partial(self._create, n) for n in range(makers)),
                *(self._belong for _ in range(members)),
                *(partial(self._own, n) for n in range(owners)),
            ]
        )
        self._product = product
        self._token = token
        self._codes = list(codes)
        self._scan_codes = scan_codes or {}
        self._pause = pause
        self._repeats = repeats
        self._life = life
        self._guises = tuple(guises)
        self._lock = threading.Lock()
        self._warm: dict[int, set[str]] = defaultdict(set)
        self.answered: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        self.seen: Counter[tuple[str, Guise]] = Counter()
        self.unseen: Counter[tuple[str, Guise]] = Counter()
        self.statuses: Counter[int] = Counter()
        """Of visits: 0 where the connection broke, -1 where there was none."""
        self.calls: Counter[int] = Counter()
        """The same of functions' calls other than visits."""
        self.created: dict[str, str] = {}
        self.anonymous: dict[str, str] = {}
        self.registered: list[dict[str, str]] = []
        self.owned: dict[str, Kept] = {}
        self.edits: Counter[str] = Counter()
        """Calls about those that were answered, by function."""
        self.logged_in = 0
        self.slowest_cached = 0.0
        """Seconds the slowest answer took to a code that was answered before in the same life."""
        self.failures: list[str] = []

    def check_owned(self) -> None:
        """Hold what owners were told of their links against what is kept, and what is answered.

        Once the load is over, and all parts are there. Raises AssertionError.
        """
        product = self._product
        told = {code: kept for code, kept in self.owned.items() if kept.sure}
        for code, kept in told.items():
            wrong = difference(kept, product.data("showLink", {"code": code, **kept.owner}))
            assert not wrong, f"{code} has {wrong}"

        def misleading() -> list[str]:
            found = []
            for code, kept in told.items():
                for way in filter(None, (code, kept.scan_code)):
                    head = product.http.head(f"{product.url}/{way}")
                    answer = (head.status_code, head.headers.get("location"))
                    if answer != ((410, None) if kept.removed else (302, kept.url)):
                        found.append(f"{way} of {code} answers {answer}")
            return found

        await_that(lambda: not misleading(), CHANGED)

    def await_more(self, visits: int = 0, created: int = 0) -> None:
        """Wait until so many more visits were answered and links created."""
        with self._lock:
            wanted = self.answered.total() + visits
            made = len(self.created) + created
        self.await_that(lambda: self.answered.total() >= wanted and len(self.created) >= made)

    def await_that(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the notes holds."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with self._lock:
                if condition():
                    return
                state = f"{self.answered.total()} answered, {len(self.created)} created"
            assert time.monotonic() < deadline, f"The load stands still: {state} {self.statuses}"
            assert not self.failures, self.failures
            self._over.wait(0.01)

    def _visit(self, number: int) -> None:
        chance = random.Random(number)
        connection = self._connection(10)
        for turn in itertools.count(number):
            if self._over.wait(self._pause):
                break
            known = turn % 25 != 0 or not self._pause
            code = self._codes[chance.randrange(len(self._codes))] if known else new_code()
            method = "HEAD" if turn % 20 == 1 else "GET"
            guise = chance.choice(self.guises_of(code))
            way = self._way(code, guise)
            life, started = self._life(), time.perf_counter()
            status, _ = self._ask(connection, method, f"/{way}", guise=guise)
            seconds = time.perf_counter() - started
            with self._lock:
                self.statuses[status] += 1
                if life and life == self._life() and known:
                    if way in self._warm[life]:
                        self.slowest_cached = max(self.slowest_cached, seconds)
                        if status != 302:
                            self.failures.append(f"cached {way} answered {status}")
                    elif status == 302:
                        self._warm[life].add(way)
                if status in (302, 0) and method == "GET":
                    self._note(code, guise, answered=status == 302)
                elif status == 404 and known:
                    self.failures.append(f"{way} answered 404")
                elif status not in (-1, 0, 302, 404, 503):
                    self.failures.append(f"{way} answered {status}")
            if status != 302:
                self._over.wait(0.02)
        connection.close()

    def _access(self, number: int) -> None:
        chance = random.Random(-1 - number)
        connection = self._connection(10)
        while not self._over.wait(self._pause):
            code = self._codes[chance.randrange(len(self._codes))]
            status, body = self._ask(connection, "POST", "/accessLink", {"code": code})
            with self._lock:
                self.statuses[status] += 1
                if status == 200 and json.loads(body)["data"]["longUrl"]:
                    self._note(code, PERSON, answered=True)
                elif status == 0:
                    self._note(code, PERSON, answered=False)
                elif status not in (-1, *AWAY):
                    self.failures.append(f"accessLink {code} answered {status} {body!r}")
            if status != 200:
                self._over.wait(0.02)
        connection.close()

    def _create(self, number: int) -> None:
        connection = self._connection(10)
        code = ""
        for turn in itertools.count(number):
            if self._over.wait(self._pause):
                break
            if not code:  # A failed creation is repeated as it was, as the page does.
                code = new_code()
                url = f"https://example.com/{code}"
                token = None if self._pause and turn % 4 == 0 else self._token
            payload = {"code": code, "url": url, "token": token}
            reply = self._call(connection, "createShortLink", payload)
            if reply is None:
                continue
            if not reply["success"]:
                self.failures.append(f"creation answered {reply}")
                break
            with self._lock:
                (self.anonymous if token is None else self.created)[code] = url
                if self._pause and token:
                    self._codes.append(code)
            code = ""
        connection.close()

    def _belong(self) -> None:
        """Register, repeating what failed, and log in to one of the accounts there are."""
        connection = self._connection(70)
        template = registration("")
        while not self._over.wait(max(self._pause, 0.1)):
            wanted = {**template, "email": f"{new_code()}@example.com"}
            while (reply := self._call(connection, "registerUser", wanted)) is None:
                if self._over.is_set():
                    return
            if reply != {"success": True}:
                self.failures.append(f"registration answered {reply}")
                return
            with self._lock:
                self.registered.append(wanted)
                email = random.choice(self.registered)["email"]
            reply = self._call(connection, "verifyUser", {"email": email, "password": "Camino-42"})
            if reply is not None:
                self.logged_in += 1
                if not reply["success"]:
                    self.failures.append(f"log-in answered {reply}")
        connection.close()

    def _own(self, number: int) -> None:
        """Do one thing after another with links of one's own; what failed is repeated."""
        connection = self._connection(70)
        account = {"token": self._token}
        guest = {"guest": secrets.token_urlsafe(32)}
        mine: dict[str, Kept] = {}
        chance = random.Random(1000 + number)

        def some(owner: dict[str, str] | None = None) -> list[str]:
            of_one = [code for code, kept in mine.items() if owner in (None, kept.owner)]
            return chance.sample(of_one, min(len(of_one), chance.randint(1, 3)))

        def done(name: str, data: dict[str, object], about: Sequence[str]) -> Any:
            """The answer of a call, which is repeated until there is one; None at the end."""
            while (reply := self._call(connection, name, data)) is None:
                if self._over.is_set():
                    for code in about:
                        mine[code].sure = False
                    return None
            if not reply["success"]:
                self.failures.append(f"{name} answered {reply}")
                return None
            self.edits[name] += 1
            return reply

        while not self._over.wait(self._pause) and not self.failures:
            turn = chance.random()
            if not mine or (turn < 0.3 and len(mine) < _MOST_OWNED):
                code = new_code()
                kept = mine[code] = self.owned[code] = Kept(f"https://example.com/{code}", guest)
                done("createShortLink", {"code": code, "url": kept.url, **guest}, [code])
            elif turn < 0.4:
                moving = [code for code, kept in mine.items() if kept.owner == guest]
                reply = done("claimLinks", {**account, **guest}, moving)
                if reply:
                    for code in moving:
                        mine[code].owner = account
                    if reply["claimed"] > len(moving):
                        self.failures.append(f"{reply['claimed']} of {len(moving)} were claimed")
                    guest = {"guest": secrets.token_urlsafe(32)}
            elif turn < 0.7:
                (code, *_) = some()
                kept = mine[code]
                url = f"https://example.com/{code}/{new_code()}"
                changes = {"code": code, "changes": {"url": url, "title": url[-8:]}}
                reply = done("changeLink", {**changes, **kept.owner}, [code])
                if reply:
                    kept.url, kept.history = url, (kept.url, *kept.history)
                    kept.title = url[-8:]
                    if reply["link"]["long_link"] != url:
                        self.failures.append(f"{code} is {reply} instead of {url}")
            elif turn < 0.75:
                (code, *_) = some()
                kept = mine[code]
                reply = done("createScanCode", {"code": code, **kept.owner}, [code])
                if reply:
                    if kept.scan_code not in (None, reply["scan_code"]):
                        self.failures.append(f"{code} has {reply}, and had {kept.scan_code}")
                    kept.scan_code = reply["scan_code"]
            else:
                name, removed = chance.choice([("removeLinks", True), ("restoreLinks", False)])
                owner = mine[some()[0]].owner
                codes = some(owner)
                if done(name, {"codes": codes, **owner}, codes):
                    for code in codes:
                        mine[code].removed = removed
            self._look(connection, chance.choice(list(mine)), mine)
        connection.close()

    def _look(self, connection: Connection, code: str, mine: dict[str, Kept]) -> None:
        """Ask for a link as it is kept: it is what its owner was told last."""
        kept = mine[code]
        reply = self._call(connection, "showLink", {"code": code, **kept.owner})
        if reply is not None and kept.sure and (wrong := difference(kept, reply)):
            self.failures.append(f"{code} has {wrong}")

    def _connection(self, seconds: float) -> Connection:
        return Connection(self._product.url, seconds, repeats=self._repeats)

    def _call(self, connection: Connection, name: str, data: object) -> Any:
        """What a function answers, None where a part was away."""
        status, body = self._ask(connection, "POST", f"/{name}", data)
        with self._lock:
            self.calls[status] += 1
        if status == 200:
            return json.loads(body)["data"]
        if status not in (-1, 0, *AWAY):
            self.failures.append(f"{name} answered {status} {body!r}")
        self._over.wait(0.02)
        return None

    def visit_in_all_guises(self, codes: Sequence[str], url: str) -> None:
        """Visit links once in every guise at a gateway, when the load is over and all is there."""
        connection = Connection(url, 10)
        for code in codes:
            for guise in self.guises_of(code):
                status, body = connection.ask("GET", f"/{self._way(code, guise)}", guise=guise)
                assert status == 302, body
                self._note(code, guise, answered=True)
        connection.close()

    def guises_of(self, code: str) -> list[Guise]:
        """Those in which a link can be visited."""
        return [guise for guise in self._guises if not guise.scans or code in self._scan_codes]

    def _way(self, code: str, guise: Guise) -> str:
        """The code by which a link is visited in a guise."""
        return self._scan_codes[code] if guise.scans else code

    def _note(self, code: str, guise: Guise, *, answered: bool) -> None:
        """Note a visit to an active link; `answered` says whether its answer came."""
        if not guise.is_bot:
            (self.answered if answered else self.unanswered)[code] += 1
        (self.seen if answered else self.unseen)[code, guise] += 1

    def _ask(
        self,
        connection: Connection,
        method: str,
        path: str,
        data: object = None,
        guise: Guise | None = None,
    ) -> tuple[int, bytes]:
        """Status and body: -1 where nobody was reached, 0 where no answer came."""
        try:
            return connection.ask(method, path, data, guise)
        except NotReachedError:
            return -1, b""
        except OSError:
            return 0, b""


def difference(kept: Kept, reply: Any) -> str:
    """How what showLink answers of a link differs from what its owner was told; '' for not."""
    if not reply["success"]:
        return f"become unknown: {reply}"
    link = reply["link"]
    found = (
        link["long_link"],
        link["title"],
        link["state"],
        link.get("scan_code"),
        tuple(former["long_link"] for former in reply["history"]),
    )
    state = "removed" if kept.removed else "active"
    told = (kept.url, kept.title, state, kept.scan_code, kept.history)
    return "" if found == told else f"{found} instead of {told}"
