"""Request headers of typical visitors, and the statistics under which they must be counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.gateway_client import BROWSER


@dataclass(frozen=True, eq=False)
class VisitorProfile:
    """The request headers of a visitor, and the values that statistics must show for it."""

    headers: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    """Values by dimension. A missing one is unknown, except for the source, which is `link`."""
    is_bot: bool = False
    scans: bool = False
    """Whether it uses the scan code of a link, if the link has one."""


PERSON = VisitorProfile(
    {"user-agent": BROWSER}, {"device": "desktop", "browser": "Chrome", "system": "Linux"}
)
PROFILES = (
    PERSON,
    VisitorProfile(
        {
            **PERSON.headers,
            "accept-language": "es-CL,es;q=0.9",
            "referer": "https://news.example/a",
        },
        {**PERSON.names, "language": "es", "referrer": "news.example"},
    ),
    VisitorProfile(
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
    VisitorProfile(
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
    VisitorProfile(
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
    VisitorProfile({"user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)"}, is_bot=True),
)
"""Forwarded addresses take effect only if the product trusts this machine as a proxy."""
