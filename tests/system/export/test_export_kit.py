"""The files of 'Download everything' in the hands of real servers: nginx and Apache.

Each short URL answers exactly the Location that the gateway answers.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import random
import re
import shutil
import string
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.redirects.resolution import to_location
from tests.support.nginx import require_nginx
from tests.support.ports import free_port
from tests.support.processes import ROOT, TIMEOUT_SECONDS

ORIGIN = "https://atajo.example"
MODULES = Path("/usr/lib/apache2/modules")
SLOW_START_SECONDS = 60.0
"""Limit for the start with 100,000 links on a busy machine. nginx takes 2 s and Apache 1 s."""

TRICKY = (
    "https://example.org",
    "https://example.org/",
    "https://example.org/?",
    "https://example.org/??&&",
    "https://example.org/?a=1&",
    "https://example.org/?#",
    "https://example.org/?&",
    "https://example.org/a&",
    "https://example.org/a&?&&",
    "https://example.org/?a\\",
    "https://example.org/#?a=1",
    "https://example.org/?a=1&b=2#c?d",
    "https://example.org/a?b=https://other.example/?c=d",
    "https://example.org/$1$2${PATH}$host${host}%1%{HTTP_HOST}%%",
    "https://example.org/${lowercase:x}?%{ENV:PATH}",
    "https://example.org/$",
    "https://example.org/%",
    "https://example.org/\\",
    "https://example.org/\\n\\t\\\\\\1\\$?\\&",
    "https://example.org/%2F%3f%25%00%0d%0a",
    "https://example.org/\"quoted\"'quoted'`;{}()[]<>|^~*",
    "https://example.org/#\"; return 200 'x'; }",
    "https://example.org/# comment",
    "https://user:pass@example.org:8443/x",
    "http://[2001:db8::1]:8080/x",
    "HTTPS://EXAMPLE.ORG/Case",
    "https://xn--espaa-rta.example/año/ñ?q=日本語#ü",
    "https://example.org/😀",
    "https://example.org/with space",
    "https://example.org/" + "x" * 979,
    "https://example.org/" + "$" * 979,
    "https://example.org/" + "é" * 979,
    "https://example.org/" + "😀" * 979,
)


def link(code: str, url: str, **more: object) -> dict[str, Any]:
    return {
        "code": code,
        "long_link": url,
        "title": "",
        "tags": [],
        "state": "active",
        "reason": None,
        "created_at": "2026-11-20T10:00:00Z",
        "changed_at": None,
        "expires_at": None,
        "ended_url": None,
        "public_statistics": False,
        "views": 0,
        "bots": 0,
        "history": [],
        **more,
    }


def write_kit(folder: Path, links: Sequence[Mapping[str, Any]], *flags: str) -> Path:
    """Write the files into a folder, with the writers of the page in Node.js."""
    kit, source = folder / "kit", folder / "links.json"
    source.write_text(json.dumps(links))
    subprocess.run(
        ["node", "test/export-kit.mjs", str(source), str(kit), ORIGIN, *flags],
        cwd=ROOT / "web",
        check=True,
        timeout=TIMEOUT_SECONDS,
    )
    return kit


@contextmanager
def serving(command: Sequence[str], port: int, seconds: float = TIMEOUT_SECONDS) -> Iterator[float]:
    """Run a server during the block. Yields the seconds until it listened."""
    begun = time.monotonic()
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        while not _listens(port):
            if server.poll() is not None:
                raise RuntimeError(f"{command[0]} ended: {server.communicate()[1]}")
            if time.monotonic() - begun > seconds:
                raise TimeoutError(f"{command[0]} does not listen")
            time.sleep(0.02)
        yield time.monotonic() - begun
    finally:
        server.terminate()
        server.communicate(timeout=TIMEOUT_SECONDS)


def _listens(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/no-such-code")
        return connection.getresponse().status == 404
    except OSError:
        return False
    finally:
        connection.close()


def nginx_command(folder: Path, kit: Path, port: int) -> list[str]:
    """Return the command that serves `nginx.conf` in the http block of a minimal configuration."""
    require_nginx()
    conf = (kit / "nginx.conf").read_text().replace("listen 80;", f"listen 127.0.0.1:{port};")
    (folder / "links.conf").write_text(conf)
    main = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main.write_text(
        f"{user} daemon off; pid {folder}/nginx.pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off;\n{temporary}include {folder}/links.conf; }}\n"
    )
    return ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(main)]


def apache_command(folder: Path, kit: Path, port: int) -> list[str]:
    """Return the command that serves `apache.conf` beside a minimal configuration."""
    if not shutil.which("apache2"):
        raise FileNotFoundError("There is no Apache; on Debian: apt-get install apache2-bin")
    conf = (kit / "apache.conf").read_text().replace("*:80>", f"127.0.0.1:{port}>")
    (folder / "links.conf").write_text(conf)
    modules = "".join(
        f"LoadModule {name}_module {MODULES}/mod_{name}.so\n"
        for name in ("mpm_event", "authz_core", "rewrite")
    )
    main = folder / "apache.conf"
    main.write_text(
        f"{modules}ServerRoot {folder}\nDefaultRuntimeDir {folder}\nPidFile {folder}/apache.pid\n"
        f"ServerName localhost\nListen 127.0.0.1:{port}\nErrorLog {folder}/apache.log\n"
        f"DocumentRoot {folder / 'empty'}\nInclude {folder}/links.conf\n"
    )
    (folder / "empty").mkdir()
    return ["apache2", "-D", "FOREGROUND", "-f", str(main)]


SERVERS = {"nginx": nginx_command, "apache": apache_command}
each_server = pytest.mark.parametrize("server", SERVERS)


def answers(port: int, paths: Sequence[str]) -> dict[str, tuple[int, bytes | None]]:
    """Return status and Location by path."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    found: dict[str, tuple[int, bytes | None]] = {}
    for path in paths:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        location = response.getheader("Location")
        found[path] = (response.status, None if location is None else location.encode("latin-1"))
    connection.close()
    return found


