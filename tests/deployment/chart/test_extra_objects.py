"""Objects that an installation adds to the release."""

from __future__ import annotations

from tests.deployment.chart.render import manifests, of_kind


def test_templates_in_an_object_are_rendered() -> None:
    notice = of_kind("ConfigMap", manifests("platform"))["notice"]
    assert notice["data"] == {"origin": "https://go.corp.example"}
    assert notice["metadata"]["labels"] == {"app.kubernetes.io/instance": "atajo"}


def test_a_text_may_use_the_templates_of_the_chart() -> None:
    policies = of_kind("NetworkPolicy", manifests("platform"))
    assert policies["vault"]["spec"]["podSelector"] == policies["auth"]["spec"]["podSelector"]
