"""Drill: the public URL of an instance changes to another host. See docs/operations/domains.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.support.authenticator import Authenticator
from tests.support.gateway_client import BROWSER, new_code
from tests.support.in_process_gateway import InProcessGateway
from tests.support.waiting import RECOVERY_SECONDS, wait_until

OLD, NEW, SHORT = "https://old.example", "https://new.example", "https://go.example"
DESTINATION = "https://example.com/a"
PASSWORD = "Camino-42"


def visit(gateway: InProcessGateway, url: str) -> httpx.Response:
    """Request a URL of the instance, whose host leads to this gateway."""
    scheme, _, rest = url.partition("://")
    assert scheme.lower() in ("http", "https")
    host, _, path = rest.partition("/")
    headers = {"host": host, "user-agent": BROWSER}
    return gateway.http.get(f"{gateway.url}/{path}", headers=headers)


def add_passkey(gateway: InProcessGateway, token: str, device: Authenticator) -> None:
    begun = gateway.data("beginPasskey", {"token": token, "password": PASSWORD})
    payload = {"token": token, "name": "phone", "credential": device.create(begun["options"])}
    assert gateway.data("finishPasskey", payload)["success"]


def log_in_by_passkey(gateway: InProcessGateway, device: Authenticator) -> Any:
    options = gateway.data("beginLogin", {})["options"]
    return gateway.call("finishLogin", {"credential": device.get(options)})


def test_an_instance_moves_to_another_host(tmp_path: Path) -> None:
    device = Authenticator(OLD)
    with InProcessGateway(tmp_path, public_url=OLD, domains=SHORT) as gateway:
        email = gateway.register()
        token = gateway.log_in(email)
        add_passkey(gateway, token, device)
        assert log_in_by_passkey(gateway, device).json()["data"]["success"]
        codes = {}
        for domain in (None, "old.example", "go.example"):
            code = codes[domain] = new_code()
            payload = {"code": code, "url": DESTINATION, "token": token, "domain": domain}
            assert gateway.data("createShortLink", payload)["success"]
        scanned = {"token": token, "code": codes[None]}
        scan_code = gateway.data("createScanCode", scanned)["scan_code"]
        exported = gateway.data("showLinks", {"token": token})["links"]
    printed = [link["short_url"] for link in exported] + [f"{OLD}/{scan_code}".upper()]
    assert sorted({url.rpartition("/")[0] for url in printed}) == [OLD.upper(), SHORT, OLD]

    with InProcessGateway(tmp_path, public_url=NEW, domains=f"{SHORT},{OLD}") as gateway:
        for url in printed:
            assert visit(gateway, url).headers["location"] == DESTINATION
        for path in ("login", "NoSuchCd?a=b", f"{codes[None]}+", "api/v1/links"):
            answer = visit(gateway, f"{OLD}/{path}")
            assert (answer.status_code, answer.headers["location"]) == (301, f"{NEW}/{path}")
        assert visit(gateway, f"{NEW}/login").status_code == 200

        assert log_in_by_passkey(gateway, device).json()["data"] == {
            "success": False,
            "error": "incorrect",
        }
        token = gateway.log_in(email)
        moved = {
            link["code"]: link for link in gateway.data("showLinks", {"token": token})["links"]
        }
        origins = {None: NEW, "old.example": NEW, "go.example": SHORT}
        for domain, code in codes.items():
            assert moved[code]["short_url"] == f"{origins[domain]}/{code}"
            assert moved[code]["domain"] == origins[domain].removeprefix("https://")
        wait_until(lambda: source_of_visits(gateway, token, codes[None]) == 1, RECOVERY_SECONDS)

        for url in printed:  # They would be loops.
            payload = {"code": new_code(), "url": url, "token": token}
            assert gateway.call("createShortLink", payload).status_code == 400
        rows = [
            {"row": number, "code": link["code"], "url": link["long_link"]}
            for number, link in enumerate(exported)
        ]
        checked = gateway.data("checkImport", {"token": token, "rows": rows})["verdicts"]
        assert [verdict["verdict"] for verdict in checked] == ["exists"] * 3
        for row in rows:
            row["code"] = new_code()
        rows[0]["domain"] = "old.example"
        imported = {"token": token, "import_id": "m" * 22, "rows": rows}
        assert gateway.data("importLinks", imported)["success"]
        shown = gateway.data("showLink", {"token": token, "code": rows[0]["code"]})["link"]
        assert shown["short_url"] == f"{OLD}/{rows[0]['code']}"

    with InProcessGateway(tmp_path, public_url=NEW) as gateway:  # Both hosts are lost.
        token = gateway.log_in(email)
        for link in gateway.data("showLinks", {"token": token})["links"]:
            assert link["short_url"] == f"{NEW}/{link['code']}"
            assert visit(gateway, link["short_url"]).headers["location"] == DESTINATION


def source_of_visits(gateway: InProcessGateway, token: str, code: str) -> int:
    """Return how many visits of a link came through its scan code."""
    payload = {"token": token, "code": code, "range": "7 days"}
    sources = gateway.data("showStatistics", payload)["breakdowns"]["source"]
    return sum(source["people"] for source in sources if source["name"] == "qr")