@pytest.fixture(scope="module")
def tricky() -> list[dict[str, Any]]:
    links = [link(f"Tricky{number:02}", url) for number, url in enumerate(TRICKY)]
    return [
        *links,
        link("AbCd", "https://example.org/mixed"),
        link("abcd", "https://example.org/lower", scan_code="ABCD-123"),
        link("ABCD", "https://example.org/upper"),
        link("-_-_", "https://example.org/marks"),
        link("expired1", "https://example.org/", state="expired", ended_url="https://end.example/"),
        link("expired2", "https://example.org/", state="expired"),
        link("removed1", "https://example.org/", state="removed"),
        link("blocked1", "https://example.org/", state="blocked", reason="spam"),
    ]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory, tricky: list[dict[str, Any]]) -> Path:
    return write_kit(tmp_path_factory.mktemp("export"), tricky)


def expected_of(links: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, bytes | None]]:
    expected: dict[str, tuple[int, bytes | None]] = {}
    for one in links:
        url = one["long_link"] if one["state"] == "active" else one["ended_url"]
        is_redirect = one["state"] == "active" or (one["state"] == "expired" and url is not None)
        answer = (302, to_location(url)) if is_redirect else (404, None)
        for code in (one["code"], one.get("scan_code")):
            if code is not None:
                expected[f"/{code}"] = answer
    return expected


@each_server
def test_every_code_answers_its_exact_location(
    tmp_path: Path, kit: Path, tricky: list[dict[str, Any]], server: str
) -> None:
    port = free_port()
    expected = expected_of(tricky)
    expected |= dict.fromkeys(("/aBcd", "/AbCde", "/AbC", "/AbCd/x", "/x/AbCd"), (404, None))
    with serving(SERVERS[server](tmp_path, kit, port), port):
        assert answers(port, list(expected)) == expected
        # As at the gateway, a query of the short URL goes nowhere.
        with_query = answers(port, ["/AbCd?utm_source=x", "/Tricky02?a=b"])
    assert list(with_query.values()) == [expected["/AbCd"], expected["/Tricky02"]]


def test_the_sums_are_those_of_all_files(kit: Path) -> None:
    names = {str(path.relative_to(kit)) for path in kit.rglob("*") if path.is_file()}
    sums = (kit / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ", 1)[1] for line in sums} == names - {"SHA256SUMS"}
    subprocess.run(
        ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=kit, check=True
    )


def test_other_files_have_every_code(kit: Path, tricky: list[dict[str, Any]]) -> None:
    redirects = (kit / "_redirects").read_text().splitlines()
    expected = {
        path: location.decode()
        for path, (_, location) in expected_of(tricky).items()
        if location is not None
    }
    assert {line.split(" ")[0]: line.split(" ")[1] for line in redirects} == expected
    assert all(re.fullmatch(r"/\S+ \S+ 302", line) for line in redirects)
    pages = {f"/{path.parent.name}" for path in (kit / "html").glob("*/index.html")}
    assert pages == set(expected) - {"/expired1"}


@pytest.mark.slow
@pytest.mark.timeout(300)
@each_server
def test_100_000_links_start_soon_and_answer_exactly(tmp_path: Path, server: str) -> None:
    chance = random.Random(1)
    alphabet = string.ascii_letters + string.digits + "-_"
    codes: set[str] = set()
    while len(codes) < 100_000:
        code = "".join(chance.choices(alphabet, k=chance.choice((4, 8, 8, 8, 12))))
        codes |= {code, code.swapcase()}
    links = [
        link(code, f"https://example.org/{number}?a=$b&c=%20")
        for number, code in enumerate(sorted(codes, key=lambda _: chance.random()))
    ]
    kit = write_kit(tmp_path, links, "--no-pages")
    port = free_port()
    expected = expected_of(links)
    with serving(SERVERS[server](tmp_path, kit, port), port, SLOW_START_SECONDS) as seconds:
        logging.info("%s listens after %.1f s with %d links", server, seconds, len(links))
        found = answers(port, list(expected))
    assert found == expected
