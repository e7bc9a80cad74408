"""Names of images; labels and annotations of all objects."""

from __future__ import annotations

import re

import yaml

from tests.deployment.chart.render import VALUES, Manifest, manifests, of_kind, pods
from tests.support.processes import ROOT


def test_images_can_be_pinned_by_digest() -> None:
    digest = f"sha256:{'0123456789abcdef' * 4}"
    pinned = pods(manifests("kind", f"image.digests.web={digest}", "image.tag=1.2.3"))
    assert pinned["web"]["containers"][0]["image"] == f"atajo/web:1.2.3@{digest}"
    assert pinned["gateway"]["containers"][0]["image"] == "atajo/app:1.2.3"
    others = [pinned["mongodb"]["containers"][0]["image"]]
    dockerfile = (ROOT / "deploy" / "images" / "Dockerfile").read_text()
    others += re.findall(r"^ARG \w+_IMAGE=(.+)$", dockerfile, re.MULTILINE)
    assert len(others) == 4
    for image in others:
        assert re.fullmatch(r"[a-z/-]+:[\w.-]+@sha256:[0-9a-f]{64}", image), image


def test_every_object_has_the_common_labels_and_annotations() -> None:
    values = yaml.safe_load(VALUES["platform"].read_text())
    extra = {"atajo-notice", "atajo-vault"}
    rendered = manifests("platform", "monitoring.dashboards=true")
    for manifest in rendered:
        metadata = manifest["metadata"]
        if metadata["name"] not in extra:
            place = f"{manifest['kind']}/{metadata['name']}"
            assert metadata["labels"].items() >= values["commonLabels"].items(), place
            assert metadata["annotations"].items() >= values["commonAnnotations"].items(), place


def test_common_labels_leave_selectors_and_claims_as_they_are() -> None:
    """Kubernetes refuses an upgrade that changes them."""

    def fixed(rendered: list[Manifest]) -> object:
        workloads = of_kind("Deployment", rendered) | of_kind("StatefulSet", rendered)
        return {
            name: (each["spec"]["selector"], each["spec"].get("volumeClaimTemplates"))
            for name, each in workloads.items()
        }

    assert fixed(manifests("kind", "commonLabels.team=links")) == fixed(manifests("kind"))
