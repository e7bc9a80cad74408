"""HEAD is answered as GET, without a body, at every path of the gateway."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from gateway.support.edge import Edge
from tests.support.api_client import ApiClient
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway

EDGE = Edge.load()
API_PATHS = (
    *("/links", "/links/{code}", "/links/{code}/statistics", "/statistics", "/account"),
    *("/openapi.json", "/links?limit=0", "/links/none-yet", "/links/{code}/restore"),
    *("", "/", "/nothing"),
)
PATHS = (
    *(path.replace(":code", "{code}") for path in EDGE.pages),
    *EDGE.gateway,
    *EDGE.functions,
    *("/{code}", "/{code}.", "/{removed}", "/none-yet", "/none-yet+", "/nothing/there"),
    *(f"{EDGE.api}{path}" for path in API_PATHS),
)
OWN = {"date", "x-request-id", "ratelimit"}
"""Headers that differ between two requests."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiClient]:
    with InProcessGateway(tmp_path_factory.mktemp("head")) as gateway:
        yield ApiClient(gateway)


@pytest.fixture(scope="module")
def codes(api: ApiClient) -> dict[str, str]:
    codes = {name: new_code() for name in ("code", "removed")}
    for code in codes.values():
        api.create(code=code)
    api.send("DELETE", f"/links/{codes['removed']}")
    return codes


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("path", PATHS)
def test_head_has_the_status_and_headers_of_get(
    api: ApiClient, codes: dict[str, str], path: str, key: bool
) -> None:
    url = api.gateway.url + path.format(**codes)
    sent = {"authorization": f"Bearer {api.key}"} if key else {}
    got, head = (
        httpx.request(method, url, headers=sent, trust_env=False) for method in ("GET", "HEAD")
    )
    assert head.status_code == got.status_code
    assert head.content == b""
    assert shown(head) == shown(got)


def shown(response: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers.multi_items() if name not in OWN]
