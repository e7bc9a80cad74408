"""The main job over MongoDB, with every service started again in between."""

from __future__ import annotations

import time
from pathlib import Path

from tests.product import SERVICES, Product


def await_views(product: Product, token: str, views: dict[str, int]) -> None:
    deadline = time.monotonic() + 10
    while product.views(token) != views:
        assert time.monotonic() < deadline, product.views(token)
        time.sleep(0.05)


def test_the_main_job_survives_a_restart_of_every_service(tmp_path: Path, mongo_url: str) -> None:
    with Product(tmp_path, store=mongo_url) as product:
        product.start()
        email = product.register()
        token = product.log_in(email)
        code = product.shorten("https://example.com/a?b=c#d", token)
        for _ in range(5):
            assert product.visit(code).headers["location"] == "https://example.com/a?b=c#d"
        await_views(product, token, {code: 5})

        for name in ("gateway", *SERVICES):
            assert product.stop(name) == 0
        product.start()

        token = product.log_in(email)
        assert product.visit(code).headers["location"] == "https://example.com/a?b=c#d"
        await_views(product, token, {code: 6})
        assert not list(tmp_path.glob("*.sqlite3"))
