"""auth, links and analytics: secrets and blocklists."""

from __future__ import annotations

from typing import Any

from tests.deployment.chart.render import (
    SERVICES,
    environment,
    manifests,
    of_kind,
    pods,
    text,
)


def test_manifests_contain_no_secret_if_secrets_are_given() -> None:
    rendered = manifests("production")
    assert not of_kind("Secret", rendered)
    assert "mongodb://" not in text("production")
    for name in SERVICES:
        env = environment(pods(rendered)[name])
        assert env["ATAJO_STORE_FILE"] == "/run/secrets/atajo/ATAJO_STORE"
        volume = next(each for each in pods(rendered)[name]["volumes"] if each["name"] == "secrets")
        stores = [
            source["secret"]
            for source in volume["projected"]["sources"]
            if source["secret"]["items"][0]["path"] == "ATAJO_STORE"
        ]
        item = {"key": f"{name}-uri", "path": "ATAJO_STORE"}
        assert stores == [{"name": "atajo-mongodb", "items": [item]}]


def test_blocklists_are_mounted_read_only() -> None:
    sources: dict[str, dict[str, Any]] = {
        "production": {
            "persistentVolumeClaim": {"claimName": "blocklists", "readOnly": True},
        },
        "small": {"configMap": {"name": "blocklists"}},
    }
    for name, source in sources.items():
        pod = pods(manifests(name))["links"]
        assert {"name": "blocklists", **source} in pod["volumes"]
        (path,) = [
            mount["mountPath"]
            for mount in pod["containers"][0]["volumeMounts"]
            if mount["name"] == "blocklists"
        ]
        assert environment(pod)["ATAJO_BLOCKLIST_DIR"] == path
    assert "ATAJO_BLOCKLIST_DIR" not in environment(pods(manifests("kind"))["links"])
