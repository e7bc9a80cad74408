"""What compose.yaml says: services, settings and their defaults. It needs no engine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from deploy.local.settings import RunSettings
from gateway.settings import GatewaySettings
from services.analytics.settings import AnalyticsSettings
from services.auth.settings import AuthSettings
from services.links.settings import LinksSettings
from services.shared.environment import PREFIX
from services.shared.settings import ProcessSettings
from tests.support.processes import ROOT

TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")
OVERRIDE = yaml.safe_load((ROOT / "compose.override.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "deploy" / "images" / "Dockerfile").read_text(encoding="utf-8")
HOST = {"ATAJO_HOST": "go.example.com"}

SETTINGS = (RunSettings, GatewaySettings, AnalyticsSettings, LinksSettings, AuthSettings)
REQUIRED = {
    "ATAJO_PUBLIC_URL": "http://localhost:8080",
    "ATAJO_STORE": "",
    "ATAJO_TOKEN_SECRET": "0123456789abcdef0123456789abcdef",
    "ATAJO_JOURNAL_DIR": "/data/journal",
    "ATAJO_AUTH_ADDRESS": "auth:1",
    "ATAJO_LINKS_ADDRESS": "links:1",
    "ATAJO_ANALYTICS_ADDRESS": "analytics:1",
}
"""Settings that the processes require, and that a run sets."""

_VARIABLE = re.compile(r"\$\{(\w+)(:[-+])([^}]*)\}")
_COMMENTED = re.compile(r"^ +# (ATAJO_\w+): ([^#\n]+?)(?: # (.*))?$", re.MULTILINE)


def interpolate(text: str, env: Mapping[str, str]) -> str:
    """Replace `${NAME:-default}` and `${NAME:+replacement}` as Compose does."""

    def value(variable: re.Match[str]) -> str:
        name, operator, other = variable.groups()
        given = env.get(name, "")
        return (given or other) if operator == ":-" else (given and other)

    replaced = _VARIABLE.sub(value, text)
    assert not re.search(r"(?<!\$)\$(?![$'])", replaced), "an unknown kind of variable"
    return replaced


def services(env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the services with variables of the environment."""
    found: dict[str, Any] = yaml.safe_load(interpolate(TEXT, env or {}))["services"]
    return found


def image_settings() -> dict[str, str]:
    """Return the settings that the image sets."""
    stage = DOCKERFILE.partition(" AS atajo\n")[2]
    return dict(re.findall(r"\b(ATAJO_\w+)=(\S+)", stage))


