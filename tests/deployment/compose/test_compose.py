"""compose.yaml on an engine: without settings, and with each profile."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import ssl
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import expect

from tests.deployment.compose.project import Project, running_project
from tests.deployment.images.engine import engine
from tests.support.browsers import running_chromium
from tests.support.gateway_client import BROWSER, GatewayClient, new_code
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.thread_group import ThreadGroup
from tests.support.waiting import wait_until
from tests.system.e2e.visitor_actions import plates, submit

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

TLS = {"COMPOSE_PROFILES": "tls", "ATAJO_HOST": "localhost"}
MONGODB = {"COMPOSE_PROFILES": "mongodb", "ATAJO_STORE": "mongodb://mongodb"}
BOTH = {**TLS, **MONGODB, "COMPOSE_PROFILES": "tls,mongodb"}
START_SECONDS = 120.0
_AUTHORITY = "/data/caddy/pki/authorities/local"
_PROTOCOL = "performance.getEntriesByType('navigation')[0].nextHopProtocol"
_COUNT_LINKS = (
    *("mongosh", "--quiet", "--eval"),
    "db.getSiblingDB('atajo_links').links.countDocuments()",
)
_CREATE = """
import http.client, socket, ssl, sys
connection = http.client.HTTPConnection("localhost")
trusting = ssl.create_default_context(cadata=sys.argv[1])
connection.sock = trusting.wrap_socket(
    socket.create_connection(("caddy", 443)), server_hostname="localhost"
)
connection.request("POST", "/createShortLink", sys.argv[2], {"content-type": "application/json"})
print(connection.getresponse().status)
"""


class Client(GatewayClient):
    """A client of a project. `root` is the certificate of its authority."""

    def __init__(self, url: str, root: str = "") -> None:
        super().__init__(url)
        self.root = root
        if root:
            self.http.close()
            verified = ssl.create_default_context(cadata=root)
            self.http = httpx.Client(timeout=30, verify=verified, trust_env=False)

    def await_ready(self) -> None:
        wait_until(self.serves, START_SECONDS)


class Visitor(ThreadGroup):
    """Visits a link during the block, and keeps the statuses of the responses."""

    def __init__(self, client: Client, code: str) -> None:
        super().__init__([self._visit])
        self._client = client
        self._code = code
        self.statuses: Counter[int] = Counter()

    def _visit(self) -> None:
        while not self._stopping.wait(0.02):
            self.statuses[self._client.visit(self._code).status_code] += 1


def tls_client(project: Project) -> Client:
    """Return a client that trusts Caddy's own authority."""
    read = ("sh", "-c", f"cat {_AUTHORITY}/root.crt 2>/dev/null || true")
    wait_until(lambda: "END CERTIFICATE" in project.run("caddy", *read), START_SECONDS)
    return Client("https://localhost", project.run("caddy", *read))


def key_hash(certificate: str) -> str:
    """Return the hash of a certificate's public key, by which Chromium can trust it."""
    key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(encoded).digest()).decode()


def a_link() -> dict[str, object]:
    return {"code": new_code(), "url": "https://example.com/", "token": None}


def create(client: Client, headers: Mapping[str, str]) -> httpx.Response:
    """Create a link with further request headers."""
    return client.http.post(
        f"{client.url}/createShortLink", json={"data": a_link()}, headers=headers
    )


def use(client: Client) -> str:
    """Wait until a project serves, create a link, and follow it; return its code."""
    client.await_ready()
    code = client.shorten("https://example.com/")
    assert client.visit(code).headers["location"] == "https://example.com/"
    return code


def described(project: Project, service: str) -> dict[str, Any]:
    """Return the engine's description of a service's container."""
    (found,) = json.loads(engine("inspect", project.container(service)))
    description: dict[str, Any] = found
    return description


def published(project: Project, service: str) -> set[str]:
    """Return the ports of a service on this machine, with their addresses."""
    lines = engine("port", project.container(service)).splitlines()
    return {line.partition(" -> ")[2] for line in lines}


