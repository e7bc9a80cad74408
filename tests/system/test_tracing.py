"""The traces that a collector receives from the product."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as pb_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from services.shared.observability import tracing
from tests.support.gateway_client import BROWSER, new_code
from tests.support.processes import PYTHON_PATH, ROOT
from tests.support.product import PROCESSES, Product

TIMEOUT_SECONDS = 20.0
CLIENT, SERVER = Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_SERVER
STRANGERS_TRACE = "0123456789abcdef0123456789abcdef"


class Collector(pb_grpc.TraceServiceServicer):
    """A collector that stores spans with the name of their service."""

    def __init__(self) -> None:
        self._arrived = threading.Condition()
        self._spans: list[tuple[str, Span]] = []
        self.bytes = b""

    def Export(  # noqa: N802
        self, request: pb.ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> pb.ExportTraceServiceResponse:
        with self._arrived:
            self.bytes += request.SerializeToString()
            for resource in request.resource_spans:
                names = {a.key: a.value.string_value for a in resource.resource.attributes}
                for scope in resource.scope_spans:
                    self._spans.extend((names["service.name"], span) for span in scope.spans)
            self._arrived.notify_all()
        return pb.ExportTraceServiceResponse()

    def spans(self) -> list[tuple[str, Span]]:
        with self._arrived:
            return list(self._spans)

    def await_span(self, wanted: Callable[[str, Span], bool]) -> Span:
        """Wait for a matching span and return the first."""

        def found() -> Span | None:
            return next((span for name, span in self._spans if wanted(name, span)), None)

        with self._arrived:
            span = self._arrived.wait_for(found, TIMEOUT_SECONDS)
        assert span is not None, self._spans
        return span


@contextmanager
def collecting() -> Iterator[tuple[Collector, dict[str, str]]]:
    """Start a collector, and return the environment with which processes send spans to it soon."""
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(4))
    pb_grpc.add_TraceServiceServicer_to_server(collector, server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield (
            collector,
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
                "OTEL_BSP_SCHEDULE_DELAY": "100",
            },
        )
    finally:
        server.stop(None).wait()


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, Collector]]:
    """Return a product with traces for all tests here. The last test stops it."""
    folder = tmp_path_factory.mktemp("traced")
    with collecting() as (collector, env), Product(folder, env) as product:
        product.start()
        yield product, collector


def attributes(span: Span) -> dict[str, Any]:
    return {
        a.key: a.value.int_value if a.value.HasField("int_value") else a.value.string_value
        for a in span.attributes
    }


def called(service: str, method: str, kind: int) -> Callable[[str, Span], bool]:
    name = f"/atajo.{service}.v1.{service.title()}Service/{method}"
    return lambda _, span: span.name == name and span.kind == kind


def test_a_creation_is_one_trace_through_every_service(traced: tuple[Product, Collector]) -> None:
    product, collector = traced
    token = product.log_in(product.register())
    strangers = {"traceparent": f"00-{STRANGERS_TRACE}-0123456789abcdef-01", "baggage": "who=me"}
    link = {"code": new_code(), "url": "https://example.com/", "token": token}
    answer = product.http.post(
        f"{product.url}/createShortLink", json={"data": link}, headers=strangers
    )
    assert answer.status_code == 200

    root = collector.await_span(lambda _, span: span.name == "POST /createShortLink")
    assert (root.kind, root.parent_span_id) == (SERVER, b"")
    assert root.trace_id.hex() != STRANGERS_TRACE, "strangers decide nothing"
    assert attributes(root) == {
        "http.request.method": "POST",
        "http.route": "/createShortLink",
        "http.response.status_code": 200,
    }
    for service, method, operation in (
        ("auth", "VerifyToken", "sessions_find"),
        ("links", "CreateLink", "links_add"),
    ):
        asked = collector.await_span(called(service, method, CLIENT))
        answered = collector.await_span(called(service, method, SERVER))
        stored = collector.await_span(lambda _, span, name=operation: span.name == name)  # type: ignore[misc]
        assert asked.parent_span_id == root.span_id
        assert answered.parent_span_id == asked.span_id
        assert stored.parent_span_id == answered.span_id
        assert {span.trace_id for span in (asked, answered, stored)} == {root.trace_id}
        assert attributes(answered) == {
            "rpc.system": "grpc",
            "rpc.service": f"atajo.{service}.v1.{service.title()}Service",
            "rpc.method": method,
            "rpc.grpc.status_code": 0,
        }
    of_trace = {name for name, span in collector.spans() if span.trace_id == root.trace_id}
    assert of_trace == {"gateway", "auth", "links"}


def test_a_failed_call_is_an_error_in_every_span_and_its_log_line_names_the_trace(
    traced: tuple[Product, Collector],
) -> None:
    product, collector = traced
    code = product.shorten("https://example.com/")
    product.call("createShortLink", {"code": code, "url": "https://b.example/", "token": None})

    def failed(_: str, span: Span) -> bool:
        return span.status.code == Status.STATUS_CODE_ERROR and span.kind == SERVER

    answered = collector.await_span(failed)
    assert attributes(answered)["rpc.grpc.status_code"] == grpc.StatusCode.ALREADY_EXISTS.value[0]
    assert (answered.status.message, len(answered.events)) == ("", 0)
    (line,) = [json.loads(line) for line in product.logs().splitlines() if "CODE_TAKEN" in line]
    assert line["trace_id"] == answered.trace_id.hex()


def test_a_cached_redirect_has_no_span_and_a_lookup_has_one(
    traced: tuple[Product, Collector],
) -> None:
    product, collector = traced
    code = product.shorten("https://example.com/")
    for _ in range(20):
        assert product.visit(code).status_code == 302
    product.visit(new_code())
    looked_up = collector.await_span(called("links", "ResolveLinks", CLIENT))
    root = collector.await_span(lambda _, span: span.span_id == looked_up.parent_span_id)
    assert (root.name, root.kind, root.parent_span_id) == ("redirect", SERVER, b"")
    redirects = [span for _, span in collector.spans() if span.name == "redirect"]
    assert len(redirects) == 1


def test_traces_contain_no_user_data(
    traced: tuple[Product, Collector],
) -> None:
    product, collector = traced
    email, password, url = "somebody.secret@example.com", "Camino-Secreto-42", "target.example"
    product.register(email, password)
    token = product.log_in(email, password)
    code = product.shorten(f"https://{url}/private?query=secreta", token)
    agent = {"user-agent": f"{BROWSER} Distintivo", "x-forwarded-for": "203.0.113.77"}
    person = {**agent, "accept-language": "es-CL,gn-secreto;q=0.5"}
    product.visit(code, {**person, "referer": "https://referring.example/"})
    product.visit(f"{new_code()}?email={email}", agent)
    product.call("verifyUser", {"email": email, "password": password + "x"})
    product.call("showProfile", {"token": token})
    guest = "_Guest-Key-" * 4
    for key in (guest[:43], guest):
        own = {"code": new_code(), "guest": key}
        product.call("createShortLink", {**own, "url": url})
        product.call("changeLink", {**own, "changes": {"title": "Un Título", "url": f"{url}/b"}})
        product.call("showLinks", {"guest": key, "query": "buscado"})
        seen = {"range": {"from": "2024-03-07", "to": "2024-03-09"}, "timezone": "Pacific/Palau"}
        for asked in (own["code"], None):
            product.call("showStatistics", {"guest": key, "code": asked, **seen})
    hashed = hashlib.sha256(guest[:43].encode()).digest()
    product.http.post(f"{product.url}/showProfile?token={token}", json={"data": {}}, headers=agent)
    collector.await_span(lambda name, _: name == "links")  # A killed process sends nothing.
    product.kill("links")
    product.call("createShortLink", {"code": code, "url": url, "token": token})
    for name in ("reconciler", "gateway", "auth", "analytics"):
        assert product.stop(name) == 0, "what is left is sent at the end"
    assert {name for name, _ in collector.spans()} == set(PROCESSES)
    for secret in (
        *(email, "somebody", password, url, "secreta", token, token.rpartition(".")[2]),
        *(code, "Distintivo", "203.0.113.77", "referring.example", "127.0.0.1"),
        *(guest[:11], hashed.hex(), own["code"], "Título", "buscado"),
        *("es-CL", "gn-secreto", "2024-03-07", "Palau"),
    ):
        assert secret.encode() not in collector.bytes, secret
    assert hashed not in collector.bytes
    names = {span.name for _, span in collector.spans()}
    assert all(name.startswith(("/atajo.", "POST /")) or name.isidentifier() for name in names)


def test_unsampled_traces_are_not_sent(tmp_path: Path) -> None:
    off = {"OTEL_TRACES_SAMPLER": "always_off"}
    with collecting() as (collector, env), Product(tmp_path, {**env, **off}) as product:
        product.start("links", "gateway")
        product.visit(product.shorten("https://example.com/"))
        product.visit(new_code())
        for name in ("gateway", "links"):
            assert product.stop(name) == 0
        assert collector.spans() == []


OFF: tuple[Mapping[str, str], ...] = (
    {},
    {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"},
)


@pytest.mark.parametrize("settings", OFF)
def test_opentelemetry_is_not_imported_while_off(
    settings: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(
        sys.modules, "services.shared.observability.otel", None
    )  # Its import would fail.
    tracing.start("links", "1")
    assert not tracing.is_on()


@pytest.mark.parametrize(
    "setting", [{"OTEL_TRACES_EXPORTER": "zipkin"}, {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}]
)
def test_an_unsupported_configuration_is_one_line(
    setting: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=next(iter(setting))) as refused:
        tracing.start("links", "1")
    assert "\n" not in str(refused.value)


def test_importing_the_product_does_not_import_opentelemetry() -> None:
    script = (
        "import sys, gateway.__main__, services.auth.__main__, services.links.__main__;"
        "print([name for name in sys.modules if name.startswith(("
        "'opentelemetry.sdk', 'opentelemetry.exporter', 'opentelemetry.instrumentation'))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "[]\n"
