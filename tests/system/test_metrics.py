"""Metrics match what happened."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from gateway.api.app import create_app
from gateway.backends.auth import AuthClient
from gateway.support.edge import Edge
from services.shared import api_keys
from services.shared.errors import Unauthenticated
from services.shared.rpc import channels
from tests.support.api_client import ApiClient
from tests.support.gateway_client import new_code, registration
from tests.support.mongo.tcp_proxy import TcpProxy
from tests.support.processes import NO_TLS, Process
from tests.support.product import PROCESSES, Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until

EDGE = Edge.load()
OPERATIONS = [
    operation["operationId"]
    for path in create_app().openapi()["paths"].values()
    for operation in path.values()
]
LINKS = pb.DESCRIPTOR.services_by_name["LinksService"]
FRESH = 3.0
"""Freshness of the gateway's cache in seconds: longer than a few visits take."""
ALLOWED_VALUES = {
    "by": {"operator", "administrator"},
    "dependency": {"store", "auth", "links", "analytics", "journal"},
    "generation": {"0", "1", "2"},
    "grpc_code": {
        *("OK", "INVALID_ARGUMENT", "ALREADY_EXISTS", "UNAUTHENTICATED", "NOT_FOUND"),
        "PERMISSION_DENIED",
    },
    "kind": {
        *("person", "bot", "link", "absent", "block", "unblock", "dismiss", "reset link"),
        *("searches", "link_statistics", "statistics", "large_statistics"),
    },
    "lane": {"standard", "expensive"},
    "limit": {
        *("create", "register", "login", "recovery", "session_check"),
        *(
            "call",
            "large",
            "large_account",
            "profile",
            "edit",
            "read",
            "report",
            "api",
            "api_unverified",
            "api_lookup",
            "import_rows",
            "short_codes",
        ),
    },
    "method": {"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "other"},
    "operation_id": {*OPERATIONS, "none"},
    "route": {*EDGE.functions, *EDGE.gateway, *EDGE.pages, f"{EDGE.api}/", "other"},
    "scope": {"links:read", "links:write", "statistics:read", "none"},
    "service": set(PROCESSES),
}
"""Allowed values of labels that clients must not be able to choose."""


class Samples:
    """All series of a process at one time."""

    def __init__(self, product: Product, process: str) -> None:
        text = product.http.get(product.metrics_url(process)).text
        self.all = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def __call__(self, name: str, **labels: str) -> float:
        """Return the sum of the series with a name and labels. Fails if there is none."""
        found = [
            sample.value
            for sample in self.all
            if sample.name == name and labels.items() <= sample.labels.items()
        ]
        assert found, f"no {name} {labels}"
        return sum(found)


def metrics_of(process: Process) -> str:
    return httpx.get(f"http://{process.addresses['metrics']}/metrics", verify=NO_TLS).text


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Return a product for these tests only. Each test checks what it adds."""
    settings = {
        "ATAJO_LIMIT_CREATIONS": "5/hour",
        "ATAJO_LIMIT_REGISTRATIONS": "5/hour",
        "ATAJO_CACHE_FRESH_SECONDS": str(FRESH),
        "ATAJO_CACHE_STALE_SECONDS": "60",
    }
    with Product(tmp_path_factory.mktemp("metrics"), settings) as product:
        product.start()
        yield product


def test_redirects_visits_and_the_cache(own: Product) -> None:
    code = own.shorten("https://example.com/")
    for _ in range(5):
        own.visit(code)
    own.visit(code, {"user-agent": "curl/8"})
    for _ in range(2):
        own.visit("nowhere-")
    time.sleep(FRESH + 0.1)  # The entry is no longer fresh.
    own.visit(code)
    wait_until(lambda: Samples(own, "gateway")("atajo_visits_pending") == 0, RECOVERY_SECONDS)
    wait_until(lambda: Samples(own, "gateway")("atajo_visit_journal_bytes") == 0, RECOVERY_SECONDS)
    seen = Samples(own, "gateway")
    assert seen("atajo_redirects_total", result="found") == 7
    assert seen("atajo_redirects_total", result="not_found") == 2
    assert seen("atajo_redirects_total", result="failed") == 0
    assert seen("atajo_redirect_duration_seconds_count", result="found") == 7
    assert seen("atajo_cache_entries", kind="link") == 1
    # An unknown code is cached, too, separately.
    assert seen("atajo_cache_entries", kind="absent") == 1
    assert 0 < seen("atajo_cache_bytes") < 1000 < seen("atajo_cache_limit_bytes") == 64_000_000
    assert seen("atajo_lookup_faults_total") == 0
    assert seen("atajo_cache_lookups_total", result="hit") == 7
    assert seen("atajo_cache_lookups_total", result="stale") == 1
    assert seen("atajo_cache_lookups_total", result="miss") == 1
    assert seen("atajo_visits_total", kind="person") == 6
    assert seen("atajo_visits_total", kind="bot") == 1
    assert seen("atajo_visits_lost_total") == 0
    assert seen("atajo_visit_flush_lag_seconds") == 0
    assert seen("atajo_visit_journal_limit_bytes") > 0
    assert seen("atajo_visit_journal_limit_bytes") <= 1 << 30
    counted = Samples(own, "analytics")
    assert counted("atajo_visits_counted_total", kind="person") == 6
    assert counted("atajo_visits_counted_total", kind="bot") == 1
    acknowledged = seen("atajo_visit_batches_total", result="acknowledged")
    assert acknowledged == counted("atajo_visit_batches_applied_total", result="applied") >= 1
    assert counted("atajo_visit_batches_applied_total", result="repeated") == 0
    assert counted("atajo_visit_batches_applied_total", result="refused") == 0

    own.kill("analytics")
    own.visit(code)

    def gateway(name: str, **labels: str) -> float:
        return Samples(own, "gateway")(name, **labels)

    wait_until(lambda: gateway("atajo_visit_batches_total", result="failed") >= 2)
    assert gateway("atajo_visits_pending") == 1
    assert gateway("atajo_visit_flush_lag_seconds") > 0.1
    own.start("analytics")
    wait_until(lambda: gateway("atajo_visits_pending") == 0, RECOVERY_SECONDS)
    assert gateway("atajo_visit_batches_total", result="acknowledged") == acknowledged + 1


def test_calls_by_result(own: Product) -> None:
    code = own.shorten("https://example.com/")  # The second one of five.
    own.call("createShortLink", {"code": code, "url": "https://example.com/x", "token": None})
    for _ in range(2):
        own.call("createShortLink", {"code": new_code(), "url": "javascript:x", "token": None})
    limited = own.call("createShortLink", {"code": new_code(), "url": "a.example", "token": None})
    assert limited.status_code == 429
    own.http.get(f"{own.url}/{'x' * 40}")
    seen = Samples(own, "gateway")
    route = {"route": "/createShortLink", "method": "POST"}
    assert seen("atajo_links_created_total") == 2
    assert seen("atajo_limited_total", limit="create") == 1
    assert seen("atajo_limited_total", limit="register") == 0
    for status, times in (("200", 2), ("409", 1), ("400", 2), ("429", 1)):
        assert seen("http_request_duration_seconds_count", status=status, **route) == times
    assert seen("http_request_duration_seconds_count", route="other", status="404") == 1
    service = {"grpc_service": "atajo.links.v1.LinksService", "grpc_method": "CreateLink"}
    for process, name in (("gateway", "client"), ("links", "server")):
        calls = Samples(own, process)
        for grpc_code, times in (("OK", 2), ("ALREADY_EXISTS", 1), ("INVALID_ARGUMENT", 2)):
            series = f"grpc_{name}_handling_seconds_count"
            assert calls(series, grpc_code=grpc_code, **service) == times
    assert Samples(own, "links")("atajo_store_seconds_count", operation="links_add") == 3


def test_accounts_log_ins_and_the_checks_of_passwords(own: Product) -> None:
    account = registration("a@example.com")
    for _ in range(2):
        assert own.data("registerUser", account) == {"success": True}
    taken = {**account, "username": "Else"}
    assert own.data("registerUser", taken) == {"success": False, "error": "exist"}
    own.log_in("a@example.com")
    own.data("verifyUser", {"email": "a@example.com", "password": "wrong"})
    own.data("verifyUser", {"email": "b@example.com", "password": "wrong"})
    seen = Samples(own, "auth")
    assert seen("atajo_accounts_created_total") == 1, "a repetition makes none"
    for result, times in (("ok", 2), ("email_taken", 1), ("closed", 0), ("invitation", 0)):
        assert seen("atajo_registrations_total", result=result) == times
    for result, times in (("ok", 1), ("wrong_password", 1), ("no_account", 1), ("busy", 0)):
        assert seen("atajo_logins_total", result=result) == times
    for lane, log_ins in (("standard", 2), ("expensive", 0)):
        assert seen("atajo_login_seconds_count", lane=lane) == log_ins
        assert seen("atajo_password_check_slots", lane=lane) >= 1
    assert seen("atajo_password_checks_running") == seen("atajo_password_checks_waiting") == 0


def test_rows_of_imports_by_verdict(own: Product) -> None:
    token = own.log_in(own.register("importer@example.com"))
    code = new_code()
    rows = [{"row": n, "code": code, "url": url} for n, url in enumerate(("a.example", "", ""))]
    call = {"token": token, "import_id": "a" * 22, "rows": rows}
    for _ in range(2):
        own.data("importLinks", call)
    seen = Samples(own, "links")
    for verdict, times in (("new", 1), ("unreadable", 2), ("taken", 0), ("not a code", 0)):
        assert seen("atajo_import_rows_total", verdict=verdict) == times


async def test_api_keys_and_their_verifications(own: Product) -> None:
    token = own.log_in(own.register("scripter@example.com"))
    fields = {"token": token, "password": "Camino-42", "name": "Script", "scopes": ["links:read"]}
    created = [own.data("createKey", fields) for _ in range(2)]
    own.call("createKey", {**fields, "name": ""})
    for _ in range(2):
        own.data("revokeKey", {"token": token, "id": created[0]["id"]})
    auth = AuthClient(own.address("auth"))
    for one in created:
        with suppress(Unauthenticated):
            await auth.verify_key(api_keys.hash_key(one["key"]))
    await auth.close()
    seen = Samples(own, "auth")
    assert seen("atajo_api_keys_created_total") == 2
    assert seen("atajo_api_keys_revoked_total") == 1
    for result, times in (("ok", 1), ("unknown", 1), ("expired", 0), ("closed", 0)):
        assert seen("atajo_api_key_verifications_total", result=result) == times


async def test_refusals_and_errors_of_a_store_are_distinguished(
    mongo_url: str, tmp_path: Path
) -> None:
    port = urlsplit(mongo_url).port
    assert port
    env = {"ATAJO_PUBLIC_URL": "http://localhost:1"}
    with TcpProxy(port) as gate:
        gate.open()
        env["ATAJO_STORE"] = gate.through(mongo_url)
        with Process.start("services.links", env, tmp_path / "log") as process:
            async with channels.open_channel(process.grpc, LINKS) as channel:
                stub = pb_grpc.LinksServiceStub(channel)
                for host in ("a.example", "b.example"):
                    request = pb.CreateLinkRequest(code="abcdefgh", url=host)
                    with suppress(grpc.aio.AioRpcError):
                        await stub.CreateLink(request)
                gate.shut()
                with suppress(grpc.aio.AioRpcError):
                    await stub.CreateLink(request)
            text = await asyncio.to_thread(metrics_of, process)
    pattern = r'atajo_store_seconds_count{operation="links_add",result="(\w+)"} (\S+)'
    operations = dict(re.findall(pattern, text))
    assert operations.keys() == {"ok", "refused", "error"}
    assert operations["ok"] == operations["refused"] == "1.0", "what was away is tried again"


def test_clients_cannot_choose_labels(tmp_path: Path) -> None:
    with Product(tmp_path) as own:
        own.start()
        _probe_labels(own)


def _probe_labels(own: Product) -> None:
    secrets = (
        *("203.0.113.9", "nobody@example.com", "target.example", "referring.example"),
        *("_Guest-Key-", "Un_Título", "buscado"),
    )
    code = own.shorten(f"https://{secrets[2]}/")
    own.visit(code, {"x-forwarded-for": secrets[0], "referer": f"https://{secrets[3]}/"})
    own.data("verifyUser", {"email": secrets[1], "password": "x"})
    key = (secrets[4] * 4)[:43]
    for owner in ({"guest": key}, {"guest": secrets[4]}, {"guest": key, "token": key}):
        own.call("showLinks", {**owner, "query": secrets[6]})
        own.call("changeLink", {**owner, "code": code, "changes": {"title": secrets[5]}})
        own.call("removeLinks", {**owner, "codes": [code]})
    for path in (f"/{new_code()}", "/a/b/c", "/robots.txt", "/login", f"/links/{code}"):
        own.http.request("GET", own.url + path)
    own.http.request("BREW", f"{own.url}/login")
    own.call("noSuchFunction", {})
    api = ApiClient(own)
    api.send("GET", f"/links?query={secrets[6]}")
    api.send("GET", "/links", key="")
    api.send("GET", "/account")
    for method, path in (("GET", f"/{new_code()}"), ("BREW", "/links")):
        api.send(method, path)
    pages = Samples(own, "gateway")
    for operation, status, scope, number in (
        ("listLinks", "200", "links:read", 1),
        ("listLinks", "401", "links:read", 1),
        ("getAccount", "200", "none", 1),
        ("none", "404", "none", 1),
    ):
        labels = {"operation_id": operation, "status": status, "scope": scope}
        assert pages("atajo_api_requests_total", **labels) == number
    assert pages("http_request_duration_seconds_count", route="/links/:code") == 1
    for process in PROCESSES:
        samples = Samples(own, process)
        text = "\n".join(f"{sample.name} {sample.labels}" for sample in samples.all)
        assert not [word for word in (*secrets, code, "nowhere-") if word in text]
        for sample in samples.all:
            for label, values in ALLOWED_VALUES.items():
                assert sample.labels.get(label, next(iter(values))) in values, sample
            assert re.fullmatch(r"[1-5]\d\d", sample.labels.get("status", "200"))