def test_without_settings_it_serves_and_keeps_its_data(tmp_path: Path) -> None:
    with running_project(tmp_path) as project, Client("http://localhost:8080") as client:
        code = use(client)
        assert project.compose("ps", "--services").split() == ["atajo"]
        assert "0.0.0.0:8080" in published(project, "atajo")
        wait_until(lambda: project.health("atajo") == "healthy", START_SECONDS)
        assert "backup" in project.run("atajo", "atajo", "--help")

        host = described(project, "atajo")["HostConfig"]
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges"]

        project.compose("down")
        project.compose("up", "--detach")
        client.await_ready()
        assert client.visit(code).headers["location"] == "https://example.com/"


def test_tls_serves_a_browser_by_http3_from_mongodb(tmp_path: Path) -> None:
    with running_project(tmp_path, BOTH) as project, tls_client(project) as client:
        client.await_ready()
        assert "h3=" in client.http.get(client.url).headers["alt-svc"]
        assert published(project, "atajo") == {"127.0.0.1:8080"}
        assert published(project, "mongodb") == set()
        plain = httpx.get("http://localhost/register", trust_env=False)
        assert plain.headers["location"] == "https://localhost/register"

        intermediate = project.run("caddy", "cat", f"{_AUTHORITY}/intermediate.crt")
        flags = (
            f"--ignore-certificate-errors-spki-list={key_hash(intermediate)}",
            "--origin-to-force-quic-on=localhost:443",
        )
        with running_chromium(*flags) as browser:
            page = browser.new_page(base_url=client.url, user_agent=BROWSER)
            page.set_default_timeout(1000 * TIMEOUT_SECONDS)
            page.goto("/")
            assert page.evaluate(_PROTOCOL) == "h3"
            assert page.evaluate("isSecureContext")
            submit(page, "https://example.com/")
            plate = plates(page).filter(has_text="https://example.com/").first
            expect(plate).to_contain_text("Copy")
            shown = re.search(r"localhost/([\w-]{8})", plate.inner_text().replace("\n", ""))
        assert shown is not None
        assert client.visit(shown[1]).headers["location"] == "https://example.com/"
        assert project.run("mongodb", *_COUNT_LINKS).splitlines()[-1] == "1"
        assert ".sqlite3" not in project.run("atajo", "ls", "/data")


def test_tls_passes_on_the_addresses_of_clients_and_keeps_none(tmp_path: Path) -> None:
    limit = {"ATAJO_LIMIT_CREATIONS": "3/hour"}
    with running_project(tmp_path, TLS, limit) as project, tls_client(project) as client:
        use(client)  # The first creation.
        statuses = [
            create(client, {"x-forwarded-for": f"192.0.2.{number}"}).status_code
            for number in range(3)
        ]
        assert statuses == [200, 200, 429]
        # Another client: the container of Atajo itself.
        data = json.dumps({"data": a_link()})
        assert project.run("atajo", "python", "-c", _CREATE, client.root, data) == "200"

        project.compose("stop", "atajo")
        assert client.visit("whatever").status_code == 502
        logs = project.logs("caddy")
        (network,) = described(project, "caddy")["NetworkSettings"]["Networks"].values()
        assert network["Gateway"] not in logs, "the address of clients on this machine"


def test_tls_hides_a_restart_from_visitors(tmp_path: Path) -> None:
    with running_project(tmp_path, TLS) as project, tls_client(project) as client:
        code = use(client)
        with Visitor(client, code) as visitor:
            project.compose("restart", "atajo")
        assert set(visitor.statuses) == {302}


def test_mongodb_may_go_away_and_come_back(tmp_path: Path) -> None:
    with running_project(tmp_path, MONGODB) as project, Client("http://localhost:8080") as client:
        code = use(client)
        wait_until(lambda: project.health("mongodb") == "healthy", START_SECONDS)
        project.compose("restart", "mongodb")
        client.visit(code)
        wait_until(lambda: client.call("createShortLink", a_link()).is_success, START_SECONDS)
        project.compose("down")
        project.compose("up", "--detach")
        client.await_ready()
        assert client.visit(code).headers["location"] == "https://example.com/"
