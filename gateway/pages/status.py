"""GET /status: a status page for people.

It shows the state behind `/readyz` and the metrics in plain words, without details of the
deployment. It is rendered at most once a second. Its HTTP status is 503 unless redirects work
fully, else 200, so that an external monitor need not parse it. With `Accept: application/json` it
returns JSON.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from gateway.support.edge import Edge, RawHeaders
from services.shared.observability.health import OK

_FRESH_SECONDS = 1.0
"""How long a rendered page is served."""
_LATE_SECONDS = 15.0
"""Minimum age of the oldest uncounted visit at which the page reports that counting is late."""

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
      <p>This page shows the current status. Reload it to update it.</p>
      <p><a href="/">Atajo</a></p>
    </main>
  </body>
</html>
"""


_WORKS, _PARTLY, _FAILS = "works", "partly", "fails"
"""How well a feature works, as in the JSON."""


def features(
    states: Mapping[str, str], lag_seconds: float, were_reads_rejected: bool
) -> dict[str, tuple[str, str]]:
    """Return how well each feature works, and the same as text.

    `states` are the states of the dependencies (`Health.dependencies`), and `lag_seconds` is the
    age of the oldest visit that analytics has not acknowledged. `were_reads_rejected` says whether
    searches or statistics were rejected within the last minute.
    """
    no_auth, no_links, no_analytics, no_journal = (
        states.get(name) != OK for name in ("auth", "links", "analytics", "journal")
    )
    is_late = no_analytics or lag_seconds > _LATE_SECONDS
    within = max(1, math.ceil(lag_seconds))
    seconds = f"{within} second{'s' if within > 1 else ''}"
    cases = {
        "following": (
            (
                no_links,
                _PARTLY,
                "Short links work only if they were opened in the last few minutes.",
            ),
            (True, _WORKS, "Short links work."),
        ),
        "shortening": (
            (no_links, _FAILS, "Creating links does not work."),
            (no_auth, _PARTLY, "Creating links works only for visitors who are not logged in."),
            (True, _WORKS, "Creating links works."),
        ),
        "counting": (
            (no_journal, _FAILS, "Visit counting does not work: current visits are not counted."),
            (
                is_late,
                _PARTLY,
                "Visit counting is delayed: no visits are lost, and all will be counted.",
            ),
            (True, _WORKS, f"Visit counting works: new visits are counted within {seconds}."),
        ),
        "reading": (
            (no_links, _FAILS, "Link lists and statistics do not work."),
            (no_analytics, _PARTLY, "Link lists work, but statistics do not."),
            (
                no_auth,
                _PARTLY,
                "Link lists and statistics work only for visitors who are not logged in.",
            ),
            (
                were_reads_rejected,
                _PARTLY,
                "Link lists and statistics work, but some requests were rejected in the last "
                "minute because of high load.",
            ),
            (True, _WORKS, "Link lists and statistics work."),
        ),
        "accounts": (
            (no_auth, _FAILS, "Login and registration do not work."),
            (True, _WORKS, "Login and registration work."),
        ),
    }
    return {
        name: next((state, text) for applies, state, text in rows if applies)
        for name, rows in cases.items()
    }


@dataclass(frozen=True)
class _Rendering:
    """The page as HTML and JSON, its HTTP status, and when (`clock`) it was rendered."""

    status: int
    html: bytes
    json: bytes
    rendered_at: float


class StatusPage:
    """Answers GET and HEAD of the status page."""

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
        all_features = features(self._states(), self._lag_seconds(), self._were_reads_rejected())
        works = {name: state for name, (state, _) in all_features.items()}
        good = set(works.values()) == {_WORKS}
        html = _TEMPLATE.format(
            title="All systems operational" if good else "Some features do not work",
            items="\n".join(f"        <li>{text}</li>" for _, text in all_features.values()),
        )
        return _Rendering(
            status=200 if works["following"] == _WORKS else 503,
            html=html.encode(),
            json=json.dumps(works).encode(),
            rendered_at=self._clock(),
        )
