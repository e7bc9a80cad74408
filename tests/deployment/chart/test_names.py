"""Names of images."""

from __future__ import annotations

import re

from tests.deployment.chart.render import (
    manifests,
    pods,
)
from tests.support.processes import ROOT


def test_images_can_be_pinned_by_digest() -> None:
    digest = f"sha256:{'0123456789abcdef' * 4}"
    pinned = pods(manifests("kind", f"image.digests.web={digest}", "image.tag=1.2.3"))
    assert pinned["web"]["containers"][0]["image"] == f"atajo/web:1.2.3@{digest}"
    assert pinned["gateway"]["containers"][0]["image"] == "atajo/app:1.2.3"
    others = [pinned["mongodb"]["containers"][0]["image"]]
    for file in (ROOT / "deploy" / "images").glob("*.Dockerfile"):
        others += re.findall(r"^ARG \w+_IMAGE=(.+)$", file.read_text(), re.MULTILINE)
    assert len(others) == 5
    for image in others:
        assert re.fullmatch(r"[a-z/-]+:[\w.-]+@sha256:[0-9a-f]{64}", image), image
