"""Service accounts of pods."""

from __future__ import annotations

import pytest

from tests.deployment.chart.render import manifests, of_kind, pods


@pytest.mark.parametrize("name", ["kind", "production", "small"])
def test_pods_have_the_namespaces_default_account_unless_told(name: str) -> None:
    rendered = manifests(name)
    assert not of_kind("ServiceAccount", rendered)
    assert not [pod for pod in pods(rendered).values() if "serviceAccountName" in pod]


def test_each_component_has_an_account_of_its_own() -> None:
    rendered = manifests("platform")
    used = {name: pod["serviceAccountName"] for name, pod in pods(rendered).items()}
    own = {name: f"atajo-{name}" for name in used if name != "links"}
    assert used == own | {"links": "existing"}
    created = of_kind("ServiceAccount", rendered)
    assert {account["metadata"]["name"] for account in created.values()} == set(own.values())


def test_annotations_of_a_component_are_added_to_those_of_all() -> None:
    accounts = of_kind("ServiceAccount", manifests("platform"))
    audit = {"corp.example/audit": "on"}
    assert audit.items() <= accounts["auth"]["metadata"]["annotations"].items()
    assert "eks.amazonaws.com/role-arn" in accounts["auth"]["metadata"]["annotations"]
    assert "eks.amazonaws.com/role-arn" not in accounts["web"]["metadata"]["annotations"]
    replaced = "auth.pod.serviceAccount.annotations.corp\\.example/audit=off"
    accounts = of_kind("ServiceAccount", manifests("platform", replaced))
    assert accounts["auth"]["metadata"]["annotations"]["corp.example/audit"] == "off"


def test_an_account_that_a_component_names_exists() -> None:
    named = ["pod.serviceAccount.create=true", "links.pod.serviceAccount.name=existing"]
    rendered = manifests("small", *named)
    assert pods(rendered)["links"]["serviceAccountName"] == "existing"
    names = {each["metadata"]["name"] for each in of_kind("ServiceAccount", rendered).values()}
    assert "existing" not in names
    assert "atajo-auth" in names
    rendered = manifests("small", *named, "links.pod.serviceAccount.create=true")
    names = {each["metadata"]["name"] for each in of_kind("ServiceAccount", rendered).values()}
    assert "existing" in names


@pytest.mark.parametrize("setting", ["pod=null", "pod.serviceAccount=null", "auth.pod=null"])
def test_settings_of_pods_can_be_taken_away(setting: str) -> None:
    assert "serviceAccountName" not in pods(manifests("kind", setting))["auth"]


def test_the_mongodb_for_development_has_accounts_too() -> None:
    rendered = manifests("kind", "mongodb.pod.serviceAccount.create=true")
    names = {"mongodb", "replica-set"}
    assert of_kind("ServiceAccount", rendered).keys() == names
    for name in names:
        assert pods(rendered)[name]["serviceAccountName"] == f"atajo-{name}"


def test_no_account_gives_its_pods_a_token() -> None:
    accounts = of_kind("ServiceAccount", manifests("platform"))
    assert accounts
    for account in accounts.values():
        assert account["automountServiceAccountToken"] is False


def test_components_may_share_an_account() -> None:
    rendered = manifests(
        "small",
        "pod.serviceAccount.create=true",
        "pod.serviceAccount.name=shared",
        "auth.pod.serviceAccount.annotations.role=auth",
        "links.pod.serviceAccount.annotations.bucket=links",
    )
    assert {pod["serviceAccountName"] for pod in pods(rendered).values()} == {"shared"}
    (account,) = [each for each in rendered if each["kind"] == "ServiceAccount"]
    assert account["metadata"]["name"] == "shared"
    assert account["metadata"]["annotations"] == {"role": "auth", "bucket": "links"}
