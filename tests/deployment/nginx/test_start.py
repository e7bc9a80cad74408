"""deploy/nginx/start.sh: the configuration and documents it writes, and the values it refuses."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
from pathlib import Path

import httpx
import pytest

from gateway.pages import languages
from gateway.pages.html import Documents, PageSettings, document_path
from gateway.settings import GatewaySettings
from gateway.support.edge import Edge
from tests.support.nginx import BUILT, Nginx
from tests.support.processes import NO_TLS, TIMEOUT_SECONDS

EDGE = Edge.load()


def start(folder: Path, **settings: str) -> tuple[int, str]:
    """Write everything and let nginx check it. Returns exit code and standard error."""
    web = Nginx(folder, "127.0.0.1:8000", "http://localhost", settings=settings)
    process = web.run("-t")
    return process.wait(), process.communicate()[1]


def path_with(folder: Path, name: str, first: str) -> str:
    """Return a PATH with a wrapped program."""
    program = folder / "bin" / name
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n{first}\nexec {shutil.which(name)} "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


def documents(folder: Path) -> dict[str, bytes]:
    """Return the files of all documents by their paths."""
    written = folder / "atajo-web" / "documents"
    files = (path for path in written.rglob("*") if path.is_file())
    return {path.relative_to(written).as_posix(): path.read_bytes() for path in files}


def understood(public_url: str, contact: str) -> GatewaySettings:
    """Return the gateway's value of it."""
    addresses = dict.fromkeys(("auth_address", "links_address", "analytics_address"), "host:1")
    settings = {**addresses, "journal_dir": "/", "public_url": public_url, "contact": contact}
    return GatewaySettings.model_validate(settings)


ORIGINS = [
    *("https://atajo.example", "https://atajo.example/", "HTTPS://Atajo.Example:443/"),
    *("http://localhost:80", "http://localhost:8080", "https://atajo.example:80"),
    "http://[::1]:8080",
]
NUMBERS = [
    "http://127.0.0.1:8080",
    "https://192.0.2.7",
    "https://[2001:db8::7]",
    "https://4.example",
]
CONTACTS = ["hello@atajo.example", r"a|b&c\d/e$f`g~h{i}*\1@example.com", "ñandú@ñ.example"]


@pytest.mark.parametrize(
    ("public_url", "contact"),
    [
        *[(url, CONTACTS[1]) for url in ORIGINS],
        *[(ORIGINS[0], contact) for contact in CONTACTS],
        *[(url, " ") for url in (*ORIGINS, *NUMBERS)],
    ],
)
def test_documents_are_those_that_the_gateway_writes(
    tmp_path: Path, public_url: str, contact: str
) -> None:
    code, stderr = start(tmp_path, ATAJO_PUBLIC_URL=public_url, ATAJO_CONTACT=contact)
    assert code == 0, stderr
    settings = understood(public_url, contact)
    written = documents(tmp_path)
    assert b'"atajo-contact" content=""' not in written["index.html"]
    for version in languages.versions(languages.built(BUILT)):
        filled = PageSettings(settings.origin, settings.contact_address)
        expected = Documents(BUILT, EDGE, filled, version)
        for path in EDGE.pages:
            name = (version.folder + document_path(path, EDGE)).removeprefix("/")
            assert written[name] == expected.of(path)
            assert gzip.decompress(written[f"{name}.gz"]) == written[name]


@pytest.mark.parametrize("registration", ["open", "invite", "closed"])
@pytest.mark.parametrize("guest_links", ["on", "off"])
def test_documents_follow_the_policy_as_those_of_the_gateway(
    tmp_path: Path, registration: str, guest_links: str
) -> None:
    code, stderr = start(
        tmp_path,
        ATAJO_PUBLIC_URL=ORIGINS[0],
        ATAJO_REGISTRATION=registration,
        ATAJO_GUEST_LINKS=guest_links,
        ATAJO_ADMIN_PAGES="off",
        ATAJO_DOMAINS=" https://Go.Example:443/,http://[::1]:8080,",
        ATAJO_OIDC_NAME="Müller & Söhne",
    )
    assert code == 0, stderr
    contact = understood(ORIGINS[0], "").contact_address
    filled = PageSettings(
        ORIGINS[0],
        contact,
        registration=registration,
        guest_links=guest_links,
        admin_pages="off",
        domains="https://go.example http://[::1]:8080",
        oidc_name="Müller & Söhne",
    )
    written = documents(tmp_path)
    for version in languages.versions(languages.built(BUILT)):
        expected = Documents(BUILT, EDGE, filled, version)
        for path in EDGE.pages:
            name = (version.folder + document_path(path, EDGE)).removeprefix("/")
            assert written[name] == expected.of(path)
    home = written["index.html"].decode()
    assert f'"atajo-registration" content="{registration}"' in home
    assert ('href="/register"' in home) == (registration == "open")
    assert ("<form" in home) == (guest_links == "on")
    assert ("to shorten links." in home) == (guest_links == "off")
    assert ("no account needed" in home) == (guest_links == "on")
    assert ("An account is optional" in home) == (registration == "open" and guest_links == "on")
    assert not any(mark in home for mark in ("<!--if ", "<!--fi", "\1"))


