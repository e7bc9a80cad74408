"""Parses a person's User-Agent into device, browser and system, without versions.

Uses the rules of ua-parser that can result in one of the names below. Only these names are
returned, so no text of a client becomes a name. ua-parser's engine in Rust tries only rules of
which a part occurs. Its device rules are not used: they identify models and take most of the time
and memory, while a few words and the system suffice for the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple

from ahocorasick_rs import BytesAhoCorasick
from ua_parser import Domain
from ua_parser.loaders import load_lazy_builtins
from ua_parser.matchers import UserAgentMatcher
from ua_parser.regex import Resolver

from gateway.support.headers import HeaderCache

Device = Literal["desktop", "phone", "tablet", "other"]

_BROWSERS = {
    **{
        name: name
        for name in (
            "360 Secure Browser", "Aloha Browser", "Amazon Silk", "Apple Mail",
            "Avast Secure Browser", "Baidu Browser", "Brave", "Chrome", "Chromium", "Coc Coc",
            "DuckDuckGo", "Edge",
            "Epiphany", "Facebook", "Facebook Messenger", "Firefox", "HeyTap Browser",
            "HiBrowser", "Honor Browser", "Huawei Browser", "Instagram", "KakaoTalk", "Konqueror",
            "LINE", "Maxthon", "Microsoft Teams", "Mint Browser", "NetFront", "Nokia Browser",
            "Oculus Browser", "Opera", "Outlook", "Pale Moon", "Phoenix Browser", "Pinterest",
            "Puffin", "QQ Browser", "Quark", "Safari", "Sailfish Browser", "Samsung Internet",
            "SeaMonkey", "Sleipnir", "Snapchat", "Sogou Explorer", "Telegram", "Thunderbird",
            "TikTok", "Tizen Browser", "Twitter", "UC Browser", "Vivaldi", "Waterfox", "Weibo",
            "Whale", "Yandex Browser",
        )
    },
    **dict.fromkeys(("Chrome Mobile", "Chrome Mobile WebView", "Chrome Mobile iOS"), "Chrome"),
    **dict.fromkeys(("Ecosia Android", "Ecosia iOS"), "Ecosia"),
    **dict.fromkeys(("Firefox Alpha", "Firefox Beta", "Firefox Mobile", "Firefox iOS"), "Firefox"),
    **dict.fromkeys(("IE", "IE Mobile"), "Internet Explorer"),
    **dict.fromkeys(("Mobile Safari", "Mobile Safari UI/WKWebView"), "Safari"),
    **dict.fromkeys(
        ("Opera Coast", "Opera GX", "Opera Mini", "Opera Mobile", "Opera Neon", "Opera Tablet",
         "Opera Touch"),
        "Opera",
    ),
    **dict.fromkeys(("QQ Browser Mini", "QQ Browser Mobile"), "QQ Browser"),
    "AVG": "AVG Secure Browser",
    "Android": "Android Browser",
    "Baidu Explorer": "Baidu Browser",
    "BlackBerry WebKit": "BlackBerry Browser",
    "DuckDuckGo Mobile": "DuckDuckGo",
    "Edge Mobile": "Edge",
    "Google": "Google App",
    "MiuiBrowser": "Mi Browser",
    "NetFront NX": "NetFront",
    "Quark PC": "Quark",
    "VivoBrowser": "Vivo Browser",
    "WeChat Browser": "WeChat",
}  # fmt: skip
"""Names of browsers by their names in ua-parser."""
_SYSTEMS = {
    **{
        name: name
        for name in (
            "Android", "BlackBerry OS", "Chrome OS", "Firefox OS", "FreeBSD", "HarmonyOS", "KaiOS",
            "Linux", "Solaris", "Tizen", "Windows", "Windows Phone", "iOS",
            "webOS",
        )
    },
    **dict.fromkeys(
        ("Arch Linux", "CentOS", "Debian", "Fedora", "Gentoo", "Kubuntu", "Linux Mint", "Mageia",
         "Mandriva", "PCLinuxOS", "Red Hat", "SUSE", "Slackware", "Ubuntu"),
        "Linux",
    ),
    "ATV OS X": "tvOS",
    "Mac OS X": "macOS",
}  # fmt: skip
"""Names of systems by their names in ua-parser."""
BROWSERS = frozenset(_BROWSERS.values())
SYSTEMS = frozenset(_SYSTEMS.values())

_DESKTOPS = frozenset({"Chrome OS", "FreeBSD", "Linux", "Solaris", "Windows", "macOS"})
_OTHER_DEVICES = BytesAhoCorasick(
    [
        word.encode()
        for word in (
            "; AFT", "Android TV", "AndroidTV", "Apple TV", "AppleTV", "BRAVIA", "Chromecast",
            "CrKey", "DTV", "Google TV", "GoogleTV", "HbbTV", "NETTV", "NetCast", "Nintendo",
            "OculusBrowser", "PLAYSTATION", "PlayStation", "QtCarBrowser", "Roku", "SMART-TV",
            "Smart TV", "SmartTV", "TV Safari", "Tesla/", "VIERA", "Viera", "Watch", "Web0S",
            "Wolvic", "Xbox", "webOS.TV",
        )
    ]
)  # fmt: skip
"""Words of televisions, consoles, glasses, watches and cars."""
_PROGRAMS = ("CFNetwork", "(CF)(Network)", "Darwin", "(Dar)(win)", "ArcGIS", "[Bb]ot", "Spider")
"""Words in rules for programs. Bots are not parsed, and headers with these words would have a
hundred rules tried."""
_PHONES = (b"Mobi", b"Opera Mini", b"iPhone", b"iPod", b"Windows Phone")


class Agent(NamedTuple):
    """Device, browser and system of a person. Browser and system are empty if unknown."""

    device: Device
    browser: str
    system: str


_ADDED = [
    UserAgentMatcher(r"MetaIAB (Facebook|Instagram)"),
    UserAgentMatcher(r"KAKAOTALK \d", "KakaoTalk"),
    UserAgentMatcher(r"AppName/ultralite", "TikTok"),
]
"""Rules that ua-parser lacks: in-app browsers of Meta, KakaoTalk with a blank, TikTok Lite."""
_FIRST = ("WeChat Browser", "Quark", "Quark PC")
"""Browsers that also name the browser they are based on, whose rule ua-parser tries first."""


def _resolver() -> Resolver:
    browsers, systems, _ = load_lazy_builtins()
    useful: list[Any] = [rule for rule in browsers if _can_yield(rule, _BROWSERS)]
    return Resolver(
        (
            [*_ADDED, *sorted(useful, key=lambda rule: rule.family not in _FIRST)],
            [rule for rule in systems if _can_yield(rule, _SYSTEMS)],
            [],
        )
    )


def _can_yield(rule: Any, names: Collection[str]) -> bool:
    """Whether a rule can result in one of these names, as a constant or from a match."""
    if any(word in rule.regex for word in _PROGRAMS):
        return False
    if "$" not in rule.family:
        return rule.family in names
    return any(name in rule.regex for name in names)


_rules = _resolver()


def _parse(user_agent: bytes) -> Agent:
    found = _rules(user_agent.decode("latin-1"), Domain.USER_AGENT | Domain.OS)
    browser = _BROWSERS.get(found.user_agent.family, "") if found.user_agent else ""
    system = _SYSTEMS.get(found.os.family, "") if found.os else ""
    return Agent(_parse_device(user_agent, system), browser, system)


def _parse_device(user_agent: bytes, system: str) -> Device:
    if _OTHER_DEVICES.find_matches_as_indexes(user_agent):
        return "other"
    if system in _DESKTOPS:
        return "desktop"
    if b"iPad" in user_agent or b"Tablet" in user_agent:
        return "tablet"
    if any(word in user_agent for word in _PHONES):
        return "phone"
    return "tablet" if system in ("Android", "iOS") else "other"


parse_user_agent: Callable[[bytes], Agent] = HeaderCache(_parse).__getitem__
"""Returns the device, browser and system of a person's User-Agent."""
