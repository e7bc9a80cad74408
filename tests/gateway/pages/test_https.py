"""HSTS, which is sent only if the public URL is https."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.nginx import BUILT, Nginx
from tests.support.processes import NO_TLS

HSTS = "strict-transport-security"


@pytest.mark.parametrize(
    ("public_url", "expected"),
    [
        ("HTTPS://atajo.example:8443", ["max-age=31536000"]),
        ("http://localhost:8080", []),
    ],
)
def test_every_response_has_hsts_only_with_https(
    tmp_path: Path, public_url: str, expected: list[str]
) -> None:
    script = next((BUILT / "assets").glob("index-*.js")).name
    with (
        InProcessGateway(tmp_path, public_url=public_url, web_dir=BUILT) as gateway,
        Nginx(tmp_path, gateway.url.removeprefix("http://"), public_url) as web,
        httpx.Client(trust_env=False, verify=NO_TLS, timeout=30) as http,
    ):
        code = gateway.shorten("https://example.com/")
        call = {"data": {"code": code}}
        for origin in (gateway.url, web.url):
            for method, path, body in (
                *(("GET", path, None) for path in ("/", "/login", f"/assets/{script}", "/status")),
                *(("GET", path, None) for path in ("/robots.txt", f"/{code}", f"/{code}+")),
                *(("GET", path, None) for path in (f"/{new_code()}", "/nothing/here")),
                ("POST", "/accessLink", call),
                ("POST", "/accessLink", {"data": "x" * 70_000}),
                ("POST", "/nothing", call),
            ):
                response = http.request(method, origin + path, json=body)
                assert response.headers.get_list(HSTS) == expected, (origin, method, path)
    with (
        Nginx(tmp_path, "127.0.0.1:9", public_url) as web,
        httpx.Client(trust_env=False, verify=NO_TLS, timeout=30) as http,
    ):
        for method, path in (("GET", f"/{new_code()}"), ("POST", "/accessLink")):
            response = http.request(method, web.url + path)
            assert response.status_code == 503
            assert response.headers.get_list(HSTS) == expected, (method, path)
