"""GET /status: whether Atajo works, for people.

The page says it in plain words, from the same state as `/readyz` and the metrics. It is rendered
at most once a second, however many ask, and does not tell what runs, where, or how many of it. Its
status is 503 while following short addresses does not work as a whole, and 200 otherwise, so that a
monitor outside need not read it. A request with `Accept: application/json` gets the same as JSON.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from gateway.support.edge import Edge, RawHeaders
from services.shared.observability.health import OK

_FRESH_SECONDS = 1.0
"""For how long one rendering is served."""
_LATE_SECONDS = 15.0
"""Age of the oldest visit that is not counted yet, from which on the page calls counts late."""

_TEMPLATE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>{title} · Atajo</title>
  </head>
  <body>
    <main>
      <h1>{title}</h1>
      <ul>
{items}
      </ul>
      <p>This page is never older than a few seconds. Load it again to look again.</p>
      <p><a href="/">Atajo</a></p>
    </main>
  </body>
</html>
"""


class Works(StrEnum):
    """How well something works."""

    YES = "works"
    PARTLY = "partly"
    NO = "fails"


class Part(NamedTuple):
    """One thing that people do with Atajo, and how well it works, as a value and in words."""

    name: str
    works: Works
    words: str


def parts(states: Mapping[str, str], lag_seconds: float, were_reads_rejected: bool) -> list[Part]:
    """How well each part works.

    `states` has the gateway's dependencies as `Health.dependencies` does, and `lag_seconds` is the
    age of the oldest visit that analytics has not acknowledged. `were_reads_rejected` says whether
    searches or statistics were rejected within the last minute.
    """
    up = {name for name, state in states.items() if state == OK}
    return [
        _following(up),
        _shortening(up),
        _counting(up, lag_seconds),
        _reading(up, were_reads_rejected),
        _accounts(up),
    ]


def _following(up: set[str]) -> Part:
    if "links" in up:
        return Part("following", Works.YES, "Following links works.")
    words = "Following links works only for links that were followed in the last minutes."
    return Part("following", Works.PARTLY, words)


def _shortening(up: set[str]) -> Part:
    if "links" not in up:
        return Part("shortening", Works.NO, "Shortening does not work.")
    if "auth" not in up:
        words = "Shortening works, but only for those who are not logged in."
        return Part("shortening", Works.PARTLY, words)
    return Part("shortening", Works.YES, "Shortening works.")


def _counting(up: set[str], lag_seconds: float) -> Part:
    if "journal" not in up:
        words = "Counting visits does not work: visits of now will not be counted."
        return Part("counting", Works.NO, words)
    if "analytics" not in up or lag_seconds > _LATE_SECONDS:
        words = "Counting visits is late: none is lost, and they will be counted."
        return Part("counting", Works.PARTLY, words)
    within = max(1, math.ceil(lag_seconds))
    seconds = f"{within} second{'s' if within > 1 else ''}"
    words = f"Counting visits works: the newest visits are counted within {seconds}."
    return Part("counting", Works.YES, words)


def _reading(up: set[str], were_rejected: bool) -> Part:
    if "links" not in up:
        return Part("reading", Works.NO, "Lists and statistics of links do not work.")
    if "analytics" not in up:
        return Part("reading", Works.PARTLY, "Lists of links work, their statistics do not.")
    if "auth" not in up:
        words = "Lists and statistics work, but only for those who are not logged in."
        return Part("reading", Works.PARTLY, words)
    if were_rejected:
        words = (
            "Lists and statistics work, but some requests were rejected in the last minute: "
            "too many were waiting."
        )
        return Part("reading", Works.PARTLY, words)
    return Part("reading", Works.YES, "Lists and statistics work.")


def _accounts(up: set[str]) -> Part:
    if "auth" in up:
        return Part("accounts", Works.YES, "Logging in and registering work.")
    return Part("accounts", Works.NO, "Logging in and registering do not work.")


@dataclass(frozen=True)
class _Rendering:
    """The page in both its forms, with its HTTP status and when (`clock`) it was rendered."""

    status: int
    html: bytes
    json: bytes
    rendered_at: float


class StatusPage:
    """Answers GET and HEAD of the path that the edge has for it."""

    def __init__(
        self,
        edge: Edge,
        states: Callable[[], Mapping[str, str]],
        lag_seconds: Callable[[], float],
        were_reads_rejected: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._states = states
        self._lag_seconds = lag_seconds
        self._were_reads_rejected = were_reads_rejected
        self._clock = clock
        self._retry_after = b"%d" % edge.retry_after
        self._headers: RawHeaders = (
            (b"cache-control", b"no-store"),
            (b"vary", b"accept"),
            *edge.page_headers,
        )
        self._rendering: _Rendering | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self._rendering
        if page is None or self._clock() - page.rendered_at >= _FRESH_SECONDS:
            page = self._rendering = self._render()
        wants_json = b"application/json" in dict(scope["headers"]).get(b"accept", b"")
        content_type = b"application/json" if wants_json else b"text/html; charset=utf-8"
        body = page.json if wants_json else page.html
        headers = [
            (b"content-type", content_type),
            (b"content-length", b"%d" % len(body)),
            *self._headers,
        ]
        if page.status != 200:
            headers.append((b"retry-after", self._retry_after))
        await send({"type": "http.response.start", "status": page.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _render(self) -> _Rendering:
        all_parts = parts(self._states(), self._lag_seconds(), self._were_reads_rejected())
        works = {part.name: part.works for part in all_parts}
        good = all(state == Works.YES for state in works.values())
        html = _TEMPLATE.format(
            title="Everything works" if good else "Not everything works",
            items="\n".join(f"        <li>{part.words}</li>" for part in all_parts),
        )
        return _Rendering(
            status=200 if works["following"] == Works.YES else 503,
            html=html.encode(),
            json=json.dumps(works).encode(),
            rendered_at=self._clock(),
        )
