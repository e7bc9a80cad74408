"""Load with bookkeeping: threads that use the product and record every answer."""

from __future__ import annotations

import itertools
import json
import random
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tests.support.gateway_client import GatewayClient, new_code, registration
from tests.support.http_connection import Connection, NotReachedError
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.thread_group import ThreadGroup
from tests.support.visitor_profiles import PERSON, VisitorProfile
from tests.support.waiting import PROPAGATION_SECONDS, RECOVERY_SECONDS, wait_until

_MAX_OWNED = 100
"""Maximum links per owner, all of which are checked at the end."""
_MAX_FIRST_FAILED = 10
_MAX_ANSWER_BYTES = 300
AWAY = (503, 504)
"""Statuses of a response if a dependency is away."""


def fill_journal(url: str, code: str) -> None:
    """Visit a short URL until a journal of 1 MiB is full, while analytics is away.

    250 clients send 20 long referrers each, the maximum of one client per link.
    """
    host = ".".join(["x" * 60] * 4)
    url = url.replace("localhost", "127.0.0.1")
    for client in range(1, 251):
        connection = Connection(url, TIMEOUT_SECONDS, client_ip=f"127.1.0.{client}")
        for n in range(20):
            profile = VisitorProfile(
                {**PERSON.headers, "referer": f"https://h{n}.{client}.{host}/"}
            )
            status, _ = connection.ask("GET", f"/{code}", profile=profile)
            assert status == 302
        connection.close()


@dataclass
class OwnedLink:
    """The state of a link according to the responses to its owner."""

    url: str
    owner: dict[str, str]
    """The owner as an argument of a call: `token` or `guest`."""
    title: str = ""
    removed: bool = False
    history: tuple[str, ...] = ()
    """Former URLs, the latest first."""
    scan_code: str | None = None
    sure: bool = True
    """False if a call about it got no response until the end, so that the state is unknown."""


