"""Examples of requests and responses in the description."""

from __future__ import annotations

from typing import Any

from gateway.api.problems import ApiError

NEW_LINK = {
    "url": "https://example.com/spring-sale",
    "code": "spring-sale",
    "title": "Spring sale",
    "tags": ["sale", "2026"],
    "expires_at": "2026-06-30T23:59:59+02:00",
    "ended_url": "https://example.com/",
}
NEW_LINKS = {"links": [NEW_LINK, {"url": "https://example.com/news", "code": "news-2026"}]}
CHANGES = {"url": "https://example.com/summer-sale", "expires_at": None}
LINK = {
    "code": "spring-sale",
    "short_link": "spring-sale",
    "short_url": "https://atajo.example/spring-sale",
    "long_link": "https://example.com/spring-sale",
    "title": "Spring sale",
    "tags": ["sale", "2026"],
    "state": "active",
    "reason": None,
    "created_at": "2026-03-01T09:30:00.000Z",
    "changed_at": None,
    "expires_at": "2026-06-30T21:59:59.000Z",
    "ended_url": "https://example.com/",
    "public_statistics": False,
    "views": 0,
    "bots": 0,
    "domain": "atajo.example",
}
SEEN_LINK = {**LINK, "views": 1204, "bots": 87}
CHANGED_LINK = {
    **SEEN_LINK,
    "long_link": "https://example.com/summer-sale",
    "changed_at": "2026-05-02T16:00:00.000Z",
    "expires_at": None,
}
LINK_PAGE = {"items": [SEEN_LINK], "total": 1, "cursor": None}
BULK_RESULT = {
    "results": [
        {"status": 201, "link": LINK},
        {"status": 409, "problem": ApiError("code_taken").as_json()},
    ]
}
LINK_STATISTICS: dict[str, Any] = {
    "range": {"from": "2026-03-01", "to": "2026-03-02", "step": "day", "timezone": "Europe/Madrid"},
    "totals": {"people": 70, "bots": 5, "visitors": 58},
    "previous": {"people": 41, "bots": 2, "visitors": 40},
    "series": [
        {"start": "2026-03-01T00:00:00+01:00", "people": 40, "bots": 3, "visitors": 31},
        {"start": "2026-03-02T00:00:00+01:00", "people": 30, "bots": 2, "visitors": 27},
    ],
    "breakdowns": {
        "referrer": [{"name": "", "people": 50}, {"name": "example.org", "people": 20}],
        "device": [{"name": "phone", "people": 44}, {"name": "desktop", "people": 26}],
        "browser": [{"name": "Firefox", "people": 70}],
        "system": [{"name": "Android", "people": 44}, {"name": "Linux", "people": 26}],
        "language": [{"name": "es", "people": 70}],
        "country": [{"name": "ES", "people": 70}],
        "source": [{"name": "link", "people": 60}, {"name": "qr", "people": 10}],
    },
}
STATISTICS = {**LINK_STATISTICS, "top": [{"code": "spring-sale", "people": 70}]}
ACCOUNT = {
    "username": "Ana",
    "links": 120,
    "key": {"name": "Newsletter", "scopes": ["links:read", "links:write"], "expires_at": None},
}


EXAMPLES: dict[str, tuple[Any, ...]] = {
    "listLinks": (LINK_PAGE,),
    "createLink": (NEW_LINK, LINK),
    "createLinks": (NEW_LINKS, BULK_RESULT),
    "getLink": (SEEN_LINK,),
    "changeLink": (CHANGES, CHANGED_LINK),
    "restoreLink": (SEEN_LINK,),
    "getLinkStatistics": (LINK_STATISTICS,),
    "getStatistics": (STATISTICS,),
    "getAccount": (ACCOUNT,),
}
"""The bodies of the request and of the successful response, as far as an operation has them."""
