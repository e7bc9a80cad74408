"""Every pod passes the restricted standard, and takes its settings from `pod` and its component."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.deployment.chart.render import (
    VALUES,
    Manifest,
    RefusedError,
    manifests,
    pods,
    templates,
    text,
)

PLATFORM = yaml.safe_load(VALUES["platform"].read_text())
COMMON: dict[str, Any] = PLATFORM["pod"]


def own(name: str) -> dict[str, Any]:
    """Return what the value set `platform` sets for the pods of one component."""
    settings: dict[str, Any] = PLATFORM.get(name, {}).get("pod", {})
    return settings


def test_every_pod_passes_the_restricted_standard(rendered: list[Manifest]) -> None:
    for name, pod in pods(rendered).items():
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name


def test_every_container_has_requests_and_limits(rendered: list[Manifest]) -> None:
    for name, pod in pods(rendered).items():
        for container in pod["containers"]:
            for bound in ("requests", "limits"):
                assert container["resources"][bound].keys() == {"cpu", "memory"}, name


@pytest.mark.parametrize("key", ["nodeSelector", "tolerations", "affinity", "priorityClassName"])
def test_every_pod_has_the_common_setting_or_its_own(key: str) -> None:
    for name, pod in pods(manifests("platform")).items():
        assert pod.get(key) == (own(name).get(key, COMMON[key]) or None), name


def test_a_component_can_drop_a_common_setting() -> None:
    rendered = pods(manifests("platform"))
    assert "priorityClassName" not in rendered["analytics"]
    assert not {"tolerations", "nodeSelector"} & rendered["test"].keys()
    assert "topologySpreadConstraints" not in rendered["reconciler"]


def test_labels_and_annotations_of_a_component_are_added_to_the_common_ones() -> None:
    for name, template in templates(manifests("platform")).items():
        metadata = template["metadata"]
        labels = PLATFORM["commonLabels"] | COMMON["labels"] | own(name).get("labels", {})
        assert metadata["labels"].items() >= labels.items(), name
        assert metadata["labels"]["app.kubernetes.io/component"] == name
        annotations = COMMON["annotations"] | own(name).get("annotations", {})
        assert metadata["annotations"].items() >= annotations.items(), name


def test_annotations_of_a_service_account_are_replaced_as_a_whole() -> None:
    accounts = {
        each["metadata"]["name"]: each["metadata"]["annotations"]
        for each in manifests("platform")
        if each["kind"] == "ServiceAccount"
    }
    role = own("auth")["serviceAccount"]["annotations"]
    audit = PLATFORM["pod"]["serviceAccount"]["annotations"]
    assert accounts["atajo-auth"] == PLATFORM["commonAnnotations"] | audit | role
    audit = COMMON["serviceAccount"]["annotations"]
    assert accounts["atajo-web"] == PLATFORM["commonAnnotations"] | audit


def test_a_constraint_spreads_the_pods_of_one_component(rendered: list[Manifest]) -> None:
    for name, template in templates(rendered).items():
        for constraint in template["spec"].get("topologySpreadConstraints", ()):
            labels = constraint["labelSelector"]["matchLabels"]
            assert labels["app.kubernetes.io/component"] == name
            assert labels.items() <= template["metadata"]["labels"].items()


def test_components_spread_over_nodes_and_zones_by_default() -> None:
    for name, pod in pods(manifests("kind")).items():
        keys = [each["topologyKey"] for each in pod.get("topologySpreadConstraints", ())]
        single = name in {"admin", "test", "mongodb", "replica-set"}
        assert keys == ([] if single else ["kubernetes.io/hostname", "topology.kubernetes.io/zone"])


def test_a_constraint_keeps_its_own_selector() -> None:
    constraint = "pod.topologySpreadConstraints[0]"
    rendered = manifests(
        "small",
        f"{constraint}.topologyKey=rack",
        f"{constraint}.maxSkew=2",
        f"{constraint}.whenUnsatisfiable=ScheduleAnyway",
        f"{constraint}.labelSelector.matchLabels.tier=front",
    )
    assert pods(rendered)["web"]["topologySpreadConstraints"] == [
        {
            "topologyKey": "rack",
            "maxSkew": 2,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"tier": "front"}},
        }
    ]


def test_every_pod_takes_the_extra_variables_and_volumes() -> None:
    for name, pod in pods(manifests("platform")).items():
        (container,) = pod["containers"]
        assert container["envFrom"] == COMMON["extraEnvFrom"], name
        for volume in own(name).get("extraVolumes", COMMON["extraVolumes"]):
            assert volume in pod["volumes"], name
        for mount in own(name).get("extraVolumeMounts", COMMON["extraVolumeMounts"]):
            assert mount in container["volumeMounts"], name


def test_extra_volumes_leave_those_of_the_chart(rendered: list[Manifest]) -> None:
    for name, pod in pods(rendered).items():
        (container,) = pod["containers"]
        volumes = [volume["name"] for volume in pod.get("volumes", ())]
        mounted = {mount["name"] for mount in container.get("volumeMounts", ())}
        assert len(set(volumes)) == len(volumes), name
        # A claim template is a volume as well.
        assert mounted - set(volumes) <= {"journal", "data"}, name


def test_every_pod_pulls_with_the_secrets() -> None:
    for name, pod in pods(manifests("platform")).items():
        assert pod["imagePullSecrets"] == [{"name": "mirror"}], name


@pytest.mark.parametrize("kind", ["hostPath", "nfs"])
def test_a_volume_outside_of_the_restricted_standard_is_refused(kind: str) -> None:
    with pytest.raises(RefusedError, match="/links/pod/extraVolumes/0"):
        text(
            "small", "links.pod.extraVolumes[0].name=x", f"links.pod.extraVolumes[0].{kind}.path=/"
        )


def test_a_list_that_is_cleared_is_empty() -> None:
    assert text("small", "pod.extraVolumes=null", "pod.extraVolumeMounts=null")


def test_a_volume_with_a_name_of_the_chart_is_refused() -> None:
    with pytest.raises(RefusedError, match="/pod/extraVolumes/0"):
        text("small", "pod.extraVolumes[0].name=tmp", "pod.extraVolumes[0].emptyDir.medium=Memory")