@pytest.mark.parametrize(
    ("public_url", "contact"),
    [
        ("https://Atajo.Example:8443/", "contact@atajo.example"),
        ("http://localhost:8080", "contact@localhost"),
        ("http://192.0.2.7:8080", "contact@[192.0.2.7]"),
        ("http://[2001:db8::7]:8080", "contact@[IPv6:2001:db8::7]"),
    ],
)
def test_without_a_contact_it_is_the_hosts(tmp_path: Path, public_url: str, contact: str) -> None:
    code, stderr = start(tmp_path, ATAJO_PUBLIC_URL=public_url)
    assert code == 0, stderr
    assert f'"atajo-contact" content="{contact}"'.encode() in documents(tmp_path)["index.html"]
    assert understood(public_url, "").contact_address == contact


REFUSED = json.loads(Path(__file__).with_name("nginx_settings.json").read_text(encoding="utf-8"))
"""Values that could inject configuration, by setting."""


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values]
)
def test_a_value_that_could_inject_configuration_is_refused(
    tmp_path: Path, name: str, value: str
) -> None:
    code, stderr = start(tmp_path, **{name: value})
    assert code != 0
    assert (name in stderr) or "10.0.0.0/33" in stderr, stderr


def test_proxies_are_trusted_by_network_or_by_number_and_not_by_both(tmp_path: Path) -> None:
    both = {"ATAJO_TRUSTED_PROXIES": "10.0.0.0/8", "ATAJO_TRUSTED_HOPS": "1"}
    code, stderr = start(tmp_path, **both)
    assert code != 0
    assert "ATAJO_TRUSTED_PROXIES and ATAJO_TRUSTED_HOPS" in stderr
    for given in ({**both, "ATAJO_TRUSTED_HOPS": "0"}, {**both, "ATAJO_TRUSTED_PROXIES": ""}):
        assert start(tmp_path, **given)[0] == 0


def test_the_documents_of_two_replicas_have_the_same_tag_and_those_of_other_settings_another(
    tmp_path: Path,
) -> None:
    times = []
    for n, contact in enumerate(("a@a.example", "a@a.example", "b@a.example")):
        folder = tmp_path / str(n)
        folder.mkdir()
        assert start(folder, ATAJO_CONTACT=contact)[0] == 0
        times.append((folder / "atajo-web/documents/index.html").stat().st_mtime)
    assert times[0] == times[1] != times[2]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    web = Nginx(tmp_path, "127.0.0.1:8000", "http://localhost")
    with web:
        web.kill()
    assert (tmp_path / "atajo-web" / "anew.sock").exists()
    with web:
        assert web.stop() == ""


def test_it_waits_for_the_name_of_the_gateway(tmp_path: Path) -> None:
    """Name servers may start at the same time."""
    path = path_with(
        tmp_path,
        "getent",
        f"echo >>{tmp_path}/asked\n[ $(wc -l <{tmp_path}/asked) -gt 2 ] || exit 2",
    )
    code, stderr = start(tmp_path, ATAJO_GATEWAY="localhost:8000", PATH=path)
    assert code == 0
    assert stderr.startswith("Waiting for the address of localhost.\n")
    assert "server localhost:8000 " in (tmp_path / "atajo-web/start/gateway.conf").read_text()


def test_without_the_stream_module_it_serves_and_says_what_is_missing(tmp_path: Path) -> None:
    says = f"configure arguments: --with-stream=dynamic --modules-path={tmp_path}"
    settings = {"PATH": path_with(tmp_path, "nginx", f'[ "$1" != -V ] || exec echo "{says}"')}
    with Nginx(tmp_path, "127.0.0.1:9", "http://localhost", settings=settings) as web:
        assert httpx.get(f"{web.url}/login", trust_env=False, verify=NO_TLS).status_code == 200
        assert "no stream module" in web.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_a_signal_ends_the_wait_for_a_name(tmp_path: Path, number: signal.Signals) -> None:
    settings = {"ATAJO_GATEWAY": "nowhere.invalid:8000"}
    process = Nginx(tmp_path, "", "http://localhost", settings=settings).run()
    try:
        assert process.stderr
        assert "nowhere.invalid" in process.stderr.readline()
        process.send_signal(number)
        process.communicate(timeout=TIMEOUT_SECONDS)
        assert process.returncode == 143
    finally:
        process.kill()
        process.communicate()


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    for name in ("ATAJO_PUBLIC_URL", "ATAJO_GATEWAY"):
        code, stderr = start(tmp_path, **{name: ""})
        assert code != 0
        assert name in stderr
