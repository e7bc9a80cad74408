"""Values of an instance of one's own: registration, guests, administration, OpenID Connect."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.deployment.chart.render import (
    CHART,
    VALUES,
    Manifest,
    RefusedError,
    environment,
    helm,
    manifests,
    of_kind,
    pods,
    text,
)

OIDC = (
    "oidc.issuer=https://id.example/realms/work",
    "oidc.clientId=atajo",
    "oidc.existingSecret=provider",
    "oidc.name=Work",
)


def settings(rendered: list[Manifest], name: str) -> dict[str, str]:
    return environment(pods(rendered)[name])


def administration(rendered: list[Manifest]) -> dict[str, dict[str, object]]:
    """Return where each component takes the administration secret from."""
    return {
        name: variable["valueFrom"]["secretKeyRef"]
        for name, pod in pods(rendered).items()
        for variable in pod["containers"][0].get("env", ())
        if variable["name"] == "ATAJO_ADMINISTRATION_SECRET"
    }


def test_everybody_may_register_and_shorten_unless_told() -> None:
    rendered = manifests("production")
    for name in ("web", "gateway"):
        own = settings(rendered, name)
        assert own["ATAJO_REGISTRATION"] == "open"
        assert own["ATAJO_GUEST_LINKS"] == "on"
        assert own["ATAJO_ADMIN_PAGES"] == "on"
        assert "ATAJO_OIDC_NAME" not in own
    assert settings(rendered, "auth")["ATAJO_REGISTRATION"] == "open"
    assert not [name for name in settings(rendered, "auth") if "OIDC" in name]


def test_gateway_pages_and_auth_have_the_same_policy() -> None:
    closed = ("registration=invite", "guestLinks=off", "adminPages=off")
    rendered = manifests("production", *closed)
    for name in ("web", "gateway"):
        own = settings(rendered, name)
        assert own["ATAJO_REGISTRATION"] == "invite"
        assert own["ATAJO_GUEST_LINKS"] == own["ATAJO_ADMIN_PAGES"] == "off"
    assert settings(rendered, "auth")["ATAJO_REGISTRATION"] == "invite"
    assert pods(rendered)["test"]["containers"][0]["args"][1] == "invite"


def test_only_auth_and_links_have_the_administration_secret() -> None:
    generated = {"name": "atajo-administration", "key": "administration-secret", "optional": True}
    assert administration(manifests("kind")) == dict.fromkeys(("auth", "links"), generated)
    own = generated | {"name": "atajo-signing"}
    assert administration(manifests("production")) == dict.fromkeys(("auth", "links"), own)


def test_without_administration_in_the_browser_no_service_accepts_it() -> None:
    assert administration(manifests("kind", "adminPages=off")) == {}


def test_the_administration_secret_is_kept_apart_from_the_immutable_token_secret() -> None:
    secrets = of_kind("Secret", manifests("kind"))
    assert secrets["token"]["data"].keys() == {"token-secret"}
    assert secrets["administration"]["data"].keys() == {"administration-secret"}
    kept = secrets["administration"]
    assert kept["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert kept["immutable"] is True
    assert "administration" not in of_kind("Secret", manifests("production"))


def test_openid_connect_is_a_setting_of_auth_and_a_name_for_the_pages() -> None:
    rendered = manifests("production", *OIDC)
    own = settings(rendered, "auth")
    assert own["ATAJO_OIDC_ISSUER"] == "https://id.example/realms/work"
    assert own["ATAJO_OIDC_CLIENT_ID"] == "atajo"
    assert own["ATAJO_OIDC_REGISTRATION"] == "off"
    assert "ATAJO_OIDC_CLIENT_SECRET_FILE" in own
    assert {settings(rendered, name)["ATAJO_OIDC_NAME"] for name in ("gateway", "web")} == {"Work"}
    for name in ("gateway", "web", "links"):
        assert not [each for each in settings(rendered, name) if "OIDC_CLIENT" in each]


@pytest.mark.parametrize("missing", OIDC[1:])
def test_an_incomplete_provider_is_refused(missing: str) -> None:
    with pytest.raises(RefusedError, match="/oidc"):
        text("production", *(value for value in OIDC if value != missing))


@pytest.mark.parametrize(
    "setting",
    ["registration=invited", "guestLinks=true", "adminPages=none", "oidc.issuer=http://id.example"],
)
def test_an_unknown_choice_is_refused(setting: str) -> None:
    with pytest.raises(RefusedError):
        text("production", setting)


@pytest.fixture(scope="module")
def chart_with_notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the chart with its notes in a manifest: Helm shows them in clusters only."""
    chart = shutil.copytree(CHART, tmp_path_factory.mktemp("chart") / "atajo")
    templates = chart / "templates"
    said = (templates / "NOTES.txt").read_text(encoding="utf-8")
    (templates / "_notes.tpl").write_text(f'{{{{- define "notes" }}}}{said}{{{{ end }}}}')
    (templates / "notes.yaml").write_text('notes: {{ include "notes" . | toJson }}\n')
    return chart


def notes(chart: Path, *settings: str) -> str:
    """Return what Helm says after an installation with the values of kind."""
    given = [part for setting in settings for part in ("--set", setting)]
    shown = ["--show-only", "templates/notes.yaml"]
    made = helm("template", "atajo", str(chart), "--values", str(VALUES["kind"]), *shown, *given)
    said: str = yaml.safe_load(made)["notes"]
    return said


def test_notes_say_where_the_first_invitation_is(chart_with_notes: Path) -> None:
    # Each replica voids the invitation of those that started before.
    said = "component=auth --tail=-1 --timestamps | grep invitation | sort | tail -1"
    assert said in notes(chart_with_notes, "registration=closed")
    assert said in notes(chart_with_notes, "registration=invite")
    assert said not in notes(chart_with_notes)


def test_notes_say_what_to_back_up(chart_with_notes: Path) -> None:
    said = "Back up the Secrets atajo-token and atajo-administration."
    assert said in notes(chart_with_notes)
    assert "Back up" not in notes(chart_with_notes, "auth.existingSecret=mine")
