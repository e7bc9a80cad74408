"""Takes the picture of the README from the running product: `make picture`.

Usage: python -m tests.system.e2e.picture FILE.webp

The visits of the last two months are sent to analytics as a gateway sends them, because nobody can
visit a link in the past. Everything else happens in the browser.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import grpc
import numpy as np
from playwright.sync_api import Page

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from tests.support.browsers import running_chromium
from tests.support.product import Product
from tests.system.e2e.stage import built_product
from tests.system.e2e.visitor_actions import await_fonts, log_in, register, shorten

WIDTH, HEIGHT = 1000, 860
MARGIN = 40
GRAY = (200.0, 200.0, 200.0)
URL = "https://www.example.org/routes/2026/the-shortest-path-between-two-villages"
EMAIL = "marta@example.org"
DAYS = 60
REFERRERS = {"news.example": 5, "search.example": 4, "social.example": 3, "": 6}
NAMES = {
    pb.DIMENSION_DEVICE: {"phone": 8, "desktop": 5, "tablet": 1},
    pb.DIMENSION_BROWSER: {"Chrome": 8, "Safari": 4, "Firefox": 2},
    pb.DIMENSION_SYSTEM: {"Android": 6, "iOS": 4, "Windows": 3, "macOS": 1},
    pb.DIMENSION_LANGUAGE: {"es": 7, "en": 4, "pt": 2},
    pb.DIMENSION_COUNTRY: {"ES": 7, "PT": 3, "FR": 3, "DE": 2},
    pb.DIMENSION_SOURCE: {"link": 4, "qr": 1},
}
"""Names of visitors with their weights."""


def visits(code: str) -> Iterator[pb.VisitCount]:
    """Return the visits of two months, more of them on weekdays and lately."""
    chance = random.Random(1)
    now = int(time.time()) // 3600
    for hours_ago in range(24 * DAYS):
        hour = now - hours_ago
        weekday, time_of_day = (hour // 24 + 3) % 7, hour % 24
        mean = 6.0 if 7 <= time_of_day < 22 else 1.0
        mean *= (0.5 if weekday > 4 else 1.0) * (1.4 - hours_ago / (24 * DAYS))
        for _ in range(int(chance.gauss(mean, mean / 3))):
            yield visit(code, hour, chance)


def visit(code: str, hour: int, chance: random.Random) -> pb.VisitCount:
    """Return one visit of a person."""
    names = [
        pb.Name(dimension=dimension, name=one_of(weights, chance))
        for dimension, weights in NAMES.items()
    ]
    return pb.VisitCount(
        code=code,
        hour=hour,
        kind=pb.VISIT_KIND_PERSON,
        referrer_host=one_of(REFERRERS, chance),
        count=1,
        names=names,
    )


def one_of(weights: dict[str, int], chance: random.Random) -> str:
    (name,) = chance.choices(list(weights), list(weights.values()))
    return name


def send(product: Product, code: str) -> None:
    """Send the visits to analytics, with the visitors of each day."""
    chance = random.Random(2)
    sent = list(visits(code))
    by_day: dict[int, list[int]] = {}
    for each in sent:
        numbers = by_day.setdefault(each.hour // 24, [])
        if not numbers or chance.random() < 0.7:
            numbers.append(chance.getrandbits(32))
    visitors = [pb.Visitors(code=code, day=day, numbers=each) for day, each in by_day.items()]
    with grpc.insecure_channel(product.address("analytics")) as channel:
        pb_grpc.AnalyticsServiceStub(channel).RecordVisits(
            pb.RecordVisitsRequest(
                gateway_id="picture0", batch_number=1, visits=sent, visitors=visitors
            )
        )


def pictures(product: Product, page: Page) -> Iterator[bytes]:
    """Take pictures of the shortener with a new link, and of the link's statistics, as PNG."""
    register(page, EMAIL, "Marta")
    log_in(page, EMAIL)
    code = shorten(page, URL).rpartition("/")[2]
    await_fonts(page)
    page.mouse.move(0, 0)
    yield page.screenshot(animations="disabled")
    send(product, code)
    page.goto(f"/links/{code}")
    page.get_by_text("news.example").wait_for()
    page.get_by_role("heading", name="Statistics").evaluate("e => e.scrollIntoView()")
    page.mouse.wheel(0, -MARGIN)
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    yield page.screenshot(animations="disabled")


def framed_image(png: bytes) -> cv2.typing.MatLike:
    """Return a picture with a thin border."""
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return cv2.copyMakeBorder(image, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=GRAY)


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="atajo-") as folder,
        built_product(Path(folder)) as product,
        running_chromium() as browser,
    ):
        product.start()
        context = browser.new_context(
            base_url=product.url, viewport={"width": WIDTH, "height": HEIGHT}, locale="en-US"
        )
        framed = [framed_image(png) for png in pictures(product, context.new_page())]
    cv2.imwrite(sys.argv[1], cv2.hconcat(framed), [cv2.IMWRITE_WEBP_QUALITY, 85])


if __name__ == "__main__":
    main()
