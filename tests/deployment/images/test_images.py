"""The contents of the images of `make images`, and that they run as on a cluster."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import tarfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.deployment.images.engine import RESTRICTIONS, TAG, engine, inspect_image, logs
from tests.support.gateway_client import BROWSER, new_code
from tests.support.processes import ROOT
from tests.support.product import SERVICES

pytestmark = pytest.mark.engine


def default_base(argument: str) -> str:
    """Return the default base image of an argument of the Dockerfile."""
    text = (ROOT / "deploy" / "images" / "Dockerfile").read_text(encoding="utf-8")
    match = re.search(rf"^ARG {argument}=(\S+)$", text, re.MULTILINE)
    assert match is not None
    return match[1]


BASE_ARGUMENTS = {"app": "PYTHON_IMAGE", "web": "NGINX_IMAGE", "atajo": "PYTHON_IMAGE"}
BASES = {
    name: os.environ.get(argument) or default_base(argument)
    for name, argument in BASE_ARGUMENTS.items()
}
USERS = {"app": "10001:10001", "web": "101:101", "atajo": "10001:10001"}
PROGRAMS = {"app": "python", "web": "/srv/atajo/start.sh", "atajo": "atajo"}
OURS = {"app": ("app", "venv"), "web": ("srv/atajo",), "atajo": ("app", "venv")}
FOLDERS = {
    "app": {"LICENSE", "deploy", "gateway", "proto", "services"},
    "web": set[str](),
    "atajo": {"LICENSE", "deploy", "gateway", "proto", "services", "web"},
}
"""What is in /app."""
MAX_COMPRESSED_BYTES = 130_000_000
PUBLIC_INDEXES = {"pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "deb.debian.org"}
RESTRICTED = (*RESTRICTIONS, "--tmpfs", "/tmp:size=64m,mode=1777")
TIMEOUT_SECONDS = 60.0
SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]"
    rb"|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|_authToken="
)
PRIVATE_ADDRESS = re.compile(
    rb"\b(10\.\d{1,3}|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))"
    rb"\.\d{1,3}\.\d{1,3}\b(?!/\d)"
)
TOOLS = re.compile(r"(^|/)(pip[\d.]*|npm|npx|gcc[\d.-]*|cc|g\+\+|make|ld|ensurepip|setuptools)$")


def private_indexes() -> list[bytes]:
    """Return the hosts in the configuration of this machine's package tools and proxies."""
    told = [value for name, value in os.environ.items() if name.lower().endswith("_proxy")]
    for command in (("pip", "config", "list"), ("npm", "config", "get", "registry")):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told += re.findall(r"https?://[^\s'\"]+", done.stdout)
    hosts = {urlsplit(url).hostname or "" for url in told if "//" in url}
    return [host.encode() for host in hosts - PUBLIC_INDEXES if "." in host]