class Load(ThreadGroup):
    """Threads that use the product during the block, and record the responses.

    Parameters: `visitors` request short URLs, `callers` call accessLink, `makers` create links,
    `members` register and log in, and `owners` edit links: they change, remove, restore and claim
    them and create scan codes. `scan_codes` are the scan codes of some of the `codes`, for profiles
    that scan. `life` returns the number of the gateway's current incarnation, 0 while it is down. A
    code answered once must be answered until its end. `repeats` is that of `Connection`.

    Records: `answered` counts visits of people with a complete response by code; statistics must
    count each once. `unanswered` counts visits whose connection broke, which may count or not.
    `seen` and `unseen` are the same by code and profile, including bots. `created` are links of the
    account, `anonymous` links without an owner, `registered` accounts and `owned` links of the
    owners, all with a successful response. `failures` describes all impossible responses.
    """

    def __init__(
        self,
        product: GatewayClient,
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
        profiles: Sequence[VisitorProfile] = (PERSON,),
        scan_codes: Mapping[str, str] | None = None,
        repeats: bool = False,
    ) -> None:
        super().__init__(
            [
                *(partial(self._visit_links, n) for n in range(visitors)),
                *(partial(self._call_access_link, n) for n in range(callers)),
                *(partial(self._create_links, n) for n in range(makers)),
                *(self._register_and_log_in for _ in range(members)),
                *(partial(self._edit_links, n) for n in range(owners)),
            ]
        )
        self._product = product
        self._token = token
        self._codes = list(codes)
        self._scan_codes = scan_codes or {}
        self._pause = pause
        self._repeats = repeats
        self._life = life
        self._profiles = tuple(profiles)
        self._lock = threading.Lock()
        self._cached: dict[int, set[str]] = defaultdict(set)
        self.answered: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        self.seen: Counter[tuple[str, VisitorProfile]] = Counter()
        self.unseen: Counter[tuple[str, VisitorProfile]] = Counter()
        self.statuses: Counter[int] = Counter()
        """Visits by status: 0 if the connection broke, -1 if it was refused."""
        self.calls: Counter[int] = Counter()
        """Function calls other than visits, by status."""
        self.created: dict[str, str] = {}
        self.anonymous: dict[str, str] = {}
        self.registered: list[dict[str, str]] = []
        self.owned: dict[str, OwnedLink] = {}
        self.edits: Counter[str] = Counter()
        """Successful calls of owners, by function."""
        self.logged_in = 0
        self.slowest_cached = 0.0
        """Seconds of the slowest response for a code that the same gateway process had answered."""
        self.failures: list[str] = []
        self.first_failed: list[str] = []
        """The first requests without a response, or answered that a dependency is away."""

    def check_owned(self) -> None:
        """Compare the links of owners with the responses of showLink and of their short URLs.

        Call it after the load, while all processes run. Raises AssertionError.
        """
        product = self._product
        told = {code: link for code, link in self.owned.items() if link.sure}
        for code, link in told.items():
            wrong = difference(link, product.data("showLink", {"code": code, **link.owner}))
            assert not wrong, f"{code} has {wrong}"

        def misleading() -> list[str]:
            found = []
            for code, link in told.items():
                for path_code in filter(None, (code, link.scan_code)):
                    head = product.http.head(f"{product.url}/{path_code}")
                    answer = (head.status_code, head.headers.get("location"))
                    if answer != ((410, None) if link.removed else (302, link.url)):
                        found.append(f"{path_code} of {code} answers {answer}")
            return found

        wait_until(lambda: not misleading(), PROPAGATION_SECONDS)

    def check_created_and_counted(self) -> None:
        """Assert that every acknowledged link exists, and each answered visit is counted once.

        Call it after the load, while all processes run.
        """
        assert not self.failures, self.failures
        for code, url in self.created.items():
            reply = self._product.data("accessLink", {"code": code})
            assert reply["longUrl"] == [{"long_link": url}]

        def wrong() -> list[str]:
            views = self._product.views(self._token)
            return [
                f"{code}: {answered} answered, {self.unanswered[code]} unanswered, "
                f"{views[code]} views"
                for code, answered in self.answered.items()
                if not answered <= views[code] <= answered + self.unanswered[code]
            ]

        wait_until(lambda: not wrong(), RECOVERY_SECONDS)  # The last batch is in transit.
        # Once all answered visits are counted, no more may be added.
        assert not wrong()

    def await_more(self, visits: int = 0, created: int = 0) -> None:
        """Wait until as many further visits are answered and links created."""
        with self._lock:
            wanted = self.answered.total() + visits
            made = len(self.created) + created
        self.wait_until(lambda: self.answered.total() >= wanted and len(self.created) >= made)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the records holds."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            with self._lock:
                if condition():
                    return
                state = f"{self.answered.total()} answered, {len(self.created)} created"
            assert time.monotonic() < deadline, f"The load stands still: {state} {self.statuses}"
            assert not self.failures, self.failures
            self._stopping.wait(0.01)

    def _visit_links(self, number: int) -> None:
        chance = random.Random(number)
        connection = self._connection(10)
        for turn in itertools.count(number):
            if self._stopping.wait(self._pause):
                break
            known = turn % 25 != 0 or not self._pause
            code = self._codes[chance.randrange(len(self._codes))] if known else new_code()
            method = "HEAD" if turn % 20 == 1 else "GET"
            profile = chance.choice(self.profiles_of(code))
            path_code = self._path_code(code, profile)
            life, started = self._life(), time.perf_counter()
            status, _ = self._ask(connection, method, f"/{path_code}", profile=profile)
            seconds = time.perf_counter() - started
            with self._lock:
                self.statuses[status] += 1
                if life and life == self._life() and known:
                    if path_code in self._cached[life]:
                        self.slowest_cached = max(self.slowest_cached, seconds)
                        if status != 302:
                            self.failures.append(f"cached {path_code} answered {status}")
                    elif status == 302:
                        self._cached[life].add(path_code)
                if status in (302, 0) and method == "GET":
                    self._note(code, profile, answered=status == 302)
                elif status == 404 and known:
                    self.failures.append(f"{path_code} answered 404")
                elif status not in (-1, 0, 302, 404, 503):
                    self.failures.append(f"{path_code} answered {status}")
            if status != 302:
                self._stopping.wait(0.02)
        connection.close()

    def _call_access_link(self, number: int) -> None:
        chance = random.Random(-1 - number)
        connection = self._connection(10)
        while not self._stopping.wait(self._pause):
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
                self._stopping.wait(0.02)
        connection.close()

    def _create_links(self, number: int) -> None:
        connection = self._connection(10)
        code = ""
        for turn in itertools.count(number):
            if self._stopping.wait(self._pause):
                break
            if not code:  # Repeats a failed creation unchanged, as the page does.
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

    def _register_and_log_in(self) -> None:
        """Register accounts, with retries, and log in to any of them."""
        connection = self._connection(70)
        template = registration("")
        while not self._stopping.wait(max(self._pause, 0.1)):
            wanted = {**template, "email": f"{new_code()}@example.com"}
            while (reply := self._call(connection, "registerUser", wanted)) is None:
                if self._stopping.is_set():
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

    def _edit_links(self, number: int) -> None:
        """Create and edit links of one owner, with retries."""
        connection = self._connection(70)
        account = {"token": self._token}
        guest = {"guest": secrets.token_urlsafe(32)}
        mine: dict[str, OwnedLink] = {}
        chance = random.Random(1000 + number)

        def some(owner: dict[str, str] | None = None) -> list[str]:
            of_one = [code for code, link in mine.items() if owner in (None, link.owner)]
            return chance.sample(of_one, min(len(of_one), chance.randint(1, 3)))

        def done(name: str, data: dict[str, object], about: Sequence[str]) -> Any:
            """Return the response of a call, repeating it if necessary; None at the end."""
            while (reply := self._call(connection, name, data)) is None:
                if self._stopping.is_set():
                    for code in about:
                        mine[code].sure = False
                    return None
            if not reply["success"]:
                self.failures.append(f"{name} answered {reply}")
                return None
            self.edits[name] += 1
            return reply

        while not self._stopping.wait(self._pause) and not self.failures:
            turn = chance.random()
            if not mine or (turn < 0.3 and len(mine) < _MAX_OWNED):
                code = new_code()
                link = mine[code] = self.owned[code] = OwnedLink(
                    f"https://example.com/{code}", guest
                )
                done("createShortLink", {"code": code, "url": link.url, **guest}, [code])
            elif turn < 0.4:
                moving = [code for code, link in mine.items() if link.owner == guest]
                reply = done("claimLinks", {**account, **guest}, moving)
                if reply:
                    for code in moving:
                        mine[code].owner = account
                    if reply["claimed"] > len(moving):
                        self.failures.append(f"{reply['claimed']} of {len(moving)} were claimed")
                    guest = {"guest": secrets.token_urlsafe(32)}
            elif turn < 0.7:
                (code, *_) = some()
                link = mine[code]
                url = f"https://example.com/{code}/{new_code()}"
                changes = {"code": code, "changes": {"url": url, "title": url[-8:]}}
                reply = done("changeLink", {**changes, **link.owner}, [code])
                if reply:
                    link.url, link.history = url, (link.url, *link.history)
                    link.title = url[-8:]
                    if reply["link"]["long_link"] != url:
                        self.failures.append(f"{code} is {reply} instead of {url}")
            elif turn < 0.75:
                (code, *_) = some()
                link = mine[code]
                reply = done("createScanCode", {"code": code, **link.owner}, [code])
                if reply:
                    if link.scan_code not in (None, reply["scan_code"]):
                        self.failures.append(f"{code} has {reply}, and had {link.scan_code}")
                    link.scan_code = reply["scan_code"]
            else:
                name, removed = chance.choice([("removeLinks", True), ("restoreLinks", False)])
                owner = mine[some()[0]].owner
                codes = some(owner)
                if done(name, {"codes": codes, **owner}, codes):
                    for code in codes:
                        mine[code].removed = removed
            self._check_link(connection, chance.choice(list(mine)), mine)
        connection.close()

    def _check_link(self, connection: Connection, code: str, mine: dict[str, OwnedLink]) -> None:
        """Check that showLink returns the link as the last response to its owner did."""
        link = mine[code]
        reply = self._call(connection, "showLink", {"code": code, **link.owner})
        if reply is not None and link.sure and (wrong := difference(link, reply)):
            self.failures.append(f"{code} has {wrong}")

    def _connection(self, seconds: float) -> Connection:
        return Connection(self._product.url, seconds, repeats=self._repeats)

    def _call(self, connection: Connection, name: str, data: object) -> Any:
        """Return the data of a function's response, None if a dependency was away."""
        status, body = self._ask(connection, "POST", f"/{name}", data)
        with self._lock:
            self.calls[status] += 1
        if status == 200:
            return json.loads(body)["data"]
        if status not in (-1, 0, *AWAY):
            self.failures.append(f"{name} answered {status} {body!r}")
        self._stopping.wait(0.02)
        return None

    def visit_with_all_profiles(self, codes: Sequence[str], url: str) -> None:
        """Visit links once with every profile at a gateway. Call it after the load."""
        connection = Connection(url, 10)
        for code in codes:
            for profile in self.profiles_of(code):
                status, body = connection.ask(
                    "GET", f"/{self._path_code(code, profile)}", profile=profile
                )
                assert status == 302, body
                self._note(code, profile, answered=True)
        connection.close()

    def profiles_of(self, code: str) -> list[VisitorProfile]:
        """Return the profiles with which a link can be visited."""
        return [
            profile for profile in self._profiles if not profile.scans or code in self._scan_codes
        ]

    def _path_code(self, code: str, profile: VisitorProfile) -> str:
        """Return the code or scan code that a profile visits for a link."""
        return self._scan_codes[code] if profile.scans else code

    def _note(self, code: str, profile: VisitorProfile, *, answered: bool) -> None:
        """Record a visit to an active link; `answered` tells whether a response arrived."""
        if not profile.is_bot:
            (self.answered if answered else self.unanswered)[code] += 1
        (self.seen if answered else self.unseen)[code, profile] += 1

    def _ask(
        self,
        connection: Connection,
        method: str,
        path: str,
        data: object = None,
        profile: VisitorProfile | None = None,
    ) -> tuple[int, bytes]:
        """Return status and body. The status is -1 if the connection was refused, 0 if it broke."""
        started, answer = time.time(), ""
        try:
            status, body = connection.ask(method, path, data, profile)
            answer = f"{status} {body[:_MAX_ANSWER_BYTES]!r}"
        except NotReachedError as error:
            status, body, answer = -1, b"", repr(error.__cause__)
        except OSError as error:
            status, body, answer = 0, b"", repr(error)
        if status in (-1, 0, *AWAY) and len(self.first_failed) < _MAX_FIRST_FAILED:
            at = datetime.fromtimestamp(started, UTC).strftime("%H:%M:%S.%f")
            took = time.time() - started
            self.first_failed.append(f"{at} {method} {path} after {took:.3f} s: {answer}")
        return status, body


def difference(owned: OwnedLink, reply: Any) -> str:
    """Describe how showLink's response differs from the known state of a link, or return ""."""
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
    state = "removed" if owned.removed else "active"
    told = (owned.url, owned.title, state, owned.scan_code, owned.history)
    return "" if found == told else f"{found} instead of {told}"