def load(
    settings: type[ProcessSettings], given: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Return the values of settings in the image, with further variables."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    for name, value in (REQUIRED | image_settings() | dict(given)).items():
        monkeypatch.setenv(name, value)
    return settings.load().model_dump()


def owners(setting: str) -> Iterator[tuple[type[ProcessSettings], str]]:
    """Yield the settings that have a setting, and the name of the field."""
    field = setting.removeprefix(PREFIX).lower()
    yield from ((settings, field) for settings in SETTINGS if field in settings.model_fields)


def parse_shown(value: str) -> str:
    """Return the value of a commented setting as a process gets it."""
    return str(yaml.safe_load(value))


COMMENTED = _COMMENTED.findall(TEXT)
OIDC = {name: parse_shown(value) for name, value, _ in COMMENTED if name.startswith("ATAJO_OIDC_")}
"""The commented settings of OpenID Connect, which are needed together."""


def test_it_runs_the_image_of_this_version_and_a_checkout_builds_it() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert services()["atajo"]["image"] == f"atajo/atajo:{version[1]}"
    assert "build" not in TEXT
    build = OVERRIDE["services"]["atajo"]["build"]
    assert (ROOT / build["context"] / build["dockerfile"]).is_file()
    assert f" AS {build['target']}\n" in DOCKERFILE
    names = [argument.partition("=")[0] for argument in build["args"]]
    assert all(f"ARG {name}=" in DOCKERFILE for name in names)


def test_without_settings_it_is_reached_on_port_8080_only() -> None:
    published = {name: service.get("ports") for name, service in services().items()}
    assert published.pop("atajo") == ["8080:8080"]
    assert published == {"caddy": ["80:80", "443:443", "443:443/udp"], "mongodb": None}
    atajo = services()["atajo"]
    assert atajo["environment"]["ATAJO_PUBLIC_URL"] == "http://localhost:8080"
    assert not atajo["environment"]["ATAJO_TRUSTED_HOPS"]
    assert not atajo["environment"]["ATAJO_STORE"]
    assert "profiles" not in atajo


def test_a_host_is_all_that_tls_needs() -> None:
    atajo = services(HOST)["atajo"]
    host, _, port = atajo["ports"][0].partition(":")
    assert ip_address(host).is_loopback
    assert port == "8080:8080"
    assert atajo["environment"]["ATAJO_PUBLIC_URL"] == "https://go.example.com"
    assert str(atajo["environment"]["ATAJO_TRUSTED_HOPS"]) == "1"
    caddy = services(HOST)["caddy"]
    assert caddy["profiles"] == ["tls"]
    assert caddy["environment"] == {**HOST, "ATAJO_DOMAINS": None}


def read_addresses(folder: Path, env: Mapping[str, str]) -> list[str]:
    """Return the addresses of Caddy's site, as its command passes them to `caddy`."""
    stand_in = folder / "caddy"
    stand_in.write_text("#!/bin/sh\nenv; cat\n")
    stand_in.chmod(0o755)
    caddy = services(env)["caddy"]
    output = subprocess.run(
        [argument.replace("$$", "$") for argument in caddy["command"]],
        env={name: value or "" for name, value in caddy["environment"].items()}
        | {"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    given = dict(re.findall(r"^(ATAJO_\w+)=(.*)$", output, re.MULTILINE))
    (site,) = re.findall(r"^(\{\$.*) \{$", output, re.MULTILINE)
    return re.sub(r"\{\$(\w+)\}", lambda variable: given[variable[1]], site).split()


@pytest.mark.parametrize(
    "domains", ["", "https://go.example", "https://go.example, http://a.example"]
)
def test_caddy_serves_the_host_and_further_origins(tmp_path: Path, domains: str) -> None:
    env = {**HOST, "ATAJO_DOMAINS": domains}
    further = domains.replace(",", " ").split()
    assert read_addresses(tmp_path, env) == ["go.example.com", *further]
    assert (services(env)["atajo"]["environment"]["ATAJO_DOMAINS"] or "") == domains


def test_a_store_is_all_that_mongodb_needs() -> None:
    store = {"ATAJO_STORE": "mongodb://mongodb"}
    assert services(store)["atajo"]["environment"]["ATAJO_STORE"] == "mongodb://mongodb"
    assert services(store)["mongodb"]["profiles"] == ["mongodb"]


@pytest.mark.parametrize("name", services())
def test_a_service_is_restricted_and_starts_again(name: str) -> None:
    service = services()[name]
    assert service["restart"] == "unless-stopped"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges"]
    assert service["logging"]["driver"] == "json-file"
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert name != "atajo" or "cap_add" not in service


def test_every_volume_is_declared() -> None:
    used = {
        volume.partition(":")[0]
        for service in services().values()
        for volume in service.get("volumes", ())
    }
    assert used == yaml.safe_load(interpolate(TEXT, {}))["volumes"].keys()


def test_settings_are_there_once_and_have_a_process() -> None:
    names = [name for name, _, _ in COMMENTED] + list(services()["atajo"]["environment"])
    assert len(names) == len(set(names))
    assert [name for name in names if not list(owners(name))] == []


@pytest.mark.parametrize(("name", "value", "meaning"), COMMENTED)
def test_a_commented_setting_shows_its_default_or_says_it(
    name: str, value: str, meaning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = OIDC if name in OIDC else {name: parse_shown(value)}
    for settings, field in owners(name):
        default = load(settings, {}, monkeypatch)[field]
        shown = load(settings, given, monkeypatch)[field]
        if default in (None, "", (), SecretStr("")):
            assert "by default" in meaning
            assert shown != default
        else:
            assert shown == default
            assert "by default" not in meaning
