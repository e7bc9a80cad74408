"""Device, browser and system by the User-Agents of real browsers, and by those of strangers."""

from __future__ import annotations

import random

import pytest

from gateway.visits.agents import BROWSERS, SYSTEMS, Agent, agent_of
from gateway.visits.classify import kind_of

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
APPLE = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"
LINUX = "Mozilla/5.0 (X11; Linux x86_64)"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X)"
IPAD = "Mozilla/5.0 (iPad; CPU OS 17_7 like Mac OS X)"
ANDROID = "Mozilla/5.0 (Linux; Android 10; K)"

REAL = {
    # Desktops
    f"{WINDOWS} {WEBKIT} Chrome/131.0.0.0 Safari/537.36": ("desktop", "Chrome", "Windows"),
    f"{WINDOWS} {WEBKIT} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.2849.80": (
        "desktop", "Edge", "Windows",
    ),
    f"{WINDOWS} {WEBKIT} Chrome/130.0.0.0 Safari/537.36 OPR/115.0.0.0": (
        "desktop", "Opera", "Windows",
    ),
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0": (
        "desktop", "Firefox", "Windows",
    ),
    "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko": (
        "desktop", "Internet Explorer", "Windows",
    ),
    "Mozilla/5.0 (Windows NT 5.1; rv:52.0) Gecko/20100101 Firefox/52.0": (
        "desktop", "Firefox", "Windows",
    ),
    f"{WINDOWS} {WEBKIT} Chrome/130.0.0.0 YaBrowser/24.12.0.0 Safari/537.36": (
        "desktop", "Yandex Browser", "Windows",
    ),
    f"{WINDOWS} {WEBKIT} Chrome/130.0.0.0 Safari/537.36 Vivaldi/7.0.3495.11": (
        "desktop", "Vivaldi", "Windows",
    ),
    f"{MAC} {APPLE} Version/18.1 Safari/605.1.15": ("desktop", "Safari", "macOS"),
    f"{MAC} {WEBKIT} Chrome/131.0.0.0 Safari/537.36": ("desktop", "Chrome", "macOS"),
    f"{MAC} {WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0": ("desktop", "Edge", "macOS"),
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:132.0) Gecko/20100101 Firefox/132.0": (
        "desktop", "Firefox", "macOS",
    ),
    f"{LINUX} {WEBKIT} Chrome/131.0.0.0 Safari/537.36": ("desktop", "Chrome", "Linux"),
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0": (
        "desktop", "Firefox", "Linux",
    ),
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0": (
        "desktop", "Firefox", "Linux",
    ),
    "Mozilla/5.0 (X11; Fedora; Linux x86_64; rv:102.0) Gecko/20100101 Firefox/102.0": (
        "desktop", "Firefox", "Linux",
    ),
    f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/131.0.0.0 Safari/537.36": (
        "desktop", "Chrome", "Chrome OS",
    ),
    "Mozilla/5.0 (X11; FreeBSD amd64; rv:130.0) Gecko/20100101 Firefox/130.0": (
        "desktop", "Firefox", "FreeBSD",
    ),
    # Phones
    f"{IPHONE} {APPLE} Version/18.1 Mobile/15E148 Safari/604.1": ("phone", "Safari", "iOS"),
    f"{IPHONE} {APPLE} CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1": ("phone", "Chrome", "iOS"),
    f"{IPHONE} {APPLE} FxiOS/132.0 Mobile/15E148 Safari/605.1.15": ("phone", "Firefox", "iOS"),
    f"{IPHONE} {APPLE} Version/18.0 EdgiOS/130.0.2849.80 Mobile/15E148 Safari/604.1": (
        "phone", "Edge", "iOS",
    ),
    f"{IPHONE} {APPLE} Mobile/15E148 Instagram 356.0.0.32.91 (iPhone14,5; iOS 18_1; es_CL; es)": (
        "phone", "Instagram", "iOS",
    ),
    f"{IPHONE} {APPLE} Mobile/15E148 [FBAN/FBIOS;FBAV/488.0.0.66.103;FBDV/iPhone14,5]": (
        "phone", "Facebook", "iOS",
    ),
    f"{ANDROID} {WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36": ("phone", "Chrome", "Android"),
    f"{ANDROID} {WEBKIT} SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36": (
        "phone", "Samsung Internet", "Android",
    ),
    f"{ANDROID} {WEBKIT} Chrome/130.0.0.0 Mobile Safari/537.36 OPR/86.0.0.0": (
        "phone", "Opera", "Android",
    ),
    f"{ANDROID} {WEBKIT} Chrome/130.0.0.0 Mobile Safari/537.36 EdgA/130.0.0.0": (
        "phone", "Edge", "Android",
    ),
    "Mozilla/5.0 (Android 15; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0": (
        "phone", "Firefox", "Android",
    ),
    f"Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) {WEBKIT} Version/4.0 Chrome/130.0.6723.107 "
    "Mobile Safari/537.36 Instagram 356.0.0.41.101 Android": ("phone", "Instagram", "Android"),
    f"Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) {WEBKIT} Version/4.0 Chrome/130.0.6723.107 "
    "Mobile Safari/537.36": ("phone", "Chrome", "Android"),
    "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/191.340; U; en) Presto/2.12.423 Version/12.16": (
        "phone", "Opera", "",
    ),
    "Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5": (
        "phone", "Firefox", "KaiOS",
    ),
    # In-app browsers, and those that also name the browser they are built on
    f"{IPHONE} {APPLE} Mobile/15E148 Safari/604.1 MetaIAB Facebook": ("phone", "Facebook", "iOS"),
    f"Mozilla/5.0 (Linux; Android 16; Pixel 10 Build/CP1A.260305.018; wv) {WEBKIT} Version/4.0 "
    "Chrome/146.0.7680.174 Mobile Safari/537.36 MetaIAB Instagram": (
        "phone", "Instagram", "Android",
    ),
    f"Mozilla/5.0 (Linux; U; Android 4.2.2; zh-cn; N1T Build/JDQ39) {WEBKIT} Version/4.0 "
    "MQQBrowser/5.4 TBS/025440 Mobile Safari/533.1 MicroMessenger/6.2.0.54_r1169949.620": (
        "phone", "WeChat", "Android",
    ),
    f"Mozilla/5.0 (Linux; Android 9; SM-G965F Build/PPR1.180610.011; wv) {WEBKIT} Version/4.0 "
    "Chrome/78.0.3904.62 XWEB/2889 Mobile Safari/537.36 MicroMessenger/8.0.15.2020": (
        "phone", "WeChat", "Android",
    ),
    f"Mozilla/5.0 (Linux; U; Android 12; zh-CN; M2012K11AC Build/SKQ1.211006.001) {WEBKIT} "
    "Version/4.0 Chrome/100.0.4896.58 Quark/7.3.7.752 Mobile Safari/537.36": (
        "phone", "Quark", "Android",
    ),
    f"Mozilla/5.0 (Linux; U; Android 12; zh-cn; PCLM10 Build/SP1A.210812.016) {WEBKIT} Version/4.0 "
    "Chrome/89.0.4389.72 MQQBrowser/13.9 Mobile Safari/537.36": (
        "phone", "QQ Browser", "Android",
    ),
    # Tablets
    f"{IPAD} {APPLE} Version/17.7 Mobile/15E148 Safari/604.1": ("tablet", "Safari", "iOS"),
    f"{IPAD} {APPLE} CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1": ("tablet", "Chrome", "iOS"),
    f"Mozilla/5.0 (Linux; Android 13; SM-X700) {WEBKIT} Chrome/131.0.0.0 Safari/537.36": (
        "tablet", "Chrome", "Android",
    ),
    f"Mozilla/5.0 (Linux; Android 13; SM-X700) {WEBKIT} SamsungBrowser/27.0 Chrome/125.0.0.0 "
    "Safari/537.36": ("tablet", "Samsung Internet", "Android"),
    "Mozilla/5.0 (Android 14; Tablet; rv:132.0) Gecko/132.0 Firefox/132.0": (
        "tablet", "Firefox", "Android",
    ),
    f"Mozilla/5.0 (Linux; Android 11; KFTRWI) {WEBKIT} Silk/120.4.1 like Chrome/120.0.0.0 "
    "Safari/537.36": ("tablet", "Amazon Silk", "Android"),
    # Televisions, consoles and glasses
    f"Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) {WEBKIT} 94.0.4606.31/7.0 TV Safari/537.36": (
        "other", None, "Tizen",
    ),
    f"Mozilla/5.0 (Web0S; Linux/SmartTV) {WEBKIT} Chrome/94.0.4606.128 Safari/537.36 WebAppManager":
        ("other", "Chrome", None),
    f"Mozilla/5.0 (Linux; Android 9; AFTKA) {WEBKIT} Silk/120.4.1 like Chrome/120.0.0.0 "
    "Safari/537.36": ("other", "Amazon Silk", "Android"),
    f"Mozilla/5.0 (Linux; Android 12; BRAVIA 4K VH2) {WEBKIT} Chrome/120.0.0.0 Safari/537.36": (
        "other", "Chrome", "Android",
    ),
    f"{WINDOWS[:-1]}; Xbox; Xbox Series X) {WEBKIT} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0": (
        "other", "Edge", None,
    ),
    f"Mozilla/5.0 (PlayStation; PlayStation 5/9.60) {APPLE} Version/15.4 Safari/605.1.15": (
        "other", None, None,
    ),
    "Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 (KHTML, like Gecko) "
    "NF/6.0.3.15.4 NintendoBrowser/5.1.0.26703": ("other", None, None),
    f"Mozilla/5.0 (X11; Linux x86_64; Quest 3) {WEBKIT} OculusBrowser/35.3.0 Chrome/130.0.0.0 VR "
    "Safari/537.36": ("other", None, None),
    "Mozilla/5.0 (of nobody)": ("other", "", ""),
}  # fmt: skip
"""Device, browser and system by User-Agent; None where whatever is told is as good."""


