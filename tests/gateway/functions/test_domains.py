"""The domain of a link: `domain` of createShortLink, changeLink, imports and the REST API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api_client import ApiClient
from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway

EXAMPLE = "https://example.com/"
PUBLIC = "atajo.example"
FURTHER = "go.example"
WITH_PORT = "other.example:8443"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    folder = tmp_path_factory.mktemp("domains")
    domains = f"https://{FURTHER},http://{WITH_PORT}"
    with InProcessGateway(folder, public_url=f"https://{PUBLIC}", domains=domains) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def token(gateway: InProcessGateway) -> str:
    return gateway.log_in(gateway.register())


def create(gateway: InProcessGateway, token: str, **fields: Any) -> str:
    code = new_code()
    payload = {"code": code, "url": EXAMPLE, "token": token, **fields}
    assert gateway.data("createShortLink", payload)["success"]
    return code


def shown(gateway: InProcessGateway, token: str, code: str) -> tuple[str, str]:
    link = gateway.data("showLink", {"token": token, "code": code})["link"]
    return link["domain"], link["short_url"].removesuffix(f"/{code}")


@pytest.mark.parametrize(
    ("given", "domain", "origin"),
    [
        (None, PUBLIC, f"https://{PUBLIC}"),
        (PUBLIC, PUBLIC, f"https://{PUBLIC}"),
        (FURTHER, FURTHER, f"https://{FURTHER}"),
        ("GO.Example", FURTHER, f"https://{FURTHER}"),
        (WITH_PORT, WITH_PORT, f"http://{WITH_PORT}"),
    ],
)
def test_an_account_chooses_the_domain_of_a_link(
    gateway: InProcessGateway, token: str, given: str | None, domain: str, origin: str
) -> None:
    assert shown(gateway, token, create(gateway, token, domain=given)) == (domain, origin)
    if given is None:
        return
    code = create(gateway, token, domain=WITH_PORT)
    changed = gateway.data(
        "changeLink", {"token": token, "code": code, "changes": {"domain": given}}
    )
    assert (changed["link"]["domain"], changed["link"]["short_url"]) == (domain, f"{origin}/{code}")
    [listed] = gateway.data("showLinks", {"token": token, "query": code})["links"]
    assert listed["domain"] == domain


UNKNOWN = ["", "gone.example", "go.example:443", "other.example", f"https://{FURTHER}", 7]


@pytest.mark.parametrize("given", UNKNOWN)
def test_other_domains_are_refused(gateway: InProcessGateway, token: str, given: object) -> None:
    payload = {"code": new_code(), "url": EXAMPLE, "token": token, "domain": given}
    assert gateway.call("createShortLink", payload).status_code == 400
    code = create(gateway, token)
    for changes in ({"domain": given}, {"domain": None}):
        change = {"token": token, "code": code, "changes": changes}
        assert gateway.call("changeLink", change).status_code == 400
    assert shown(gateway, token, code)[0] == PUBLIC


@pytest.mark.parametrize("domain", [FURTHER, PUBLIC])
def test_only_accounts_choose_a_domain(gateway: InProcessGateway, domain: str) -> None:
    guest = "g" * 43
    for owner in ({"guest": guest}, {}):
        payload = {"code": new_code(), "url": EXAMPLE, "domain": domain, **owner}
        refused = gateway.call("createShortLink", payload)
        assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (
            400,
            "INVALID_DOMAIN",
        )
    code = new_code()
    created = {"code": code, "url": EXAMPLE, "guest": guest, "domain": None}
    assert gateway.data("createShortLink", created)["success"]
    change = {"guest": guest, "code": code, "changes": {"domain": domain}}
    assert gateway.call("changeLink", change).status_code == 400


def test_a_repeated_creation_is_compared_by_code_url_and_owner(
    gateway: InProcessGateway, token: str
) -> None:
    code = create(gateway, token, domain=FURTHER)
    repeated = {"code": code, "url": EXAMPLE, "token": token, "domain": WITH_PORT}
    assert gateway.data("createShortLink", repeated)["success"]
    assert shown(gateway, token, code)[0] == FURTHER


def test_an_import_takes_domains_of_this_instance(gateway: InProcessGateway, token: str) -> None:
    given = {new_code(): FURTHER, new_code(): "of-another.example", new_code(): None}
    rows = [
        {"row": number, "code": code, "url": EXAMPLE, "domain": domain}
        for number, (code, domain) in enumerate(given.items())
    ]
    payload = {"token": token, "import_id": "i" * 22, "rows": rows}
    results = gateway.data("importLinks", payload)["results"]
    assert [result["verdict"] for result in results] == ["new"] * 3
    assert [shown(gateway, token, code)[0] for code in given] == [FURTHER, PUBLIC, PUBLIC]


def test_the_api_takes_and_shows_domains(gateway: InProcessGateway) -> None:
    api = ApiClient(gateway)
    link = api.create(domain=FURTHER)
    assert link["domain"] == FURTHER
    assert link["short_url"] == f"https://{FURTHER}/{link['code']}"
    path = f"/links/{link['code']}"
    changed = api.send("PATCH", path, {"domain": WITH_PORT})
    assert (changed.status_code, changed.json()["domain"]) == (200, WITH_PORT)
    assert api.send("GET", path).json() == changed.json()
    refused = api.send("PATCH", path, {"domain": "gone.example"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_domain")
    bulk = {"links": [{"url": EXAMPLE, "domain": name} for name in (FURTHER, "gone.example")]}
    first, second = api.send("POST", "/links/bulk", bulk).json()["results"]
    assert (first["status"], first["link"]["domain"]) == (201, FURTHER)
    assert (second["status"], second["problem"]["code"]) == (422, "invalid_domain")


@pytest.mark.parametrize("domain", [PUBLIC, FURTHER, WITH_PORT])
def test_short_urls_of_every_origin_are_refused(
    gateway: InProcessGateway, token: str, domain: str
) -> None:
    payload = {"code": new_code(), "url": f"http://{domain}/abcdefgh", "token": token}
    assert gateway.call("createShortLink", payload).status_code == 400
