"""Patterns that distinguish bots from browsers in a User-Agent. Data only.

The crawler-user-agents package has most patterns. This module lists those of them that match
people, general rules that the package lacks, and words of browsers without `Mozilla/`.
tests/gateway/visits/test_classification.py checks all of them against corpora of real browsers and
bots.
"""

from __future__ import annotations

EXCEPTED = {
    r"008\/": "ends the model or build number of many devices",
    r"AP3A\.240617\.008": "build number of Android 15 on OPPO, OnePlus and realme devices",
    "Butterfly": "HTC Butterfly, a phone",
    "Expanse": "a phone",
    "Fever": "Fever Plus, a tablet",
    "Fluid": "site-specific browser for macOS",
    "MetaIAB Facebook": "in-app browser of the Facebook app",
    r"RED\/": "ends the name of apps such as WIRED",
    "Sogou": "Sogou Mobile Browser",
    "Sonic": "ViewSonic and Cherry Sonic devices",
    "Viber": "in-app browser of the Viber app",
    "coccoc": "Coc Coc, a browser",
}
"""Patterns of the package that are not used, and the people that they match.

`SELF_IDENTIFIED` still matches the bots that these patterns were meant for.
"""

PROGRAMS = ("PowerShell/", "Postman", "wechatdevtools", "Cypress/", "jsdom/", "wkhtml")
"""Names of programs that the package lacks and no general rule covers. Case-sensitive."""

CONTACT_URL = r"(?:^|[^: ] ?)https?://"
"""A URL, as in `SELF_IDENTIFIED`. One component of Internet Explorer writes "from: http://"."""
HOME_PAGE = r"(?:; wv\)|(?:iphone|ipad|ipod)).* \(https?://[^ ()]*\)$"
"""An in-app web view whose User-Agent ends in the home page of its app: a person's."""

SELF_IDENTIFIED = (
    # A name in front of a browser's User-Agent: that of a library or a proxy.
    r"^(?:[a-z][a-z -]* |[^ ]+[,|] ?)mozilla/",
    # A contact.
    r"\+(?:mailto|www)",
    r"[;( ][a-z0-9._-]+@[a-z0-9-]+\.[a-z]",
    # The kind of program. Phones are named CUBOT, M bot and Spider 8, a scanner app CamScanner.
    r"[^u ]bot\b",
    r" bot/",
    r"crawl",
    r"spider(?:[^ ]|$)",
    r"preview",
    r"fetch",
    r"render",
    r"(?:[^p ] ?|[^a]p )proxy[/)]",  # Except "WAP Proxy", which mobile operators' gateways add.
    r"monitor",
    r"[^m]scanner",
    r"checker",
    r"validator",
    r"archiver",
    r"thumbnail",
    r"shots?\b",
    r"favicon",
    r"recorder",
    r"detector",
    r"inspector",
    r"classifier",
    r"analy[sz]er",
    r"measurement",
    r"agent(?:[ -]|$)",
    r"rss/",
    r"transcoder",
    r"synthetic",
    r"search ?engine",
    r"cloudflare",
    r"[;( ]google-[a-z]",
    r"[a-z]-google/",
    # Names where browsers have none.
    r"msie [^0-9]",
    r"khtml, like gecko; [a-z]",
    r"gecko\)?; compatible;",
    r"safari/[0-9.]+ \(compatible;",
    r"\(compatible\)",
    r"\(compatible; [a-z0-9_.-]+(?:/v?[0-9.]+[a-z]*)?\)",
    r"^mozilla/[45]\.0 \(?[a-z_-]+/[0-9.]+\)?$",
    # Office requests a link before it opens the browser, which then requests it again.
    r"ms-?office",
    r"microsoft outlook",
)
"""Expressions for bots that identify themselves. Case-insensitive, in RE2's syntax."""

_BROWSERS = (
    *("opera", "applewebkit", "browser", "ucweb", "netfront", "obigo", "teleca", "docomo", "midp"),
    *("maui", "blackberry", "nokia", "msie", "hbbtv", "[fban/", "amiga", "ibrowse"),
)
BROWSER_WORDS = ("mozilla/", *_BROWSERS)
"""A browser whose User-Agent does not begin with `Mozilla/` or `Opera/` has one of these words:
feature phones, televisions, in-app browsers. Lower case; compared regardless of case."""

ENGINE_WORDS = (
    *_BROWSERS,
    *("gecko", "khtml", "webkit", "trident", "presto", "goanna", "servo"),
    *("firefox", "safari", "chrome", "ladybird", "netsurf", "navigator", "dolfin", "silk"),
    *("android", "iphone", "ipad", "playstation", "nintendo", "smarttv", "smart-tv"),
    *("series60", "brew", "palmos", "plan9", "minix"),
)
"""A browser whose User-Agent begins with `Mozilla/5` or `Mozilla/4.0` names its engine, itself or
its device after that. Compared regardless of case. Netscape named nothing, up to `Mozilla/4.8`."""
