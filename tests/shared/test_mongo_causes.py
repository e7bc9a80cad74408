"""The log of a process says why its MongoDB cannot be used, and nothing secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.mongo import server
from tests.support.processes import Process
from tests.support.waiting import wait_until

PASSWORD = "s3cret-Camino"
USER = f"walker:{PASSWORD}@"


def write_certificate(file: Path) -> None:
    """Write a self-signed certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mongodb.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))


@pytest.fixture(scope="module")
def tls_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of a server that requires TLS."""
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    write_certificate(file)
    options = ("--replSet", server.SET, "--tlsMode", "requireTLS", "--tlsCertificateKeyFile", file)
    with server.nodes(1, *server.SMALL, *map(str, options)) as (node,):
        node.start()
        yield node.port


def await_reason(url: str, folder: Path, expected: str) -> None:
    """Start links over a URL, and wait until its log gives a reason that matches."""
    env = {"ATAJO_STORE": url, "ATAJO_PUBLIC_URL": "http://localhost:1", "ATAJO_LOG_LEVEL": "debug"}
    with Process.start("services.links", env, folder / "log") as process:

        def is_said() -> bool:
            lines = [line for line in process.log_lines() if line["event"] == "store_away"]
            return any(re.fullmatch(expected, str(line["reason"])) for line in lines)

        wait_until(is_said)
        assert process.stop() == 0
        assert PASSWORD not in process.stderr()
        assert "walker" not in process.stderr()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"mongodb://{USER}nowhere.invalid/", r"nowhere\.invalid:27017: .*[Nn]ame.*"),
        (
            f"mongodb+srv://{USER}nowhere.invalid/",
            r"nowhere\.invalid: no SRV record in DNS \(\w+\)",
        ),
        (
            f"mongodb://{USER}127.0.0.1:8,127.0.0.1:9/",
            r"127\.0\.0\.1:8, 127\.0\.0\.1:9: Connection refused",
        ),
    ],
)
def test_a_server_that_cannot_be_reached(tmp_path: Path, url: str, reason: str) -> None:
    await_reason(url, tmp_path, reason)


def test_another_replica_set(tmp_path: Path, mongo_url: str) -> None:
    port = urlsplit(mongo_url).port
    expected = r"no host of the URL is a member of the replica set other \(replicaSet\)"
    await_reason(f"mongodb://127.0.0.1:{port}/?replicaSet=other", tmp_path, expected)
    url = f"mongodb://127.0.0.1:{port}/?replicaSet=other&directConnection=true"
    expected = r"127\.0\.0\.1:\d+: not a member of the replica set other \(replicaSet\)"
    await_reason(url, tmp_path, expected)


def test_a_server_that_is_not_initiated(tmp_path: Path) -> None:
    with server.nodes(1, "--replSet", server.SET, *server.SMALL) as (node,):
        node.start()
        expected = rf"127\.0\.0\.1:{node.port}: not initiated as a replica set"
        await_reason(f"mongodb://127.0.0.1:{node.port}/", tmp_path, expected)


def test_a_server_without_tls(tmp_path: Path, mongo_url: str) -> None:
    port = urlsplit(mongo_url).port
    expected = rf"127\.0\.0\.1:{port}: no TLS connection: the server may not use TLS"
    await_reason(f"mongodb://{USER}127.0.0.1:{port}/?tls=true", tmp_path, expected)


def test_a_server_that_requires_tls(tmp_path: Path, tls_port: int) -> None:
    expected = rf"127\.0\.0\.1:{tls_port}: it closed the connection: it may require TLS"
    await_reason(f"mongodb://127.0.0.1:{tls_port}/", tmp_path, expected)


def test_a_certificate_of_nobody_known(tmp_path: Path, tls_port: int) -> None:
    expected = rf"127\.0\.0\.1:{tls_port}: its certificate is refused: self-signed certificate"
    await_reason(f"mongodb://{USER}127.0.0.1:{tls_port}/?tls=true", tmp_path, expected)


def test_a_log_in_that_is_refused_after_an_outage(tmp_path: Path) -> None:
    """The port is closed at first, or the process would end."""
    with server.nodes(1, "--replSet", server.SET, *server.SMALL) as (node,):
        env = {
            "ATAJO_STORE": f"mongodb://{USER}127.0.0.1:{node.port}/",
            "ATAJO_PUBLIC_URL": "http://localhost:1",
        }
        with Process.start("services.links", env, tmp_path / "log") as process:
            wait_until(lambda: "Connection refused" in process.stderr())
            node.start()
            server.initiate([node.port])
            wait_until(lambda: "it refuses the log-in" in process.stderr())
            assert PASSWORD not in process.stderr()
            process.stop()