@pytest.mark.parametrize("user_agent", REAL)
def test_real_browsers_are_told(user_agent: str) -> None:
    assert kind_of(user_agent.encode()) == "person"
    told = agent_of(user_agent.encode())
    for got, wanted in zip(told, REAL[user_agent], strict=True):
        assert wanted in (None, got), told


def test_what_a_stranger_writes_is_never_told() -> None:
    chance = random.Random(16)
    words = [word for text in REAL for word in text.replace("(", " ( ").split()]
    for _ in range(5_000):
        made = ["Mozilla/5.0"]
        for _ in range(chance.randrange(20)):
            word = chance.choice(words)
            at = chance.randrange(len(word) + 1)
            made.append(chance.choice([word, word[:at] + "secret", "secret/1", f"secret{word}"]))
        told = agent_of(" ".join(made).encode())
        assert told.device in ("desktop", "phone", "tablet", "other")
        assert told.browser in {"", *BROWSERS}
        assert told.system in {"", *SYSTEMS}
    assert "secret" not in "".join([*BROWSERS, *SYSTEMS])


def test_of_a_long_user_agent_the_beginning_is_looked_at() -> None:
    start = f"{WINDOWS} {WEBKIT} "
    assert agent_of(start.encode() + b" " * 600 + b"Firefox/132.0").browser == ""
    assert agent_of(b"Mozilla/5.0 " + bytes(range(128, 256)) * 300) == Agent("other", "", "")