@pytest.fixture(params=list(BASES))
def name(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture
def image(name: str) -> str:
    return f"atajo/{name}:{TAG}"


def inspect_base(image: str) -> dict[str, Any]:
    """Return the description of a base image. A build does not leave it with the engine."""
    if not engine("images", "--quiet", image):
        engine("pull", "--quiet", image)
    return inspect_image(image)


def own_layers(image: str, base: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Return names and contents of all files in the layers above the base image."""
    saved = folder / "image.tar"
    engine("save", "--output", str(saved), image)
    inherited = len(inspect_base(base)["RootFS"]["Layers"])
    with tarfile.open(saved) as archive:
        manifest = json.load(_member(archive, "manifest.json"))
        for layer in manifest[0]["Layers"][inherited:]:
            with tarfile.open(fileobj=_member(archive, layer)) as files:
                for file in files:
                    content = files.extractfile(file) if file.isfile() else None
                    yield file.name, content.read() if content else b""


def _member(archive: tarfile.TarFile, name: str) -> Any:
    found = archive.extractfile(name)
    assert found is not None
    return found


def files_of(image: str, folder: Path) -> list[str]:
    """Return the names of all files in a container of the image."""
    container = engine("create", image)
    try:
        engine("export", "--output", str(folder / "files.tar"), container)
    finally:
        engine("rm", container)
    with tarfile.open(folder / "files.tar") as archive:
        return archive.getnames()


def test_it_says_what_it_is_and_runs_as_a_numbered_user(name: str, image: str) -> None:
    described = inspect_image(image)
    config = described["Config"]
    print(f"\n{image}: {described['Size'] / 1e6:.0f} MB, base {_base_size(name) / 1e6:.0f} MB")  # noqa: T201
    assert config["User"] == USERS[name]
    labels = {k.removeprefix("org.opencontainers.image."): v for k, v in config["Labels"].items()}
    assert labels["licenses"] == "MIT"
    assert re.fullmatch(r"\d+\.\d+\.\d+", labels["version"])
    assert re.fullmatch(r"[0-9a-f]{40}", labels["revision"])
    assert name == "web" or f"ATAJO_VERSION={labels['version']}" in config["Env"]
    assert labels["title"]
    assert labels["description"]
    # The process receives the engine's signals without a shell in between.
    assert (config["Entrypoint"] or config["Cmd"])[0] == PROGRAMS[name]


def _base_size(name: str) -> int:
    size: int = inspect_base(BASES[name])["Size"]
    return size


def test_nothing_secret_or_private_is_in_it(name: str, image: str, tmp_path: Path) -> None:
    told = json.dumps(inspect_image(image)["Config"]) + engine("history", "--no-trunc", image)
    words = {"history and settings": told.encode()}
    files = {
        f"{name} ({len(content)} bytes)": content
        for name, content in own_layers(image, BASES[name], tmp_path)
    }
    hosts = private_indexes()
    assert files
    for where, content in {**words, **files}.items():
        assert not SECRET.search(content), where
        assert not [host for host in hosts if host in content], where
        # Third-party packages have addresses in their examples.
        if not where.startswith("venv/"):
            assert not PRIVATE_ADDRESS.search(content), where


def test_layers_are_shared() -> None:
    app, atajo = (
        inspect_image(f"atajo/{name}:{TAG}")["RootFS"]["Layers"] for name in ("app", "atajo")
    )
    assert atajo[: len(app)] == app


def test_the_all_in_one_is_small(tmp_path: Path) -> None:
    saved = tmp_path / "image.tar"
    engine("save", "--output", str(saved), f"atajo/atajo:{TAG}")
    counted = 0
    compressor = zlib.compressobj(6)
    with saved.open("rb") as archive:
        while block := archive.read(1 << 20):
            counted += len(compressor.compress(block))
    counted += len(compressor.flush())
    print(f"\natajo/atajo:{TAG}: {counted / 1e6:.0f} MB compressed")  # noqa: T201
    assert counted <= MAX_COMPRESSED_BYTES


def test_it_holds_what_it_runs_and_nothing_to_build_with(
    name: str, image: str, tmp_path: Path
) -> None:
    names = files_of(image, tmp_path)
    tools = [path for path in names if TOOLS.search(path)]
    assert not [path for path in tools if path.startswith(OURS[name])], tools
    assert not [path for path in tools if path.split("/")[-2:-1] in (["bin"], ["sbin"])], tools
    assert not [
        path for path in names if re.search(r"(^|/)(\.cache|\.npm|\.git|node_modules)/", path)
    ]
    assert {path.split("/")[1] for path in names if path.startswith("app/")} == FOLDERS[name]
    if name != "web":
        sources = [path for path in names if re.match(r"app/.+\.py$", path)]
        compiled = {
            re.sub(r"__pycache__/(\w+)\.cpython-\d+\.pyc$", r"\1.py", path) for path in names
        }
        assert sources
        assert set(sources) <= compiled
    else:
        assert "srv/atajo/web/documents/index.html" in names
        assert not [path for path in names if path.startswith("srv/") and path.endswith(".map")]


class Running:
    """The product in containers on a separate network, restricted as on a cluster."""

    def __init__(self, network: str) -> None:
        self.network = network
        self.containers: dict[str, str] = {}

    def run(self, name: str, image: str, settings: dict[str, str], *arguments: str) -> None:
        options = [part for item in settings.items() for part in ("--env", "=".join(item))]
        publish = ("--publish", "127.0.0.1::8080") if name == "web" else ()
        self.containers[name] = engine(
            *("run", "--detach", "--network", self.network, "--network-alias", name),
            *RESTRICTED,
            *("--tmpfs", "/data:mode=1777"),
            *publish,
            *options,
            f"atajo/{image}:{TAG}",
            *arguments,
        )

    def logs(self) -> str:
        return "\n".join(logs(container) for container in self.containers.values())


@pytest.fixture
def running() -> Iterator[Running]:
    network = f"atajo-{new_code().strip('-_').lower()}"
    engine("network", "create", network)
    product = Running(network)
    try:
        yield product
    finally:
        for container in product.containers.values():
            engine("rm", "--force", container)
        engine("network", "rm", network)


def start(product: Running) -> str:
    """Start everything and return the address of the web container's port."""
    shared = {
        "ATAJO_PUBLIC_URL": "http://localhost",
        "ATAJO_METRICS_LISTEN": "0.0.0.0:9090",
        "ATAJO_TOKEN_SECRET": secrets.token_urlsafe(48),
        "ATAJO_JOURNAL_DIR": "/data/journal",
        "ATAJO_TRUSTED_PROXIES": "172.16.0.0/12",
        **{f"ATAJO_{name.upper()}_ADDRESS": f"{name}:50051" for name in SERVICES},
    }
    for name in SERVICES:
        own = {"ATAJO_STORE": f"sqlite:////data/{name}.sqlite3", "ATAJO_LISTEN": "0.0.0.0:50051"}
        product.run(name, "app", shared | own, "python", "-m", f"services.{name}")
    product.run("gateway", "app", shared | {"ATAJO_LISTEN": "0.0.0.0:8000"})
    product.run(
        "web", "web", {"ATAJO_PUBLIC_URL": "http://localhost", "ATAJO_GATEWAY": "gateway:8000"}
    )
    return f"http://{engine('port', product.containers['web'], '8080').splitlines()[0]}"


def test_app_and_web_serve_with_the_restrictions_of_a_cluster(running: Running) -> None:
    web = start(running)
    code = new_code()
    link = {"data": {"code": code, "url": "https://example.com/", "token": None}}
    with httpx.Client(base_url=web, trust_env=False, headers={"user-agent": BROWSER}) as http:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not _succeeds(http, link):
            assert time.monotonic() < deadline, running.logs()
            time.sleep(0.1)
        assert http.get(f"/{code}").headers["location"] == "https://example.com/"
        assert http.get("/register").status_code == 200
        assert http.get("/robots.txt").status_code == 200
        assert http.get(f"/{new_code()}").status_code == 404
    for name, container in running.containers.items():
        engine("stop", "--time", "30", container)
        state = json.loads(engine("inspect", container))[0]["State"]
        assert state["ExitCode"] == 0, name


def _succeeds(http: httpx.Client, link: dict[str, Any]) -> bool:
    try:
        return http.post("/createShortLink", json=link).is_success
    except httpx.TransportError:
        return False
